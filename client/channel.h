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

// The largest sample that fits the 4 MiB a gRPC server takes per message, in serialized bytes.
inline constexpr size_t kMaxSampleBytes = (size_t{4} << 20) - 1024;

// Texts are PEM.
struct TlsOptions {
  std::string ca;           // signed the server's certificate
  std::string certificate;  // of the client, for mutual TLS; with its key, or empty
  std::string key;
  std::string server_name;  // that the server's certificate must hold; empty: the address's host
};

struct ChannelOptions {
  std::string user_agent;         // put before gRPC's own; e.g. "sinkctl/1.2.3"
  std::string token;              // sent with every call; empty: none
  std::string traceparent;        // this too: the trace that the calls belong to
  std::optional<TlsOptions> tls;  // nullopt: plaintext
};

// A channel to `address`: host:port, [v6]:port, several of these with commas between
// (server_list.h), or a gRPC target with a scheme (unix:, dns:, ipv4:, ipv6:). Connects at the
// first call. Proxies are ignored for addresses of this machine. INVALID_ARGUMENT, naming the
// address and the fix, for anything else.
absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(const std::string& address,
                                                           const ChannelOptions& options = {});

// OK when MakeChannel would take `address`.
absl::Status CheckAddress(std::string_view address);

// Whether all of the address is this machine.
bool IsLoopback(std::string_view address);

}  // namespace sinkd::client
