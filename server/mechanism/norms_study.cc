#include "server/mechanism/norms_study.h"

#include <cmath>
#include <utility>

#include "server/base/status.h"

namespace sinkd {

std::vector<StudyBase::Phase> NormsStudy::Plan() {
  for (Group* group : {&primary_, &secondary_, &rest_}) {
    group->blocks.resize(Trace::At(model().info().spec.blocks));
  }
  return {MeasureEachSample(
      "measure", [this](int64_t sample, std::stop_token stop) { return Measure(sample, stop); })};
}

absl::Status NormsStudy::Measure(int64_t sample, std::stop_token stop) {
  const DetectedSample& found = detected(sample);
  SINKD_ASSIGN_OR_RETURN(const RowNorms norms, model().MeasureNorms(found.sample.ids, stop));
  Add(norms, found.record.primary().position(), primary_);
  for (const v1::Sink& sink : found.record.sinks()) {
    if (IsSecondary(sink)) Add(norms, sink.position(), secondary_);
  }
  const std::vector<bool> never = NeverSinks(found.record);
  for (size_t t = 0; t < never.size(); ++t) {
    if (never[t]) Add(norms, static_cast<int64_t>(t), rest_);
  }
  for (Group* group : {&primary_, &secondary_, &rest_}) EndSample(*group);
  return absl::OkStatus();
}

void NormsStudy::Add(const RowNorms& norms, int64_t position, Group& group) {
  // A reservoir: position n stays with probability kMedianPositions / n, in place of a random one.
  const int64_t index = group.positions++;
  const int64_t slot = index < kMedianPositions ? index : draws().Index(index + 1);
  for (size_t block = 0; block < group.blocks.size(); ++block) {
    const size_t at = Trace::At(static_cast<int64_t>(block) * norms.positions + position);
    const float values[] = {norms.key[at], norms.value[at], norms.state[at]};
    for (size_t kind = 0; kind < 3; ++kind) {
      if (std::isnan(values[kind])) continue;
      Values& kept = group.blocks[block][kind];
      kept.sum += values[kind];
      ++kept.count;
      if (slot == std::ssize(kept.kept)) {
        kept.kept.push_back(values[kind]);
      } else if (slot < kMedianPositions) {
        kept.kept[Trace::At(slot)] = values[kind];
      }
    }
  }
}

void NormsStudy::EndSample(Group& group) {
  for (std::array<Values, 3>& kinds : group.blocks) {
    for (Values& values : kinds) {
      values.mean.Add(values.sum, static_cast<double>(values.count));
      values.sum = 0;
      values.count = 0;
    }
  }
}

v1::GroupNorms NormsStudy::Sum(const std::array<Values, 3>& values, std::string_view none) {
  const auto& [key, value, state] = values;
  const auto median = [](const Values& kind) {
    return Median({kind.kept.begin(), kind.kept.end()});
  };
  v1::GroupNorms norms;
  *norms.mutable_state() = state.mean.PositiveResult(none);
  if (state.kept.empty()) {
    *norms.mutable_key() = key.mean.PositiveResult(none);
    *norms.mutable_value() = value.mean.PositiveResult(none);
    return norms;
  }
  norms.set_state_median(median(state));
  constexpr std::string_view kNoKeys = "the block has no softmax attention";
  *norms.mutable_key() = key.mean.PositiveResult(kNoKeys);
  *norms.mutable_value() = value.mean.PositiveResult(kNoKeys);
  if (key.kept.empty()) return norms;
  norms.set_key_median(median(key));
  norms.set_value_median(median(value));
  return norms;
}

void NormsStudy::AddFindings(const std::string& missing, v1::StudyReport& report) {
  const auto reason = [&](std::string_view why) { return missing.empty() ? why : missing; };
  v1::NormsReport& found = *report.mutable_norms();
  for (size_t block = 0; block < rest_.blocks.size(); ++block) {
    v1::NormsRow* row = found.add_rows();
    row->set_block(static_cast<int32_t>(block));
    *row->mutable_primary() = Sum(primary_.blocks[block], reason("no samples"));
    *row->mutable_secondary() = Sum(secondary_.blocks[block], reason("no secondary sinks"));
    *row->mutable_rest() = Sum(rest_.blocks[block], reason("no other positions"));
  }
}

}  // namespace sinkd
