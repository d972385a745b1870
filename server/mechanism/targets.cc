#include "server/mechanism/targets.h"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_set>

namespace sinkd {
namespace {

bool Contains(const google::protobuf::RepeatedField<int32_t>& values, int32_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool Meets(const v1::TargetFilter& filter, std::optional<int32_t> l_start, const v1::Sink& sink) {
  return Contains(filter.kinds(), sink.kind()) && (!l_start || sink.l_start() == *l_start) &&
         (filter.token_ids().empty() || Contains(filter.token_ids(), sink.token_id()));
}

// Calls `visit(sample, sink)` for every sink past a primary one.
template <typename Visit>
void ForEachSink(std::span<const DetectedSample> samples, Visit visit) {
  for (size_t s = 0; s < samples.size(); ++s) {
    for (const v1::Sink& sink : samples[s].record.sinks()) visit(static_cast<int64_t>(s), sink);
  }
}

// Positions past p0 that never are a sink and whose token `eligible` takes, in order.
template <typename Eligible, typename Visit>
void ForEachCandidate(std::span<const DetectedSample> samples, Eligible eligible, Visit visit) {
  for (size_t s = 0; s < samples.size(); ++s) {
    const TokenIds& ids = samples[s].sample.ids;
    for (const int64_t position : NeverSinksPastPrimary(samples[s].record)) {
      const int32_t token = ids[Trace::At(position)];
      if (!eligible(token)) continue;
      visit(ChosenPosition{static_cast<int64_t>(s), static_cast<int32_t>(position), token});
    }
  }
}

// Two walks over the samples instead of a list of their positions, which could be many millions.
template <typename Eligible>
std::vector<ChosenPosition> DrawCandidates(std::span<const DetectedSample> samples,
                                           Eligible eligible, int64_t wanted, Draws& draws) {
  int64_t count = 0;
  ForEachCandidate(samples, eligible, [&](const ChosenPosition&) { ++count; });
  const std::vector<int64_t> chosen = draws.Choose(count, wanted);
  std::map<int64_t, size_t> rank;  // of a candidate: its place among those drawn
  for (size_t i = 0; i < chosen.size(); ++i) rank[chosen[i]] = i;
  std::vector<ChosenPosition> drawn(chosen.size());
  int64_t candidate = 0;
  ForEachCandidate(samples, eligible, [&](const ChosenPosition& position) {
    const auto found = rank.find(candidate++);
    if (found != rank.end()) drawn[found->second] = position;
  });
  return drawn;
}

}  // namespace

std::optional<int32_t> ChooseStart(const v1::TargetFilter& filter,
                                   std::span<const DetectedSample> samples) {
  if (filter.has_l_start()) return filter.l_start();
  std::map<int32_t, int64_t> counts;
  ForEachSink(samples, [&](int64_t, const v1::Sink& sink) {
    if (Meets(filter, std::nullopt, sink)) ++counts[sink.l_start()];
  });
  // The first of equal counts has the lowest l_start.
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == counts.end()) return std::nullopt;
  return most->first;
}

std::vector<ChosenPosition> ChooseTargets(const v1::TargetFilter& filter,
                                          std::optional<int32_t> l_start,
                                          std::span<const DetectedSample> samples, Draws& draws) {
  std::vector<ChosenPosition> found;
  ForEachSink(samples, [&](int64_t sample, const v1::Sink& sink) {
    if (!Meets(filter, l_start, sink)) return;
    found.push_back({sample, sink.position(), sink.token_id(), sink.l_start()});
  });
  const auto count = static_cast<int64_t>(found.size());
  if (count <= filter.limit()) return found;
  std::vector<int64_t> chosen = draws.Choose(count, filter.limit());
  std::sort(chosen.begin(), chosen.end());
  std::vector<ChosenPosition> targets;
  for (const int64_t index : chosen) targets.push_back(found[Trace::At(index)]);
  return targets;
}

std::vector<ChosenPosition> ChooseControls(std::span<const ChosenPosition> targets,
                                           std::span<const DetectedSample> samples, Draws& draws) {
  std::unordered_set<int32_t> tokens;
  for (const ChosenPosition& target : targets) tokens.insert(target.token_id);
  const auto same_token = [&](int32_t token) { return tokens.contains(token); };
  const auto wanted = static_cast<int64_t>(targets.size());
  std::vector<ChosenPosition> controls = DrawCandidates(samples, same_token, wanted, draws);
  for (ChosenPosition& control : controls) control.same_token = true;
  const auto missing = wanted - static_cast<int64_t>(controls.size());
  if (missing > 0) {
    const std::vector<ChosenPosition> others =
        DrawCandidates(samples, std::not_fn(same_token), missing, draws);
    controls.insert(controls.end(), others.begin(), others.end());
  }
  for (size_t i = 0; i < controls.size(); ++i) controls[i].l_start = targets[i].l_start;
  return controls;
}

std::vector<bool> NeverSinks(const v1::SampleRecord& record) {
  std::vector<bool> never(Trace::At(record.positions()), true);
  never[Trace::At(record.primary().position())] = false;
  for (const v1::Sink& sink : record.sinks()) never[Trace::At(sink.position())] = false;
  return never;
}

std::vector<int64_t> NeverSinksPastPrimary(const v1::SampleRecord& record) {
  const std::vector<bool> never = NeverSinks(record);
  std::vector<int64_t> positions;
  for (int64_t t = record.primary().position() + 1; t < record.positions(); ++t) {
    if (never[Trace::At(t)]) positions.push_back(t);
  }
  return positions;
}

}  // namespace sinkd
