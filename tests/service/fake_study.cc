#include "fake_study.h"

#include <utility>

#include "server/base/status.h"

namespace sinkd::testing {

absl::Status FakeStudy::Step(std::stop_token stop) {
  if (script_.on_step) SINKD_RETURN_IF_ERROR(script_.on_step(steps_, std::move(stop)));
  ++steps_;
  return absl::OkStatus();
}

StudyReport FakeStudy::Report(std::string partial_reason) {
  StudyReport report{.partial = !partial_reason.empty(),
                     .partial_reason = std::move(partial_reason)};
  NormsReport norms;
  for (int64_t i = 0; i < steps_; ++i) norms.rows.push_back({.block = static_cast<int32_t>(i)});
  report.findings = std::move(norms);
  if (steps_ == 0) return report;
  for (const StudySample& sample : samples_) {
    ++report.samples;
    report.tokens += static_cast<int64_t>(sample.ids.size());
    report.positions.push_back({.sample_index = sample.index});
  }
  return report;
}

}  // namespace sinkd::testing
