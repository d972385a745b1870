// What becomes of sinks under an intervention, judged by the rule that found them: with the primary
// sink and the window of the pass as it is, whatever the intervention did to either.
//
// Thread-safety: pure functions; a tally belongs to one thread at a time.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "server/analysis/parameters.h"
#include "server/analysis/records.h"
#include "server/engine/trace.h"
#include "server/mechanism/estimates.h"

namespace sinkd {

// The sinks of one pass by position.
class SinkMap {
 public:
  // `record` says p0 and window; `trace` is of the same sample, whole up to the window's end.
  SinkMap(const v1::DetectionParameters& parameters, const v1::SampleRecord& record,
          const Trace& trace);

  // Null where there is none.
  const v1::Sink* Find(int64_t position) const;
  // 0 where there is none.
  int32_t LifetimeOf(int64_t position) const;
  bool ShowsAt(int64_t position, int32_t layer) const;

 private:
  std::vector<v1::Sink> sinks_;  // by position
};

// A pass and what it made of sinks.
struct JudgedPass {
  const Trace& trace;
  const SinkMap& sinks;
};

class OutcomeTally {
 public:
  // `sink` as it is without the intervention.
  void Add(const v1::Sink& sink, int64_t primary, const JudgedPass& base,
           const JudgedPass& changed);

  // `none`: why there may be nothing.
  v1::SinkOutcome Result(std::string_view none) const;

 private:
  ShareOf suppressed_;
  MeanOf cosine_, norm_, lifetime_;
};

}  // namespace sinkd
