// youtu: Youtu-LLM. Latent attention, a dense MLP.
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/latent_decoder.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanYoutu(const ConfigReader& config) {
  return PlanLatentDecoder(
      config, {.heads = 16, .kv_heads = 16, .max_positions = 131072, .tied = true}, {});
}

}  // namespace sinkd
