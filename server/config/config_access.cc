#include "server/config/config_access.h"

#include <string_view>

#include <fmt/format.h>

#include "server/base/status.h"
#include "server/config/config_values.h"

namespace sinkd {
namespace {

absl::Status Lacks(std::string_view flag, std::string_view other) {
  return InvalidArgument(fmt::format("{} needs {}", flag, other),
                         {.reason = "CONFIG_INVALID",
                          .subject = std::string(flag),
                          .fix = fmt::format("give {} too, or leave {} out", other, flag)});
}

absl::Status CheckExposure(std::string_view name, const std::string& address,
                           const Config& config) {
  if (address.empty() || IsLoopback(address)) return absl::OkStatus();
  const bool asks = !config.token_file.empty() || !config.tls.client_ca.empty();
  if (config.tls.on() && asks) return absl::OkStatus();
  return InvalidArgument(
      fmt::format("--{} must be a loopback address where there is {}, since everyone who reaches "
                  "the port could {}",
                  name, config.tls.on() ? "no authentication" : "no TLS",
                  config.tls.on() ? "use it" : "read what goes over it, tokens too"),
      {.reason = "CONFIG_INSECURE_LISTEN",
       .subject = fmt::format("--{}", name),
       .value = address,
       .fix = "use 127.0.0.1, or give --tls-cert and --tls-key with --token-file or "
              "--tls-client-ca; or --insecure-listen where something else protects the network"});
}

}  // namespace

absl::Status CheckAccess(const Config& config) {
  const TlsPaths& tls = config.tls;
  if (tls.key.empty() && tls.on()) return Lacks("--tls-cert", "--tls-key");
  if (!tls.key.empty() && !tls.on()) return Lacks("--tls-key", "--tls-cert");
  if (!tls.client_ca.empty() && !tls.on()) return Lacks("--tls-client-ca", "--tls-cert");
  if (config.insecure_listen) return absl::OkStatus();
  SINKD_RETURN_IF_ERROR(CheckExposure("listen", config.listen, config));
  return CheckExposure("http-listen", config.http_listen, config);
}

}  // namespace sinkd
