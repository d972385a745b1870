#include "tests/engine/parity_cases.h"

#include <algorithm>
#include <cctype>
#include <ostream>

namespace sinkd::testing {
namespace {

const std::vector<std::string> kFamilyVariants = {"phi3_plain",
                                                  "phi3_partial_rotary",
                                                  "phi3_longrope",
                                                  "phi3_longrope_su",
                                                  "phi3_window",
                                                  "mistral_window",
                                                  "mistral_no_window",
                                                  "mistral_head_size",
                                                  "mixtral_experts",
                                                  "mixtral_window",
                                                  "qwen3_moe_renormalised",
                                                  "qwen3_moe_raw",
                                                  "qwen3_moe_mixed",
                                                  "qwen3_moe_mlp_only",
                                                  "gpt_oss_sinks",
                                                  "gpt_oss_layer_types",
                                                  "gpt_oss_mxfp4",
                                                  "gemma2_softcap",
                                                  "gemma2_no_softcap",
                                                  "gemma3_pattern",
                                                  "gemma3_linear",
                                                  "gemma3_nested",
                                                  "gemma3_rope_parameters",
                                                  "olmo2_plain",
                                                  "olmo2_linear",
                                                  "gpt2_plain",
                                                  "gpt2_base_model",
                                                  "gpt_neox_parallel",
                                                  "gpt_neox_sequential",
                                                  "gpt_neox_old_buffers",
                                                  "opt_pre_norm",
                                                  "opt_post_norm",
                                                  "opt_head_only",
                                                  "smollm3_no_rope",
                                                  "smollm3_biases",
                                                  "llama_dynamic",
                                                  "qwen2_dynamic_type",
                                                  "llama_longrope",
                                                  "qwen2_longrope_factor",
                                                  "llama_rope_parameters",
                                                  "qwen2_rope_parameters",
                                                  "phi3_rope_parameters",
                                                  "llama_base_model",
                                                  "llama_head_only",
                                                  "qwen2_other_head",
                                                  "qwen3_no_head",
                                                  "llama_extra_tensors",
                                                  "llama_float8"};
// Of tests/oracle/decoder_models.py.
const std::vector<std::string> kDecoders = {"arcee_plain",
                                            "cohere_plain",
                                            "cohere_head_norms",
                                            "cohere2_windows",
                                            "ernie4_5_plain",
                                            "exaone4_windows",
                                            "exaone4_full",
                                            "gemma_plain",
                                            "glm_plain",
                                            "glm4_plain",
                                            "granite_multipliers",
                                            "helium_plain",
                                            "hunyuan_plain",
                                            "hunyuan_alpha",
                                            "ministral_windows",
                                            "ministral3_growth",
                                            "nemotron_plain",
                                            "olmo_plain",
                                            "olmo_clipped",
                                            "olmo3_windows",
                                            "phi_plain",
                                            "phi_head_norms",
                                            "seed_oss_plain",
                                            "stablelm_plain",
                                            "stablelm_parallel",
                                            "starcoder2_window",
                                            "vaultgemma_plain",
                                            "dots1_experts",
                                            "ernie4_5_moe_experts",
                                            "glm4_moe_groups",
                                            "granitemoe_experts",
                                            "granitemoeshared_experts",
                                            "hunyuan_moe_experts",
                                            "minimax_m2_experts",
                                            "olmoe_experts",
                                            "qwen2_moe_experts",
                                            "qwen2_moe_windows",
                                            "solar_open_experts",
                                            "llava_qwen2",
                                            "mistral3_ministral3",
                                            "qwen2_vl_text",
                                            "qwen2_5_vl_windows",
                                            "qwen3_vl_text",
                                            "youtu_plain",
                                            "deepseek_v2_groups",
                                            "deepseek_v2_direct",
                                            "deepseek_v3_groups",
                                            "deepseek_v3_halves",
                                            "glm4_moe_lite_experts",
                                            "kimi_k25_text",
                                            "apertus_plain",
                                            "bloom_bias",
                                            "codegen_plain",
                                            "falcon_one_key",
                                            "falcon_groups",
                                            "falcon_bias",
                                            "gpt_bigcode_one_key",
                                            "gpt_bigcode_heads",
                                            "gpt_neo_local",
                                            "gptj_plain",
                                            "granite_swa_windows",
                                            "llama4_chunks",
                                            "mpt_bias",
                                            "persimmon_plain",
                                            "ernie4_5_moe_biases",
                                            "flex_olmo_experts",
                                            "granitemoe_swa_windows",
                                            "llama4_experts",
                                            "mimo_v2_flash_windows",
                                            "olmoe_clipped",
                                            "phimoe_experts",
                                            "phimoe_longrope",
                                            "llama4_text_half",
                                            "qwen3_vl_moe_text",
                                            "granitemoehybrid_experts",
                                            "granitemoehybrid_dense",
                                            "lfm2_convolutions",
                                            "lfm2_biases",
                                            "lfm2_moe_experts",
                                            "qwen3_next_experts",
                                            "qwen3_5_text_dense",
                                            "qwen3_5_text_biases",
                                            "qwen3_5_moe_text_experts",
                                            "qwen3_5_moe_text_stacked",
                                            "qwen3_5_half",
                                            "qwen3_5_moe_half"};
// Of tests/oracle/block_models.py.
const std::vector<std::string> kBlocks = {
    "falcon_h1_multipliers", "falcon_h1_gate_first",  "falcon_h1_no_norm",
    "gemma4_sharing",        "gemma4_keys_as_values", "gemma4_experts",
    "gemma4_half",           "nemotron_h_latents",    "nemotron_h_pattern"};
const std::vector<std::string> kTinyVariants = {"llama_grouped", "llama_rope_llama3",
                                                "qwen2_plain",   "qwen2_yarn",
                                                "qwen2_window",  "qwen3_plain"};
const std::vector<std::string> kOtherTinyVariants = {
    "llama_rope_linear",     "llama_tied",          "llama_biases", "llama_head_size",
    "llama_stored_bfloat16", "qwen2_window_unused", "qwen3_yarn"};

std::vector<ParityCase> MakeCases() {
  std::vector<ParityCase> cases;
  const auto add = [&](const std::string& folder, const std::vector<std::string>& names,
                       const ParityCase& lengths) {
    for (const std::string& name : names) {
      cases.push_back(lengths);
      cases.back().checkpoint = folder + name;
    }
  };
  const ParityCase short_samples{.checkpoint = {},
                                 .lengths = {1, 7, 64, 200},
                                 .bfloat16_lengths = {200},
                                 .site_lengths = {1, 7, 64, 200},
                                 .bfloat16_site_length = 200};
  add("families/", kFamilyVariants, short_samples);
  add("decoders/", kDecoders, short_samples);
  add("blocks/", kBlocks, short_samples);
  add("tiny/", kTinyVariants,
      {.checkpoint = {},
       .lengths = {1, 2, 64, 1000, 2500},
       .bfloat16_lengths = {64, 1000},
       .site_lengths = {1, 2, 64},
       .bfloat16_site_length = 64});
  add("tiny/", kOtherTinyVariants,
      {.checkpoint = {},
       .lengths = {2, 64, 1000},
       .bfloat16_lengths = {64, 1000},
       .site_lengths = {2, 64},
       .bfloat16_site_length = 64});
  return cases;
}

}  // namespace

const std::vector<ParityCase>& ParityCases() {
  static const std::vector<ParityCase> cases = MakeCases();
  return cases;
}

ParityCase SmolLM2() {
  return {.checkpoint = "smollm2/smollm2-135m-instruct",
          .lengths = {64, 1000, 2500},
          .bfloat16_lengths = {64, 1000},
          .site_lengths = {}};
}

std::string NameOf(const ParityCase& parity) {
  std::string name = parity.checkpoint.substr(parity.checkpoint.find('/') + 1);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

void PrintTo(const ParityCase& parity, std::ostream* out) {
  *out << parity.checkpoint;
}

}  // namespace sinkd::testing
