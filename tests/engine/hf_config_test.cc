// config.json: what each family reads, what it falls back to, and what it refuses.
#include "server/engine/families/hf_config.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/base/status.h"
#include "server/engine/model.h"

namespace sinkd {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ConfigFile {
 public:
  explicit ConfigFile(const std::string& text) {
    std::string pattern = ::testing::TempDir() + "configXXXXXX";
    path_ = mkdtemp(pattern.data());
    std::ofstream(path_ / "config.json") << text;
  }
  ~ConfigFile() { std::filesystem::remove_all(path_); }
  absl::StatusOr<DecoderSpec> Read() const { return ReadDecoderSpec(path_); }

 private:
  std::filesystem::path path_;
};

// A complete config whose last keys are `more`; JSON lets a later key win.
std::string Config(const std::string& model_type, const std::string& more = "") {
  return R"({"model_type":")" + model_type +
         R"(","hidden_size":64,"num_hidden_layers":4,"num_attention_heads":8,)"
         R"("intermediate_size":96,"vocab_size":300)" +
         (more.empty() ? "" : "," + more) + "}";
}

DecoderSpec ReadOrDie(const std::string& text) {
  const auto spec = ConfigFile(text).Read();
  EXPECT_TRUE(spec.ok()) << spec.status();
  return spec.value_or(DecoderSpec());
}

TEST(HfConfig, FillsWhatAConfigLeavesOutAsTheFamilyDoes) {
  const DecoderSpec llama = ReadOrDie(Config("llama"));
  EXPECT_EQ(llama.kv_heads, 8);
  EXPECT_EQ(llama.head_size, 8);
  EXPECT_EQ(llama.max_positions, 2048);
  EXPECT_FALSE(llama.qkv_bias);
  EXPECT_FALSE(llama.tied_head);

  const DecoderSpec qwen2 = ReadOrDie(Config("qwen2", R"("num_key_value_heads":null)"));
  EXPECT_EQ(qwen2.kv_heads, 8);
  EXPECT_TRUE(qwen2.qkv_bias);
  EXPECT_FALSE(qwen2.output_bias);

  const DecoderSpec qwen3 = ReadOrDie(Config("qwen3", R"("num_key_value_heads":2)"));
  EXPECT_EQ(qwen3.head_size, 128);
  EXPECT_EQ(qwen3.head_norms, HeadNorms::kPerHead);
  EXPECT_FALSE(qwen3.qkv_bias);
}

TEST(HfConfig, AbsentKeyValueHeadsOfQwenAre32) {
  const auto spec = ConfigFile(Config("qwen2")).Read();
  ASSERT_FALSE(spec.ok());  // 32 does not divide 8 heads
  EXPECT_THAT(std::string(spec.status().message()), HasSubstr("num_key_value_heads"));
}

