#include "fake_study.h"

#include <utility>

#include "server/base/status.h"

namespace sinkd::testing {

absl::Status FakeStudy::Step(std::stop_token stop) {
  if (script_.on_step) SINKD_RETURN_IF_ERROR(script_.on_step(steps_, std::move(stop)));
  ++steps_;
  return absl::OkStatus();
}

v1::StudyReport FakeStudy::Report(std::string partial_reason) {
  v1::StudyReport report;
  report.set_partial(!partial_reason.empty());
  if (report.partial()) report.set_partial_reason(std::move(partial_reason));
  report.mutable_norms();
  for (int i = 0; i < steps_; ++i) report.mutable_norms()->add_rows()->set_block(i);
  if (steps_ == 0) return report;
  int64_t tokens = 0;
  for (const StudySample& sample : samples_) {
    tokens += static_cast<int64_t>(sample.ids.size());
    report.add_positions()->set_sample_index(sample.index);
  }
  report.set_samples(std::ssize(samples_));
  report.set_tokens(tokens);
  return report;
}

}  // namespace sinkd::testing
