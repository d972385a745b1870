// MemoryGauges: the memory budget of each device and its use. Internal to this module.
//
// Thread-safety: all methods may be called from any thread.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include <cstdint>
#include <string>

namespace sinkd {

class MemoryGauges {
 public:
  explicit MemoryGauges(prometheus::Registry& registry);

  // `reserved`: by running loads and forward passes.
  void Set(const std::string& device, int64_t budget, int64_t weights, int64_t reserved);
  void SetEvictions(int64_t total);  // never decreases

 private:
  prometheus::Family<prometheus::Gauge>& budget_;
  prometheus::Family<prometheus::Gauge>& weights_;
  prometheus::Family<prometheus::Gauge>& reserved_;
  prometheus::Counter& evictions_;
};

}  // namespace sinkd
