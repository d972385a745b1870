// ministral and ministral3: Ministral 8B of 2024, with windows by block, and Ministral 3, whose
// queries grow with their position.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

constexpr char kScalingAbsent[] =
    R"({"rope_type": "yarn", "rope_theta": 1000000.0, "factor": 16.0, "beta_fast": 32.0,
        "beta_slow": 1.0, "original_max_position_embeddings": 16384, "mscale": 1.0,
        "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1})";

}  // namespace

absl::StatusOr<DecoderPlan> PlanMinistral(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan,
                         PlanGatedDecoder(config, {.kv_heads = 8, .max_positions = 131072}));
  SINKD_ASSIGN_OR_RETURN(const int64_t window, ReadWindow(config, 4096));
  SINKD_RETURN_IF_ERROR(ReadWindows(
      config, window, [window](int64_t) { return window > 0; }, plan.spec));
  return plan;
}

absl::StatusOr<DecoderPlan> PlanMinistral3(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGatedDecoder(config, {.kv_heads = 8,
                                                                     .head_size = 128,
                                                                     .max_positions = 262144,
                                                                     .norm_epsilon = 1e-5,
                                                                     .rope_theta = 0}));
  SINKD_RETURN_IF_ERROR(
      ReadRopeForAll(config, {.scaling_absent = kScalingAbsent, .query_growth = true}, plan.spec));
  SINKD_ASSIGN_OR_RETURN(const int64_t window, ReadWindow(config, 0));
  plan.spec.window.assign(plan.spec.window.size(), window);
  return plan;
}

}  // namespace sinkd
