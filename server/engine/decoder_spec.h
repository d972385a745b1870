// DecoderSpec: a decoder-only transformer as plain data. A model family is a function from
// config.json to this struct and the names of the weights. The forward pass (decoder.h) is written
// once and reads nothing else.
//
// Thread-safety: plain values.
// Reference: transformers 5.24.0, modeling_<family>.py and modeling_rope_utils.py.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace sinkd {

enum class RopeKind { kDefault, kLinear, kDynamic, kLlama3, kYarn, kLongrope, kProportional };

// Rotary position embedding. Angles of pair i at position t are t * inverse_frequency[i].
struct RopeSpec {
  RopeKind kind = RopeKind::kDefault;
  double theta = 10000.0;
  int64_t dimensions = 0;              // rotated channels of a head; even, 0 if none rotates
  bool last = false;                   // the last channels of a head rotate, else the first ones
  bool interleaved = false;            // pair i: channels 2i, 2i + 1; else i, i + dimensions / 2
  int64_t turning_pairs = 0;           // proportional: rotated pairs, the first; others keep 0
  double factor = 1.0;                 // linear, dynamic, llama3, yarn, proportional
  double low_frequency_factor = 1.0;   // llama3
  double high_frequency_factor = 4.0;  // llama3
  double original_positions = 0.0;     // dynamic, llama3, yarn, longrope: context in training
  double beta_fast = 32.0;             // yarn
  double beta_slow = 1.0;              // yarn
  bool truncate = true;                // yarn: floor/ceil of the correction range
  double attention_factor = 1.0;       // yarn, longrope: final factor on cos and sin
  double long_attention_factor = 0;    // longrope: the same of longer samples; 0: no other
  std::vector<double> short_factors;   // longrope, per pair: samples within original_positions
  std::vector<double> long_factors;    // longrope, per pair: longer ones
  // Queries at position t are multiplied by
  // 1 + growth * log(1 + floor((t + growth_start) / growth_positions)).
  double query_growth = 0;
  double growth_positions = 0;
  double growth_start = 0;
  double score_factor = 1.0;  // multiplies the scores of blocks that rotate so
};

enum class NormKind {
  kRms,           // w * x / rms(x)
  kRmsOnePlus,    // (1 + w) * x / rms(x)
  kLayer,         // w * (x - mean(x)) / deviation(x) + bias
  kLayerOnePlus,  // the same with 1 + w
};

enum class Activation {
  kSilu,
  kGelu,
  kGeluTanh,
  kRelu,
  kReluSquared,
  kXielu,  // with two learned numbers per block (arXiv 2411.13010)
};

// How the MLP's hidden units are computed from its projections.
enum class Gating {
  kNone,          // act(up)
  kGated,         // act(gate) * up
  kClampedSwish,  // (clamp(up, +-limit) + 1) * g * sigmoid(slope g), g = clamp(gate, max limit)
};

// Norms of q and k, of the decoder's kind.
enum class HeadNorms {
  kNone,
  kPerHead,   // over each head, with the same weights
  kEachHead,  // over each head, with weights of its own
  kWhole,     // over all heads of q together, and of k
};

// What carries information from one position of a block to another. All but attention read their
// input through one projection, and convolve each channel over the last positions.
enum class Mixer {
  kAttention,           // softmax attention
  kShortConvolution,    // c * conv(b * x), of the projections b, c and x
  kGatedDelta,          // linear attention with the gated delta rule (arXiv 2412.06464)
  kMamba2,              // a state space, selected by the input (arXiv 2405.21060)
  kAttentionAndMamba2,  // both read the same, and what they give is added
  kNone,                // the block has an MLP alone
};

// Gated delta rule. A head of queries and keys serves value_heads / key_heads heads of values.
struct DeltaSpec {
  int64_t key_heads = 0;
  int64_t value_heads = 0;
  int64_t key_size = 0;    // channels of a head of queries or keys
  int64_t value_size = 0;  // channels of a head of values
};

// Mamba2. A group of inputs and outputs of the state serves heads / groups heads.
struct MambaSpec {
  int64_t heads = 0;
  int64_t head_size = 0;
  int64_t groups = 0;
  int64_t state_size = 0;
  bool input_bias = false;  // of the projection in
  bool output_bias = false;
  Activation activation = Activation::kSilu;  // after the convolution
  bool norm = true;
  bool norm_before_gate = false;
  double input_scale = 1.0;                             // multiplies what the projection in reads
  std::array<double, 5> part_scales = {1, 1, 1, 1, 1};  // what it gives: z, x, B, C, dt
  double output_scale = 1.0;                            // what the projection out gives
  double least_step = 0;                                // steps are clamped to [least, most]
  double most_step = std::numeric_limits<double>::infinity();
};

