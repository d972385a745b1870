// GrpcRelay: stands between the clients of the gRPC port and gRPC. It terminates TLS and forwards
// what FrameGuard allows.
//
// Each client's connection is joined to a pair of connected sockets. gRPC gets one end of the pair
// once the client has sent the HTTP/2 preface. The relay holds at most 16 KiB in either direction:
// when one side does not read, the other side has to wait. A client that goes past a limit gets
// GOAWAY with ENHANCE_YOUR_CALM and is disconnected, which is logged at most once a minute.
//
// gRPC sees the name of the relay's end of the pair as the peer. The names are unguessable and
// never reused; PeerOf looks up which client one stands for, so no client can pose as another.
//
// Ownership: owns the sockets it is given, and a thread. Thread-safety: all methods may be called
// from any thread. Errors: none; a client that cannot be served is disconnected.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "server/access/tls_identity.h"
#include "server/net/accept_loop.h"
#include "server/net/frame_guard.h"
#include "server/net/open_connections.h"
#include "server/net/peer.h"

namespace sinkd {

// How long clients may take.
struct RelayTimes {
  std::chrono::milliseconds begin = std::chrono::seconds(10);  // for the handshake and the preface
  std::chrono::milliseconds read = std::chrono::seconds(30);   // to read 16 KiB
  std::chrono::milliseconds leave = std::chrono::seconds(1);   // to read the rest at the end
};

class GrpcRelay {
 public:
  struct Options {
    const TlsIdentity* tls = nullptr;  // borrowed; null: plaintext
    FrameLimits limits = {};
    // Of the port. When three quarters are in use, each new connection ends the one that has had no
    // call for the longest time, so that idle connections cannot keep others out.
    int64_t max_connections = ConnectionLimits().in_all;
    RelayTimes times = {};
    // Takes ownership of gRPC's end of a pair, a non-blocking socket. Called on the relay's thread.
    std::function<void(int listener, int socket)> hand_over;
    // A client went past a limit. Called on the relay's thread.
    std::function<void()> refused = [] {};
  };

  explicit GrpcRelay(Options options);
  ~GrpcRelay();  // Stop
  GrpcRelay(const GrpcRelay&) = delete;
  GrpcRelay& operator=(const GrpcRelay&) = delete;

  // An AcceptLoop::Take.
  bool Take(int listener, int socket);

  // The client behind what gRPC calls `grpc_peer`; null when it has disconnected.
  std::shared_ptr<const Peer> PeerOf(std::string_view grpc_peer) const;

  // Accepts no more connections; those that gRPC has go on.
  void Close();
  // To be called once gRPC has shut down: forwards what it sent last, for two seconds at most.
  void Stop();

 private:
  struct Internals;
  class Connection;
  const std::unique_ptr<Internals> internals_;
};

}  // namespace sinkd
