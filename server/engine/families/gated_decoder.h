// What llama and its descendants share: RMS norms, rotary attention, a gated MLP.
#pragma once

#include <absl/status/statusor.h>

#include "server/engine/families/decoder_keys.h"

namespace sinkd {

// How a family fills the keys a config leaves out.
struct GatedDecoderDefaults {
  int64_t blocks = 0;      // 0: the key is required
  int64_t heads = 0;       // 0: the key is required
  int64_t vocabulary = 0;  // 0: the key is required
  int64_t kv_heads = 0;    // 0: as many as query heads
  int64_t head_size = 0;   // 0: hidden / heads
  int64_t max_positions = 0;
  double norm_epsilon = 1e-6;
  std::string_view norm_key = "rms_norm_eps";  // empty: the epsilon is not in the config
  double rope_theta = 10000.0;                 // 0: the family reads its rotary settings itself
  double rope_partial = 0;  // of partial_rotary_factor; 0: whole heads rotate, and it is no key
  bool rope_interleaved = false;
  bool tied = false;
  std::string_view activation_key = "hidden_act";  // empty: the family reads it itself
  std::string_view activation = "silu";
  std::string_view intermediate_key = "intermediate_size";
};

// Sizes, heads, rotary, norms, activation and llama's weight names; the rest is the family's.
absl::StatusOr<DecoderPlan> PlanGatedDecoder(const ConfigReader& config,
                                             const GatedDecoderDefaults& defaults);

// attention_bias for q, k, v and o alike.
absl::Status ReadAttentionBias(const ConfigReader& config, DecoderSpec& spec);

// The number under `key`, which has to be over 0.
absl::Status ReadPositive(const ConfigReader& config, std::string_view key, double absent,
                          double& value);

// An MLP of up, activation and down; `up` and `down` are their names.
void LeaveOutGate(std::string_view up, std::string_view down, DecoderPlan& plan);

// Norms after attention and MLP, before the add, and none before them.
void NormAfterOnly(DecoderPlan& plan);

// Rotates the blocks that have a window, and no others.
void RotateWhereWindowed(DecoderSpec& spec);

// One rotation for the blocks that see everything, and one for those that slide. Longest context
// and, unless the defaults have one, head size are the spec's.
absl::StatusOr<DecoderPlan> RotateByLayerType(const ConfigReader& config, RopeDefaults full,
                                              RopeDefaults sliding, DecoderPlan plan);

// Attention and MLP in parallel, both reading one norm.
void ReadOneNorm(DecoderPlan& plan);

// Windows of Qwen2 and Qwen3: only where use_sliding_window says so, from max_window_layers on.
absl::Status ReadQwenWindows(const ConfigReader& config, DecoderSpec& spec,
                             double max_window_layers = 28);

// The router and the experts of a block: how many, how many a token goes to, how wide. Their number
// is num_local_experts or num_experts: transformers takes both and writes either.
absl::Status ReadExperts(const ConfigReader& config, std::string_view width_key, DecoderSpec& spec,
                         std::string_view count_key = "num_experts",
                         std::string_view per_token_key = "experts_per_token");

// The integer from 0 to `maximum` under `key`.
absl::StatusOr<int64_t> ReadCount(const ConfigReader& config, std::string_view key, int64_t absent,
                                  int64_t maximum);

// How many blocks for predicting further tokens the checkpoint holds, which no pass reads:
// num_nextn_predict_layers, or num_mtp_layers. Sets names.unused_blocks.
absl::Status ReadFurtherBlocks(const ConfigReader& config, int64_t absent, DecoderPlan& plan);

// How many shared experts of a routed one's width every token passes as well, under `count_key`.
absl::Status ReadShared(const ConfigReader& config, std::string_view count_key, int64_t absent,
                        DecoderSpec& spec);

// What a router does where its keys are absent.
struct RouterDefaults {
  bool renormalize = true;
  double scale = 1;
  int64_t groups = 1;
  int64_t groups_chosen = 1;
};

// The router of DeepSeek-V3 and its followers: sigmoids with a correction, in groups, then scaled.
absl::Status ReadSigmoidRouter(const ConfigReader& config, const RouterDefaults& defaults,
                               DecoderSpec& spec);

// n_group and topk_group. How many of its experts rank a group is the spec's.
absl::Status ReadGroups(const ConfigReader& config, const RouterDefaults& defaults,
                        ExpertSpec& experts);

// A block is dense where mlp_only_layers or decoder_sparse_step says so.
absl::Status ReadSparseBlocks(const ConfigReader& config, DecoderSpec& spec);

// The first blocks are dense, as many as `key` says.
absl::Status ReadFirstDense(const ConfigReader& config, int64_t absent, DecoderSpec& spec,
                            std::string_view key = "first_k_dense_replace");

// mlp_layer_types says which blocks are dense; where it is absent, the first one.
absl::Status ReadMlpTypes(const ConfigReader& config, DecoderSpec& spec);

// "mlp.gate" and "mlp.experts.0.gate_proj", as Qwen's mixtures name them.
void NameExperts(BlockWeightNames& names);

// The same of the expert that every token passes, `module` being its name.
void NameShared(const std::string& module, BlockWeightNames& names);

}  // namespace sinkd
