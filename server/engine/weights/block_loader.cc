#include "server/engine/weights/block_loader.h"

#include <numeric>

#include <ATen/ATen.h>
#include <absl/strings/match.h>
#include <absl/strings/str_replace.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/forward/linear.h"
#include "server/engine/weights/mxfp4.h"

namespace sinkd {
namespace {

bool IsLayerNorm(NormKind kind) {
  return kind == NormKind::kLayer || kind == NormKind::kLayerOnePlus;
}

bool Rotates(const DecoderSpec& spec, int32_t rope) {
  return rope >= 0 && spec.ropes[static_cast<size_t>(rope)].dimensions > 0;
}

// The name of head or expert `number` from one with {} in its place.
std::string Numbered(const std::string& name, int64_t number) {
  return absl::StrReplaceAll(name, {{"{}", StrCat(number)}});
}

// Loads one block's projections; `prefix` ends with a dot.
class BlockLoader {
 public:
  BlockLoader(TensorLoader& loader, const DecoderPlan& plan, int64_t block)
      : loader_(loader),
        spec_(plan.spec),
        names_(plan.names),
        prefix_(StrCat(plan.names.block_prefix, block, ".")),
        block_(block),
        own_keys_(plan.spec.KeysOf(block) == block),
        keys_as_values_(!plan.spec.keys_as_values.empty() &&
                        plan.spec.keys_as_values[static_cast<size_t>(block)]),
        shape_(plan.spec.HeadsOf(block)),
        mixer_(plan.spec.MixerOf(block)),
        with_mlp_(plan.spec.HasMlp(block)),
        sparse_(plan.spec.experts.in_block[static_cast<size_t>(block)]),
        rotates_(Rotates(plan.spec, plan.spec.rope_of_block[static_cast<size_t>(block)])),
        windowed_(plan.spec.window[static_cast<size_t>(block)] > 0) {}

  absl::Status Load(BlockWeights& block) {
    block.options = loader_.options();
    SINKD_RETURN_IF_ERROR(LoadNorms(block));
    SINKD_RETURN_IF_ERROR(LoadMixer(block));
    SINKD_RETURN_IF_ERROR(LoadSchemes(block));
    if (!with_mlp_) return absl::OkStatus();
    SINKD_RETURN_IF_ERROR(LoadAfterMlp(block));
    if (!sparse_ || spec_.experts.beside_mlp) SINKD_RETURN_IF_ERROR(LoadMlp(block.mlp));
    if (!sparse_) return absl::OkStatus();
    if (spec_.experts.beside_mlp) SINKD_RETURN_IF_ERROR(LoadBesideMlp(block));
    SINKD_RETURN_IF_ERROR(LoadRouter(block));
    if (spec_.experts.latent > 0) SINKD_RETURN_IF_ERROR(LoadExpertLatents(block));
    if (spec_.experts.shared_intermediate > 0) SINKD_RETURN_IF_ERROR(LoadShared(block));
    return LoadExperts(block);
  }

 private:
  std::string Weight(std::string_view name) const { return StrCat(prefix_, name, ".weight"); }
  std::string Bias(std::string_view name) const { return StrCat(prefix_, name, ".bias"); }

  // A projection [out, in] as Linear wants it, turned where the checkpoint stores [in, out].
  absl::StatusOr<at::Tensor> Projection(std::string_view name, int64_t out, int64_t in) {
    if (!names_.input_major) return loader_.LoadWeights({{Weight(name), out}}, in);
    SINKD_ASSIGN_OR_RETURN(const at::Tensor stored, loader_.Load(Weight(name), {in, out}));
    return SplitInputs(stored.t().contiguous());
  }

  // Of projections that read the same input.
  absl::StatusOr<ActivationScheme> SchemeOf(const std::vector<std::string>& names) const {
    const ActivationScheme scheme = loader_.ActivationsOf(Weight(names.front()));
    for (const std::string& name : names) {
      if (name.empty() || loader_.ActivationsOf(Weight(name)) == scheme) continue;
      return BadTensor("", Weight(name),
                       StrCat("reads other activations than ", Weight(names.front())),
                       "load without activation quantization");
    }
    return scheme;
  }

  absl::Status LoadSchemes(BlockWeights& block) const {
    const BlockWeightNames& names = names_.block;
    if (mixer_ != Mixer::kAttention && mixer_ != Mixer::kNone) {
      SINKD_ASSIGN_OR_RETURN(block.mixer.input, SchemeOf({names.mixer_in, names.delta_z,
                                                          names.delta_b, names.delta_a}));
      SINKD_ASSIGN_OR_RETURN(block.mixer.mixed, SchemeOf({names.mixer_out}));
    }
    if (!spec_.Attends(block_)) return absl::OkStatus();
    SINKD_ASSIGN_OR_RETURN(block.mixed, SchemeOf({names.o}));
    if (spec_.latent.kv_rank > 0) {
      SINKD_ASSIGN_OR_RETURN(block.attention_input, SchemeOf({names.q, names.kv}));
      SINKD_ASSIGN_OR_RETURN(block.q_latent, SchemeOf({names.q_up}));
      SINKD_ASSIGN_OR_RETURN(block.kv_latent, SchemeOf({names.kv_up}));
      return absl::OkStatus();
    }
    const bool apart = names_.qkv == QkvLayout::kSeparate;
    std::vector<std::string> read = {names.q};
    if (apart && own_keys_) read.push_back(names.k);
    if (apart && own_keys_ && !keys_as_values_) read.push_back(names.v);
    SINKD_ASSIGN_OR_RETURN(block.attention_input, SchemeOf(read));
    return absl::OkStatus();
  }

