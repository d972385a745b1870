// The comparison with transformers bites: breaking one rule of a family moves its states far past
// the tolerance of the parity test.
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "tests/engine/oracle_files.h"
#include "tests/engine/state_recorder.h"

namespace sinkd::testing {
namespace {

// Fifty times what parity allows.
constexpr double kVisible = 1e-3;

struct BrokenRule {
  std::string name;
  std::string checkpoint;
  int64_t length;
  std::function<void(DecoderSpec&, std::vector<BlockWeights>&)> change;
};

void PrintTo(const BrokenRule& rule, std::ostream* out) {
  *out << rule.name;
}

double LargestDistance(const DecoderSpec& spec, const OuterWeights& outer,
                       const std::vector<BlockWeights>& weights, const ExpectedSample& expected) {
  const c10::InferenceMode inference;
  const ResidentBlocks blocks(weights);
  const Decoder decoder(spec, outer, blocks);
  StateRecorder recorder(spec.blocks);
  const TokenIds batch[] = {expected.ids};
  EXPECT_TRUE(decoder.Forward(Pack(batch, at::kCPU), recorder, std::stop_token()).ok());
  const auto length = static_cast<int64_t>(expected.ids.size());
  const at::Tensor want = at::from_blob(const_cast<float*>(expected.hidden.data()),
                                        {spec.blocks, length, spec.hidden}, at::kFloat);
  double largest = 0;
  for (int64_t l = 0; l < spec.blocks; ++l) {
    const at::Tensor got = recorder.states()[static_cast<size_t>(l)];
    largest = std::max(largest, ((got - want[l]).norm() / want[l].norm()).item<double>());
  }
  return largest;
}

class OneRule : public ::testing::TestWithParam<BrokenRule> {};

TEST_P(OneRule, ShowsWhenItIsBroken) {
  const BrokenRule& rule = GetParam();
  const auto model =
      Model::Load(OracleFolder() / rule.checkpoint, {.compute_type = ComputeType::kFloat32});
  ASSERT_TRUE(model.ok()) << model.status();
  const Model::Internals& internals = (*model)->internals();
  DecoderSpec spec = internals.spec;
  std::vector<BlockWeights> blocks =
      dynamic_cast<const ResidentBlocks&>(*internals.blocks).blocks();
  const ExpectedSample expected = ReadExpected(rule.checkpoint, "f32", rule.length);
  EXPECT_LT(LargestDistance(spec, internals.outer, blocks, expected), 2e-5);
  rule.change(spec, blocks);
  EXPECT_GT(LargestDistance(spec, internals.outer, blocks, expected), kVisible);
}

INSTANTIATE_TEST_SUITE_P(
    Table, OneRule,
    ::testing::Values(
        BrokenRule{"WindowOneLarger", "tiny/qwen2_window", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     for (int64_t& window : spec.window) window += window > 0 ? 1 : 0;
                   }},
        BrokenRule{"NoWindow", "families/mistral_window", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.window.assign(spec.window.size(), 0);
                   }},
        BrokenRule{"SinksTakeNoShare", "families/gpt_oss_sinks", 64,
                   [](DecoderSpec&, std::vector<BlockWeights>& blocks) {
                     for (BlockWeights& block : blocks) block.sinks = at::Tensor();
                   }},
        BrokenRule{
            "GateUnclamped", "families/gpt_oss_sinks", 64,
            [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.gating = Gating::kGated; }},
        BrokenRule{"GateAndUpAsHalves", "families/gpt_oss_sinks", 64,
                   [](DecoderSpec&, std::vector<BlockWeights>& blocks) {
                     // Rows as the file has them, gate and up in turn, taken for halves.
                     const auto alternating = [](const at::Tensor& halves) {
                       return at::stack(halves.chunk(2), 1).flatten(0, 1);
                     };
                     for (BlockWeights& block : blocks) {
                       for (MlpWeights& expert : block.experts) {
                         expert.gate_up = alternating(expert.gate_up);
                         expert.gate_up_bias = alternating(expert.gate_up_bias);
                       }
                     }
                   }},
        BrokenRule{"RoutedBySoftmaxOverAll", "families/gpt_oss_sinks", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.experts.routing = Routing::kSoftmaxThenTop;
                     spec.experts.renormalize = false;
                   }},
        BrokenRule{"WeightsNotRenormalised", "families/qwen3_moe_renormalised", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.experts.renormalize = false;
                   }},
        BrokenRule{
            "OneExpertFewer", "families/mixtral_experts", 64,
            [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.experts.per_token -= 1; }},
        BrokenRule{"WholeHeadsRotate", "families/phi3_partial_rotary", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.ropes[0].dimensions = spec.head_size;
                   }},
        BrokenRule{"YarnWithoutFactor", "tiny/qwen2_yarn", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.ropes[0].attention_factor = 1;
                   }},
        BrokenRule{"LongropeAlwaysShort", "families/phi3_longrope", 200,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.ropes[0].long_factors = spec.ropes[0].short_factors;
                   }},
        BrokenRule{"Llama3RopeAsDefault", "tiny/llama_rope_llama3", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.ropes[0].kind = RopeKind::kDefault;
                   }},
        BrokenRule{"LinearRopeUnscaled", "tiny/llama_rope_linear", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.ropes[0].factor = 1; }},
        BrokenRule{"DynamicRopeFixed", "families/llama_dynamic", 200,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.ropes[0].kind = RopeKind::kDefault;
                   }},
        BrokenRule{
            "NormWithoutOne", "families/gemma2_softcap", 64,
            [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.norm = NormKind::kRms; }},
        BrokenRule{"ScoresUncapped", "families/gemma2_softcap", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.score_cap = 0; }},
        BrokenRule{"OneBaseForAllBlocks", "families/gemma3_pattern", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.rope_of_block.assign(spec.rope_of_block.size(), 0);
                   }},
        BrokenRule{"EveryBlockRotates", "families/smollm3_no_rope", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.rope_of_block.assign(spec.rope_of_block.size(), 0);
                   }},
        BrokenRule{"PositionsFromRowZero", "families/opt_pre_norm", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.position_offset = 0; }},
        BrokenRule{"ConvolutionOneTapFewer", "decoders/lfm2_convolutions", 64,
                   [](DecoderSpec&, std::vector<BlockWeights>& blocks) {
                     for (BlockWeights& block : blocks) {
                       at::Tensor& taps = block.mixer.taps;
                       if (taps.defined()) taps = taps.narrow(0, 1, taps.size(0) - 1);
                     }
                   }},
        BrokenRule{"ConvolutionWithoutBias", "decoders/lfm2_biases", 64,
                   [](DecoderSpec&, std::vector<BlockWeights>& blocks) {
                     for (BlockWeights& block : blocks) block.mixer.taps_bias.reset();
                   }},
        BrokenRule{"MoreAddedToSumOfWeights", "decoders/lfm2_moe_experts", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.experts.added_to_sum = 0.01;
                   }},
        BrokenRule{"MixersOfBlocksSwapped", "decoders/qwen3_5_text_dense", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>& blocks) {
                     std::swap(spec.mixer[0], spec.mixer[1]);
                     std::swap(blocks[0], blocks[1]);
                   }},
        BrokenRule{"DeltaWithoutDecay", "decoders/qwen3_next_experts", 200,
                   [](DecoderSpec&, std::vector<BlockWeights>& blocks) {
                     for (BlockWeights& block : blocks) {
                       if (block.mixer.decay.defined()) block.mixer.decay = block.mixer.decay - 30;
                     }
                   }},
        BrokenRule{"DeltaStepWithoutBias", "decoders/qwen3_next_experts", 64,
                   [](DecoderSpec&, std::vector<BlockWeights>& blocks) {
                     for (BlockWeights& block : blocks) {
                       if (block.mixer.step.defined()) block.mixer.step = block.mixer.step * 0;
                     }
                   }},
        BrokenRule{"DeltaNormOnePlusWeight", "decoders/qwen3_next_experts", 64,
                   [](DecoderSpec&, std::vector<BlockWeights>& blocks) {
                     for (BlockWeights& block : blocks) {
                       at::Tensor& weight = block.mixer.norm.weight;
                       if (weight.defined()) weight = weight + 1;
                     }
                   }},
        BrokenRule{"MambaStepsUnlimited", "decoders/granitemoehybrid_dense", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.mamba.least_step = 0;
                     spec.mamba.most_step = 100;
                   }},
        BrokenRule{"MambaNormOfGroupsSwapped", "decoders/granitemoehybrid_experts", 64,
                   [](DecoderSpec&, std::vector<BlockWeights>& blocks) {
                     for (BlockWeights& block : blocks) {
                       at::Tensor& weight = block.mixer.norm.weight;
                       if (weight.defined()) weight = weight.flip(0);
                     }
                   }},
        BrokenRule{"MambaWithoutSkip", "decoders/granitemoehybrid_experts", 64,
                   [](DecoderSpec&, std::vector<BlockWeights>& blocks) {
                     for (BlockWeights& block : blocks) {
                       if (block.mixer.skip.defined()) block.mixer.skip = block.mixer.skip * 0;
                     }
                   }},
        BrokenRule{"MambaNormAfterGate", "blocks/falcon_h1_multipliers", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.mamba.norm_before_gate = false;
                   }},
        BrokenRule{"MambaUnnormed", "blocks/falcon_h1_multipliers", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.mamba.norm = false; }},
        BrokenRule{
            "MambaInputUnscaled", "blocks/falcon_h1_multipliers", 64,
            [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.mamba.input_scale = 1; }},
        BrokenRule{"MambaPartsUnscaled", "blocks/falcon_h1_multipliers", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.mamba.part_scales = {1, 1, 1, 1, 1};
                   }},
        BrokenRule{
            "MambaOutputUnscaled", "blocks/falcon_h1_multipliers", 64,
            [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.mamba.output_scale = 1; }},
        BrokenRule{
            "AttentionInputUnscaled", "blocks/falcon_h1_multipliers", 64,
            [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.attention_input_scale = 1; }},
        BrokenRule{
            "AttentionOutputUnscaled", "blocks/falcon_h1_multipliers", 64,
            [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.attention_output_scale = 1; }},
        BrokenRule{"GateUnscaled", "blocks/falcon_h1_multipliers", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.gate_scale = 1; }},
        BrokenRule{
            "MlpOutputUnscaled", "blocks/falcon_h1_multipliers", 64,
            [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.mlp_output_scale = 1; }},
        BrokenRule{"AttentionAlone", "blocks/falcon_h1_multipliers", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.mixer.assign(spec.mixer.size(), Mixer::kAttention);
                   }},
        BrokenRule{"MambaUnbiased", "blocks/nemotron_h_pattern", 64,
                   [](DecoderSpec&, std::vector<BlockWeights>& blocks) {
                     for (BlockWeights& block : blocks) block.mixer.output_bias.reset();
                   }},
        BrokenRule{"MambaActivatedAsTheMlp", "blocks/nemotron_h_latents", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.mamba.activation = spec.activation;
                   }},
        BrokenRule{"NoMlpInABlockOfItsOwn", "blocks/nemotron_h_latents", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.with_mlp[3] = false; }},
        BrokenRule{"ExpertLatentsOfTheFirstChannels", "blocks/nemotron_h_latents", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>& blocks) {
                     at::Tensor& in = blocks[1].expert_in;
                     in = at::eye(spec.experts.latent, spec.hidden, in.options());
                   }},
        BrokenRule{"ValuesUnnormed", "blocks/gemma4_sharing", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.value_norms = false; }},
        BrokenRule{"KeysOfAnotherBlock", "blocks/gemma4_sharing", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.keys_of = {0, 1, 2, 3, 0, 1};
                   }},
        BrokenRule{"NoInputsFromTokens", "blocks/gemma4_sharing", 64,
                   [](DecoderSpec&, std::vector<BlockWeights>& blocks) {
                     for (BlockWeights& block : blocks) block.token_gate.reset();
                   }},
        BrokenRule{"BlocksUnscaled", "blocks/gemma4_sharing", 64,
                   [](DecoderSpec&, std::vector<BlockWeights>& blocks) {
                     for (BlockWeights& block : blocks) block.scale.reset();
                   }},
        BrokenRule{"ValuesApartFromKeys", "blocks/gemma4_keys_as_values", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>& blocks) {
                     const HeadShape heads = spec.HeadsOf(1);
                     const int64_t rows = heads.kv_heads * heads.value_size;
                     at::Tensor& qkv = blocks[1].qkv;
                     const int64_t first = qkv.size(0) - rows;
                     qkv = at::cat({qkv.narrow(0, 0, first), qkv.narrow(0, first, rows).flip(0)});
                   }},
        BrokenRule{"EachExpertUnscaled", "blocks/gemma4_experts", 64,
                   [](DecoderSpec&, std::vector<BlockWeights>& blocks) {
                     for (BlockWeights& block : blocks) block.expert_scale.reset();
                   }},
        BrokenRule{"RouterUnscaled", "blocks/gemma4_experts", 64,
                   [](DecoderSpec&, std::vector<BlockWeights>& blocks) {
                     for (BlockWeights& block : blocks) {
                       block.router_scale = at::ones_like(block.router_scale);
                     }
                   }},
        BrokenRule{"ExpertsReadWhatTheMlpReads", "blocks/gemma4_experts", 64,
                   [](DecoderSpec&, std::vector<BlockWeights>& blocks) {
                     for (BlockWeights& block : blocks) block.expert_norm = block.mlp_norm;
                   }},
        BrokenRule{"MlpUnnormedBesideExperts", "blocks/gemma4_experts", 64,
                   [](DecoderSpec&, std::vector<BlockWeights>& blocks) {
                     for (BlockWeights& block : blocks) block.dense_norm = block.mlp_output_norm;
                   }},
        BrokenRule{"DeltaKeysInSmallerHeads", "decoders/qwen3_next_experts", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.delta.key_size /= 2;
                     spec.delta.key_heads *= 2;
                   }},
        BrokenRule{
            "AttentionWithoutGate", "decoders/qwen3_5_text_dense", 64,
            [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.attention_gate = false; }},
        BrokenRule{"ResidualInSequence", "families/gpt_neox_parallel", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.wiring = Wiring::kSequential;
                   }},
        BrokenRule{"EmbeddingUnscaled", "families/gemma2_softcap", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.embedding_scale = 1; }},
        BrokenRule{"NoHeadNorms", "tiny/qwen3_plain", 64,
                   [](DecoderSpec&, std::vector<BlockWeights>& blocks) {
                     for (BlockWeights& block : blocks) block.q_norm = block.k_norm = {};
                   }},
        BrokenRule{"NoNormAfterMlp", "families/olmo2_plain", 64,
                   [](DecoderSpec&, std::vector<BlockWeights>& blocks) {
                     for (BlockWeights& block : blocks) block.mlp_output_norm = {};
                   }},
        BrokenRule{"PairsAsHalves", "decoders/ernie4_5_plain", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.ropes[0].interleaved = false;
                   }},
        BrokenRule{
            "QueriesDoNotGrow", "decoders/ministral3_growth", 64,
            [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.ropes[0].query_growth = 0; }},
        BrokenRule{"HeadNormsBeforeRotary", "decoders/hunyuan_plain", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.head_norms_after_rotary = false;
                   }},
        BrokenRule{"HeadsShareNorms", "decoders/cohere_head_norms", 64,
                   [](DecoderSpec&, std::vector<BlockWeights>& blocks) {
                     for (BlockWeights& block : blocks)
                       block.q_norm.weight = block.q_norm.weight[0];
                   }},
        BrokenRule{"ProjectionsUnclamped", "decoders/olmo_clipped", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.qkv_clip = 0; }},
        BrokenRule{"ResidualUnscaled", "decoders/granite_multipliers", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.residual_scale = 1; }},
        BrokenRule{"ScoresOverRootOfHeadSize", "decoders/granite_multipliers", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     const double root = std::sqrt(static_cast<double>(spec.head_size));
                     spec.score_scale.assign(spec.score_scale.size(), 1 / root);
                   }},
        BrokenRule{
            "LayerNormWithoutOne", "decoders/nemotron_plain", 64,
            [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.norm = NormKind::kLayer; }},
        BrokenRule{"RoutedBySoftmax", "decoders/minimax_m2_experts", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.experts.routing = Routing::kSoftmaxThenTop;
                   }},
        BrokenRule{"SelectedWithoutCorrection", "decoders/ernie4_5_moe_experts", 64,
                   [](DecoderSpec&, std::vector<BlockWeights>& blocks) {
                     for (BlockWeights& block : blocks) block.router_correction = at::Tensor();
                   }},
        BrokenRule{"SelectedFromAllGroups", "decoders/glm4_moe_groups", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.experts.groups = 1; }},
        BrokenRule{"ExpertsUnscaled", "decoders/solar_open_experts", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.experts.scale = 1; }},
        BrokenRule{"NoSharedExpert", "decoders/hunyuan_moe_experts", 64,
                   [](DecoderSpec&, std::vector<BlockWeights>& blocks) {
                     for (BlockWeights& block : blocks) block.mlp = {};
                   }},
        BrokenRule{"SharedExpertUngated", "decoders/qwen2_moe_windows", 64,
                   [](DecoderSpec&, std::vector<BlockWeights>& blocks) {
                     for (BlockWeights& block : blocks) block.shared_router = at::Tensor();
                   }},
        BrokenRule{
            "FirstChannelsRotate", "decoders/deepseek_v3_groups", 64,
            [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.ropes[0].last = false; }},
        BrokenRule{"LatentsUnnormed", "decoders/deepseek_v3_groups", 64,
                   [](DecoderSpec&, std::vector<BlockWeights>& blocks) {
                     for (BlockWeights& block : blocks) block.kv_latent_norm = NormWeights();
                   }},
        BrokenRule{"QueryLatentsUnnormed", "decoders/youtu_plain", 64,
                   [](DecoderSpec&, std::vector<BlockWeights>& blocks) {
                     for (BlockWeights& block : blocks) block.q_latent_norm = NormWeights();
                   }},
        BrokenRule{"ScoresOverRootAlone", "decoders/deepseek_v3_groups", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.score_scale.assign(spec.score_scale.size(),
                                             1 / std::sqrt(static_cast<double>(spec.head_size)));
                   }},
        BrokenRule{
            "GroupsRankedByTwo", "decoders/deepseek_v2_groups", 64,
            [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.experts.group_best = 2; }},
        BrokenRule{"NoChunks", "decoders/llama4_chunks", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.chunk.clear(); }},
        BrokenRule{"ChunkOneLarger", "decoders/llama4_chunks", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     for (int64_t& chunk : spec.chunk) chunk += chunk > 0 ? 1 : 0;
                   }},
        BrokenRule{
            "QueriesGrowOneLater", "decoders/llama4_chunks", 64,
            [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.ropes[1].growth_start = 0; }},
        BrokenRule{"AllBlocksNormHeads", "decoders/llama4_chunks", 64,
                   [](DecoderSpec&, std::vector<BlockWeights>& blocks) {
                     blocks[3].q_norm = blocks[3].k_norm = blocks[0].q_norm;
                   }},
        BrokenRule{"OutputsWeighed", "decoders/llama4_experts", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.experts.weigh_input = false;
                   }},
        BrokenRule{"NoDistanceBias", "decoders/bloom_bias", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.distance_bias = {}; }},
        BrokenRule{"DistanceBiasExact", "decoders/falcon_bias", 200,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.distance_bias.in_bfloat16 = false;
                   }},
        BrokenRule{"DistanceBiasUnscaled", "decoders/falcon_bias", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.distance_bias.scaled = false;
                   }},
        BrokenRule{
            "EmbeddingUnnormed", "decoders/bloom_bias", 64,
            [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.embedding_norm = false; }},
        BrokenRule{
            "ClampedBeforeNorms", "decoders/olmoe_clipped", 64,
            [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.clip_after_norms = false; }},
        BrokenRule{"ValuesUnscaled", "decoders/mimo_v2_flash_windows", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.value_scale = 1; }},
        BrokenRule{"SinksWithoutWindows", "decoders/mimo_v2_flash_windows", 64,
                   [](DecoderSpec&, std::vector<BlockWeights>& blocks) {
                     blocks[0].sinks = blocks[1].sinks;
                   }},
        BrokenRule{"UnitsSquared", "decoders/apertus_plain", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.activation = Activation::kReluSquared;
                   }},
        BrokenRule{"ExpertsChosenAtOnce", "decoders/phimoe_experts", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.experts.routing = Routing::kSoftmaxThenTop;
                   }},
        BrokenRule{
            "ExpertsShareWithAll", "decoders/phimoe_experts", 64,
            [](DecoderSpec& spec, std::vector<BlockWeights>&) { spec.experts.jitter = 1e6; }},
        BrokenRule{"LongSamplesAsShort", "decoders/phimoe_longrope", 200,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.ropes[0].long_attention_factor = 0;
                   }},
        BrokenRule{"SharedExpertUnbiased", "decoders/ernie4_5_moe_biases", 64,
                   [](DecoderSpec&, std::vector<BlockWeights>& blocks) {
                     for (BlockWeights& block : blocks) block.mlp.down_bias = at::Tensor();
                   }},
        BrokenRule{"ReluNotSquared", "decoders/arcee_plain", 64,
                   [](DecoderSpec& spec, std::vector<BlockWeights>&) {
                     spec.activation = Activation::kRelu;
                   }}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace sinkd::testing