// How attention and MLP join the residual stream. "attn" is the block's mixer, whichever it is.
enum class Wiring {
  kSequential,        // x += attn(norm(x)); x += mlp(norm(x))
  kParallel,          // x = mlp(norm(x)) + attn(norm'(x)) + x
  kNormAfterResidual  // x = norm(x + attn(x)); x = norm(x + mlp(x))
};

enum class Routing {
  kSoftmaxThenTop,  // softmax over all experts, then the largest weights
  kTopThenSoftmax,  // softmax over the largest logits
  kSigmoidThenTop,  // sigmoid of each logit, then the largest weights
  kSparseMixer,     // the largest logits one by one, each in a softmax over those near it
};

// Mixture of experts; none if count is 0.
struct ExpertSpec {
  int64_t count = 0;
  int64_t per_token = 0;
  bool bias = false;         // router and experts have biases
  int64_t intermediate = 0;  // width of one expert's gate and up
  int64_t latent = 0;        // width of what experts read and give, projected from and to the
                             // stream for all of them together; 0: they read the stream
  Routing routing = Routing::kSoftmaxThenTop;
  bool renormalize = true;     // not kTopThenSoftmax: scale the selected weights to sum to 1
  double least_sum = 0;        // renormalize: divide by at least this
  double added_to_sum = 0;     // renormalize: divide by this more
  double scale = 1.0;          // multiplies the selected weights
  bool weigh_input = false;    // weights multiply what experts read, not what they give
  double jitter = 0;           // kSparseMixer: logits so near to the largest share its softmax
  bool correction = false;     // a bias per expert, used to select experts and not to weight them
  int64_t groups = 1;          // equal groups of experts, ranked by the sum of their best experts
  int64_t group_best = 2;      // so many of them
  int64_t groups_chosen = 1;   // only experts of so many groups are selected
  std::vector<bool> in_block;  // per block: true for experts, false for a dense MLP
  int64_t shared_intermediate = 0;  // width of an MLP that every token passes as well; 0: none
  bool shared_gate = false;         // its output is multiplied by the sigmoid of a projection
  // Next to a dense MLP in the block: experts and router read the stream through separate norms,
  // and the outputs of MLP and experts are normed before they are added. Each expert's weight is
  // multiplied by a factor.
  bool beside_mlp = false;
};

// Latent attention (MLA): queries, keys and values are projected from narrower, normed latents
// (DeepSeek-V2, arXiv 2405.04434, section 2.1).
struct LatentSpec {
  int64_t kv_rank = 0;     // width of the latent of keys and values; 0: no latent attention
  int64_t query_rank = 0;  // width of that of queries; 0: they come from the stream
  int64_t shared = 0;      // last channels of a key, the same for all heads, not from the latent
  double norm_epsilon = 1e-6;  // of the latents' norms
};

// A further input of each block, from the tokens and what the first block reads
// (Gemma 3n and 4's per-layer embeddings).
struct TokenInputSpec {
  int64_t width = 0;       // of each block's; 0: there is none
  int64_t vocabulary = 0;  // rows of its embedding
};

// A bias on scores that falls with the distance between query and key (ALiBi, arXiv 2108.12409).
struct DistanceBias {
  std::vector<double> slopes;  // per head; empty: no bias
  bool in_bfloat16 = false;    // slopes, the keys' positions and their products are rounded to it
  bool scaled = false;         // multiplied by the scale of the scores
};

// Heads of one block: key/value heads, channels of queries and keys, and of values.
struct HeadShape {
  int64_t kv_heads = 0;
  int64_t head_size = 0;
  int64_t value_size = 0;
};

struct DecoderSpec {
  std::string architecture;   // model_type of config.json: "llama", "qwen2", ...
  std::string dtype;          // as stored: "float32", "bfloat16", "float16"; empty if unknown
  int64_t blocks = 0;         // L
  int64_t hidden = 0;         // C
  int64_t vocabulary = 0;     // rows of the embedding
  int64_t max_positions = 0;  // length of the longest sample
  bool tied_head = false;
  bool head_bias = false;
  double logit_scale = 1.0;  // output head: multiplies the logits
  double logit_cap = 0;      // output head: cap * tanh(logit / cap); 0: none

  // Embedding.
  double embedding_scale = 1.0;
  int64_t embedding_width = 0;    // if not C, with projections in and out; else 0
  int64_t learned_positions = 0;  // rows of a learned position embedding; 0: none
  int64_t position_offset = 0;    // row of position 0 in that embedding
  bool embedding_norm = false;    // before the first block