  // `gate` may be empty, where there is none, and `up`, where it is in the same tensor.
  absl::Status LoadSchemes(const std::string& gate, const std::string& up, const std::string& down,
                           MlpWeights& mlp) const {
    SINKD_ASSIGN_OR_RETURN(mlp.input, gate.empty() ? SchemeOf({up}) : SchemeOf({gate, up}));
    SINKD_ASSIGN_OR_RETURN(mlp.product, SchemeOf({down}));
    return absl::OkStatus();
  }

  absl::Status LoadNorms(BlockWeights& block) {
    const auto load = [this](const std::string& name, NormWeights& norm) -> absl::Status {
      SINKD_ASSIGN_OR_RETURN(norm, LoadNorm(loader_, spec_, prefix_ + name, spec_.hidden));
      return absl::OkStatus();
    };
    if (spec_.input_norms) {
      SINKD_RETURN_IF_ERROR(load(names_.block.attention_norm, block.attention_norm));
      if (names_.block.mlp_norm == names_.block.attention_norm) {
        block.mlp_norm = block.attention_norm;
      } else {
        SINKD_RETURN_IF_ERROR(load(names_.block.mlp_norm, block.mlp_norm));
      }
    }
    if (spec_.output_norms) {
      SINKD_RETURN_IF_ERROR(load(names_.block.attention_output_norm, block.attention_output_norm));
      SINKD_RETURN_IF_ERROR(load(names_.block.mlp_output_norm, block.mlp_output_norm));
    }
    return absl::OkStatus();
  }

