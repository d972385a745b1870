#include "server/telemetry/memory_gauges.h"

namespace sinkd {
namespace {

prometheus::Family<prometheus::Gauge>& AddFamily(prometheus::Registry& registry, const char* name,
                                                 const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}

}  // namespace

MemoryGauges::MemoryGauges(prometheus::Registry& registry)
    : budget_(AddFamily(registry, "sinkd_memory_budget_bytes",
                        "What may be held on a device; 0 when nobody knows what it has.")),
      weights_(AddFamily(registry, "sinkd_memory_weight_bytes",
                         "Part of the budget that models in memory take.")),
      reserved_(AddFamily(registry, "sinkd_memory_reserved_bytes",
                          "Part of the budget that loads and forward passes under way take.")),
      evictions_(prometheus::BuildCounter()
                     .Name("sinkd_model_evictions_total")
                     .Help("Models unloaded to make room for others.")
                     .Register(registry)
                     .Add({})) {
  Set("cpu", 0, 0, 0);
}

void MemoryGauges::Set(const std::string& device, int64_t budget, int64_t weights,
                       int64_t reserved) {
  budget_.Add({{"device", device}}).Set(static_cast<double>(budget));
  weights_.Add({{"device", device}}).Set(static_cast<double>(weights));
  reserved_.Add({{"device", device}}).Set(static_cast<double>(reserved));
}

void MemoryGauges::SetEvictions(int64_t total) {
  const double more = static_cast<double>(total) - evictions_.Value();
  if (more > 0) evictions_.Increment(more);
}

}  // namespace sinkd
