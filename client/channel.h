// Channels to a sinkd server.
//
// Thread-safety: a channel may be shared by any number of threads and clients.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>
#include <grpcpp/channel.h>

namespace sinkd::client {

// The largest sample, in serialized bytes, that fits into the 4 MiB of a message to a gRPC server.
inline constexpr size_t kMaxSampleBytes = (size_t{4} << 20) - 1024;

// Certificates and keys are PEM texts.
struct TlsOptions {
  std::string ca;           // verifies the server's certificate
  std::string certificate;  // of the client, for mutual TLS; needs `key`; may be empty
  std::string key;
  std::string server_name;  // expected in the server's certificate; empty: the address's host
};

struct ChannelOptions {
  std::string user_agent;         // prefix of gRPC's user agent, e.g. "sinkctl/1.2.3"
  std::string token;              // sent with every call; empty: none
  std::string traceparent;        // trace of the calls, sent with every call; empty: none
  std::optional<TlsOptions> tls;  // nullopt: plaintext
};

// Makes a channel to `address`: host:port, [v6]:port, several of these separated by commas
// (server_list.h), or a gRPC target with a scheme (unix:, dns:, ipv4:, ipv6:). It connects at the
// first call, and without a proxy for addresses of this machine. INVALID_ARGUMENT, naming the
// address and a fix, for anything else.
absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(const std::string& address,
                                                           const ChannelOptions& options = {});

// OK if MakeChannel accepts `address`.
absl::Status CheckAddress(std::string_view address);

// Whether every server of the address is this machine.
bool IsLoopback(std::string_view address);

}  // namespace sinkd::client
