// smollm3: SmolLM3. Blocks whose no_rope_layers entry is 0 do not rotate.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::StatusOr<DecoderPlan> PlanSmolLm3(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(
      DecoderPlan plan,
      PlanGatedDecoder(config,
                       {.kv_heads = 4, .max_positions = 32768, .rope_theta = 2e6, .tied = true}));
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(config, spec));
  SINKD_ASSIGN_OR_RETURN(spec.mlp_bias, config.FlagOr("mlp_bias", false));
  SINKD_ASSIGN_OR_RETURN(const std::vector<double> rotates, config.NumberList("no_rope_layers"));
  SINKD_ASSIGN_OR_RETURN(const int64_t interval,
                         config.SizeOr("no_rope_layer_interval", 4, kMaxBlocks));
  if (!rotates.empty() && static_cast<int64_t>(rotates.size()) != spec.blocks) {
    return config.Error("no_rope_layers", StrCat("does not hold ", spec.blocks, " numbers"),
                        "list one per block");
  }
  for (int64_t l = 0; l < spec.blocks; ++l) {
    const auto at = static_cast<size_t>(l);
    const bool rotated = rotates.empty() ? (l + 1) % interval != 0 : rotates[at] != 0;
    spec.rope_of_block[at] = rotated ? 0 : -1;
  }
  SINKD_ASSIGN_OR_RETURN(const bool use, config.FlagOr("use_sliding_window", false));
  SINKD_ASSIGN_OR_RETURN(const int64_t written, ReadWindow(config, 0));
  const int64_t window = use ? written : 0;
  SINKD_RETURN_IF_ERROR(ReadWindows(
      config, window,
      [&spec, window](int64_t block) {
        return window > 0 && spec.rope_of_block[static_cast<size_t>(block)] < 0;
      },
      spec));
  return plan;
}

}  // namespace sinkd
