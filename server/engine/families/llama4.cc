// llama4 and llama4_text: Llama 4 Scout and Maverick, the text half. Most blocks attend within
// chunks and rotate; the others see everything, with queries that grow; each token goes to one
// expert and to a shared one.
#include <algorithm>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/gated_decoder.h"

namespace sinkd {
namespace {

// A rotation of no channels, whose queries grow with their position.
absl::Status ReadTemperature(const ConfigReader& config, DecoderSpec& spec) {
  SINKD_ASSIGN_OR_RETURN(const bool grows, config.FlagOr("attn_temperature_tuning", true));
  RopeSpec rope{.growth_start = 1};
  SINKD_ASSIGN_OR_RETURN(rope.query_growth, config.NumberOr("attn_scale", 0.1));
  SINKD_ASSIGN_OR_RETURN(const int64_t span, config.SizeOr("floor_scale", 8192, kMaxPositions));
  rope.growth_positions = static_cast<double>(span);
  if (!grows) return absl::OkStatus();
  spec.ropes.push_back(rope);
  for (int32_t& index : spec.rope_of_block) {
    if (index < 0) index = 1;
  }
  return absl::OkStatus();
}

absl::Status ReadRotatingBlocks(const ConfigReader& config, DecoderSpec& spec) {
  constexpr char kKey[] = "no_rope_layers";
  SINKD_ASSIGN_OR_RETURN(const std::vector<double> rotates, config.NumberList(kKey));
  SINKD_ASSIGN_OR_RETURN(const int64_t interval,
                         config.SizeOr("no_rope_layer_interval", 4, kMaxBlocks));
  if (!rotates.empty() && rotates.size() != spec.window.size()) {
    return config.Error(kKey, StrCat("does not hold ", spec.blocks, " numbers"),
                        "list one per block");
  }
  for (int64_t l = 0; l < spec.blocks; ++l) {
    const auto at = static_cast<size_t>(l);
    const bool rotated = rotates.empty() ? (l + 1) % interval != 0 : rotates[at] != 0;
    spec.rope_of_block[at] = rotated ? 0 : -1;
  }
  return absl::OkStatus();
}

// Those that rotate, or those that layer_types names.
absl::Status ReadChunks(const ConfigReader& config, DecoderSpec& spec) {
  constexpr char kKey[] = "attention_chunk_size";
  SINKD_ASSIGN_OR_RETURN(const int64_t size,
                         config.SizeOr(kKey, config.Has(kKey) ? 0 : 8192, kMaxPositions));
  SINKD_ASSIGN_OR_RETURN(const std::vector<std::string> types, config.TextList("layer_types"));
  spec.chunk.assign(spec.window.size(), 0);
  for (size_t l = 0; l < spec.chunk.size(); ++l) {
    const bool in_chunks =
        l < types.size() ? types[l] == "chunked_attention" : spec.rope_of_block[l] == 0;
    if (in_chunks && size == 0 && !types.empty()) {
      return config.Error(kKey, "is not set, and layer_types names chunked_attention",
                          "set the size of a chunk");
    }
    if (in_chunks) spec.chunk[l] = size;
  }
  return absl::OkStatus();
}

absl::Status ReadMixture(const ConfigReader& config, DecoderSpec& spec) {
  SINKD_RETURN_IF_ERROR(ReadExperts(config, "intermediate_size", spec));
  ExpertSpec& experts = spec.experts;
  SINKD_ASSIGN_OR_RETURN(const int64_t step,
                         config.SizeOr("interleave_moe_layer_step", 1, kMaxBlocks));
  SINKD_ASSIGN_OR_RETURN(const std::vector<double> listed, config.NumberList("moe_layers"));
  const bool by_list = config.HasValue("moe_layers");
  for (int64_t l = 0; l < spec.blocks; ++l) {
    const bool in_list =
        std::find(listed.begin(), listed.end(), static_cast<double>(l)) != listed.end();
    experts.in_block[static_cast<size_t>(l)] = by_list ? in_list : (l + 1) % step == 0;
  }
  experts.routing = Routing::kSigmoidThenTop;
  experts.renormalize = false;
  experts.weigh_input = true;
  experts.shared_intermediate = experts.intermediate;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DecoderPlan> PlanLlama4Text(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan,
                         PlanGatedDecoder(config, {.kv_heads = 8,
                                                   .head_size = 128,
                                                   .max_positions = 131072,
                                                   .norm_epsilon = 1e-5,
                                                   .rope_theta = 500000,
                                                   .rope_interleaved = true,
                                                   .intermediate_key = "intermediate_size_mlp"}));
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(ReadAttentionBias(config, spec));
  SINKD_RETURN_IF_ERROR(ReadRotatingBlocks(config, spec));
  SINKD_RETURN_IF_ERROR(ReadChunks(config, spec));
  SINKD_RETURN_IF_ERROR(ReadTemperature(config, spec));
  SINKD_RETURN_IF_ERROR(ReadMixture(config, spec));
  SINKD_ASSIGN_OR_RETURN(const bool norms, config.FlagOr("use_qk_norm", true));
  if (norms) spec.head_norms = HeadNorms::kPerHead;
  spec.head_norms_after_rotary = true;
  spec.head_norms_where_rotating = true;
  spec.head_norm_weights = false;
  plan.names.experts = ExpertLayout::kStackedHalves;
  BlockWeightNames& names = plan.names.block;
  names.gate = "feed_forward.gate_proj";
  names.up = "feed_forward.up_proj";
  names.down = "feed_forward.down_proj";
  names.router = "feed_forward.router";
  names.expert_gate = "feed_forward.experts.gate_up_proj";
  names.expert_down = "feed_forward.experts.down_proj";
  NameShared("feed_forward.shared_expert", names);
  return plan;
}

}  // namespace sinkd
