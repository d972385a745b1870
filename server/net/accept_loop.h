// AcceptLoop: a thread that accepts the connections of a Listener and gives them away.
//
// A connection over a limit is closed at once, and so is one for which the process has no
// descriptor left: a spare one, kept for this, takes it in. Refused clients see their connection
// close instead of waiting without end, and the port serves again as soon as there is room. What
// was refused is logged, at most once in ten seconds.
//
// Ownership: owns the listener. Thread-safety: Stop may be called from any thread, more than once;
// the functions given are called on the loop's thread, until Stop has returned.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <absl/status/statusor.h>

#include "server/net/listener.h"
#include "server/net/open_connections.h"
#include "server/telemetry/sparse_log.h"

namespace sinkd {

// What is done about the connections of a port.
struct PortOptions {
  std::string name;  // what the log calls it, "grpc"
  ConnectionLimits limits;
  std::function<void(ConnectionRefusal)> refused = [](ConnectionRefusal) {};
  std::function<void(int64_t open)> open = [](int64_t) {};  // whenever that may have changed
};

class AcceptLoop {
 public:
  // Owns `socket`, which does not block, from now on. `listener` is the one it came through. False:
  // the process has no descriptors for it, and it is the loop's to close.
  using Take = std::function<bool(int listener, int socket)>;

  // Begins. UNAVAILABLE when the process has no descriptors to begin with.
  static absl::StatusOr<std::unique_ptr<AcceptLoop>> Start(Listener listener, PortOptions options,
                                                           Take take);

  ~AcceptLoop();  // Stop
  AcceptLoop(const AcceptLoop&) = delete;
  AcceptLoop& operator=(const AcceptLoop&) = delete;

  const Listener& listener() const { return listener_; }

  // Listens no more. Connections that were given away live on.
  void Stop();

 private:
  AcceptLoop(Listener listener, PortOptions options, Take take, SocketHandle wake,
             SocketHandle spare);

  void Run();
  void AcceptAll(int listener);
  // Whether there may be another one waiting.
  bool AcceptOne(int listener);
  bool CloseOne(int listener);
  bool HasSpare();
  void NoteRefused(ConnectionRefusal why, const std::string& address);

  Listener listener_;
  const PortOptions options_;
  const Take take_;
  const SocketHandle wake_;  // an eventfd
  SocketHandle spare_;
  OpenConnections connections_;
  bool paused_ = false;  // there is no use in trying again at once
  SparseLog refused_{std::chrono::seconds(10)};

  std::mutex stop_mutex_;
  std::thread thread_;
};

}  // namespace sinkd
