#include "client/channel.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include "client/call_headers.h"
#include "client/server_list.h"

namespace sinkd::client {
namespace {

// The report of a study may take 64 MiB.
constexpr int kMaxReceiveBytes = 65 << 20;

// A server that comes back is found as soon as a retry would reach it.
constexpr int kFirstReconnectMs = 200;
constexpr int kLongestReconnectMs = 2000;

absl::Status BadAddress(std::string_view address, std::string_view why) {
  return absl::InvalidArgumentError(
      fmt::format("server address \"{}\" {}; give host:port, e.g. 127.0.0.1:50051", address, why));
}

// Of one server, or of all that a scheme names.
absl::Status CheckOne(std::string_view address) {
  if (address.empty()) return BadAddress(address, "is empty");
  if (address.find("//") != std::string_view::npos && !address.starts_with("dns:") &&
      !address.starts_with("unix:")) {
    return BadAddress(address, "is a URL");
  }
  if (HasScheme(address)) return absl::OkStatus();
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return BadAddress(address, "has no port");
  if (colon == 0) return BadAddress(address, "has no host");
  const bool bracketed = address.front() == '[' && address[colon - 1] == ']';
  if (!bracketed && address.find(':') != colon) {
    return BadAddress(address, "is an IPv6 address without brackets");
  }
  int port = 0;
  const std::string_view digits = address.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size() || port < 1 || port > 65535) {
    return BadAddress(address, "has no port between 1 and 65535");
  }
  return absl::OkStatus();
}

// What of them cannot be a channel's credentials goes into `arguments`.
std::shared_ptr<grpc::ChannelCredentials> CredentialsOf(const ChannelOptions& options,
                                                        grpc::ChannelArguments& arguments) {
  if (!options.tls) return grpc::InsecureChannelCredentials();
  const TlsOptions& tls = *options.tls;
  if (!tls.server_name.empty()) arguments.SetSslTargetNameOverride(tls.server_name);
  return grpc::SslCredentials(
      {.pem_root_certs = tls.ca, .pem_private_key = tls.key, .pem_cert_chain = tls.certificate});
}

Headers HeadersOf(const ChannelOptions& options) {
  Headers headers;
  if (!options.token.empty()) headers.emplace_back("authorization", "Bearer " + options.token);
  if (!options.traceparent.empty()) headers.emplace_back("traceparent", options.traceparent);
  return headers;
}

}  // namespace

absl::Status CheckAddress(std::string_view address) {
  const std::vector<std::string> servers = SplitServers(address);
  for (const std::string& server : servers) {
    if (servers.size() > 1 && HasScheme(server)) return BadAddress(server, "cannot be in a list");
    if (absl::Status status = CheckOne(server); !status.ok()) return status;
  }
  return absl::OkStatus();
}

bool IsLoopback(std::string_view address) {
  const std::vector<std::string> servers = SplitServers(address);
  return std::all_of(servers.begin(), servers.end(), [](const std::string& server) {
    const std::string_view host = std::string_view(server).substr(0, server.rfind(':'));
    // An address, not a name that begins like one.
    const bool four =
        host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos;
    return four || host == "localhost" || host == "[::1]" || server.starts_with("unix:") ||
           server.starts_with("unix-abstract:");
  });
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(const std::string& address,
                                                           const ChannelOptions& options) {
  if (absl::Status status = CheckAddress(address); !status.ok()) return status;
  const absl::StatusOr<std::string> target = TargetOf(SplitServers(address));
  if (!target.ok()) return target.status();
  grpc::ChannelArguments arguments;
  arguments.SetServiceConfigJSON(kServiceConfig);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kFirstReconnectMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kLongestReconnectMs);
  arguments.SetMaxReceiveMessageSize(kMaxReceiveBytes);
  if (!options.user_agent.empty()) arguments.SetUserAgentPrefix(options.user_agent);
  if (IsLoopback(address)) arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::experimental::CreateCustomChannelWithInterceptors(
      *target, CredentialsOf(options, arguments), arguments, CallHeaders(HeadersOf(options)));
}

}  // namespace sinkd::client
