#include "server/telemetry/access_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

namespace sinkd {
namespace {

constexpr std::array kPortNames = {"grpc", "http"};
constexpr std::array kReasonNames = {"unauthenticated", "permission_denied", "quota"};
constexpr std::array kFileNames = {"tokens", "certificate"};
constexpr std::array kOutcomeNames = {"ok", "failed"};

size_t ReasonOf(absl::StatusCode code) {
  if (code == absl::StatusCode::kUnauthenticated) return 0;
  return code == absl::StatusCode::kResourceExhausted ? 2 : 1;
}

prometheus::Gauge& AddGauge(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({});
}

}  // namespace

AccessMetrics::AccessMetrics(prometheus::Registry& registry)
    : tokens_(
          AddGauge(registry, "sinkd_access_tokens", "Accepted tokens; 0 if callers need none.")),
      certificate_end_(AddGauge(registry, "sinkd_tls_certificate_expiry_timestamp_seconds",
                                "Unix time when the current certificate expires; 0 without TLS.")) {
  auto& refused = prometheus::BuildCounter()
                      .Name("sinkd_access_refused_total")
                      .Help("Refused calls, by port and reason.")
                      .Register(registry);
  for (size_t port = 0; port < kPorts; ++port) {
    for (size_t reason = 0; reason < kReasons; ++reason) {
      refused_[port][reason] =
          &refused.Add({{"port", kPortNames[port]}, {"reason", kReasonNames[reason]}});
    }
  }
  auto& reloaded = prometheus::BuildCounter()
                       .Name("sinkd_access_reloads_total")
                       .Help("Reloads of tokens and certificates, by file and outcome.")
                       .Register(registry);
  for (size_t file = 0; file < kFiles; ++file) {
    for (size_t outcome = 0; outcome < 2; ++outcome) {
      reloaded_[file][outcome] =
          &reloaded.Add({{"file", kFileNames[file]}, {"outcome", kOutcomeNames[outcome]}});
    }
  }
}

void AccessMetrics::Refused(AccessPort port, absl::StatusCode code) {
  refused_[static_cast<size_t>(port)][ReasonOf(code)]->Increment();
}

void AccessMetrics::Reloaded(AccessFile file, bool ok) {
  reloaded_[static_cast<size_t>(file)][ok ? 0 : 1]->Increment();
}

void AccessMetrics::SetTokens(int64_t tokens) {
  tokens_.Set(static_cast<double>(tokens));
}

void AccessMetrics::SetCertificateEnd(std::chrono::system_clock::time_point not_after) {
  const std::chrono::duration<double> seconds = not_after.time_since_epoch();
  certificate_end_.Set(seconds.count());
}

}  // namespace sinkd
