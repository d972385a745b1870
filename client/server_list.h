// Several servers as one gRPC target, as in `--server a:50051,b:50051`.
//
// Calls on such a channel go to the servers in turn and skip those that cannot be reached
// (kServiceConfig). Names in a list are resolved once, when the target is made. gRPC itself
// resolves a single name with many addresses, `dns:///sinkd:50051`, again when needed.
// Thread-safety: free functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

namespace sinkd::client {

// Round robin, without a retry policy. CallWithRetry (call.h) retries instead, because it reads
// RetryInfo, and two policies would multiply the attempts.
inline constexpr char kServiceConfig[] = R"({"loadBalancingConfig":[{"round_robin":{}}]})";

// Splits a list. An address with a scheme (unix:, dns:, ipv4:, ipv6:) is not split.
std::vector<std::string> SplitServers(std::string_view servers);

// Returns host:port for one address without a scheme, and ipv4: or ipv6: with all addresses for
// several, since gRPC's lists have one IP version: the first that every resolved name has. Skips
// unknown names unless all are unknown. INVALID_ARGUMENT if the servers share no IP version.
absl::StatusOr<std::string> TargetOf(const std::vector<std::string>& servers);

bool HasScheme(std::string_view address);

}  // namespace sinkd::client
