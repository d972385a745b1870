// gptj and codegen: GPT-J, CodeGen. Attention and MLP in parallel after one norm, interleaved
// rotary on the first channels of each head; an output head with a bias.
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/gpt_decoder.h"

namespace sinkd {
namespace {

absl::StatusOr<DecoderPlan> PlanEither(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(
      DecoderPlan plan,
      PlanGptDecoder(
          config, {.max_positions = 2048, .tied = false, .up = "mlp.fc_in", .down = "mlp.fc_out"}));
  DecoderSpec& spec = plan.spec;
  RopeSpec rope{.interleaved = true};
  SINKD_ASSIGN_OR_RETURN(rope.dimensions, config.SizeOr("rotary_dim", 64, spec.head_size));
  if (rope.dimensions % 2 != 0 || rope.dimensions > spec.head_size ||
      (config.Has("rotary_dim") && !config.HasValue("rotary_dim"))) {
    return config.Error("rotary_dim",
                        StrCat("is not an even number of a head's ", spec.head_size, " channels"),
                        "restore config.json from the checkpoint's source");
  }
  spec.ropes = {rope};
  spec.rope_of_block.assign(spec.rope_of_block.size(), 0);
  spec.qkv_bias = spec.output_bias = false;
  spec.head_bias = true;
  ReadOneNorm(plan);
  plan.names.block.o = "attn.out_proj";
  return plan;
}

}  // namespace

absl::StatusOr<DecoderPlan> PlanGptJ(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanEither(config));
  plan.names.block.q = "attn.q_proj";
  plan.names.block.k = "attn.k_proj";
  plan.names.block.v = "attn.v_proj";
  return plan;
}

absl::StatusOr<DecoderPlan> PlanCodeGen(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanEither(config));
  if (plan.spec.heads % 4 != 0) {
    return config.Error("n_head", "does not divide into the four parts that the weights come in",
                        "restore config.json from the checkpoint's source");
  }
  plan.names.block.q = "attn.qkv_proj";
  plan.names.qkv = QkvLayout::kQuarters;
  return plan;
}

}  // namespace sinkd
