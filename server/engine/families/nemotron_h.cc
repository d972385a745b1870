// nemotron_h: Nemotron-H, Nemotron Nano 2 and Nemotron 3. Each block is one part alone: Mamba2,
// softmax attention without rotary, an MLP, or a mixture of experts. Squared ReLUs without gate.
#include <algorithm>
#include <set>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/gated_decoder.h"

namespace sinkd {
namespace {

constexpr char kRestore[] = "restore config.json from the checkpoint's source";
constexpr char kPattern[] = "hybrid_override_pattern";
constexpr char kUse[] = "use linear_attention, full_attention, mlp or moe";

enum class Part { kMamba, kAttention, kMlp, kMixture };

struct PartName {
  std::string_view name, old_name;
  char letter;
  Part part;
};
constexpr PartName kParts[] = {{"linear_attention", "mamba", 'M', Part::kMamba},
                               {"full_attention", "attention", '*', Part::kAttention},
                               {"mlp", "mlp", '-', Part::kMlp},
                               {"moe", "moe", 'E', Part::kMixture}};

// By the letters of the pattern, as published, or by names, as transformers 5 writes them.
absl::StatusOr<std::vector<Part>> ReadParts(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(const std::string_view key,
                         EitherKey(config, "layers_block_type", "layer_types"));
  SINKD_ASSIGN_OR_RETURN(std::vector<std::string> names, config.TextList(key));
  const bool listed = config.HasValue(key);
  SINKD_ASSIGN_OR_RETURN(const std::string pattern, config.TextOr(kPattern, listed ? "" : "ME*-"));
  if (!listed) {
    for (const char letter : pattern) names.emplace_back(1, letter);
  }
  std::vector<Part> parts;
  for (const std::string& name : names) {
    const auto* const known =
        std::find_if(std::begin(kParts), std::end(kParts), [&](const PartName& part) {
          if (!listed) return name[0] == part.letter;
          return name == part.name || name == part.old_name;
        });
    if (known == std::end(kParts)) {
      return config.Error(listed ? key : kPattern,
                          StrCat("names ", Shorten(name), ", which is no part of this family"),
                          kUse);
    }
    parts.push_back(known->part);
  }
  return parts;
}

absl::Status ReadBlocks(const ConfigReader& config, const std::vector<Part>& parts,
                        DecoderSpec& spec) {
  if (std::ssize(parts) != spec.blocks) {
    return config.Error("num_hidden_layers", StrCat("is not the number of parts, ", parts.size()),
                        kRestore);
  }
  for (size_t l = 0; l < parts.size(); ++l) {
    const bool mixes = parts[l] == Part::kMamba || parts[l] == Part::kAttention;
    spec.mixer.push_back(parts[l] == Part::kMamba       ? Mixer::kMamba2
                         : parts[l] == Part::kAttention ? Mixer::kAttention
                                                        : Mixer::kNone);
    spec.with_mlp.push_back(!mixes);
  }
  return absl::OkStatus();
}

// The keys of Mamba2, some of which have an older name.
absl::Status ReadMamba2(const ConfigReader& config, DecoderSpec& spec) {
  MambaSpec& mamba = spec.mamba;
  const auto either = [&](std::string_view key, std::string_view old, int64_t absent,
                          int64_t maximum, int64_t& value) -> absl::Status {
    SINKD_ASSIGN_OR_RETURN(const std::string_view written, EitherKey(config, key, old));
    SINKD_ASSIGN_OR_RETURN(value, config.SizeOr(written, absent, maximum));
    return absl::OkStatus();
  };
  SINKD_ASSIGN_OR_RETURN(mamba.heads, config.SizeOr("mamba_num_heads", 128, kMaxHeads));
  SINKD_ASSIGN_OR_RETURN(mamba.head_size, config.SizeOr("mamba_head_dim", 64, kMaxWidth));
  SINKD_ASSIGN_OR_RETURN(mamba.state_size, config.SizeOr("ssm_state_size", 128, kMaxWidth));
  SINKD_RETURN_IF_ERROR(either("n_groups", "mamba_n_groups", 8, kMaxHeads, mamba.groups));
  SINKD_RETURN_IF_ERROR(either("conv_kernel", "mamba_d_conv", 4, kMaxTaps, spec.convolution_taps));
  if (mamba.heads % mamba.groups != 0) {
    return config.Error("n_groups", StrCat("does not divide mamba_num_heads, ", mamba.heads),
                        kRestore);
  }
  SINKD_ASSIGN_OR_RETURN(const std::string_view bias,
                         EitherKey(config, "use_conv_bias", "mamba_conv_bias"));
  SINKD_ASSIGN_OR_RETURN(spec.convolution_bias, config.FlagOr(bias, true));
  SINKD_ASSIGN_OR_RETURN(mamba.input_bias, config.FlagOr("use_bias", false));
  mamba.output_bias = mamba.input_bias;
  SINKD_ASSIGN_OR_RETURN(const std::string_view least,
                         EitherKey(config, "time_step_min", "mamba_dt_min"));
  SINKD_ASSIGN_OR_RETURN(mamba.least_step, config.NumberOr(least, 0.001));
  if (mamba.least_step < 0) return config.Error(least, "is negative", kRestore);
  DecoderSpec mixed;
  SINKD_RETURN_IF_ERROR(ReadActivation(config, "mamba_hidden_act", "silu", mixed));
  mamba.activation = mixed.activation;
  return absl::OkStatus();
}

// Written and read by nothing: sizes that others imply, rotary settings though nothing rotates, how
// the model is made and trained, the types of states, biases that no projection has, and the part
// that predicts further tokens.
void PassOverUnused(const ConfigReader& config) {
  config.PassOver({"attention_bias",
                   "chunk_size",
                   "expand",
                   "hidden_act",
                   "mamba_chunk_size",
                   "mamba_dt_init_floor",
                   "mamba_dt_limit",
                   "mamba_dt_max",
                   "mamba_expand",
                   "mamba_proj_bias",
                   "mamba_ssm_cache_dtype",
                   "moe_shared_expert_overlap",
                   "mtp_hybrid_override_pattern",
                   "mtp_layers_block_type",
                   "n_shared_experts",
                   "norm_eps",
                   "num_logits_to_keep",
                   "num_nextn_predict_layers",
                   "partial_rotary_factor",
                   "rescale_prenorm_residual",
                   "residual_in_fp32",
                   "rope_theta",
                   "sliding_window",
                   "time_step_floor",
                   "time_step_limit",
                   "time_step_max",
                   "time_step_rank",
                   "use_mamba_kernels"});
}

absl::Status ReadMixture(const ConfigReader& config, const std::vector<Part>& parts,
                         DecoderPlan& plan) {
  DecoderSpec& spec = plan.spec;
  SINKD_RETURN_IF_ERROR(ReadExperts(config, "moe_intermediate_size", spec, "n_routed_experts"));
  ExpertSpec& experts = spec.experts;
  SINKD_RETURN_IF_ERROR(ReadSigmoidRouter(config, {}, spec));
  experts.added_to_sum = 1e-20;
  if (config.HasValue("moe_latent_size")) {
    SINKD_ASSIGN_OR_RETURN(experts.latent, config.Size("moe_latent_size", kMaxWidth));
  }
  SINKD_ASSIGN_OR_RETURN(experts.shared_intermediate,
                         config.SizeOr("moe_shared_expert_intermediate_size", 7688, kMaxWidth));
  for (size_t l = 0; l < parts.size(); ++l) experts.in_block[l] = parts[l] == Part::kMixture;
  BlockWeightNames& names = plan.names.block;
  names.router = "mixer.gate";
  names.router_correction = "mixer.gate.e_score_correction_bias";
  names.expert_in = "mixer.fc1_latent_proj";
  names.expert_out = "mixer.fc2_latent_proj";
  names.expert_up = "mixer.experts.{}.up_proj";
  names.expert_down = "mixer.experts.{}.down_proj";
  names.shared_up = "mixer.shared_experts.up_proj";
  names.shared_down = "mixer.shared_experts.down_proj";
  return absl::OkStatus();
}

void NameTensors(DecoderPlan& plan) {
  WeightNames& names = plan.names;
  names.prefix = "backbone.";
  names.embedding = "backbone.embeddings";
  names.final_norm = "backbone.norm_f";
  names.block_prefix = "backbone.layers.";
  BlockWeightNames& block = names.block;
  block.attention_norm = "norm";
  block.mlp_norm = "norm";
  block.q = "mixer.q_proj";
  block.k = "mixer.k_proj";
  block.v = "mixer.v_proj";
  block.o = "mixer.o_proj";
  block.mixer_in = "mixer.in_proj";
  block.mixer_out = "mixer.out_proj";
  block.convolution = "mixer.conv1d";
  block.mixer_norm = "mixer.norm";
  block.mixer_decay = "mixer.A_log";
  block.mixer_step = "mixer.dt_bias";
  block.mamba_skip = "mixer.D";
}

}  // namespace

absl::StatusOr<DecoderPlan> PlanNemotronH(const ConfigReader& config) {
  SINKD_ASSIGN_OR_RETURN(const std::vector<Part> parts, ReadParts(config));
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan,
                         PlanGatedDecoder(config, {.blocks = std::ssize(parts),
                                                   .heads = 32,
                                                   .kv_heads = 8,
                                                   .head_size = 128,
                                                   .max_positions = 4096,
                                                   .norm_epsilon = 1e-5,
                                                   .norm_key = "layer_norm_epsilon",
                                                   .rope_theta = 0,
                                                   .activation_key = "mlp_hidden_act",
                                                   .activation = "relu2"}));
  DecoderSpec& spec = plan.spec;
  SINKD_ASSIGN_OR_RETURN(spec.mlp_bias, config.FlagOr("mlp_bias", false));
  SINKD_RETURN_IF_ERROR(ReadBlocks(config, parts, spec));
  SINKD_RETURN_IF_ERROR(ReadMamba2(config, spec));
  PassOverUnused(config);
  LeaveOutGate("mixer.up_proj", "mixer.down_proj", plan);
  NameTensors(plan);
  const bool sparse = std::find(parts.begin(), parts.end(), Part::kMixture) != parts.end();
  if (sparse) SINKD_RETURN_IF_ERROR(ReadMixture(config, parts, plan));
  return plan;
}

}  // namespace sinkd