  absl::Status LoadMixer(BlockWeights& block) {
    switch (mixer_) {
      case Mixer::kAttention:
        return LoadAttention(block);
      case Mixer::kShortConvolution:
        return LoadShortConvolution(block.mixer);
      case Mixer::kGatedDelta:
        return LoadGatedDelta(block.mixer);
      case Mixer::kMamba2:
        return LoadMamba(block.mixer);
      case Mixer::kAttentionAndMamba2:
        SINKD_RETURN_IF_ERROR(LoadAttention(block));
        return LoadMamba(block.mixer);
      case Mixer::kNone:
        return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  absl::Status LoadNormOf(const std::string& name, NormWeights& norm) {
    SINKD_ASSIGN_OR_RETURN(norm, LoadNorm(loader_, spec_, prefix_ + name, spec_.hidden));
    return absl::OkStatus();
  }

  absl::Status LoadAfterMlp(BlockWeights& block) {
    const BlockWeightNames& names = names_.block;
    if (const int64_t width = spec_.token_inputs.width; width > 0) {
      SINKD_ASSIGN_OR_RETURN(block.token_gate, Projection(names.token_gate, width, spec_.hidden));
      SINKD_ASSIGN_OR_RETURN(block.token_output,
                             Projection(names.token_output, spec_.hidden, width));
      SINKD_RETURN_IF_ERROR(LoadNormOf(names.token_norm, block.token_norm));
    }
    if (!spec_.block_scale) return absl::OkStatus();
    SINKD_ASSIGN_OR_RETURN(block.scale, loader_.Load(prefix_ + names.block_scale, {1}));
    return absl::OkStatus();
  }

  absl::Status LoadBesideMlp(BlockWeights& block) {
    const BlockWeightNames& names = names_.block;
    SINKD_ASSIGN_OR_RETURN(block.router_scale,
                           loader_.Load(prefix_ + names.router_scale, {spec_.hidden}));
    SINKD_ASSIGN_OR_RETURN(block.expert_scale,
                           loader_.Load(prefix_ + names.expert_scale, {spec_.experts.count}));
    SINKD_RETURN_IF_ERROR(LoadNormOf(names.dense_norm, block.dense_norm));
    SINKD_RETURN_IF_ERROR(LoadNormOf(names.expert_norm, block.expert_norm));
    return LoadNormOf(names.expert_output_norm, block.expert_output_norm);
  }

  // Stored as [channels, 1, taps].
  absl::Status LoadTaps(int64_t channels, bool bias, MixerWeights& mixer) {
    const std::string& name = names_.block.convolution;
    SINKD_ASSIGN_OR_RETURN(const at::Tensor stored,
                           loader_.Load(Weight(name), {channels, 1, spec_.convolution_taps}));
    mixer.taps = stored.squeeze(1).t().contiguous();
    if (!bias) return absl::OkStatus();
    SINKD_ASSIGN_OR_RETURN(mixer.taps_bias, loader_.Load(Bias(name), {channels}));
    return absl::OkStatus();
  }

  absl::Status LoadShortConvolution(MixerWeights& mixer) {
    const int64_t width = spec_.hidden;
    const std::string& in = names_.block.mixer_in;
    const std::string& out = names_.block.mixer_out;
    SINKD_ASSIGN_OR_RETURN(mixer.in, Projection(in, 3 * width, width));
    SINKD_ASSIGN_OR_RETURN(mixer.output, Projection(out, width, width));
    SINKD_RETURN_IF_ERROR(LoadTaps(width, spec_.convolution_bias, mixer));
    if (!spec_.convolution_bias) return absl::OkStatus();
    SINKD_ASSIGN_OR_RETURN(mixer.in_bias, loader_.Load(Bias(in), {3 * width}));
    SINKD_ASSIGN_OR_RETURN(mixer.output_bias, loader_.Load(Bias(out), {width}));
    return absl::OkStatus();
  }

  absl::Status LoadGatedDelta(MixerWeights& mixer) {
    const DeltaSpec& delta = spec_.delta;
    const BlockWeightNames& names = names_.block;
    const int64_t qkv = 2 * delta.key_heads * delta.key_size + ValueWidth();
    if (names_.delta == DeltaLayout::kPerKeyHead) {
      SINKD_RETURN_IF_ERROR(LoadPerKeyHead(mixer));
    } else {
      SINKD_ASSIGN_OR_RETURN(mixer.in,
                             loader_.LoadWeights({{Weight(names.mixer_in), qkv},
                                                  {Weight(names.delta_z), ValueWidth()},
                                                  {Weight(names.delta_b), delta.value_heads},
                                                  {Weight(names.delta_a), delta.value_heads}},
                                                 spec_.hidden));
    }
    SINKD_RETURN_IF_ERROR(LoadTaps(qkv, /*bias=*/false, mixer));
    SINKD_ASSIGN_OR_RETURN(mixer.norm.weight,
                           loader_.Load(Weight(names.mixer_norm), {delta.value_size}));
    SINKD_ASSIGN_OR_RETURN(mixer.decay,
                           loader_.Load(prefix_ + names.mixer_decay, {delta.value_heads}));
    SINKD_ASSIGN_OR_RETURN(mixer.step,
                           loader_.Load(prefix_ + names.mixer_step, {delta.value_heads}));
    SINKD_ASSIGN_OR_RETURN(mixer.output, Projection(names.mixer_out, spec_.hidden, ValueWidth()));
    return absl::OkStatus();
  }

  absl::Status LoadMamba(MixerWeights& mixer) {
    const MambaSpec& mamba = spec_.mamba;
    const BlockWeightNames& names = names_.block;
    const int64_t width = mamba.heads * mamba.head_size;
    const int64_t convolved = width + 2 * mamba.groups * mamba.state_size;
    const int64_t projected = width + convolved + mamba.heads;
    SINKD_ASSIGN_OR_RETURN(mixer.in, Projection(names.mixer_in, projected, spec_.hidden));
    SINKD_ASSIGN_OR_RETURN(mixer.output, Projection(names.mixer_out, spec_.hidden, width));
    SINKD_RETURN_IF_ERROR(LoadTaps(convolved, spec_.convolution_bias, mixer));
    if (mamba.norm) {
      SINKD_ASSIGN_OR_RETURN(const at::Tensor norm,
                             loader_.Load(Weight(names.mixer_norm), {width}));
      mixer.norm.weight = norm.view({mamba.groups, width / mamba.groups});
    }
    SINKD_ASSIGN_OR_RETURN(mixer.decay, loader_.Load(prefix_ + names.mixer_decay, {mamba.heads}));
    SINKD_ASSIGN_OR_RETURN(mixer.step, loader_.Load(prefix_ + names.mixer_step, {mamba.heads}));
    SINKD_ASSIGN_OR_RETURN(mixer.skip, loader_.Load(prefix_ + names.mamba_skip, {mamba.heads}));
    if (mamba.input_bias) {
      SINKD_ASSIGN_OR_RETURN(mixer.in_bias, loader_.Load(Bias(names.mixer_in), {projected}));
    }
    if (!mamba.output_bias) return absl::OkStatus();
    SINKD_ASSIGN_OR_RETURN(mixer.output_bias, loader_.Load(Bias(names.mixer_out), {spec_.hidden}));
    return absl::OkStatus();
  }

  int64_t ValueWidth() const { return spec_.delta.value_heads * spec_.delta.value_size; }

  // Rows of each kind together, from those of key head 0, of key head 1, ...
  absl::Status LoadPerKeyHead(MixerWeights& mixer) {
    const DeltaSpec& delta = spec_.delta;
    const int64_t served = delta.value_heads / delta.key_heads;
    const int64_t values = served * delta.value_size;
    std::vector<at::Tensor> rows;
    const auto load = [&](const std::string& name, at::IntArrayRef of_head) -> absl::Status {
      const int64_t all = std::accumulate(of_head.begin(), of_head.end(), int64_t{0});
      SINKD_ASSIGN_OR_RETURN(const at::Tensor stored,
                             loader_.Load(Weight(name), {delta.key_heads * all, spec_.hidden}));
      const at::Tensor by_head = stored.view({delta.key_heads, all, spec_.hidden});
      for (const at::Tensor& part : by_head.split_with_sizes(of_head, 1)) {
        rows.push_back(part.flatten(0, 1));
      }
      return absl::OkStatus();
    };
    SINKD_RETURN_IF_ERROR(
        load(names_.block.mixer_in, {delta.key_size, delta.key_size, values, values}));
    SINKD_RETURN_IF_ERROR(load(names_.block.delta_b, {served, served}));
    mixer.in = SplitInputs(at::cat(rows));
    return absl::OkStatus();
  }

  absl::Status LoadAttention(BlockWeights& block) {
    SINKD_RETURN_IF_ERROR(spec_.latent.kv_rank > 0 ? LoadLatents(block) : LoadQkv(block));
    if (spec_.head_norms != HeadNorms::kNone && (rotates_ || !spec_.head_norms_where_rotating)) {
      SINKD_ASSIGN_OR_RETURN(block.q_norm, LoadHeadNorm(names_.block.q_norm, spec_.heads));
      if (own_keys_) {
        SINKD_ASSIGN_OR_RETURN(block.k_norm, LoadHeadNorm(names_.block.k_norm, shape_.kv_heads));
      }
    }
    if (spec_.learned_sinks && (windowed_ || !spec_.sinks_where_windowed)) {
      SINKD_ASSIGN_OR_RETURN(const at::Tensor sinks,
                             loader_.Load(prefix_ + names_.block.sinks, {spec_.heads}));
      block.sinks = sinks.to(at::kFloat);
    }
    SINKD_ASSIGN_OR_RETURN(
        block.output, Projection(names_.block.o, spec_.hidden, spec_.heads * shape_.value_size));
    if (spec_.output_bias) {
      SINKD_ASSIGN_OR_RETURN(block.output_bias, loader_.Load(Bias(names_.block.o), {spec_.hidden}));
    }
    return absl::OkStatus();
  }

  // Of q or of k, so many heads.
  absl::StatusOr<NormWeights> LoadHeadNorm(const std::string& name, int64_t heads) {
    const int64_t size = shape_.head_size;
    NormWeights norm;
    if (!spec_.head_norm_weights) {
      norm.weight = at::ones({}, loader_.options());
      return norm;
    }
    if (absl::StrContains(name, "{}")) {
      TensorLoader::Parts parts;
      for (int64_t h = 0; h < heads; ++h) parts.emplace_back(Weight(Numbered(name, h)), size);
      SINKD_ASSIGN_OR_RETURN(norm.weight, loader_.LoadBiases(parts));
      norm.weight = norm.weight.view({heads, size});
      return norm;
    }
    std::vector<int64_t> shape = {size};
    if (spec_.head_norms == HeadNorms::kEachHead) shape = {heads, size};
    if (spec_.head_norms == HeadNorms::kWhole) shape = {heads * size};
    SINKD_ASSIGN_OR_RETURN(norm.weight, loader_.Load(Weight(name), shape));
    if (!IsLayerNorm(spec_.norm) || !spec_.head_norm_bias) return norm;
    SINKD_ASSIGN_OR_RETURN(norm.bias, loader_.Load(Bias(name), shape));
    return norm;
  }

  // [q; k; v] of every head, from the parts that the checkpoint has one after the other.
  at::Tensor Regroup(const at::Tensor& stored) const {
    const bool quarters = names_.qkv == QkvLayout::kQuarters;
    const int64_t parts = quarters ? 4 : shape_.kv_heads;
    const int64_t group = spec_.heads / shape_.kv_heads;
    const at::Tensor by_part = stored.unflatten(0, {parts, quarters ? 3 : group + 2, -1});
    const auto rows = [&by_part](int64_t first, int64_t count) {
      return by_part.narrow(1, first, count).flatten(0, 2);
    };
    if (quarters) return at::cat({rows(0, 1), rows(2, 1), rows(1, 1)});
    return at::cat({rows(0, group), rows(group, 1), rows(group + 1, 1)});
  }

  absl::Status LoadLatents(BlockWeights& block) {
    const BlockWeightNames& names = names_.block;
    const LatentSpec& latent = spec_.latent;
    const bool narrow = latent.query_rank > 0;
    const int64_t q_rows = spec_.heads * shape_.head_size;
    const int64_t from_stream = narrow ? latent.query_rank : q_rows;
    const int64_t kv_rows = latent.kv_rank + latent.shared;
    SINKD_ASSIGN_OR_RETURN(block.qkv, loader_.LoadWeights({{Weight(names.q), from_stream},
                                                           {Weight(names.kv), kv_rows}},
                                                          spec_.hidden));
    if (spec_.qkv_bias && narrow) {
      SINKD_ASSIGN_OR_RETURN(block.qkv_bias, loader_.LoadBiases({{Bias(names.q), from_stream},
                                                                 {Bias(names.kv), kv_rows}}));
    } else if (spec_.qkv_bias) {
      SINKD_ASSIGN_OR_RETURN(const at::Tensor bias, loader_.Load(Bias(names.kv), {kv_rows}));
      block.qkv_bias = at::cat({at::zeros({from_stream}, bias.options()), bias});
    }
    if (narrow) {
      SINKD_ASSIGN_OR_RETURN(block.q_latent_norm.weight,
                             loader_.Load(Weight(names.q_latent_norm), {latent.query_rank}));
      SINKD_ASSIGN_OR_RETURN(block.q_up, Projection(names.q_up, q_rows, latent.query_rank));
    }
    SINKD_ASSIGN_OR_RETURN(block.kv_latent_norm.weight,
                           loader_.Load(Weight(names.kv_latent_norm), {latent.kv_rank}));
    const int64_t of_head = shape_.head_size - latent.shared + shape_.value_size;
    SINKD_ASSIGN_OR_RETURN(block.kv_up,
                           Projection(names.kv_up, spec_.heads * of_head, latent.kv_rank));
    return absl::OkStatus();
  }

  // q holds the rows of head 0, as many of its gate, those of head 1, ...; gates come last here.
  absl::Status LoadQkvAndGates(int64_t q_rows, int64_t kv_rows, BlockWeights& block) {
    const BlockWeightNames& names = names_.block;
    const auto join = [&](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
      const std::vector<at::Tensor> parts =
          q.unflatten(0, {spec_.heads, 2, spec_.head_size}).unbind(1);
      return at::cat({parts[0].flatten(0, 1), k, v, parts[1].flatten(0, 1)});
    };
    SINKD_ASSIGN_OR_RETURN(const at::Tensor q,
                           loader_.Load(Weight(names.q), {2 * q_rows, spec_.hidden}));
    SINKD_ASSIGN_OR_RETURN(const at::Tensor k,
                           loader_.Load(Weight(names.k), {kv_rows, spec_.hidden}));
    SINKD_ASSIGN_OR_RETURN(const at::Tensor v,
                           loader_.Load(Weight(names.v), {kv_rows, spec_.hidden}));
    block.qkv = SplitInputs(join(q, k, v));
    if (!spec_.qkv_bias) return absl::OkStatus();
    SINKD_ASSIGN_OR_RETURN(const at::Tensor q_bias, loader_.Load(Bias(names.q), {2 * q_rows}));
    SINKD_ASSIGN_OR_RETURN(const at::Tensor k_bias, loader_.Load(Bias(names.k), {kv_rows}));
    SINKD_ASSIGN_OR_RETURN(const at::Tensor v_bias, loader_.Load(Bias(names.v), {kv_rows}));
    block.qkv_bias = join(q_bias, k_bias, v_bias);
    return absl::OkStatus();
  }

  absl::Status LoadQkv(BlockWeights& block) {
    const BlockWeightNames& names = names_.block;
    const int64_t q_rows = spec_.heads * shape_.head_size;
    const int64_t k_rows = shape_.kv_heads * shape_.head_size;
    const int64_t v_rows = shape_.kv_heads * shape_.value_size;
    if (spec_.attention_gate) return LoadQkvAndGates(q_rows, k_rows, block);
    if (names_.qkv == QkvLayout::kSeparate) {
      std::vector<std::pair<std::string, int64_t>> parts = {{names.q, q_rows}};
      if (own_keys_) {
        parts.emplace_back(names.k, k_rows);
        parts.emplace_back(keys_as_values_ ? names.k : names.v, v_rows);
      }
      TensorLoader::Parts weights, biases;
      for (const auto& [name, rows] : parts) {
        weights.emplace_back(Weight(name), rows);
        biases.emplace_back(Bias(name), rows);
      }
      SINKD_ASSIGN_OR_RETURN(block.qkv, loader_.LoadWeights(weights, spec_.hidden));
      if (!spec_.qkv_bias) return absl::OkStatus();
      SINKD_ASSIGN_OR_RETURN(block.qkv_bias, loader_.LoadBiases(biases));
      return absl::OkStatus();
    }
    const int64_t rows = q_rows + k_rows + v_rows;
    const bool in_parts = names_.qkv != QkvLayout::kStacked;
    if (in_parts) {
      SINKD_ASSIGN_OR_RETURN(const at::Tensor stored,
                             loader_.Load(Weight(names.q), {rows, spec_.hidden}));
      block.qkv = SplitInputs(Regroup(stored));
    } else {
      SINKD_ASSIGN_OR_RETURN(block.qkv, Projection(names.q, rows, spec_.hidden));
    }
    if (!spec_.qkv_bias) return absl::OkStatus();
    SINKD_ASSIGN_OR_RETURN(block.qkv_bias, loader_.Load(Bias(names.q), {rows}));
    if (in_parts) block.qkv_bias = Regroup(block.qkv_bias);
    return absl::OkStatus();
  }

  absl::Status LoadMlp(MlpWeights& mlp) {
    const BlockWeightNames& names = names_.block;
    const int64_t units = spec_.IntermediateOf(block_);
    const bool gated = spec_.gating != Gating::kNone;
    const bool apart = !gated || names_.gate_up == GateUpLayout::kSeparate;
    SINKD_RETURN_IF_ERROR(
        LoadSchemes(gated ? names.gate : "", apart ? names.up : "", names.down, mlp));
    SINKD_RETURN_IF_ERROR(
        LoadUnits(names.gate, apart ? names.up : "", spec_.hidden, units, spec_.mlp_bias, mlp));
    SINKD_ASSIGN_OR_RETURN(mlp.down, Projection(names.down, spec_.hidden, units));
    if (spec_.mlp_bias) {
      SINKD_ASSIGN_OR_RETURN(mlp.down_bias, loader_.Load(Bias(names.down), {spec_.hidden}));
    }
    return spec_.activation == Activation::kXielu ? LoadActivation(mlp) : absl::OkStatus();
  }

  absl::Status LoadActivation(MlpWeights& mlp) {
    std::vector<at::Tensor> numbers;
    for (const char* learned : {".alpha_p", ".alpha_n"}) {
      SINKD_ASSIGN_OR_RETURN(numbers.emplace_back(),
                             loader_.Load(StrCat(prefix_, names_.block.act, learned), {1}));
    }
    for (const char* constant : {".beta", ".eps"}) {
      SINKD_ASSIGN_OR_RETURN(const at::Tensor number,
                             loader_.Load(StrCat(prefix_, names_.block.act, constant), {}));
      numbers.push_back(number.view({1}));
    }
    mlp.act_numbers = at::cat(numbers);
    return absl::OkStatus();
  }

  // What gives the units, from `in` channels. Without a name for `up`, `gate` holds [gate; up].
  absl::Status LoadUnits(std::string_view gate, std::string_view up, int64_t in, int64_t units,
                         bool bias, MlpWeights& mlp) {
    if (spec_.gating == Gating::kNone) {
      SINKD_ASSIGN_OR_RETURN(mlp.gate_up, Projection(up, units, in));
      if (!bias) return absl::OkStatus();
      SINKD_ASSIGN_OR_RETURN(mlp.gate_up_bias, loader_.Load(Bias(up), {units}));
      return absl::OkStatus();
    }
    if (up.empty()) {
      SINKD_ASSIGN_OR_RETURN(mlp.gate_up, Projection(gate, 2 * units, in));
      return absl::OkStatus();
    }
    SINKD_ASSIGN_OR_RETURN(mlp.gate_up,
                           loader_.LoadWeights({{Weight(gate), units}, {Weight(up), units}}, in));
    if (!bias) return absl::OkStatus();
    SINKD_ASSIGN_OR_RETURN(mlp.gate_up_bias,
                           loader_.LoadBiases({{Bias(gate), units}, {Bias(up), units}}));
    return absl::OkStatus();
  }

  absl::Status LoadShared(BlockWeights& block) {
    const BlockWeightNames& names = names_.block;
    const int64_t units = spec_.experts.shared_intermediate;
    SINKD_RETURN_IF_ERROR(
        LoadSchemes(names.shared_gate, names.shared_up, names.shared_down, block.mlp));
    SINKD_RETURN_IF_ERROR(LoadUnits(names.shared_gate, names.shared_up, spec_.hidden, units,
                                    spec_.mlp_bias, block.mlp));
    SINKD_ASSIGN_OR_RETURN(block.mlp.down, Projection(names.shared_down, spec_.hidden, units));
    if (spec_.mlp_bias) {
      SINKD_ASSIGN_OR_RETURN(block.mlp.down_bias,
                             loader_.Load(Bias(names.shared_down), {spec_.hidden}));
    }
    if (!spec_.experts.shared_gate) return absl::OkStatus();
    SINKD_ASSIGN_OR_RETURN(block.shared_router,
                           loader_.Load(Weight(names.shared_router), {1, spec_.hidden}));
    return absl::OkStatus();
  }

  absl::Status LoadRouter(BlockWeights& block) {
    const ExpertSpec& experts = spec_.experts;
    SINKD_ASSIGN_OR_RETURN(
        block.router, loader_.Load(Weight(names_.block.router), {experts.count, spec_.hidden}));
    if (experts.bias) {
      SINKD_ASSIGN_OR_RETURN(block.router_bias,
                             loader_.Load(Bias(names_.block.router), {experts.count}));
    }
    if (!experts.correction) return absl::OkStatus();
    std::vector<int64_t> shape = {experts.count};
    if (names_.correction_in_row) shape.insert(shape.begin(), 1);
    SINKD_ASSIGN_OR_RETURN(const at::Tensor correction,
                           loader_.Load(prefix_ + names_.block.router_correction, shape));
    block.router_correction = correction.view({experts.count});
    return absl::OkStatus();
  }

  absl::Status LoadExpertLatents(BlockWeights& block) {
    const int64_t latent = spec_.experts.latent;
    const std::string& in = names_.block.expert_in;
    const std::string& out = names_.block.expert_out;
    SINKD_ASSIGN_OR_RETURN(block.expert_in, Projection(in, latent, spec_.hidden));
    SINKD_ASSIGN_OR_RETURN(block.expert_out, Projection(out, spec_.hidden, latent));
    if (!spec_.mlp_bias) return absl::OkStatus();
    SINKD_ASSIGN_OR_RETURN(block.expert_in_bias, loader_.Load(Bias(in), {latent}));
    SINKD_ASSIGN_OR_RETURN(block.expert_out_bias, loader_.Load(Bias(out), {spec_.hidden}));
    return absl::OkStatus();
  }

  absl::Status LoadExperts(BlockWeights& block) {
    const ExpertSpec& experts = spec_.experts;
    if (names_.experts == ExpertLayout::kStackedInOut) return LoadStackedExperts(block);
    const std::string& gate_up = names_.block.stacked_gate_up;
    if (!gate_up.empty() && loader_.Has(prefix_ + gate_up)) {
      return LoadRowsOfExperts(prefix_ + gate_up, prefix_ + names_.block.stacked_down, block);
    }
    if (names_.experts == ExpertLayout::kStackedOutIn) {
      return LoadRowsOfExperts(Weight(names_.block.expert_gate), Weight(names_.block.expert_down),
                               block);
    }
    if (names_.experts == ExpertLayout::kStackedHalves) return LoadColumnsOfExperts(block);
    for (int64_t e = 0; e < experts.count; ++e) {
      MlpWeights& expert = block.experts.emplace_back();
      SINKD_RETURN_IF_ERROR(LoadSchemes(Numbered(names_.block.expert_gate, e),
                                        Numbered(names_.block.expert_up, e),
                                        Numbered(names_.block.expert_down, e), expert));
      const int64_t width = experts.latent > 0 ? experts.latent : spec_.hidden;
      SINKD_RETURN_IF_ERROR(LoadUnits(Numbered(names_.block.expert_gate, e),
                                      Numbered(names_.block.expert_up, e), width,
                                      experts.intermediate, /*bias=*/false, expert));
      SINKD_ASSIGN_OR_RETURN(
          expert.down, loader_.LoadWeights({{Weight(Numbered(names_.block.expert_down, e)), width}},
                                           experts.intermediate));
    }
    return absl::OkStatus();
  }

  // One expert at a time, so that loading never holds a second copy of a block.
  absl::Status LoadRowsOfExperts(const std::string& gate_up, const std::string& down,
                                 BlockWeights& block) {
    const int64_t count = spec_.experts.count;
    const int64_t units = spec_.experts.intermediate;
    for (int64_t e = 0; e < count; ++e) {
      const RowRange one{.first = e, .rows = 1};
      SINKD_ASSIGN_OR_RETURN(const at::Tensor in,
                             loader_.Load(gate_up, {count, 2 * units, spec_.hidden}, one));
      SINKD_ASSIGN_OR_RETURN(const at::Tensor out,
                             loader_.Load(down, {count, spec_.hidden, units}, one));
      MlpWeights& expert = block.experts.emplace_back();
      SINKD_RETURN_IF_ERROR(
          LoadSchemes(names_.block.expert_gate, "", names_.block.expert_down, expert));
      expert.gate_up = SplitInputs(in[0]);
      expert.down = SplitInputs(out[0]);
    }
    return absl::OkStatus();
  }

  // Of all experts' [in, out], or turned as newer versions of transformers save some: that of
  // expert `e`, [out, in].
  absl::StatusOr<at::Tensor> ColumnsOfExpert(const std::string& name, int64_t e, int64_t out,
                                             int64_t in) {
    const int64_t count = spec_.experts.count;
    const RowRange one{.first = e, .rows = 1};
    const absl::StatusOr<at::Tensor> stored = loader_.Load(prefix_ + name, {count, in, out}, one);
    if (stored.ok()) return SplitInputs((*stored)[0].t().contiguous());
    const absl::StatusOr<at::Tensor> turned = loader_.Load(prefix_ + name, {count, out, in}, one);
    if (!turned.ok()) return stored.status();
    return SplitInputs((*turned)[0]);
  }

  absl::Status LoadColumnsOfExperts(BlockWeights& block) {
    const int64_t units = spec_.experts.intermediate;
    for (int64_t e = 0; e < spec_.experts.count; ++e) {
      MlpWeights& expert = block.experts.emplace_back();
      SINKD_ASSIGN_OR_RETURN(expert.gate_up,
                             ColumnsOfExpert(names_.block.expert_gate, e, 2 * units, spec_.hidden));
      SINKD_ASSIGN_OR_RETURN(expert.down,
                             ColumnsOfExpert(names_.block.expert_down, e, spec_.hidden, units));
    }
    return absl::OkStatus();
  }

  // The projection [out, in] of expert `e`, stored among all of them as [experts, in, out] or in
  // MXFP4: one at a time, so that loading never holds a second copy of a block.
  absl::StatusOr<at::Tensor> StackedExpert(const std::string& name, int64_t e, int64_t out,
                                           int64_t in) {
    const int64_t count = spec_.experts.count;
    const RowRange one{.first = e, .rows = 1};
    const std::string blocks = name + "_blocks";
    if (!loader_.Has(blocks)) {
      SINKD_ASSIGN_OR_RETURN(const at::Tensor stored, loader_.Load(name, {count, in, out}, one));
      return stored[0].t();
    }
    if (in % 32 != 0) {
      return BadTensor("", blocks, StrCat("cannot hold ", in, " inputs in groups of 32"),
                       "restore config.json and weights from one source");
    }
    SINKD_ASSIGN_OR_RETURN(const at::Tensor packed,
                           loader_.LoadBytes(blocks, {count, out, in / 32, 16}, one));
    SINKD_ASSIGN_OR_RETURN(const at::Tensor scales,
                           loader_.LoadBytes(name + "_scales", {count, out, in / 32}, one));
    return UnpackMxfp4(packed[0], scales[0], loader_.dtype());
  }

  absl::Status LoadStackedExperts(BlockWeights& block) {
    const int64_t count = spec_.experts.count;
    const int64_t units = spec_.experts.intermediate;
    const std::string gate_up = prefix_ + names_.block.expert_gate;
    const std::string down = prefix_ + names_.block.expert_down;
    SINKD_ASSIGN_OR_RETURN(const at::Tensor in_bias,
                           loader_.Load(gate_up + "_bias", {count, 2 * units}));
    SINKD_ASSIGN_OR_RETURN(const at::Tensor out_bias,
                           loader_.Load(down + "_bias", {count, spec_.hidden}));
    // Gate and up alternate: row 2u is unit u's gate, 2u + 1 its up.
    const auto apart = [units](const at::Tensor& rows) {
      const at::Tensor pairs = rows.unflatten(0, {units, 2});
      return at::cat({pairs.select(1, 0), pairs.select(1, 1)});
    };
    for (int64_t e = 0; e < count; ++e) {
      SINKD_ASSIGN_OR_RETURN(const at::Tensor in,
                             StackedExpert(gate_up, e, 2 * units, spec_.hidden));
      SINKD_ASSIGN_OR_RETURN(const at::Tensor out, StackedExpert(down, e, spec_.hidden, units));
      block.experts.push_back({.gate_up = SplitInputs(apart(in)),
                               .gate_up_bias = apart(in_bias[e]),
                               .down = SplitInputs(out.contiguous()),
                               .down_bias = out_bias[e].clone()});
    }
    return absl::OkStatus();
  }

  TensorLoader& loader_;
  const DecoderSpec& spec_;
  const WeightNames& names_;
  const std::string prefix_;
  const int64_t block_;
  const bool own_keys_;
  const bool keys_as_values_;
  const HeadShape shape_;
  const Mixer mixer_;
  const bool with_mlp_;
  const bool sparse_;
  const bool rotates_;
  const bool windowed_;
};

}  // namespace

absl::StatusOr<NormWeights> LoadNorm(TensorLoader& loader, const DecoderSpec& spec,
                                     const std::string& name, int64_t width) {
  NormWeights norm;
  if (!spec.norm_weights) {
    norm.weight = at::ones({}, loader.options());
    return norm;
  }
  SINKD_ASSIGN_OR_RETURN(norm.weight, loader.Load(name + ".weight", {width}));
  if (IsLayerNorm(spec.norm) && spec.norm_bias) {
    SINKD_ASSIGN_OR_RETURN(norm.bias, loader.Load(name + ".bias", {width}));
  }
  return norm;
}

absl::StatusOr<BlockWeights> LoadBlock(TensorLoader& loader, const DecoderPlan& plan,
                                       int64_t block) {
  BlockWeights weights;
  SINKD_RETURN_IF_ERROR(BlockLoader(loader, plan, block).Load(weights));
  return weights;
}

}  // namespace sinkd
