#include "server/mechanism/sink_outcomes.h"

#include <algorithm>
#include <cmath>

#include "server/analysis/sink_detection.h"

namespace sinkd {

SinkMap::SinkMap(const v1::DetectionParameters& parameters, const v1::SampleRecord& record,
                 const Trace& trace)
    : sinks_(FindSinks(parameters, trace, record.primary().position(),
                       {record.window_start(), record.window_end()})) {}

const v1::Sink* SinkMap::Find(int64_t position) const {
  const auto found = std::lower_bound(
      sinks_.begin(), sinks_.end(), position,
      [](const v1::Sink& sink, int64_t wanted) { return sink.position() < wanted; });
  return found != sinks_.end() && found->position() == position ? &*found : nullptr;
}

int32_t SinkMap::LifetimeOf(int64_t position) const {
  const v1::Sink* sink = Find(position);
  return sink == nullptr ? 0 : sink->lifetime();
}

bool SinkMap::ShowsAt(int64_t position, int32_t layer) const {
  const v1::Sink* sink = Find(position);
  return sink != nullptr && std::binary_search(sink->layers().begin(), sink->layers().end(), layer);
}

void OutcomeTally::Add(const v1::Sink& sink, int64_t primary, const JudgedPass& base,
                       const JudgedPass& changed) {
  const int32_t layer = sink.l_start();
  const int32_t position = sink.position();
  const auto cosine = [&](const JudgedPass& pass) {
    return std::fabs(static_cast<double>(pass.trace.Cosine(layer, primary, position)));
  };
  suppressed_.Add(!changed.sinks.ShowsAt(position, layer));
  cosine_.Add(cosine(changed) - cosine(base));
  norm_.Add(static_cast<double>(changed.trace.StateNorm(layer, position)) -
            static_cast<double>(base.trace.StateNorm(layer, position)));
  lifetime_.Add(changed.sinks.LifetimeOf(position) - base.sinks.LifetimeOf(position));
}

v1::SinkOutcome OutcomeTally::Result(std::string_view none) const {
  v1::SinkOutcome outcome;
  *outcome.mutable_suppressed() = suppressed_.Result(none);
  *outcome.mutable_cosine_change() = cosine_.Result(none);
  *outcome.mutable_norm_change() = norm_.Result(none);
  *outcome.mutable_lifetime_change() = lifetime_.Result(none);
  return outcome;
}

}  // namespace sinkd