  // Norms and residual stream.
  NormKind norm = NormKind::kRms;
  double norm_epsilon = 1e-6;
  bool norm_weights = true;     // false: weights 1 and bias 0, not in the checkpoint
  bool norm_bias = true;        // of layer norms
  double residual_scale = 1.0;  // multiplies what attention and MLP add to the stream
  Wiring wiring = Wiring::kSequential;
  bool input_norms = true;    // before attention and MLP (kNormAfterResidual: after the add)
  bool output_norms = false;  // after attention and MLP, before the add
  bool final_norm = true;

  // Mixers.
  std::vector<Mixer> mixer;       // per block; empty: attention in all of them
  int64_t convolution_taps = 0;   // not attention: positions that a convolution sees
  bool convolution_bias = false;  // of kShortConvolution also for both projections
  DeltaSpec delta;                // kGatedDelta
  MambaSpec mamba;                // kMamba2

  // Attention, of the blocks that have it.
  int64_t heads = 0;                   // H query heads
  int64_t kv_heads = 0;                // K key/value heads, divides H
  int64_t head_size = 0;               // D
  int64_t value_size = 0;              // channels of a head's values; 0: as many as of its keys
  std::vector<HeadShape> head_shapes;  // per block, where they differ; else empty
  bool qkv_bias = false;
  bool output_bias = false;
  double qkv_clip = 0;                  // projections are clamped to +-clip; 0: they are not
  bool clip_after_norms = false;        // kWhole: q and k are clamped after their norms
  bool value_norms = false;             // of each head's values: over their RMS, without weights
  std::vector<bool> keys_as_values;     // per block: values are the keys before norm and rotation
  std::vector<int64_t> keys_of;         // per block: whose keys and values it reads; empty: its own
  double value_scale = 1.0;             // multiplies values
  double attention_input_scale = 1.0;   // multiplies what q, k and v are projected from
  double attention_output_scale = 1.0;  // multiplies what attention adds
  LatentSpec latent;
  HeadNorms head_norms = HeadNorms::kNone;
  bool head_norm_weights = true;           // false: weights 1, not in the checkpoint
  bool head_norms_where_rotating = false;  // blocks without rotation have none
  bool head_norm_bias = true;              // of layer norms
  bool head_norms_after_rotary = false;    // not for kWhole
  bool attention_gate = false;  // each channel of a head's output times the sigmoid of a projection
  bool learned_sinks = false;   // one logit per head takes part in the softmax
  bool sinks_where_windowed = false;  // only of blocks with a window
  DistanceBias distance_bias;
  double score_cap = 0;             // cap * tanh(score / cap); 0: none
  std::vector<double> score_scale;  // per block
  std::vector<int64_t> window;      // per block: visible keys, incl. the query's; 0 = all
  std::vector<int64_t> chunk;       // per block: queries see only their own of chunks this long;
                                    // 0 or empty: they see all
  std::vector<RopeSpec> ropes;
  std::vector<int32_t> rope_of_block;  // per block: index into ropes, -1 = no rotation

  // MLP.
  int64_t intermediate = 0;            // width of gate and up, the largest of all blocks
  std::vector<int64_t> intermediates;  // per block, where they differ; else empty
  Activation activation = Activation::kSilu;
  Gating gating = Gating::kGated;
  double swish_slope = 1.702;     // kClampedSwish
  double swish_limit = 7.0;       // kClampedSwish
  bool mlp_bias = false;          // of dense MLPs, the shared expert, and projections to latents
  double gate_scale = 1.0;        // multiplies gate before its activation
  double mlp_output_scale = 1.0;  // multiplies what the MLP adds
  std::vector<bool> with_mlp;     // per block: false for none; empty: all blocks have one
  ExpertSpec experts;

  TokenInputSpec token_inputs;  // joins the stream after the MLP
  bool block_scale = false;     // a stored number multiplies what a block gives

