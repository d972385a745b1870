// The weights of a decoder on their device, in the form that the forward pass needs: projections of
// the same input are fused along their output axis. Internal to the engine.
//
// Row-major [out, in], as for torch's linear, or split by SplitInputs (linear.h). Tensors that the
// decoder does not have are undefined.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>
#include <absl/status/statusor.h>

#include "server/engine/families/family.h"
#include "server/engine/forward/norm.h"
#include "server/engine/weights/tensor_loader.h"

namespace sinkd {

// A dense MLP, or one expert; I units.
struct MlpWeights {
  at::Tensor gate_up, gate_up_bias;  // [2 I, C] rows [gate; up], [2 I]; ungated: [I, C], [I]
  at::Tensor down, down_bias;        // [C, I], [C]
  at::Tensor act_numbers;            // kXielu: [4], as gated_units.h reads them
  ActivationScheme input, product;   // rounding of the inputs of gate and up, and of down
};

// A mixer other than attention. d channels are convolved over K positions.
struct MixerWeights {
  at::Tensor in, in_bias;          // short convolution: rows [b; c; x], [3 C, C]
                                   // gated delta: rows [q; k; v; z; b; a]
                                   // Mamba2: rows [z; x; B; C; dt]
  at::Tensor taps, taps_bias;      // [K, d], last the position itself; [d]
  NormWeights norm;                // gated delta: [value_size]; Mamba2: [groups, width of one]
  at::Tensor decay, step;          // [heads]: ln of the decay's rate, bias of steps
  at::Tensor skip;                 // Mamba2: [heads], of the input itself
  at::Tensor output, output_bias;  // [C, inner width], [C]
  ActivationScheme input, mixed;   // rounding of the inputs of in and output
};

struct BlockWeights {
  at::TensorOptions options;                          // type and device of the weights
  NormWeights attention_norm, attention_output_norm;  // [C]
  // [(H + K) D + K E, C], [(H + K) D + K E]. With latents, rows [q or its latent; latent of k and
  // v; shared channels of k]. With gates, H D more rows at the end.
  at::Tensor qkv, qkv_bias;
  NormWeights q_norm, k_norm;  // [D], [H D] and [K D], [H, D] and [K, D]
  NormWeights q_latent_norm, kv_latent_norm;
  at::Tensor q_up;                          // [H D, rank]
  at::Tensor kv_up;                         // [H (D - shared + E), rank], rows [k; v] per head
  at::Tensor sinks;                         // [H] float32
  at::Tensor output, output_bias;           // [C, H E], [C]
  ActivationScheme attention_input, mixed;  // rounding of the inputs of qkv and output
  ActivationScheme q_latent, kv_latent;     // and of q_up and kv_up
  MixerWeights mixer;                       // of a mixer other than attention
  NormWeights mlp_norm, mlp_output_norm;    // [C]; mlp_norm may be attention_norm
  MlpWeights mlp;  // of a dense block, or the shared expert of a sparse one
  at::Tensor router, router_bias, router_correction;  // [experts, C], [experts], [experts]
  at::Tensor shared_router;                           // [1, C]
  at::Tensor expert_in, expert_in_bias;               // [latent, C], [latent]
  at::Tensor expert_out, expert_out_bias;             // [C, latent], [C]
  std::vector<MlpWeights> experts;                    // of a sparse block
  // Experts beside an MLP: the factor of the router's normed input, [C], and the weight of each
  // expert, [experts]; norms after the MLP, before the experts and after them, [C].
  at::Tensor router_scale, expert_scale;
  NormWeights dense_norm, expert_norm, expert_output_norm;
  at::Tensor token_gate, token_output;  // of the further input, [width, C] and [C, width]
  NormWeights token_norm;               // [C]
  at::Tensor scale;                     // [1], of the block's output
};

// The weights outside the blocks.
struct OuterWeights {
  at::Tensor embedding;         // [vocabulary, C or embedding_width]
  at::Tensor positions;         // [learned_positions, C]
  NormWeights embedding_norm;   // [C]
  at::Tensor project_in;        // [C, embedding_width]
  at::Tensor project_out;       // [embedding_width, C]
  NormWeights final_norm;       // [C]
  at::Tensor token_inputs;      // [vocabulary, L width] of the further inputs
  at::Tensor token_projection;  // [L width, C]
  NormWeights token_norm;       // [width]
};

int64_t WeightBytes(const OuterWeights& weights);
int64_t WeightBytes(const BlockWeights& block);

// Loads all tensors outside the blocks except the head, which only the losses of interventions
// need: LoadHead reads it on demand (intervention.h). Errors: those of TensorLoader.
absl::StatusOr<OuterWeights> LoadOuterWeights(TensorLoader& loader, const DecoderPlan& plan);

}  // namespace sinkd
