#include "server/engine/families/family.h"

namespace sinkd {

std::span<const Family> Families() {
  static constexpr Family kFamilies[] = {
      {"llama", PlanLlama},
      {"qwen2", PlanQwen2},
      {"qwen3", PlanQwen3},
  };
  return kFamilies;
}

}  // namespace sinkd
