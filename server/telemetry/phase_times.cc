#include "server/telemetry/phase_times.h"

namespace sinkd {
namespace {

// As the label "phase" of the metrics has them.
constexpr std::array<const char*, kSamplePhases> kKeys = {"queue_seconds",   "encode_seconds",
                                                          "forward_seconds", "analyse_seconds",
                                                          "keep_seconds",    "write_seconds"};

}  // namespace

void PhaseTimes::Add(SamplePhase phase, Duration took) {
  metrics_.PhaseDone(phase, took);
  nanoseconds_[static_cast<size_t>(phase)] +=
      std::chrono::duration_cast<std::chrono::nanoseconds>(took).count();
}

std::vector<LogField> PhaseTimes::Fields() const {
  std::vector<LogField> fields;
  for (size_t i = 0; i < kSamplePhases; ++i) {
    const std::chrono::nanoseconds spent(nanoseconds_[i].load());
    if (spent.count() > 0) fields.emplace_back(kKeys[i], Duration(spent));
  }
  return fields;
}

}  // namespace sinkd
