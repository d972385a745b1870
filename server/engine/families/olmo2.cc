// olmo2 and olmo3: norms stand after attention and MLP, none before; q and k are normed whole.
// OLMo 3 has windows in three of four blocks, whose rotation is never scaled.
#include "server/engine/families/gated_decoder.h"

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

absl::StatusOr<DecoderPlan> PlanEither(const ConfigReader& config, double rope_theta) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGatedDecoder(config, {.max_positions = 2048,
                                                                     .norm_epsilon = 1e-5,
                                                                     .rope_theta = rope_theta}));
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(config, plan.spec));
  plan.spec.head_norms = HeadNorms::kWhole;
  NormAfterOnly(plan);
  return plan;
}

}  // namespace

absl::StatusOr<DecoderPlan> PlanOlmo2(const ConfigReader& config) {
  return PlanEither(config, 10000);
}

absl::StatusOr<DecoderPlan> PlanOlmo3(const ConfigReader& config) {
  constexpr double kTheta = 500000;
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanEither(config, 0));
  SINKD_ASSIGN_OR_RETURN(const int64_t window, ReadWindow(config, 4096));
  SINKD_RETURN_IF_ERROR(ReadWindows(
      config, window, [](int64_t block) { return (block + 1) % 4 != 0; }, plan.spec));
  SINKD_ASSIGN_OR_RETURN(const double theta, config.NumberOr("rope_theta", kTheta));
  if (theta != kTheta) {
    return config.Error("rope_theta",
                        "is not 500000, and versions of transformers differ in which blocks it is "
                        "for",
                        "write it into both entries of rope_parameters");
  }
  return RotateByLayerType(config, {.theta = kTheta}, {.theta = kTheta}, std::move(plan));
}

}  // namespace sinkd
