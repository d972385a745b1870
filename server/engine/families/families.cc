#include "server/engine/families/family.h"

namespace sinkd {

std::span<const Family> Families() {
  static constexpr Family kFamilies[] = {
      {"gemma2", PlanGemma2},
      {"gemma3", PlanGemma3Multimodal},
      {"gemma3_text", PlanGemma3},
      {"gpt2", PlanGpt2},
      {"gpt_neox", PlanGptNeox},
      {"gpt_oss", PlanGptOss},
      {"llama", PlanLlama},
      {"mistral", PlanMistral},
      {"mixtral", PlanMixtral},
      {"olmo2", PlanOlmo2},
      {"opt", PlanOpt},
      {"phi3", PlanPhi3},
      {"qwen2", PlanQwen2},
      {"qwen3", PlanQwen3},
      {"qwen3_moe", PlanQwen3Moe},
      {"smollm3", PlanSmolLm3},
  };
  return kFamilies;
}

}  // namespace sinkd
