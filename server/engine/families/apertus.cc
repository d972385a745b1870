// apertus: Apertus 8B and 70B. An activation with learned numbers (xIELU), no gate; norms on q and
// k.
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/gated_decoder.h"

namespace sinkd {
namespace {

constexpr char kScalingAbsent[] =
    R"({"rope_type": "llama3", "rope_theta": 12000000.0, "factor": 8.0, "low_freq_factor": 1.0,
        "high_freq_factor": 4.0, "original_max_position_embeddings": 8192})";

}  // namespace

absl::StatusOr<DecoderPlan> PlanApertus(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanGatedDecoder(config, {.max_positions = 65536,
                                                                     .norm_epsilon = 1e-5,
                                                                     .rope_theta = 0,
                                                                     .activation_key = ""}));
  DecoderSpec& spec = plan.spec;
  SINKD_ASSIGN_OR_RETURN(const std::string activation, config.TextOr("hidden_act", "xielu"));
  spec.activation = Activation::kXielu;
  if (activation != "xielu") {
    SINKD_RETURN_IF_ERROR(ReadActivation(config, "hidden_act", "xielu", spec));
  }
  SINKD_RETURN_IF_ERROR(
      ReadRopeForAll(config, {.theta = 12e6, .scaling_absent = kScalingAbsent}, spec));
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(config, spec));
  spec.head_norms = HeadNorms::kPerHead;
  LeaveOutGate("mlp.up_proj", "mlp.down_proj", plan);
  BlockWeightNames& names = plan.names.block;
  names.act = "mlp.act_fn";
  names.attention_norm = "attention_layernorm";
  names.mlp_norm = "feedforward_layernorm";
  return plan;
}

}  // namespace sinkd
