#include "server/engine/weights/weights.h"

#include "server/base/status.h"
#include "server/engine/weights/block_loader.h"

namespace sinkd {
namespace {

int64_t Bytes(std::initializer_list<at::Tensor> tensors) {
  int64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) {
    if (tensor.defined()) bytes += static_cast<int64_t>(tensor.nbytes());
  }
  return bytes;
}

int64_t Bytes(const NormWeights& norm) {
  return norm.weight.dim() == 0 ? 0 : Bytes({norm.weight, norm.bias});
}

int64_t Bytes(const MixerWeights& mixer) {
  return Bytes({mixer.in, mixer.in_bias, mixer.taps, mixer.taps_bias, mixer.decay, mixer.step,
                mixer.skip, mixer.output, mixer.output_bias}) +
         Bytes(mixer.norm);
}

int64_t Bytes(const MlpWeights& mlp) {
  return Bytes({mlp.gate_up, mlp.gate_up_bias, mlp.down, mlp.down_bias, mlp.act_numbers});
}

}  // namespace

int64_t WeightBytes(const BlockWeights& b) {
  int64_t bytes =
      Bytes({b.qkv,           b.qkv_bias,     b.q_up,           b.kv_up,        b.sinks,
             b.output,        b.output_bias,  b.router,         b.router_bias,  b.router_correction,
             b.shared_router, b.expert_in,    b.expert_in_bias, b.expert_out,   b.expert_out_bias,
             b.router_scale,  b.expert_scale, b.token_gate,     b.token_output, b.scale}) +
      Bytes(b.mlp) + Bytes(b.mixer);
  for (const NormWeights* norm :
       {&b.attention_norm, &b.attention_output_norm, &b.q_norm, &b.k_norm, &b.q_latent_norm,
        &b.kv_latent_norm, &b.mlp_output_norm, &b.dense_norm, &b.expert_norm, &b.expert_output_norm,
        &b.token_norm}) {
    bytes += Bytes(*norm);
  }
  if (!b.mlp_norm.weight.is_same(b.attention_norm.weight)) bytes += Bytes(b.mlp_norm);
  for (const MlpWeights& expert : b.experts) bytes += Bytes(expert);
  return bytes;
}

int64_t WeightBytes(const OuterWeights& weights) {
  return Bytes({weights.embedding, weights.positions, weights.project_in, weights.project_out,
                weights.token_inputs, weights.token_projection}) +
         Bytes(weights.embedding_norm) + Bytes(weights.final_norm) + Bytes(weights.token_norm);
}

absl::StatusOr<OuterWeights> LoadOuterWeights(TensorLoader& loader, const DecoderPlan& plan) {
  const DecoderSpec& spec = plan.spec;
  const WeightNames& names = plan.names;
  const int64_t width = spec.embedding_width > 0 ? spec.embedding_width : spec.hidden;
  OuterWeights weights;
  SINKD_ASSIGN_OR_RETURN(weights.embedding,
                         loader.Load(names.embedding + ".weight", {spec.vocabulary, width}));
  if (const int64_t of_block = spec.token_inputs.width; of_block > 0) {
    const int64_t all = spec.blocks * of_block;
    SINKD_ASSIGN_OR_RETURN(weights.token_inputs, loader.Load(names.token_inputs + ".weight",
                                                             {spec.token_inputs.vocabulary, all}));
    SINKD_ASSIGN_OR_RETURN(
        weights.token_projection,
        loader.LoadWeights({{names.token_projection + ".weight", all}}, spec.hidden));
    SINKD_ASSIGN_OR_RETURN(weights.token_norm, LoadNorm(loader, spec, names.token_norm, of_block));
  }
  if (spec.learned_positions > 0) {
    SINKD_ASSIGN_OR_RETURN(weights.positions, loader.Load(names.positions + ".weight",
                                                          {spec.learned_positions, spec.hidden}));
  }
  if (spec.embedding_width > 0) {
    SINKD_ASSIGN_OR_RETURN(weights.project_in,
                           loader.Load(names.project_in + ".weight", {spec.hidden, width}));
    SINKD_ASSIGN_OR_RETURN(weights.project_out,
                           loader.Load(names.project_out + ".weight", {width, spec.hidden}));
  }
  if (spec.embedding_norm) {
    SINKD_ASSIGN_OR_RETURN(weights.embedding_norm,
                           LoadNorm(loader, spec, names.embedding_norm, spec.hidden));
  }
  if (spec.final_norm) {
    SINKD_ASSIGN_OR_RETURN(weights.final_norm,
                           LoadNorm(loader, spec, names.final_norm, spec.hidden));
  }
  return weights;
}

}  // namespace sinkd