  HeadShape HeadsOf(int64_t block) const {
    if (!head_shapes.empty()) return head_shapes[static_cast<size_t>(block)];
    return {kv_heads, head_size, value_size > 0 ? value_size : head_size};
  }
  Mixer MixerOf(int64_t block) const {
    return mixer.empty() ? Mixer::kAttention : mixer[static_cast<size_t>(block)];
  }
  // Whether the block has softmax attention.
  bool Attends(int64_t block) const {
    const Mixer of_block = MixerOf(block);
    return of_block == Mixer::kAttention || of_block == Mixer::kAttentionAndMamba2;
  }
  // Whether there is a stream between mixer and MLP.
  bool HasResidMid(int64_t block) const {
    return wiring != Wiring::kParallel && MixerOf(block) != Mixer::kNone && HasMlp(block);
  }
  // The block whose keys and values this one reads.
  int64_t KeysOf(int64_t block) const {
    return keys_of.empty() ? block : keys_of[static_cast<size_t>(block)];
  }
  int64_t IntermediateOf(int64_t block) const {
    return intermediates.empty() ? intermediate : intermediates[static_cast<size_t>(block)];
  }
  // Whether the block has a dense MLP, whose units can be captured.
  bool HasDenseMlp(int64_t block) const {
    return HasMlp(block) && (experts.beside_mlp || !experts.in_block[static_cast<size_t>(block)]);
  }
  bool HasMlp(int64_t block) const {
    return with_mlp.empty() || with_mlp[static_cast<size_t>(block)];
  }
};

// How a checkpoint stores projections that the engine fuses.
enum class QkvLayout {
  kSeparate,  // q, k, v
  kStacked,   // one tensor, rows [q; k; v]
  kPerHead,   // one tensor, rows [q; k; v] of key head 0, of key head 1, ..., q of all its heads
  kQuarters,  // one tensor of four parts, rows [q; v; k] of a quarter of the heads
};
// How a checkpoint stores what a gated delta rule reads.
enum class DeltaLayout {
  kSeparate,    // [q; k; v], z, b and a
  kPerKeyHead,  // rows [q; k; v; z] of key head 0, of key head 1, ...; and [b; a] likewise
};
enum class GateUpLayout {
  kSeparate,  // gate, up
  kStacked,   // one tensor, rows [gate; up]
};
enum class ExpertLayout {
  kSeparate,       // a tensor per expert, named by {}: "experts.{}.w1"
  kStackedInOut,   // one tensor for all, [experts, in, out], gate and up in alternating columns
  kStackedOutIn,   // one tensor for all, [experts, out, in], rows [gate; up]
  kStackedHalves,  // one tensor for all, [experts, in, out], columns [gate; up]
};

// Names of the tensors of one block, without the ".weight" / ".bias" suffix. The name of a fused
// tensor is in the field of its first part (q, gate).
struct BlockWeightNames {
  std::string attention_norm, attention_output_norm, mlp_norm, mlp_output_norm;
  // The two norms of parallel blocks may be one tensor. {} in those of q and k: a tensor per head.
  std::string q, k, v, o, q_norm, k_norm, sinks;
  // Latent attention: q reads the stream, q_up its latent; kv gives latent and shared channels.
  std::string q_up, q_latent_norm, kv, kv_up, kv_latent_norm;
  // Of mixers other than attention.
  std::string mixer_in, mixer_out, convolution;
  std::string delta_z, delta_b, delta_a;  // of gated delta rules
  std::string mixer_norm;                 // of these and Mamba2, as are the following whole names
  std::string mixer_decay, mixer_step;
  std::string mamba_skip;             // the whole name
  std::string expert_in, expert_out;  // to and from the latent of experts
  std::string gate, up, down;
  std::string act;                                   // kXielu: the module of its numbers
  std::string token_gate, token_output, token_norm;  // of the further input
  std::string block_scale;                           // the whole name
  std::string router, expert_gate, expert_up, expert_down;
  std::string router_correction;  // the whole name
  // Of experts beside an MLP; the first two are whole names.
  std::string router_scale, expert_scale, dense_norm, expert_norm, expert_output_norm;
  // Whole names, of experts that some store as kStackedOutIn, whatever the layout is.
  std::string stacked_gate_up, stacked_down;
  // Without a name for up, gate holds rows [gate; up].
  std::string shared_gate, shared_up, shared_down, shared_router;
};

struct WeightNames {
  // Prefix of all names but the head's. A checkpoint may omit it, or put more in front of it.
  std::string prefix = "model.";
  std::string embedding, positions, project_in, project_out, embedding_norm, final_norm, head;
  std::string token_inputs, token_projection, token_norm;
  std::string block_prefix;  // "model.layers." : block l is block_prefix + l + "." + name
  BlockWeightNames block;
  QkvLayout qkv = QkvLayout::kSeparate;
  DeltaLayout delta = DeltaLayout::kSeparate;
  GateUpLayout gate_up = GateUpLayout::kSeparate;
  ExpertLayout experts = ExpertLayout::kSeparate;
  bool input_major = false;        // projections stored [in, out] (GPT-2's Conv1D)
  bool correction_in_row = false;  // router_correction is [1, experts]
  int64_t unused_blocks = 0;       // stored after the decoder's own, for predicting further tokens
  bool mxfp4_experts = false;      // according to config.json; the stored tensors decide
};

}  // namespace sinkd