TEST(HfConfig, UsesAWindowOnlyWhenTheFlagSaysSo) {
  const std::string heads = R"("num_key_value_heads":2,"sliding_window":16,"max_window_layers":2)";
  EXPECT_THAT(ReadOrDie(Config("qwen2", heads)).window, ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(ReadOrDie(Config("qwen2", heads + R"(,"use_sliding_window":true)")).window,
              ElementsAre(0, 0, 16, 16));
  EXPECT_THAT(ReadOrDie(Config("qwen2", heads + R"(,"use_sliding_window":true,"layer_types":[)"
                                                R"("sliding_attention","full_attention",)"
                                                R"("full_attention","sliding_attention"])"))
                  .window,
              ElementsAre(16, 0, 0, 16));
  EXPECT_THAT(ReadOrDie(Config("qwen2", R"("num_key_value_heads":2,"use_sliding_window":true,)"
                                        R"("sliding_window":null,"max_window_layers":0)"))
                  .window,
              ElementsAre(0, 0, 0, 0));
}

TEST(HfConfig, ReadsRotaryScalingByOldAndNewKeys) {
  const DecoderSpec old_keys = ReadOrDie(
      Config("llama", R"("rope_theta":500000,"rope_scaling":{"type":"linear","factor":4})"));
  const DecoderSpec new_keys = ReadOrDie(Config(
      "llama", R"("rope_parameters":{"rope_type":"linear","factor":4,"rope_theta":500000})"));
  for (const DecoderSpec& spec : {old_keys, new_keys}) {
    EXPECT_EQ(spec.ropes[0].kind, RopeKind::kLinear);
    EXPECT_EQ(spec.ropes[0].theta, 500000);
    EXPECT_EQ(spec.ropes[0].factor, 4);
  }
}

// As transformers 5 reads them, modeling_rope_utils.py.
TEST(HfConfig, ReadsRotaryScalingAsTransformers5Does) {
  const auto rope = [](const std::string& family, const std::string& keys) {
    return ReadOrDie(Config(family, keys)).ropes[0];
  };
  // rope_scaling goes before rope_parameters, the original context at the top before the scaling's.
  const RopeSpec both = rope("llama", R"("rope_scaling":{"rope_type":"linear","factor":4},)"
                                      R"("rope_parameters":{"rope_theta":500,"factor":8})");
  EXPECT_EQ(both.factor, 4);
  EXPECT_EQ(both.theta, 10000);
  const std::string llama3 =
      R"("rope_parameters":{"rope_type":"llama3","factor":8,"low_freq_factor":1,)"
      R"("high_freq_factor":4)";
  EXPECT_EQ(rope("llama", llama3 + "}").original_positions, 2048);
  EXPECT_EQ(
      rope("llama", llama3 + R"(,"original_max_position_embeddings":512})").original_positions,
      512);
  EXPECT_EQ(rope("llama", llama3 + R"(,"original_max_position_embeddings":512},)"
                                   R"("original_max_position_embeddings":1024)")
                .original_positions,
            1024);
  const RopeSpec proportional =
      rope("llama", R"("head_dim":32,"rope_parameters":{"rope_type":"proportional",)"
                    R"("partial_rotary_factor":0.3})");
  EXPECT_EQ(proportional.dimensions, 32);
  EXPECT_EQ(proportional.turning_pairs, 4);
  EXPECT_EQ(rope("gpt_oss", R"("num_local_experts":4,"num_experts_per_tok":2)").kind,
            RopeKind::kYarn);
}

// 250,000 numbers are more than any config holds, and their comparison with 1,024 blocks would take
// hours.
TEST(HfConfig, LongListsAreReadInTheTimeOfTheirLength) {
  std::string dense = "2.5";
  for (int i = 0; i < 240'000; ++i) dense += ",2.5";
  const DecoderSpec spec =
      ReadOrDie(Config("qwen3_moe", R"("num_key_value_heads":2,"num_local_experts":4,)"
                                    R"("num_experts_per_tok":2,"moe_intermediate_size":32,)"
                                    R"("mlp_only_layers":[)" +
                                        dense + "]"));
  EXPECT_TRUE(spec.experts.in_block[2]);
  EXPECT_FALSE(ConfigFile(Config("llama", R"("a":[)" + dense + "," + dense + "]")).Read().ok());
}

TEST(HfConfig, ResolvesTheAttentionFactorOfYarn) {
  // 0.1 ln 4 + 1, arXiv 2309.00071.
  EXPECT_NEAR(ReadOrDie(Config("qwen2", R"("num_key_value_heads":2,)"
                                        R"("rope_scaling":{"type":"yarn","factor":4})"))
                  .ropes[0]
                  .attention_factor,
              1.1386294, 1e-7);
}

TEST(HfConfig, TakesDtypeOverTorchDtype) {
  EXPECT_EQ(ReadOrDie(Config("llama", R"("torch_dtype":"float32","dtype":"bfloat16")")).dtype,
            "bfloat16");
  EXPECT_EQ(ReadOrDie(Config("llama", R"("torch_dtype":"float32")")).dtype, "float32");
}

struct BadConfig {
  std::string name;
  std::string text;
  std::string message;
};

class BadConfigs : public ::testing::TestWithParam<BadConfig> {};

TEST_P(BadConfigs, AreRefusedByKeyAndValue) {
  const auto spec = ConfigFile(GetParam().text).Read();
  ASSERT_FALSE(spec.ok());
  EXPECT_EQ(spec.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(spec.status().message()), HasSubstr(GetParam().message));
  const auto detail = GetErrorDetail(spec.status());
  ASSERT_TRUE(detail.has_value());
  EXPECT_FALSE(detail->fix.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadConfigs,
    ::testing::Values(
        BadConfig{"Empty", "", "not valid JSON"}, BadConfig{"NotJson", "{", "not valid JSON"},
        BadConfig{"AList", "[]", "does not hold an object"},
        BadConfig{"TooDeep", std::string(1000, '['), "nested deeper"},
        BadConfig{"NoModelType", "{}", "model_type"},
        BadConfig{"UnknownFamily", Config("mamba"), "families that `sinkctl families` lists"},
        BadConfig{"DeepseekV32", Config("deepseek_v32"), "selects the keys of each query"},
        BadConfig{"DeepseekV4", Config("deepseek_v4"), "selects the keys of each query"},
        BadConfig{"GlmMoeDsa", Config("glm_moe_dsa"), "selects the keys of each query"},
        BadConfig{"Bert", Config("bert"), "looks ahead as well as back"},
        BadConfig{"ModernBert", Config("modernbert"), "looks ahead as well as back"},
        BadConfig{"Mamba", Config("mamba"), "has no attention"},
        BadConfig{"Mamba2", Config("mamba2"), "has no attention"},
        BadConfig{"Rwkv", Config("rwkv"), "has no attention"},
        BadConfig{"ExpertsByBlock",
                  Config("hunyuan_v1_moe", R"("num_experts":4,"moe_topk":[1,2,1,2])"),
                  "moe_topk differs between blocks"},
        BadConfig{"NoHiddenSize", R"({"model_type":"llama","num_hidden_layers":4})",
                  "hidden_size is missing"},
        BadConfig{"HugeLayers", Config("llama", R"("num_hidden_layers":1000000000000)"),
                  "num_hidden_layers is not an integer from 1 to 1024 (got 1000000000000)"},
        BadConfig{"PastInt64", Config("llama", R"("hidden_size":18446744073709551615)"),
                  "hidden_size"},
        BadConfig{"NegativeSize", Config("llama", R"("hidden_size":-64)"), "(got -64)"},
        BadConfig{"TextForANumber", Config("llama", R"("hidden_size":"64")"), "hidden_size"},
        BadConfig{"HeadsDoNotDivide", Config("llama", R"("num_attention_heads":7)"),
                  "does not divide hidden_size 64"},
        BadConfig{"KvHeadsDoNotDivide", Config("llama", R"("num_key_value_heads":3)"),
                  "does not divide num_attention_heads 8"},
        BadConfig{"OddHeadSize", Config("llama", R"("head_dim":7)"), "head_dim is odd"},
        BadConfig{
            "RenormalizedByDeepseekV2",
            Config(
                "deepseek_v2",
                R"("num_key_value_heads":8,"n_routed_experts":4,"num_experts_per_tok":2,"moe_intermediate_size":16,"norm_topk_prob":true)"),
            "norm_topk_prob is true"},
        BadConfig{
            "UnknownSelection",
            Config(
                "deepseek_v2",
                R"("num_key_value_heads":8,"n_routed_experts":4,"num_experts_per_tok":2,"moe_intermediate_size":16,"topk_method":"noaux_tc")"),
            "topk_method is not a way to select"},
        BadConfig{
            "GroupsThatDoNotCut",
            Config(
                "deepseek_v2",
                R"("num_key_value_heads":8,"n_routed_experts":4,"num_experts_per_tok":2,"moe_intermediate_size":16,"topk_method":"group_limited_greedy","n_group":3)"),
            "n_group does not cut 4 experts"},
        BadConfig{
            "SharedKeyOfAnotherSize",
            Config(
                "deepseek_v3",
                R"("num_key_value_heads":8,"n_routed_experts":4,"num_experts_per_tok":2,"moe_intermediate_size":16,"n_group":2,"topk_group":1,"head_dim":96)"),
            "head_dim is not qk_rope_head_dim, 64"},
        BadConfig{
            "FewKeyHeadsOfLatents",
            Config(
                "deepseek_v3",
                R"("num_key_value_heads":8,"n_routed_experts":4,"num_experts_per_tok":2,"moe_intermediate_size":16,"n_group":2,"topk_group":1,"num_key_value_heads":2)"),
            "num_key_value_heads is not num_attention_heads, 8"},
        BadConfig{
            "ScoresBySoftmax",
            Config(
                "deepseek_v3",
                R"("num_key_value_heads":8,"n_routed_experts":4,"num_experts_per_tok":2,"moe_intermediate_size":16,"n_group":2,"topk_group":1,"scoring_func":"softmax")"),
            "scoring_func is not sigmoid"},
        BadConfig{
            "SelectedByGreed",
            Config(
                "deepseek_v3",
                R"("num_key_value_heads":8,"n_routed_experts":4,"num_experts_per_tok":2,"moe_intermediate_size":16,"n_group":2,"topk_group":1,"topk_method":"greedy")"),
            "topk_method is not noaux_tc"},
        BadConfig{
            "EverySecondBlockSparse",
            Config(
                "deepseek_v3",
                R"("num_key_value_heads":8,"n_routed_experts":4,"num_experts_per_tok":2,"moe_intermediate_size":16,"n_group":2,"topk_group":1,"moe_layer_freq":2)"),
            "moe_layer_freq is not 1"},
        BadConfig{
            "UnknownMlp",
            Config(
                "glm4_moe_lite",
                R"("num_key_value_heads":8,"n_routed_experts":4,"num_experts_per_tok":2,"moe_intermediate_size":16,"mlp_layer_types":["dense","sparse","sparse","wide"])"),
            "names wide, which is not a type of MLP"},
        BadConfig{"TextHalfOfKimi", Config("kimi_k25", R"("text_config":{"model_type":"llama"})"),
                  "text_config.model_type is not that of a text half"},
        BadConfig{
            "StreamOfNorms",
            Config("bloom",
                   R"("n_layer":4,"n_head":8,"apply_residual_connection_post_layernorm":true)"),
            "a stream of norms is not computed"},
        BadConfig{"TwoNamesOfHeads", Config("bloom", R"("n_layer":4,"n_head":4)"),
                  "num_attention_heads differs from n_head"},
        BadConfig{
            "NewerFalconInSequence",
            Config("falcon",
                   R"("new_decoder_architecture":true,"num_kv_heads":2,"parallel_attn":false)"),
            "parallel_attn is false, and new_decoder"},
        BadConfig{"FalconKeyHeads",
                  Config("falcon", R"("new_decoder_architecture":true,"num_kv_heads":3)"),
                  "num_kv_heads does not divide num_attention_heads"},
        BadConfig{"OldFalconKeyHeads", Config("falcon", R"("multi_query":false,"num_kv_heads":2)"),
                  "num_kv_heads is not num_attention_heads"},
        BadConfig{"OldFalconTwoNorms", Config("falcon", R"("num_ln_in_parallel_attn":2)"),
                  "num_ln_in_parallel_attn is 2"},
        BadConfig{"MptSlopes", Config("mpt", R"("attn_config":{"alibi_bias_max":4})"),
                  "attn_config.alibi_bias_max is not 8"},
        BadConfig{"MptWithoutBias", Config("mpt", R"("attn_config":{"alibi":false})"),
                  "attn_config.alibi is false"},
        BadConfig{"MptWithPrefix", Config("mpt", R"("attn_config":{"prefix_lm":true})"),
                  "attn_config.prefix_lm is true"},
        BadConfig{"MptNorms", Config("mpt", R"("attn_config":{"qk_ln":true})"),
                  "attn_config.qk_ln is true"},
        BadConfig{"MptOneKeyHead",
                  Config("mpt", R"("attn_config":{"attn_type":"multiquery_attention"})"),
                  "attn_config.attn_type is not multihead_attention"},
        BadConfig{"MptWithBiases", Config("mpt", R"("no_bias":false)"), "no_bias is false"},
        BadConfig{"MptWidth", Config("mpt", R"("expansion_ratio":2)"), "expansion_ratio is not 4"},
        BadConfig{"MptLogits", Config("mpt", R"("logit_scale":"inv_sqrt_d_model")"),
                  "logit_scale is set"},
        BadConfig{"GptJRotatesMore", Config("gptj", R"("rotary_dim":64)"),
                  "rotary_dim is not an integer from 1 to 8"},
        BadConfig{"GptJRotatesOdd", Config("gptj", R"("rotary_dim":3)"),
                  "rotary_dim is not an even number"},
        BadConfig{"CodeGenParts", Config("codegen", R"("num_attention_heads":2,"rotary_dim":8)"),
                  "does not divide into the four parts"},
        BadConfig{"GptNeoKinds",
                  Config("gpt_neo", R"("attention_layers":["global","local","global","wide"])"),
                  "names wide, which is not a kind of it"},
        BadConfig{"GptNeoRuns", Config("gpt_neo", R"("attention_types":[["global",4]])"),
                  "attention_types is not a list of lists"},
        BadConfig{
            "GptNeoTwoLists",
            Config(
                "gpt_neo",
                R"("attention_layers":["global","local","global","local"],"attention_types":[[["local"],4]])"),
            "differs from attention_types"},
        BadConfig{"GptNeoBlocks",
                  Config("gpt_neo", R"("attention_types":[[["global","local"],12]])"),
                  "does not name 4 blocks"},
        BadConfig{"PersimmonHeads", Config("persimmon", R"("head_dim":16)"),
                  "head_dim does not give each head"},
        BadConfig{
            "PhiMoeSelects",
            Config("phimoe",
                   R"("num_key_value_heads":2,"num_local_experts":4,"num_experts_per_tok":3)"),
            "num_experts_per_tok is not 2"},
        BadConfig{
            "PhiMoeRotary",
            Config(
                "phimoe",
                R"("num_key_value_heads":2,"num_local_experts":4,"num_experts_per_tok":2,"rope_scaling":{"type":"linear","factor":2})"),
            "is not a rotary scaling of this family"},
        BadConfig{
            "Llama4Chunks",
            Config(
                "llama4_text",
                R"("intermediate_size_mlp":96,"num_local_experts":4,"num_experts_per_tok":1,"attention_chunk_size":null,"layer_types":["chunked_attention","full_attention","full_attention","full_attention"])"),
            "attention_chunk_size is not set"},
        BadConfig{"Llama4WithoutText", Config("llama4", R"("vision_config":{})"),
                  "text_config is missing"},
        BadConfig{"GraniteBases",
                  Config("granite_swa", R"("num_key_value_heads":4,"layer_rope_theta":[0,10000])"),
                  "layer_rope_theta does not hold 4 numbers"},
        BadConfig{
            "MiMoKeyHeads",
            Config(
                "mimo_v2_flash",
                R"("num_key_value_heads":8,"n_routed_experts":4,"num_experts_per_tok":2,"moe_intermediate_size":16)"),
            "times two, in blocks with a window"},
        BadConfig{"UnknownActivation", Config("llama", R"("hidden_act":"mish")"), "hidden_act"},
        BadConfig{"UnknownRope", Config("llama", R"("rope_scaling":{"type":"spiral","factor":2})"),
                  "rope_scaling.type is not a rotary scaling"},
        BadConfig{"RopeWithoutFactor", Config("llama", R"("rope_scaling":{"type":"linear"})"),
                  "rope_scaling.factor is missing"},
        BadConfig{"FactorIsText",
                  Config("llama", R"("rope_scaling":{"type":"linear","factor":"4"})"),
                  "rope_scaling.factor is not a number"},
        BadConfig{"Llama3WithoutAFrequency",
                  Config("llama", R"("rope_scaling":{"rope_type":"llama3","factor":8,)"
                                  R"("high_freq_factor":4})"),
                  "rope_scaling.low_freq_factor is missing"},
        BadConfig{"TwoRotaryScalings",
                  Config("llama", R"("rope_scaling":{"rope_type":"yarn","type":"default"})"),
                  "rope_scaling.type differs from rope_type"},
        BadConfig{
            "RotationsOfLayerTypes",
            Config("llama", R"("rope_parameters":{"full_attention":{"rope_type":"default"}})"),
            "rope_parameters has entries for layer types"},
        BadConfig{"PartialRotation",
                  Config("llama", R"("rope_parameters":{"partial_rotary_factor":0.5})"),
                  "rope_parameters.partial_rotary_factor is not 1"},
        BadConfig{"PartialRotationAtTheTop",
                  Config("qwen3", R"("num_key_value_heads":2,)"
                                  R"("partial_rotary_factor":0.25)"),
                  "config.json: partial_rotary_factor is not 1"},
        BadConfig{"LinearPhi3", Config("phi3", R"("rope_scaling":{"type":"linear","factor":4})"),
                  "is not a rotary scaling of this family"},
        BadConfig{"ThetaThatNeoxDoesNotRead", Config("gpt_neox", R"("rope_theta":500000)"),
                  "rope_theta is not what the model is computed with"},
        BadConfig{"FlatRotationsOfGemma3",
                  Config("gemma3_text", R"("rope_parameters":{"rope_type":"linear","factor":8})"),
                  "rope_parameters has no entries for layer types"},
        BadConfig{"NotCausal", Config("qwen2", R"("num_key_value_heads":2,"is_causal":false)"),
                  "is_causal is not true"},
        BadConfig{"Bidirectional", Config("gemma3_text", R"("use_bidirectional_attention":true)"),
                  "use_bidirectional_attention is true"},
        BadConfig{"BidirectionalTextHalf",
                  R"({"model_type":"gemma3","text_config":)" +
                      Config("gemma3_text", R"("use_bidirectional_attention":true)") + "}",
                  "text_config.use_bidirectional_attention is true"},
        BadConfig{"SettingsOfBlocks", Config("llama", R"("per_layer_config":{"1":{"head_dim":4}})"),
                  "per_layer_config gives blocks settings of their own"},
        BadConfig{"UnknownLayerType",
                  Config("gemma2", R"("layer_types":["full_attention","sparse_attention",)"
                                   R"("full_attention","full_attention"])"),
                  "layer_types names sparse_attention"},
        BadConfig{"LayerTypeOfAnotherFamily",
                  Config("gemma2", R"("layer_types":["full_attention","linear_attention",)"
                                   R"("full_attention","full_attention"])"),
                  "layer_types calls block 1 linear_attention"},
        BadConfig{"OtherMixerThanTheFamilys",
                  Config("lfm2", R"("layer_types":["conv","linear_attention",)"
                                 R"("full_attention","full_attention"])"),
                  "layer_types calls block 1 linear_attention"},
        BadConfig{"NoLayerTypesOfAMixture",
                  Config("lfm2_moe", R"("num_experts":4,"num_experts_per_tok":2)"),
                  "layer_types is missing"},
        BadConfig{"NoUnitsLeft", Config("lfm2", R"("block_ff_dim":1)"),
                  "intermediate_size leaves an MLP no units"},
        BadConfig{"HeadsOfValuesThatNoKeysServe",
                  Config("qwen3_5_text", R"("linear_num_key_heads":3,"linear_num_value_heads":4)"),
                  "linear_num_value_heads is not a multiple of linear_num_key_heads, 3"},
        BadConfig{"HeadsOfMambaThatDoNotDivide", Config("granitemoehybrid", R"("mamba_n_heads":7)"),
                  "mamba_n_heads does not divide the width"},
        BadConfig{"GroupsOfMambaThatDoNotDivide",
                  Config("granitemoehybrid", R"("mamba_n_heads":4,"mamba_n_groups":3)"),
                  "mamba_n_groups does not divide mamba_n_heads, 4"},
        BadConfig{"HeadSizeOfMambaThatDoesNotFit",
                  Config("granitemoehybrid", R"("mamba_n_heads":4,"mamba_d_head":3)"),
                  "mamba_d_head times mamba_n_heads is not the width"},
        BadConfig{
            "NoBlockWhoseKeysAreShared",
            Config("gemma4_text", R"("num_kv_shared_layers":3,"layer_types":["full_attention",)"
                                  R"("sliding_attention","full_attention","full_attention"])"),
            "num_kv_shared_layers leaves block 1 none whose keys it could read"},
        BadConfig{"LastBlockOfGemma4Slides",
                  Config("gemma4_text", R"("layer_types":["full_attention","sliding_attention",)"
                                        R"("full_attention","sliding_attention"])"),
                  "layer_types ends with a block that slides"},
        BadConfig{"HeadsOfOneBlockAlone",
                  Config("gemma4_text", R"("per_layer_config":{"0":{"head_dim":16}})"),
                  "per_layer_config gives block 1 other heads than blocks of its type"},
        BadConfig{"SettingOfABlockThatIsNotComputed",
                  Config("gemma4_text", R"("per_layer_config":{"3":{"sliding_window":16}})"),
                  "per_layer_config.3.sliding_window is a setting of one block"},
        BadConfig{"AttentionAheadOfGemma4",
                  Config("gemma4_text", R"("use_bidirectional_attention":"all")"),
                  "use_bidirectional_attention is all"},
        BadConfig{"MultipliersOfMlpThatAreNotTwo",
                  Config("falcon_h1", R"("num_key_value_heads":2,"mlp_multipliers":[1,2,3])"),
                  "mlp_multipliers does not hold 2 numbers"},
        BadConfig{"BlocksOfTwoMixersCalledAttention",
                  Config("falcon_h1", R"("num_key_value_heads":2,"layer_types":["full_attention",)"
                                      R"("full_attention","full_attention","full_attention"])"),
                  "layer_types calls block 0 full_attention"},
        BadConfig{"UnknownPartOfABlock",
                  Config("nemotron_h", R"("hybrid_override_pattern":"MXM*")"),
                  "hybrid_override_pattern names X, which is no part of this family"},
        BadConfig{"OtherNumberOfBlocksThanParts",
                  Config("nemotron_h", R"("layers_block_type":["mamba","mlp"])"),
                  "num_hidden_layers is not the number of parts, 2"},
        BadConfig{"GroupsOfNemotronThatDoNotDivide",
                  Config("nemotron_h", R"("hybrid_override_pattern":"MMM*","mamba_num_heads":4,)"
                                       R"("n_groups":3)"),
                  "n_groups does not divide mamba_num_heads, 4"},
        BadConfig{"StepsThatDescend",
                  Config("granitemoehybrid", R"("mamba_n_heads":4,"time_step_limit":[1,0.5])"),
                  "time_step_limit is not an ascending pair of numbers"},
        BadConfig{"LayerTypesOfAFamilyWithoutThem",
                  Config("mistral", R"("layer_types":["full_attention","sliding_attention",)"
                                    R"("sliding_attention","sliding_attention"])"),
                  "layer_types calls block 0 full"},
        BadConfig{"SlidesWithoutAWindow",
                  Config("qwen2", R"("num_key_value_heads":2,"layer_types":["full_attention",)"
                                  R"("sliding_attention","full_attention","full_attention"])"),
                  "sliding_window is not set, and block 1 slides"},
        BadConfig{"TwoNumbersOfExperts",
                  Config("qwen3_moe", R"("num_key_value_heads":2,"num_experts":4,)"
                                      R"("num_local_experts":8,"num_experts_per_tok":2,)"
                                      R"("moe_intermediate_size":32)"),
                  "num_experts differs from num_local_experts"},
        BadConfig{"NoSwigluLimit",
                  Config("gpt_oss", R"("num_local_experts":4,"num_experts_per_tok":2,)"
                                    R"("swiglu_limit":0)"),
                  "swiglu_limit is not positive"},
        BadConfig{"NotANumber", "{\n\"model_type\": \"llama\",\n\"rms_norm_eps\": NaN\n}",
                  "line 3, column 17: JSON has no NaN or Infinity"},
        BadConfig{"ThetaOfZero", Config("llama", R"("rope_theta":0)"), "rope_theta"},
        BadConfig{"NegativeEpsilon", Config("llama", R"("rms_norm_eps":-1e-6)"),
                  "rms_norm_eps is not from 0 to 1"},
        BadConfig{"Quantized", Config("llama", R"("quantization_config":{"quant_method":"hqq"})"),
                  "\"hqq\""},
        BadConfig{"Classifier",
                  Config("llama", R"("architectures":["LlamaForSequenceClassification"])"),
                  "classification head"},
        BadConfig{"LayerTypesTooFew",
                  Config("qwen2", R"("num_key_value_heads":2,"use_sliding_window":true,)"
                                  R"("layer_types":["full_attention"])"),
                  "layer_types does not name 4 blocks"},
        BadConfig{"FlagIsText", Config("llama", R"("attention_bias":"yes")"), "attention_bias"}),
    [](const auto& test) { return test.param.name; });

// transformers writes auto_map when the model's classes come with the checkpoint.
constexpr char kAutoMap[] = R"("auto_map":{"AutoModelForCausalLM":"modeling_x.XForCausalLM"})";

TEST(HfConfig, AFamilyThatNeedsCodeFromTheCheckpointIsRefusedByName) {
  const auto spec = ConfigFile(Config("internlm2", kAutoMap)).Read();
  ASSERT_FALSE(spec.ok());
  EXPECT_THAT(std::string(spec.status().message()),
              AllOf(HasSubstr("\"internlm2\""), HasSubstr("needs code from the checkpoint"),
                    HasSubstr("never runs"), HasSubstr("families that `sinkctl families` lists")));
}

TEST(HfConfig, CodeBesideAKnownFamilyIsIgnored) {
  EXPECT_EQ(ReadOrDie(Config("llama", kAutoMap)).blocks, 4);
}

struct Quantized {
  std::string name;
  std::string keys;
  std::string message;
  std::string fix = "use the float32, float16 or bfloat16 checkpoint it was made from";
};

class QuantizedConfigs : public ::testing::TestWithParam<Quantized> {};

TEST_P(QuantizedConfigs, AreRefusedByMethodWithTheWayOut) {
  const auto spec = ConfigFile(Config("llama", GetParam().keys)).Read();
  ASSERT_FALSE(spec.ok());
  EXPECT_EQ(spec.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(spec.status().message()),
              AllOf(HasSubstr(GetParam().message), HasSubstr(GetParam().fix)));
}

Quantized ByMethod(const std::string& name, const std::string& method,
                   const std::string& more = "") {
  return {name, R"("quantization_config":{"quant_method":")" + method + "\"" + more + "}",
          "quantized by " + method};
}

INSTANTIATE_TEST_SUITE_P(
    Table, QuantizedConfigs,
    ::testing::Values(
        ByMethod("Hqq", "hqq"), ByMethod("Aqlm", "aqlm"), ByMethod("Mxfp4OfAnotherFamily", "mxfp4"),
        Quantized{"GptqOfAnotherKernel",
                  R"("quantization_config":{"quant_method":"gptq","checkpoint_format":"marlin"})",
                  "quantization_config.checkpoint_format"},
        Quantized{"AwqOfAnotherKernel",
                  R"("quantization_config":{"quant_method":"awq","version":"gemv"})",
                  "quantization_config.version"},
        Quantized{"CompressedTensorsOfOld",
                  R"("compression_config":{"quant_method":"compressed-tensors","format":"x"})",
                  "compression_config.format"},
        Quantized{"NoMethod", R"("quantization_config":{"group_size":64,"bits":4})",
                  "quantization_config.quant_method is missing"},
        Quantized{"MethodIsANumber", R"("quantization_config":{"quant_method":4})",
                  "quant_method is not a string", "restore config.json"}),
    [](const auto& test) { return test.param.name; });

TEST(HfConfig, QuantizationOfTheTextHalfIsFound) {
  const std::string text = Config("gemma3_text", R"("quantization_config":{"quant_method":"hqq"})");
  const auto spec = ConfigFile(R"({"model_type":"gemma3","text_config":)" + text + "}").Read();
  ASSERT_FALSE(spec.ok());
  EXPECT_THAT(std::string(spec.status().message()), HasSubstr("quantized by hqq"));
}

TEST(HfConfig, QuantizedWeightsThatCanBeReadAreAccepted) {
  for (const std::string method :
       {"gptq", "awq", "fp8", "compressed-tensors", "bitsandbytes", "fbgemm_fp8", "modelopt"}) {
    const std::string keys = R"("quantization_config":{"quant_method":")" + method + "\"}";
    EXPECT_EQ(ReadOrDie(Config("llama", keys)).blocks, 4) << method;
  }
}

TEST(HfConfig, ANullQuantizationIsNone) {
  EXPECT_EQ(ReadOrDie(Config("llama", R"("quantization_config":null)")).blocks, 4);
}

TEST(HfConfig, Mxfp4OfGptOssIsTaken) {
  const std::string more = R"("num_local_experts":4,"num_experts_per_tok":2,)"
                           R"("quantization_config":{"quant_method":"mxfp4"})";
  EXPECT_EQ(ReadOrDie(Config("gpt_oss", more)).architecture, "gpt_oss");
}

TEST(HfConfig, HeadsOfOtherTasksAreRefused) {
  for (const std::string name :
       {"LlamaForSequenceClassification", "LlamaForTokenClassification",
        "LlamaForQuestionAnswering", "Qwen2ForRewardModel", "GPT2ForMultipleChoice"}) {
    const auto spec = ConfigFile(Config("llama", R"("architectures":[")" + name + "\"]")).Read();
    ASSERT_FALSE(spec.ok()) << name;
    EXPECT_THAT(std::string(spec.status().message()),
                AllOf(HasSubstr(name), HasSubstr("use the language model it was made from")));
  }
}

TEST(HfConfig, MissingFileIsNamed) {
  const auto spec = ReadDecoderSpec("/nonexistent");
  ASSERT_FALSE(spec.ok());
  EXPECT_THAT(std::string(spec.status().message()), HasSubstr("config.json"));
}

}  // namespace
}  // namespace sinkd
