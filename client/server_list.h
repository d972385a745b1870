// Several servers as one gRPC target: what `--server a:50051,b:50051` means.
//
// Calls of a channel to such a target go to its servers in turn, those that cannot be reached are
// passed over (kServiceConfig). Names in a list are looked up once, when the target is made; a
// single name with many addresses, `dns:///sinkd:50051`, gRPC looks up again by itself.
// Thread-safety: free functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

namespace sinkd::client {

// Round robin. There is no retry policy in it: CallWithRetry (call.h) is the only one, since it
// knows RetryInfo, and two would multiply.
inline constexpr char kServiceConfig[] = R"({"loadBalancingConfig":[{"round_robin":{}}]})";

// The parts of a list; an address with a scheme (unix:, dns:, ipv4:, ipv6:) is one as a whole.
std::vector<std::string> SplitServers(std::string_view servers);

// host:port for one address without a scheme, the addresses of all as ipv4: or ipv6: for several:
// gRPC's lists are of one IP version, the first that every known name has. A name that is not known
// is left out while another one is. INVALID_ARGUMENT when the servers share no IP version.
absl::StatusOr<std::string> TargetOf(const std::vector<std::string>& servers);

bool HasScheme(std::string_view address);

}  // namespace sinkd::client
