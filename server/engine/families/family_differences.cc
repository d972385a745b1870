// Written by the target family_differences
// (tests/engine/write_family_differences.cc).
#include "server/engine/families/family_differences.h"

namespace sinkd {
namespace {

constexpr SiteDifference kGemma2[] = {
    {"resid_pre", 1.8e-07, 0.43},  {"key", 3.0e-07, 0.71},       {"value", 3.5e-07, 0.71},
    {"attn_out", 9.2e-07, 0.64},   {"resid_mid", 1.9e-07, 0.40}, {"mlp_in", 2.9e-07, 0.45},
    {"gate", 3.2e-07, 0.67},       {"up", 3.8e-07, 0.67},        {"act", 4.0e-07, 0.65},
    {"product", 7.1e-07, 0.68},    {"mlp_out", 5.8e-07, 0.68},   {"resid_post", 2.0e-07, 0.38},
    {"final_norm", 2.6e-07, 0.40}, {"alpha", 3.6e-07, 0.56},
};
constexpr SiteDifference kGemma3[] = {
    {"resid_pre", 2.2e-07, 0.38},  {"key", 4.0e-07, 0.66},       {"value", 4.1e-07, 0.66},
    {"attn_out", 6.3e-07, 0.63},   {"resid_mid", 2.3e-07, 0.36}, {"mlp_in", 2.7e-07, 0.43},
    {"gate", 3.8e-07, 0.63},       {"up", 3.5e-07, 0.63},        {"act", 4.0e-07, 0.62},
    {"product", 7.2e-07, 0.64},    {"mlp_out", 7.9e-07, 0.65},   {"resid_post", 2.4e-07, 0.35},
    {"final_norm", 2.7e-07, 0.39}, {"alpha", 1.2e-07, 0.50},
};
constexpr SiteDifference kGemma3Text[] = {
    {"resid_pre", 2.5e-07, 0.40},  {"key", 3.9e-07, 0.67},       {"value", 4.1e-07, 0.67},
    {"attn_out", 7.4e-07, 0.64},   {"resid_mid", 2.6e-07, 0.38}, {"mlp_in", 2.6e-07, 0.44},
    {"gate", 3.8e-07, 0.64},       {"up", 3.6e-07, 0.64},        {"act", 4.5e-07, 0.63},
    {"product", 7.6e-07, 0.66},    {"mlp_out", 8.8e-07, 0.66},   {"resid_post", 2.8e-07, 0.37},
    {"final_norm", 2.9e-07, 0.40}, {"alpha", 2.1e-07, 0.51},
};
constexpr SiteDifference kGpt2[] = {
    {"resid_pre", 6.5e-07, 0.68}, {"key", 7.7e-07, 0.81},        {"value", 7.7e-07, 0.82},
    {"attn_out", 1.3e-06, 0.81},  {"resid_mid", 6.3e-07, 0.69},  {"mlp_in", 5.9e-07, 0.74},
    {"up", 6.5e-07, 0.79},        {"act", 8.5e-07, 0.76},        {"product", 8.5e-07, 0.79},
    {"mlp_out", 6.9e-07, 0.81},   {"resid_post", 6.5e-07, 0.68}, {"final_norm", 5.1e-07, 0.70},
    {"alpha", 4.8e-07, 0.89},
};
constexpr SiteDifference kGptNeox[] = {
    {"resid_pre", 3.6e-07, 0.79}, {"key", 4.3e-07, 0.87},        {"value", 4.7e-07, 0.87},
    {"attn_out", 1.2e-06, 0.86},  {"resid_mid", 5.9e-08, 0.75},  {"mlp_in", 3.1e-07, 0.79},
    {"up", 3.6e-07, 0.86},        {"act", 4.2e-07, 0.84},        {"product", 4.2e-07, 0.87},
    {"mlp_out", 4.3e-07, 0.88},   {"resid_post", 4.7e-07, 0.78}, {"final_norm", 5.0e-07, 0.78},
    {"alpha", 1.8e-07, 0.86},
};
constexpr SiteDifference kGptOss[] = {
    {"resid_pre", 1.0e-06, 0.72}, {"key", 1.3e-06, 0.74},        {"value", 1.2e-06, 0.75},
    {"attn_out", 2.6e-06, 0.59},  {"resid_mid", 1.1e-06, 0.67},  {"mlp_in", 1.1e-06, 0.66},
    {"mlp_out", 2.2e-06, 0.65},   {"resid_post", 1.2e-06, 0.67}, {"final_norm", 1.3e-06, 0.60},
    {"alpha", 1.7e-06, 0.53},
};
constexpr SiteDifference kLlama[] = {
    {"resid_pre", 1.1e-06, 0.68},  {"key", 1.4e-06, 0.75},       {"value", 1.4e-06, 0.75},
    {"attn_out", 3.6e-06, 0.73},   {"resid_mid", 1.3e-06, 0.68}, {"mlp_in", 1.4e-06, 0.69},
    {"gate", 1.3e-06, 0.73},       {"up", 1.3e-06, 0.73},        {"act", 1.5e-06, 0.73},
    {"product", 2.1e-06, 0.74},    {"mlp_out", 2.5e-06, 0.75},   {"resid_post", 1.4e-06, 0.67},
    {"final_norm", 1.4e-06, 0.71}, {"alpha", 9.5e-07, 0.71},
};
constexpr SiteDifference kMistral[] = {
    {"resid_pre", 7.1e-07, 0.68},  {"key", 9.5e-07, 0.77},       {"value", 9.2e-07, 0.76},
    {"attn_out", 2.5e-06, 0.71},   {"resid_mid", 8.0e-07, 0.66}, {"mlp_in", 8.0e-07, 0.68},
    {"gate", 8.7e-07, 0.73},       {"up", 1.0e-06, 0.73},        {"act", 8.8e-07, 0.73},
    {"product", 1.5e-06, 0.75},    {"mlp_out", 1.4e-06, 0.75},   {"resid_post", 8.8e-07, 0.65},
    {"final_norm", 8.8e-07, 0.67}, {"alpha", 6.9e-07, 0.64},
};
constexpr SiteDifference kMixtral[] = {
    {"resid_pre", 6.3e-07, 0.59}, {"key", 9.0e-07, 0.66},        {"value", 1.1e-06, 0.67},
    {"attn_out", 2.0e-06, 0.62},  {"resid_mid", 6.8e-07, 0.59},  {"mlp_in", 7.4e-07, 0.58},
    {"mlp_out", 1.6e-06, 0.63},   {"resid_post", 8.1e-07, 0.57}, {"final_norm", 8.4e-07, 0.57},
    {"alpha", 2.2e-07, 0.61},
};
constexpr SiteDifference kOlmo2[] = {
    {"resid_pre", 6.6e-07, 0.79},  {"key", 9.9e-07, 0.84},       {"value", 7.3e-07, 0.87},
    {"attn_out", 6.2e-07, 0.86},   {"resid_mid", 6.5e-07, 0.76}, {"mlp_in", 6.5e-07, 0.76},
    {"gate", 6.6e-07, 0.83},       {"up", 6.5e-07, 0.84},        {"act", 8.1e-07, 0.81},
    {"product", 1.2e-06, 0.82},    {"mlp_out", 1.3e-06, 0.83},   {"resid_post", 7.4e-07, 0.77},
    {"final_norm", 8.5e-07, 0.78}, {"alpha", 2.7e-07, 0.85},
};
constexpr SiteDifference kOpt[] = {
    {"resid_pre", 2.2e-07, 0.84}, {"key", 2.3e-07, 0.87},        {"value", 2.5e-07, 0.87},
    {"attn_out", 3.2e-07, 0.90},  {"resid_mid", 2.3e-07, 0.84},  {"mlp_in", 2.3e-07, 0.84},
    {"up", 2.4e-07, 0.86},        {"act", 2.8e-07, 0.86},        {"product", 2.8e-07, 0.86},
    {"mlp_out", 3.0e-07, 0.88},   {"resid_post", 2.7e-07, 0.84}, {"final_norm", 3.2e-07, 0.83},
    {"alpha", 1.2e-07, 0.86},
};
constexpr SiteDifference kPhi3[] = {
    {"resid_pre", 1.5e-06, 0.75},  {"key", 1.5e-06, 0.76},       {"value", 1.7e-06, 0.76},
    {"attn_out", 2.9e-06, 0.78},   {"resid_mid", 1.5e-06, 0.76}, {"mlp_in", 1.3e-06, 0.75},
    {"gate", 1.5e-06, 0.76},       {"up", 1.3e-06, 0.76},        {"act", 1.4e-06, 0.76},
    {"product", 2.1e-06, 0.77},    {"mlp_out", 2.3e-06, 0.77},   {"resid_post", 1.5e-06, 0.76},
    {"final_norm", 1.4e-06, 0.77}, {"alpha", 4.8e-07, 0.87},
};
constexpr SiteDifference kQwen2[] = {
    {"resid_pre", 1.3e-06, 0.66},  {"key", 1.4e-06, 0.75},       {"value", 1.4e-06, 0.75},
    {"attn_out", 3.4e-06, 0.72},   {"resid_mid", 1.4e-06, 0.65}, {"mlp_in", 1.3e-06, 0.67},
    {"gate", 1.3e-06, 0.73},       {"up", 1.4e-06, 0.72},        {"act", 1.5e-06, 0.71},
    {"product", 2.5e-06, 0.72},    {"mlp_out", 2.2e-06, 0.73},   {"resid_post", 1.5e-06, 0.64},
    {"final_norm", 1.5e-06, 0.66}, {"alpha", 1.4e-06, 0.67},
};
constexpr SiteDifference kQwen3[] = {
    {"resid_pre", 5.5e-07, 0.60},  {"key", 5.5e-07, 0.77},       {"value", 6.0e-07, 0.78},
    {"attn_out", 1.1e-06, 0.75},   {"resid_mid", 6.2e-07, 0.55}, {"mlp_in", 6.0e-07, 0.63},
    {"gate", 7.2e-07, 0.74},       {"up", 7.3e-07, 0.73},        {"act", 7.3e-07, 0.72},
    {"product", 1.1e-06, 0.73},    {"mlp_out", 1.1e-06, 0.75},   {"resid_post", 6.4e-07, 0.54},
    {"final_norm", 6.3e-07, 0.61}, {"alpha", 7.2e-07, 0.63},
};
constexpr SiteDifference kQwen3Moe[] = {
    {"resid_pre", 5.6e-07, 0.64},  {"key", 6.3e-07, 0.77},       {"value", 5.8e-07, 0.78},
    {"attn_out", 1.1e-06, 0.87},   {"resid_mid", 5.8e-07, 0.62}, {"mlp_in", 5.9e-07, 0.60},
    {"gate", 5.1e-07, 0.73},       {"up", 5.2e-07, 0.74},        {"act", 6.0e-07, 0.72},
    {"product", 8.7e-07, 0.73},    {"mlp_out", 1.6e-06, 0.71},   {"resid_post", 5.7e-07, 0.60},
    {"final_norm", 5.4e-07, 0.58}, {"alpha", 3.3e-07, 0.63},
};
constexpr SiteDifference kSmollm3[] = {
    {"resid_pre", 6.1e-07, 0.69},  {"key", 8.2e-07, 0.78},       {"value", 7.8e-07, 0.78},
    {"attn_out", 1.6e-06, 0.77},   {"resid_mid", 6.4e-07, 0.66}, {"mlp_in", 6.7e-07, 0.69},
    {"gate", 6.7e-07, 0.77},       {"up", 7.0e-07, 0.77},        {"act", 7.5e-07, 0.76},
    {"product", 1.3e-06, 0.77},    {"mlp_out", 1.5e-06, 0.79},   {"resid_post", 7.7e-07, 0.65},
    {"final_norm", 7.5e-07, 0.65}, {"alpha", 2.4e-07, 0.80},
};

}  // namespace

std::span<const SiteDifference> DifferencesOf(std::string_view model_type) {
  if (model_type == "gemma2") return kGemma2;
  if (model_type == "gemma3") return kGemma3;
  if (model_type == "gemma3_text") return kGemma3Text;
  if (model_type == "gpt2") return kGpt2;
  if (model_type == "gpt_neox") return kGptNeox;
  if (model_type == "gpt_oss") return kGptOss;
  if (model_type == "llama") return kLlama;
  if (model_type == "mistral") return kMistral;
  if (model_type == "mixtral") return kMixtral;
  if (model_type == "olmo2") return kOlmo2;
  if (model_type == "opt") return kOpt;
  if (model_type == "phi3") return kPhi3;
  if (model_type == "qwen2") return kQwen2;
  if (model_type == "qwen3") return kQwen3;
  if (model_type == "qwen3_moe") return kQwen3Moe;
  if (model_type == "smollm3") return kSmollm3;
  return {};
}

}  // namespace sinkd
