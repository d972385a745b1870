#include "server/service/studies/codec_study_report.h"

#include <variant>

namespace sinkd {
namespace {

namespace v1 = ::sinks::v1;

void EncodePosition(const StudyPosition& in, v1::StudyPosition* out) {
  out->set_sample_index(in.sample_index);
  out->set_position(in.position);
  out->set_token_id(in.token_id);
  out->set_group(in.group == PositionGroup::kTarget ? v1::POSITION_GROUP_TARGET
                                                    : v1::POSITION_GROUP_CONTROL);
  out->set_l_start(in.l_start);
  out->set_same_token(in.same_token);
}

}  // namespace

v1::Estimate EncodeEstimate(const Estimate& in) {
  v1::Estimate out;
  if (in.value) out.set_value(*in.value);
  if (in.lower) out.set_lower(*in.lower);
  if (in.upper) out.set_upper(*in.upper);
  out.set_n(in.n);
  if (!in.undefined.empty()) out.set_undefined(in.undefined);
  return out;
}

v1::StudyReport EncodeStudyReport(const StudyReport& report) {
  v1::StudyReport out;
  out.set_partial(report.partial);
  if (!report.partial_reason.empty()) out.set_partial_reason(report.partial_reason);
  out.set_samples(report.samples);
  out.set_tokens(report.tokens);
  out.set_sinks(report.sinks);
  out.set_targets(report.targets);
  out.set_controls(report.controls);
  if (report.target_l_start) out.set_target_l_start(*report.target_l_start);
  for (const StudyPosition& position : report.positions) {
    EncodePosition(position, out.add_positions());
  }
  out.set_seconds(report.seconds);
  std::visit([&out](const auto& findings) { EncodeFindings(findings, &out); }, report.findings);
  return out;
}

}  // namespace sinkd
