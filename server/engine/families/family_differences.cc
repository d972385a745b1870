// Written by the target family_differences (tests/engine/write_family_differences.cc).
#include "server/engine/families/family_differences.h"

namespace sinkd {
namespace {

constexpr SiteDifference kApertus[] = {
    {"resid_pre", 4.5e-07, 0.76}, {"key", 6.9e-07, 0.83},        {"value", 5.6e-07, 0.83},
    {"attn_out", 6.4e-07, 0.79},  {"resid_mid", 4.5e-07, 0.68},  {"mlp_in", 4.4e-07, 0.71},
    {"up", 5.3e-07, 0.80},        {"act", 7.4e-07, 0.76},        {"product", 7.4e-07, 0.79},
    {"mlp_out", 8.2e-07, 0.81},   {"resid_post", 6.0e-07, 0.71}, {"final_norm", 6.6e-07, 0.75},
    {"alpha", 1.5e-07, 0.68},
};
constexpr SiteDifference kArcee[] = {
    {"resid_pre", 4.6e-07, 0.72}, {"key", 7.4e-07, 0.81},        {"value", 7.0e-07, 0.81},
    {"attn_out", 1.1e-06, 0.66},  {"resid_mid", 5.3e-07, 0.65},  {"mlp_in", 5.1e-07, 0.67},
    {"up", 5.5e-07, 0.76},        {"act", 8.6e-07, 0.78},        {"product", 8.6e-07, 0.79},
    {"mlp_out", 8.0e-07, 0.80},   {"resid_post", 5.9e-07, 0.66}, {"final_norm", 5.6e-07, 0.67},
    {"alpha", 2.7e-07, 0.62},
};
constexpr SiteDifference kBloom[] = {
    {"resid_pre", 7.6e-07, 0.36}, {"key", 7.4e-07, 0.45},        {"value", 7.3e-07, 0.45},
    {"attn_out", 1.4e-06, 0.33},  {"resid_mid", 8.3e-07, 0.32},  {"mlp_in", 8.6e-07, 0.33},
    {"up", 8.0e-07, 0.37},        {"act", 9.1e-07, 0.37},        {"product", 9.1e-07, 0.39},
    {"mlp_out", 8.3e-07, 0.42},   {"resid_post", 8.0e-07, 0.33}, {"final_norm", 8.5e-07, 0.35},
    {"alpha", 7.2e-07, 0.24},
};
constexpr SiteDifference kCodegen[] = {
    {"resid_pre", 9.2e-07, 0.84},  {"key", 7.5e-07, 0.90},        {"value", 9.6e-07, 0.91},
    {"attn_out", 2.1e-06, 0.88},   {"mlp_in", 8.2e-07, 0.82},     {"up", 8.3e-07, 0.91},
    {"act", 8.7e-07, 0.84},        {"product", 8.7e-07, 0.88},    {"mlp_out", 7.2e-07, 0.90},
    {"resid_post", 1.2e-06, 0.80}, {"final_norm", 1.2e-06, 0.81}, {"alpha", 2.4e-07, 0.85},
};
constexpr SiteDifference kCohere[] = {
    {"resid_pre", 6.4e-07, 0.66}, {"key", 1.0e-06, 0.89},        {"value", 7.9e-07, 0.88},
    {"attn_out", 2.1e-06, 0.97},  {"mlp_in", 6.7e-07, 0.73},     {"gate", 7.4e-07, 0.87},
    {"up", 6.7e-07, 0.89},        {"act", 7.5e-07, 0.82},        {"product", 1.2e-06, 0.87},
    {"mlp_out", 1.4e-06, 0.88},   {"resid_post", 7.6e-07, 0.62}, {"final_norm", 7.6e-07, 0.68},
    {"alpha", 3.6e-07, 0.63},
};
constexpr SiteDifference kCohere2[] = {
    {"resid_pre", 7.4e-07, 0.43}, {"key", 9.9e-07, 0.66},        {"value", 1.0e-06, 0.67},
    {"attn_out", 1.8e-06, 0.60},  {"mlp_in", 7.2e-07, 0.50},     {"gate", 7.8e-07, 0.67},
    {"up", 6.7e-07, 0.67},        {"act", 9.2e-07, 0.66},        {"product", 1.2e-06, 0.69},
    {"mlp_out", 1.3e-06, 0.70},   {"resid_post", 7.4e-07, 0.44}, {"final_norm", 6.9e-07, 0.55},
    {"alpha", 4.2e-07, 0.55},
};
constexpr SiteDifference kDeepseekV2[] = {
    {"resid_pre", 1.5e-06, 0.79},  {"key", 2.3e-06, 0.83},       {"value", 2.2e-06, 0.83},
    {"attn_out", 5.9e-06, 0.76},   {"resid_mid", 2.1e-06, 0.80}, {"mlp_in", 2.0e-06, 0.78},
    {"gate", 9.7e-07, 0.80},       {"up", 9.4e-07, 0.80},        {"act", 1.0e-06, 0.81},
    {"product", 1.7e-06, 0.77},    {"mlp_out", 5.1e-06, 0.77},   {"resid_post", 2.9e-06, 0.79},
    {"final_norm", 2.7e-06, 0.79}, {"alpha", 6.3e-07, 0.80},
};
constexpr SiteDifference kDeepseekV3[] = {
    {"resid_pre", 1.4e-06, 0.78},  {"key", 1.5e-06, 0.79},       {"value", 2.2e-06, 0.82},
    {"attn_out", 3.9e-06, 0.79},   {"resid_mid", 1.8e-06, 0.76}, {"mlp_in", 1.9e-06, 0.75},
    {"gate", 7.6e-07, 0.82},       {"up", 7.1e-07, 0.83},        {"act", 8.4e-07, 0.78},
    {"product", 1.5e-06, 0.82},    {"mlp_out", 3.4e-06, 0.78},   {"resid_post", 2.9e-06, 0.75},
    {"final_norm", 3.0e-06, 0.75}, {"alpha", 4.3e-07, 0.75},
};
constexpr SiteDifference kDots1[] = {
    {"resid_pre", 5.0e-07, 0.74},  {"key", 7.2e-07, 0.80},       {"value", 6.8e-07, 0.82},
    {"attn_out", 9.7e-07, 0.77},   {"resid_mid", 5.0e-07, 0.71}, {"mlp_in", 4.4e-07, 0.69},
    {"gate", 3.1e-07, 0.85},       {"up", 2.8e-07, 0.86},        {"act", 3.3e-07, 0.80},
    {"product", 5.0e-07, 0.82},    {"mlp_out", 9.2e-07, 0.79},   {"resid_post", 8.0e-07, 0.73},
    {"final_norm", 7.2e-07, 0.74}, {"alpha", 2.1e-07, 0.88},
};
constexpr SiteDifference kErnie45[] = {
    {"resid_pre", 4.3e-07, 0.73},  {"key", 5.6e-07, 0.83},       {"value", 5.7e-07, 0.83},
    {"attn_out", 8.9e-07, 0.81},   {"resid_mid", 5.1e-07, 0.69}, {"mlp_in", 5.9e-07, 0.72},
    {"gate", 5.4e-07, 0.80},       {"up", 5.0e-07, 0.80},        {"act", 6.0e-07, 0.78},
    {"product", 9.9e-07, 0.81},    {"mlp_out", 9.7e-07, 0.84},   {"resid_post", 6.1e-07, 0.65},
    {"final_norm", 6.0e-07, 0.69}, {"alpha", 1.8e-07, 0.89},
};
constexpr SiteDifference kErnie45Moe[] = {
    {"resid_pre", 8.9e-07, 0.73},  {"key", 1.3e-06, 0.80},       {"value", 1.3e-06, 0.80},
    {"attn_out", 1.8e-06, 0.72},   {"resid_mid", 8.9e-07, 0.69}, {"mlp_in", 9.0e-07, 0.68},
    {"gate", 5.0e-07, 0.79},       {"up", 5.0e-07, 0.76},        {"act", 5.7e-07, 0.74},
    {"product", 8.2e-07, 0.77},    {"mlp_out", 1.6e-06, 0.73},   {"resid_post", 1.2e-06, 0.69},
    {"final_norm", 1.2e-06, 0.69}, {"alpha", 4.2e-07, 0.63},
};
constexpr SiteDifference kExaone4[] = {
    {"resid_pre", 1.2e-06, 0.76},  {"key", 1.5e-06, 0.82},       {"value", 1.6e-06, 0.83},
    {"attn_out", 2.0e-06, 0.79},   {"resid_mid", 1.1e-06, 0.74}, {"mlp_in", 1.1e-06, 0.74},
    {"gate", 1.1e-06, 0.80},       {"up", 1.2e-06, 0.79},        {"act", 1.0e-06, 0.79},
    {"product", 2.3e-06, 0.80},    {"mlp_out", 2.4e-06, 0.79},   {"resid_post", 1.2e-06, 0.74},
    {"final_norm", 1.0e-06, 0.74}, {"alpha", 2.1e-07, 0.70},
};
constexpr SiteDifference kFalcon[] = {
    {"resid_pre", 6.3e-07, 0.69}, {"key", 1.0e-06, 0.78},        {"value", 9.9e-07, 0.77},
    {"attn_out", 1.7e-06, 0.66},  {"resid_mid", 6.8e-07, 0.49},  {"mlp_in", 7.2e-07, 0.68},
    {"up", 7.4e-07, 0.77},        {"act", 8.5e-07, 0.75},        {"product", 8.5e-07, 0.79},
    {"mlp_out", 8.6e-07, 0.82},   {"resid_post", 6.7e-07, 0.65}, {"final_norm", 7.8e-07, 0.66},
    {"alpha", 4.2e-07, 0.65},
};
constexpr SiteDifference kFalconH1[] = {
    {"resid_pre", 1.5e-06, 0.80},  {"key", 1.2e-06, 0.81},       {"value", 1.7e-06, 0.81},
    {"attn_out", 4.0e-06, 0.79},   {"resid_mid", 2.3e-06, 0.78}, {"mlp_in", 2.1e-06, 0.77},
    {"gate", 2.0e-06, 0.80},       {"up", 2.7e-06, 0.80},        {"act", 2.0e-06, 0.79},
    {"product", 3.3e-06, 0.79},    {"mlp_out", 3.1e-06, 0.79},   {"resid_post", 2.3e-06, 0.78},
    {"final_norm", 2.3e-06, 0.76}, {"alpha", 3.9e-07, 0.71},
};
constexpr SiteDifference kFlexOlmo[] = {
    {"resid_pre", 6.7e-07, 0.78}, {"key", 8.5e-07, 0.85},        {"value", 1.0e-06, 0.85},
    {"attn_out", 7.5e-07, 0.95},  {"resid_mid", 6.7e-07, 0.80},  {"mlp_in", 6.7e-07, 0.80},
    {"mlp_out", 1.6e-06, 0.84},   {"resid_post", 9.5e-07, 0.79}, {"final_norm", 1.0e-06, 0.86},
    {"alpha", 1.8e-07, 0.86},
};
constexpr SiteDifference kGemma[] = {
    {"resid_pre", 9.4e-08, 0.49},  {"key", 3.3e-07, 0.77},       {"value", 2.9e-07, 0.77},
    {"attn_out", 1.2e-06, 0.66},   {"resid_mid", 1.0e-07, 0.44}, {"mlp_in", 2.5e-07, 0.44},
    {"gate", 3.2e-07, 0.72},       {"up", 3.1e-07, 0.71},        {"act", 3.9e-07, 0.69},
    {"product", 6.0e-07, 0.73},    {"mlp_out", 6.1e-07, 0.75},   {"resid_post", 1.1e-07, 0.42},
    {"final_norm", 2.3e-07, 0.37}, {"alpha", 1.6e-07, 0.62},
};
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
constexpr SiteDifference kGemma4[] = {
    {"resid_pre", 1.2e-07, 0.04},  {"key", 3.4e-07, 0.66},       {"value", 3.3e-07, 0.65},
    {"attn_out", 5.2e-07, 0.60},   {"resid_mid", 1.2e-07, 0.05}, {"mlp_in", 2.2e-07, 0.08},
    {"gate", 2.8e-07, 0.47},       {"up", 2.8e-07, 0.48},        {"act", 3.5e-07, 0.47},
    {"product", 6.2e-07, 0.51},    {"mlp_out", 6.3e-07, 0.51},   {"resid_post", 1.5e-07, 0.05},
    {"final_norm", 2.2e-07, 0.10}, {"alpha", 6.0e-08, 0.35},
};
constexpr SiteDifference kGemma4Text[] = {
    {"resid_pre", 2.0e-07, 0.49},  {"key", 2.9e-07, 0.69},       {"value", 3.1e-07, 0.69},
    {"attn_out", 6.3e-07, 0.77},   {"resid_mid", 2.2e-07, 0.47}, {"mlp_in", 2.8e-07, 0.46},
    {"gate", 3.4e-07, 0.66},       {"up", 3.1e-07, 0.66},        {"act", 4.3e-07, 0.63},
    {"product", 6.1e-07, 0.65},    {"mlp_out", 6.5e-07, 0.68},   {"resid_post", 2.5e-07, 0.50},
    {"final_norm", 3.3e-07, 0.37}, {"alpha", 8.9e-08, 0.52},
};
constexpr SiteDifference kGlm[] = {
    {"resid_pre", 4.9e-07, 0.70},  {"key", 6.5e-07, 0.81},       {"value", 5.7e-07, 0.82},
    {"attn_out", 1.3e-06, 0.76},   {"resid_mid", 7.0e-07, 0.66}, {"mlp_in", 7.0e-07, 0.71},
    {"gate", 8.2e-07, 0.77},       {"up", 7.5e-07, 0.78},        {"act", 9.8e-07, 0.76},
    {"product", 1.2e-06, 0.78},    {"mlp_out", 1.4e-06, 0.78},   {"resid_post", 7.4e-07, 0.63},
    {"final_norm", 7.0e-07, 0.69}, {"alpha", 4.2e-07, 0.79},
};
constexpr SiteDifference kGlm4[] = {
    {"resid_pre", 2.7e-06, 0.76},  {"key", 3.1e-06, 0.77},       {"value", 3.8e-06, 0.78},
    {"attn_out", 3.9e-06, 0.74},   {"resid_mid", 2.5e-06, 0.74}, {"mlp_in", 2.6e-06, 0.74},
    {"gate", 2.6e-06, 0.76},       {"up", 2.4e-06, 0.75},        {"act", 2.8e-06, 0.76},
    {"product", 4.1e-06, 0.76},    {"mlp_out", 3.9e-06, 0.76},   {"resid_post", 2.8e-06, 0.74},
    {"final_norm", 2.6e-06, 0.75}, {"alpha", 4.5e-07, 0.79},
};
constexpr SiteDifference kGlm4Moe[] = {
    {"resid_pre", 5.5e-07, 0.74},  {"key", 6.6e-07, 0.78},       {"value", 7.5e-07, 0.78},
    {"attn_out", 6.3e-07, 0.81},   {"resid_mid", 5.8e-07, 0.70}, {"mlp_in", 4.9e-07, 0.67},
    {"gate", 3.2e-07, 0.84},       {"up", 2.7e-07, 0.83},        {"act", 3.9e-07, 0.78},
    {"product", 6.9e-07, 0.79},    {"mlp_out", 1.2e-06, 0.73},   {"resid_post", 1.1e-06, 0.70},
    {"final_norm", 1.1e-06, 0.70}, {"alpha", 8.9e-08, 0.67},
};
constexpr SiteDifference kGlm4MoeLite[] = {
    {"resid_pre", 1.1e-06, 0.81},  {"key", 1.7e-06, 0.82},       {"value", 1.5e-06, 0.86},
    {"attn_out", 3.2e-06, 0.79},   {"resid_mid", 1.6e-06, 0.80}, {"mlp_in", 1.6e-06, 0.77},
    {"gate", 7.1e-07, 0.83},       {"up", 7.4e-07, 0.84},        {"act", 7.3e-07, 0.79},
    {"product", 8.8e-07, 0.83},    {"mlp_out", 3.3e-06, 0.81},   {"resid_post", 1.8e-06, 0.78},
    {"final_norm", 1.8e-06, 0.76}, {"alpha", 3.6e-07, 0.79},
};
constexpr SiteDifference kGpt2[] = {
    {"resid_pre", 6.5e-07, 0.68}, {"key", 7.7e-07, 0.81},        {"value", 7.7e-07, 0.82},
    {"attn_out", 1.3e-06, 0.81},  {"resid_mid", 6.3e-07, 0.69},  {"mlp_in", 5.9e-07, 0.74},
    {"up", 6.5e-07, 0.79},        {"act", 8.5e-07, 0.76},        {"product", 8.5e-07, 0.79},
    {"mlp_out", 6.9e-07, 0.81},   {"resid_post", 6.5e-07, 0.68}, {"final_norm", 5.1e-07, 0.70},
    {"alpha", 4.8e-07, 0.89},
};
constexpr SiteDifference kGptBigcode[] = {
    {"resid_pre", 3.1e-07, 0.63}, {"key", 9.9e-07, 0.83},        {"value", 5.5e-07, 0.84},
    {"attn_out", 6.0e-07, 0.81},  {"resid_mid", 3.4e-07, 0.62},  {"mlp_in", 3.4e-07, 0.71},
    {"up", 3.6e-07, 0.79},        {"act", 5.2e-07, 0.76},        {"product", 5.2e-07, 0.80},
    {"mlp_out", 5.4e-07, 0.84},   {"resid_post", 3.5e-07, 0.60}, {"final_norm", 3.4e-07, 0.67},
    {"alpha", 3.0e-07, 0.77},
};
constexpr SiteDifference kGptNeo[] = {
    {"resid_pre", 5.5e-07, 0.74}, {"key", 6.3e-07, 0.83},        {"value", 5.5e-07, 0.85},
    {"attn_out", 2.9e-06, 0.86},  {"resid_mid", 1.1e-06, 0.77},  {"mlp_in", 1.0e-06, 0.82},
    {"up", 9.7e-07, 0.84},        {"act", 8.8e-07, 0.82},        {"product", 8.8e-07, 0.83},
    {"mlp_out", 8.7e-07, 0.84},   {"resid_post", 1.1e-06, 0.76}, {"final_norm", 1.1e-06, 0.82},
    {"alpha", 1.2e-06, 1.06},
};
constexpr SiteDifference kGptNeox[] = {
    {"resid_pre", 3.6e-07, 0.79}, {"key", 4.3e-07, 0.87},        {"value", 4.7e-07, 0.87},
    {"attn_out", 1.2e-06, 0.86},  {"resid_mid", 5.6e-07, 0.75},  {"mlp_in", 3.1e-07, 0.79},
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
constexpr SiteDifference kGptj[] = {
    {"resid_pre", 4.6e-07, 0.79},  {"key", 4.6e-07, 0.90},        {"value", 5.2e-07, 0.89},
    {"attn_out", 1.3e-06, 0.84},   {"mlp_in", 4.5e-07, 0.78},     {"up", 4.5e-07, 0.90},
    {"act", 5.1e-07, 0.80},        {"product", 5.1e-07, 0.86},    {"mlp_out", 4.6e-07, 0.88},
    {"resid_post", 4.6e-07, 0.72}, {"final_norm", 4.4e-07, 0.75}, {"alpha", 4.8e-07, 0.78},
};
constexpr SiteDifference kGranite[] = {
    {"resid_pre", 8.1e-08, 0.52},  {"key", 3.7e-07, 0.74},       {"value", 3.4e-07, 0.74},
    {"attn_out", 1.1e-06, 0.60},   {"resid_mid", 9.0e-08, 0.48}, {"mlp_in", 2.5e-07, 0.51},
    {"gate", 2.9e-07, 0.72},       {"up", 2.5e-07, 0.72},        {"act", 3.4e-07, 0.70},
    {"product", 6.3e-07, 0.73},    {"mlp_out", 5.5e-07, 0.75},   {"resid_post", 1.1e-07, 0.44},
    {"final_norm", 2.3e-07, 0.43}, {"alpha", 8.9e-08, 0.61},
};
constexpr SiteDifference kGraniteSwa[] = {
    {"resid_pre", 1.2e-07, 0.47},  {"key", 3.5e-07, 0.70},       {"value", 3.0e-07, 0.71},
    {"attn_out", 1.5e-06, 0.60},   {"resid_mid", 1.3e-07, 0.42}, {"mlp_in", 2.4e-07, 0.47},
    {"gate", 2.8e-07, 0.67},       {"up", 2.9e-07, 0.67},        {"act", 3.6e-07, 0.65},
    {"product", 6.1e-07, 0.67},    {"mlp_out", 6.9e-07, 0.69},   {"resid_post", 1.6e-07, 0.40},
    {"final_norm", 2.4e-07, 0.40}, {"alpha", 2.1e-07, 0.59},
};
constexpr SiteDifference kGranitemoe[] = {
    {"resid_pre", 1.5e-07, 0.53}, {"key", 2.9e-07, 0.75},        {"value", 3.1e-07, 0.75},
    {"attn_out", 1.2e-06, 0.66},  {"resid_mid", 1.5e-07, 0.49},  {"mlp_in", 2.6e-07, 0.53},
    {"mlp_out", 8.2e-07, 0.69},   {"resid_post", 1.5e-07, 0.46}, {"final_norm", 2.2e-07, 0.49},
    {"alpha", 1.2e-07, 0.66},
};
constexpr SiteDifference kGranitemoeSwa[] = {
    {"resid_pre", 3.3e-07, 0.65}, {"key", 6.0e-07, 0.77},        {"value", 6.0e-07, 0.76},
    {"attn_out", 1.6e-06, 0.68},  {"resid_mid", 3.5e-07, 0.61},  {"mlp_in", 3.6e-07, 0.60},
    {"mlp_out", 8.8e-07, 0.72},   {"resid_post", 4.3e-07, 0.61}, {"final_norm", 4.9e-07, 0.60},
    {"alpha", 3.6e-07, 0.69},
};
constexpr SiteDifference kGranitemoehybrid[] = {
    {"resid_pre", 9.7e-07, 0.53},  {"key", 7.3e-07, 0.75},       {"value", 8.0e-07, 0.74},
    {"attn_out", 6.1e-06, 0.71},   {"resid_mid", 2.5e-06, 0.51}, {"mlp_in", 2.4e-06, 0.52},
    {"gate", 2.2e-06, 0.57},       {"up", 2.3e-06, 0.58},        {"act", 2.0e-06, 0.54},
    {"product", 2.7e-06, 0.57},    {"mlp_out", 2.6e-06, 0.67},   {"resid_post", 2.4e-06, 0.49},
    {"final_norm", 2.6e-06, 0.49}, {"alpha", 1.8e-07, 0.76},
};
constexpr SiteDifference kGranitemoeshared[] = {
    {"resid_pre", 2.7e-07, 0.69}, {"key", 5.8e-07, 0.80},        {"value", 4.5e-07, 0.80},
    {"attn_out", 1.7e-06, 0.63},  {"resid_mid", 2.9e-07, 0.62},  {"mlp_in", 2.9e-07, 0.62},
    {"mlp_out", 8.5e-07, 0.71},   {"resid_post", 3.8e-07, 0.62}, {"final_norm", 3.8e-07, 0.60},
    {"alpha", 1.8e-07, 0.60},
};
constexpr SiteDifference kHelium[] = {
    {"resid_pre", 5.4e-07, 0.43},  {"key", 6.5e-07, 0.66},       {"value", 8.1e-07, 0.68},
    {"attn_out", 1.7e-06, 0.55},   {"resid_mid", 6.4e-07, 0.43}, {"mlp_in", 6.6e-07, 0.47},
    {"gate", 6.5e-07, 0.60},       {"up", 7.1e-07, 0.60},        {"act", 8.1e-07, 0.59},
    {"product", 1.2e-06, 0.61},    {"mlp_out", 1.5e-06, 0.62},   {"resid_post", 6.4e-07, 0.44},
    {"final_norm", 6.5e-07, 0.49}, {"alpha", 3.0e-07, 0.45},
};
constexpr SiteDifference kHunyuanV1Dense[] = {
    {"resid_pre", 2.7e-07, 0.67},  {"key", 4.6e-07, 0.82},       {"value", 4.3e-07, 0.82},
    {"attn_out", 7.1e-07, 0.86},   {"resid_mid", 3.1e-07, 0.61}, {"mlp_in", 3.6e-07, 0.66},
    {"gate", 4.1e-07, 0.80},       {"up", 4.0e-07, 0.79},        {"act", 4.9e-07, 0.77},
    {"product", 7.7e-07, 0.78},    {"mlp_out", 8.4e-07, 0.79},   {"resid_post", 3.4e-07, 0.56},
    {"final_norm", 3.8e-07, 0.65}, {"alpha", 1.3e-07, 0.73},
};
constexpr SiteDifference kHunyuanV1Moe[] = {
    {"resid_pre", 6.4e-07, 0.70}, {"key", 5.8e-07, 0.75},        {"value", 8.0e-07, 0.73},
    {"attn_out", 8.7e-07, 0.29},  {"resid_mid", 6.5e-07, 0.58},  {"mlp_in", 6.7e-07, 0.59},
    {"mlp_out", 1.6e-06, 0.61},   {"resid_post", 7.9e-07, 0.60}, {"final_norm", 7.5e-07, 0.54},
    {"alpha", 1.2e-07, 0.29},
};
constexpr SiteDifference kKimiK25[] = {
    {"resid_pre", 1.3e-06, 0.81},  {"key", 2.3e-06, 0.84},       {"value", 2.3e-06, 0.86},
    {"attn_out", 3.6e-06, 0.91},   {"resid_mid", 1.5e-06, 0.84}, {"mlp_in", 1.6e-06, 0.84},
    {"gate", 6.4e-07, 0.82},       {"up", 6.4e-07, 0.84},        {"act", 6.2e-07, 0.80},
    {"product", 1.2e-06, 0.78},    {"mlp_out", 3.6e-06, 0.86},   {"resid_post", 1.9e-06, 0.85},
    {"final_norm", 2.0e-06, 0.93}, {"alpha", 4.6e-07, 1.05},
};
constexpr SiteDifference kLfm2[] = {
    {"resid_pre", 3.4e-07, 0.65},  {"key", 5.1e-07, 0.81},       {"value", 5.3e-07, 0.81},
    {"attn_out", 1.1e-06, 0.74},   {"resid_mid", 5.3e-07, 0.60}, {"mlp_in", 5.8e-07, 0.62},
    {"gate", 6.0e-07, 0.73},       {"up", 6.1e-07, 0.74},        {"act", 6.9e-07, 0.71},
    {"product", 9.3e-07, 0.72},    {"mlp_out", 9.1e-07, 0.75},   {"resid_post", 6.0e-07, 0.59},
    {"final_norm", 5.6e-07, 0.60}, {"alpha", 1.2e-07, 0.51},
};
constexpr SiteDifference kLfm2Moe[] = {
    {"resid_pre", 4.9e-07, 0.74},  {"key", 4.2e-07, 0.80},       {"value", 3.7e-07, 0.83},
    {"attn_out", 1.4e-06, 0.77},   {"resid_mid", 4.9e-07, 0.70}, {"mlp_in", 5.4e-07, 0.65},
    {"gate", 2.9e-07, 0.86},       {"up", 2.9e-07, 0.89},        {"act", 3.7e-07, 0.79},
    {"product", 5.8e-07, 0.84},    {"mlp_out", 8.9e-07, 0.75},   {"resid_post", 7.1e-07, 0.68},
    {"final_norm", 7.2e-07, 0.66}, {"alpha", 8.9e-08, 0.51},
};
constexpr SiteDifference kLlama[] = {
    {"resid_pre", 1.1e-06, 0.68},  {"key", 1.4e-06, 0.75},       {"value", 1.4e-06, 0.75},
    {"attn_out", 3.6e-06, 0.73},   {"resid_mid", 1.3e-06, 0.68}, {"mlp_in", 1.4e-06, 0.69},
    {"gate", 1.3e-06, 0.73},       {"up", 1.3e-06, 0.73},        {"act", 1.5e-06, 0.73},
    {"product", 2.1e-06, 0.74},    {"mlp_out", 2.5e-06, 0.75},   {"resid_post", 1.4e-06, 0.67},
    {"final_norm", 1.4e-06, 0.71}, {"alpha", 9.5e-07, 0.71},
};
constexpr SiteDifference kLlama4[] = {
    {"resid_pre", 9.8e-07, 0.57}, {"key", 1.2e-06, 0.64},        {"value", 1.1e-06, 0.64},
    {"attn_out", 2.4e-06, 0.62},  {"resid_mid", 9.9e-07, 0.56},  {"mlp_in", 9.7e-07, 0.52},
    {"mlp_out", 3.3e-06, 0.58},   {"resid_post", 1.5e-06, 0.56}, {"final_norm", 1.5e-06, 0.53},
    {"alpha", 3.0e-07, 1.10},
};
constexpr SiteDifference kLlama4Text[] = {
    {"resid_pre", 1.2e-06, 0.68},  {"key", 1.1e-06, 0.75},       {"value", 1.5e-06, 0.77},
    {"attn_out", 2.6e-06, 0.73},   {"resid_mid", 1.3e-06, 0.66}, {"mlp_in", 1.6e-06, 0.65},
    {"gate", 6.6e-07, 0.76},       {"up", 6.6e-07, 0.75},        {"act", 7.2e-07, 0.73},
    {"product", 1.1e-06, 0.74},    {"mlp_out", 1.9e-06, 0.73},   {"resid_post", 1.5e-06, 0.66},
    {"final_norm", 1.7e-06, 0.68}, {"alpha", 4.5e-07, 0.64},
};
constexpr SiteDifference kLlava[] = {
    {"resid_pre", 5.0e-07, 0.68},  {"key", 7.8e-07, 0.78},       {"value", 6.7e-07, 0.77},
    {"attn_out", 9.0e-07, 0.74},   {"resid_mid", 5.7e-07, 0.65}, {"mlp_in", 5.7e-07, 0.67},
    {"gate", 5.7e-07, 0.74},       {"up", 6.3e-07, 0.73},        {"act", 7.0e-07, 0.73},
    {"product", 1.1e-06, 0.75},    {"mlp_out", 1.3e-06, 0.76},   {"resid_post", 5.9e-07, 0.62},
    {"final_norm", 6.1e-07, 0.68}, {"alpha", 4.8e-07, 0.68},
};
constexpr SiteDifference kMimoV2Flash[] = {
    {"resid_pre", 9.2e-07, 0.73},  {"key", 1.1e-06, 0.76},       {"value", 9.4e-07, 0.81},
    {"attn_out", 1.9e-06, 0.75},   {"resid_mid", 9.3e-07, 0.71}, {"mlp_in", 9.1e-07, 0.68},
    {"gate", 3.2e-07, 0.80},       {"up", 3.4e-07, 0.82},        {"act", 4.3e-07, 0.78},
    {"product", 8.2e-07, 0.81},    {"mlp_out", 2.5e-06, 0.75},   {"resid_post", 1.2e-06, 0.71},
    {"final_norm", 1.1e-06, 0.71}, {"alpha", 1.0e-06, 0.74},
};
constexpr SiteDifference kMinimaxM2[] = {
    {"resid_pre", 3.8e-07, 0.53}, {"key", 5.2e-07, 0.67},        {"value", 5.1e-07, 0.66},
    {"attn_out", 8.0e-07, 0.61},  {"resid_mid", 4.1e-07, 0.49},  {"mlp_in", 4.2e-07, 0.41},
    {"mlp_out", 1.0e-06, 0.61},   {"resid_post", 5.3e-07, 0.52}, {"final_norm", 5.1e-07, 0.48},
    {"alpha", 3.6e-07, 0.47},
};
constexpr SiteDifference kMinistral[] = {
    {"resid_pre", 5.0e-07, 0.70},  {"key", 8.1e-07, 0.79},       {"value", 5.8e-07, 0.79},
    {"attn_out", 1.6e-06, 0.73},   {"resid_mid", 6.5e-07, 0.66}, {"mlp_in", 7.2e-07, 0.68},
    {"gate", 7.2e-07, 0.75},       {"up", 6.6e-07, 0.75},        {"act", 8.8e-07, 0.74},
    {"product", 1.2e-06, 0.75},    {"mlp_out", 1.4e-06, 0.76},   {"resid_post", 7.2e-07, 0.63},
    {"final_norm", 6.9e-07, 0.68}, {"alpha", 2.4e-07, 0.57},
};
constexpr SiteDifference kMinistral3[] = {
    {"resid_pre", 8.1e-07, 0.71},  {"key", 8.9e-07, 0.77},       {"value", 9.3e-07, 0.76},
    {"attn_out", 3.6e-06, 0.69},   {"resid_mid", 1.1e-06, 0.67}, {"mlp_in", 1.1e-06, 0.68},
    {"gate", 1.2e-06, 0.72},       {"up", 1.3e-06, 0.71},        {"act", 1.2e-06, 0.72},
    {"product", 1.9e-06, 0.72},    {"mlp_out", 2.6e-06, 0.73},   {"resid_post", 1.2e-06, 0.66},
    {"final_norm", 1.2e-06, 0.67}, {"alpha", 2.7e-07, 0.51},
};
constexpr SiteDifference kMistral[] = {
    {"resid_pre", 7.1e-07, 0.68},  {"key", 9.5e-07, 0.77},       {"value", 9.2e-07, 0.76},
    {"attn_out", 2.5e-06, 0.71},   {"resid_mid", 8.0e-07, 0.66}, {"mlp_in", 8.0e-07, 0.68},
    {"gate", 8.7e-07, 0.73},       {"up", 1.0e-06, 0.73},        {"act", 8.8e-07, 0.73},
    {"product", 1.5e-06, 0.75},    {"mlp_out", 1.4e-06, 0.75},   {"resid_post", 8.8e-07, 0.65},
    {"final_norm", 8.8e-07, 0.67}, {"alpha", 6.9e-07, 0.64},
};
constexpr SiteDifference kMistral3[] = {
    {"resid_pre", 8.8e-07, 0.70},  {"key", 9.8e-07, 0.77},       {"value", 1.0e-06, 0.77},
    {"attn_out", 3.1e-06, 0.68},   {"resid_mid", 1.5e-06, 0.67}, {"mlp_in", 1.5e-06, 0.68},
    {"gate", 1.7e-06, 0.71},       {"up", 1.5e-06, 0.72},        {"act", 2.4e-06, 0.70},
    {"product", 3.1e-06, 0.72},    {"mlp_out", 3.4e-06, 0.72},   {"resid_post", 1.7e-06, 0.65},
    {"final_norm", 1.6e-06, 0.67}, {"alpha", 2.7e-07, 0.77},
};
constexpr SiteDifference kMixtral[] = {
    {"resid_pre", 6.3e-07, 0.59}, {"key", 9.0e-07, 0.66},        {"value", 1.1e-06, 0.67},
    {"attn_out", 2.0e-06, 0.62},  {"resid_mid", 6.8e-07, 0.59},  {"mlp_in", 7.4e-07, 0.58},
    {"mlp_out", 1.6e-06, 0.63},   {"resid_post", 8.1e-07, 0.57}, {"final_norm", 8.4e-07, 0.57},
    {"alpha", 2.2e-07, 0.61},
};
constexpr SiteDifference kMpt[] = {
    {"resid_pre", 6.3e-07, 0.32}, {"key", 8.6e-07, 0.76},        {"value", 7.9e-07, 0.77},
    {"attn_out", 3.6e-06, 0.73},  {"resid_mid", 7.0e-07, 0.29},  {"mlp_in", 7.6e-07, 0.42},
    {"up", 8.1e-07, 0.70},        {"act", 8.3e-07, 0.67},        {"product", 8.3e-07, 0.77},
    {"mlp_out", 1.1e-06, 0.79},   {"resid_post", 7.3e-07, 0.32}, {"final_norm", 8.1e-07, 0.47},
    {"alpha", 1.5e-07, 0.55},
};
constexpr SiteDifference kNemotron[] = {
    {"resid_pre", 6.4e-08, 0.70}, {"key", 1.8e-07, 0.77},        {"value", 1.8e-07, 0.78},
    {"attn_out", 2.6e-07, 0.70},  {"resid_mid", 6.3e-08, 0.64},  {"mlp_in", 1.4e-07, 0.64},
    {"up", 1.9e-07, 0.75},        {"act", 3.8e-07, 0.77},        {"product", 3.8e-07, 0.80},
    {"mlp_out", 3.7e-07, 0.82},   {"resid_post", 6.5e-08, 0.66}, {"final_norm", 7.6e-08, 0.68},
    {"alpha", 3.0e-08, 0.71},
};
constexpr SiteDifference kNemotronH[] = {
    {"resid_pre", 2.2e-06, 0.94},  {"key", 1.9e-06, 0.97},        {"value", 2.3e-06, 0.93},
    {"attn_out", 3.8e-06, 0.93},   {"mlp_in", 2.5e-06, 0.91},     {"up", 2.1e-06, 0.90},
    {"act", 2.9e-06, 0.95},        {"product", 2.9e-06, 0.95},    {"mlp_out", 2.7e-06, 0.93},
    {"resid_post", 2.2e-06, 0.93}, {"final_norm", 1.9e-06, 0.89}, {"alpha", 4.2e-07, 1.01},
};
constexpr SiteDifference kOlmo[] = {
    {"resid_pre", 5.5e-07, 0.66},  {"key", 6.1e-07, 0.80},       {"value", 6.1e-07, 0.80},
    {"attn_out", 2.5e-06, 0.76},   {"resid_mid", 5.5e-07, 0.61}, {"mlp_in", 5.7e-07, 0.62},
    {"gate", 6.0e-07, 0.74},       {"up", 6.7e-07, 0.74},        {"act", 6.1e-07, 0.72},
    {"product", 8.8e-07, 0.73},    {"mlp_out", 1.0e-06, 0.76},   {"resid_post", 6.6e-07, 0.58},
    {"final_norm", 6.7e-07, 0.63}, {"alpha", 2.7e-07, 0.74},
};
constexpr SiteDifference kOlmo2[] = {
    {"resid_pre", 6.6e-07, 0.79},  {"key", 9.9e-07, 0.84},       {"value", 7.3e-07, 0.87},
    {"attn_out", 6.2e-07, 0.86},   {"resid_mid", 6.5e-07, 0.76}, {"mlp_in", 6.5e-07, 0.76},
    {"gate", 6.6e-07, 0.83},       {"up", 6.5e-07, 0.84},        {"act", 8.1e-07, 0.81},
    {"product", 1.2e-06, 0.82},    {"mlp_out", 1.3e-06, 0.83},   {"resid_post", 7.4e-07, 0.77},
    {"final_norm", 8.5e-07, 0.78}, {"alpha", 2.7e-07, 0.85},
};
constexpr SiteDifference kOlmo3[] = {
    {"resid_pre", 8.6e-07, 0.76},  {"key", 1.2e-06, 0.83},       {"value", 1.0e-06, 0.82},
    {"attn_out", 1.4e-06, 0.79},   {"resid_mid", 1.0e-06, 0.74}, {"mlp_in", 1.0e-06, 0.74},
    {"gate", 1.3e-06, 0.81},       {"up", 1.2e-06, 0.81},        {"act", 1.2e-06, 0.79},
    {"product", 2.2e-06, 0.78},    {"mlp_out", 1.7e-06, 0.80},   {"resid_post", 1.1e-06, 0.74},
    {"final_norm", 9.7e-07, 0.74}, {"alpha", 2.1e-07, 0.55},
};
constexpr SiteDifference kOlmoe[] = {
    {"resid_pre", 4.6e-07, 0.75}, {"key", 6.8e-07, 0.81},        {"value", 7.1e-07, 0.82},
    {"attn_out", 7.2e-07, 0.83},  {"resid_mid", 4.6e-07, 0.73},  {"mlp_in", 4.6e-07, 0.70},
    {"mlp_out", 1.2e-06, 0.75},   {"resid_post", 5.6e-07, 0.71}, {"final_norm", 6.0e-07, 0.70},
    {"alpha", 1.2e-07, 0.63},
};
constexpr SiteDifference kOpt[] = {
    {"resid_pre", 2.2e-07, 0.84}, {"key", 2.3e-07, 0.87},        {"value", 2.5e-07, 0.87},
    {"attn_out", 3.2e-07, 0.90},  {"resid_mid", 2.3e-07, 0.84},  {"mlp_in", 2.3e-07, 0.84},
    {"up", 2.4e-07, 0.86},        {"act", 2.8e-07, 0.86},        {"product", 2.8e-07, 0.86},
    {"mlp_out", 3.0e-07, 0.88},   {"resid_post", 2.7e-07, 0.84}, {"final_norm", 3.2e-07, 0.83},
    {"alpha", 1.2e-07, 0.86},
};
constexpr SiteDifference kPersimmon[] = {
    {"resid_pre", 9.2e-08, 0.82}, {"key", 3.1e-07, 0.90},        {"value", 2.4e-07, 0.90},
    {"attn_out", 3.0e-07, 0.91},  {"resid_mid", 1.1e-07, 0.76},  {"mlp_in", 1.2e-07, 0.78},
    {"up", 2.0e-07, 0.87},        {"act", 3.5e-07, 0.88},        {"product", 3.5e-07, 0.91},
    {"mlp_out", 3.3e-07, 0.92},   {"resid_post", 1.1e-07, 0.76}, {"final_norm", 1.7e-07, 0.78},
    {"alpha", 3.0e-08, 0.82},
};
constexpr SiteDifference kPhi[] = {
    {"resid_pre", 3.0e-07, 0.73},  {"key", 5.7e-07, 0.85},        {"value", 4.3e-07, 0.85},
    {"attn_out", 7.5e-07, 0.82},   {"mlp_in", 3.3e-07, 0.76},     {"up", 3.2e-07, 0.86},
    {"act", 3.3e-07, 0.79},        {"product", 3.3e-07, 0.84},    {"mlp_out", 3.6e-07, 0.87},
    {"resid_post", 3.0e-07, 0.69}, {"final_norm", 3.4e-07, 0.71}, {"alpha", 1.8e-07, 0.74},
};
constexpr SiteDifference kPhi3[] = {
    {"resid_pre", 1.5e-06, 0.75},  {"key", 1.5e-06, 0.76},       {"value", 1.7e-06, 0.76},
    {"attn_out", 2.9e-06, 0.78},   {"resid_mid", 1.5e-06, 0.76}, {"mlp_in", 1.3e-06, 0.75},
    {"gate", 1.5e-06, 0.76},       {"up", 1.3e-06, 0.76},        {"act", 1.4e-06, 0.76},
    {"product", 2.1e-06, 0.77},    {"mlp_out", 2.3e-06, 0.77},   {"resid_post", 1.5e-06, 0.76},
    {"final_norm", 1.4e-06, 0.77}, {"alpha", 4.8e-07, 0.87},
};
constexpr SiteDifference kPhimoe[] = {
    {"resid_pre", 7.8e-07, 0.78}, {"key", 1.1e-06, 0.82},        {"value", 9.1e-07, 0.80},
    {"attn_out", 1.7e-06, 0.78},  {"resid_mid", 8.3e-07, 0.78},  {"mlp_in", 7.9e-07, 0.76},
    {"mlp_out", 1.7e-06, 0.73},   {"resid_post", 1.1e-06, 0.74}, {"final_norm", 1.1e-06, 0.73},
    {"alpha", 7.2e-07, 0.60},
};
constexpr SiteDifference kQwen2[] = {
    {"resid_pre", 1.3e-06, 0.66},  {"key", 1.4e-06, 0.75},       {"value", 1.4e-06, 0.75},
    {"attn_out", 3.4e-06, 0.72},   {"resid_mid", 1.4e-06, 0.65}, {"mlp_in", 1.3e-06, 0.67},
    {"gate", 1.3e-06, 0.73},       {"up", 1.4e-06, 0.72},        {"act", 1.5e-06, 0.71},
    {"product", 2.5e-06, 0.72},    {"mlp_out", 2.2e-06, 0.73},   {"resid_post", 1.5e-06, 0.64},
    {"final_norm", 1.5e-06, 0.66}, {"alpha", 1.4e-06, 0.67},
};
constexpr SiteDifference kQwen25Vl[] = {
    {"resid_pre", 4.9e-07, 0.67},  {"key", 6.8e-07, 0.74},       {"value", 7.2e-07, 0.75},
    {"attn_out", 1.2e-06, 0.66},   {"resid_mid", 5.6e-07, 0.61}, {"mlp_in", 5.7e-07, 0.62},
    {"gate", 7.0e-07, 0.68},       {"up", 6.6e-07, 0.69},        {"act", 7.4e-07, 0.67},
    {"product", 1.6e-06, 0.70},    {"mlp_out", 1.8e-06, 0.72},   {"resid_post", 6.5e-07, 0.60},
    {"final_norm", 6.7e-07, 0.62}, {"alpha", 4.2e-07, 0.66},
};
constexpr SiteDifference kQwen2Moe[] = {
    {"resid_pre", 6.2e-07, 0.72},  {"key", 8.0e-07, 0.76},       {"value", 7.1e-07, 0.75},
    {"attn_out", 1.4e-06, 0.71},   {"resid_mid", 6.4e-07, 0.69}, {"mlp_in", 6.9e-07, 0.67},
    {"gate", 7.3e-07, 0.72},       {"up", 8.5e-07, 0.71},        {"act", 9.3e-07, 0.74},
    {"product", 1.5e-06, 0.75},    {"mlp_out", 1.6e-06, 0.72},   {"resid_post", 9.8e-07, 0.68},
    {"final_norm", 9.2e-07, 0.67}, {"alpha", 4.2e-07, 0.68},
};
constexpr SiteDifference kQwen2Vl[] = {
    {"resid_pre", 4.8e-07, 0.67},  {"key", 6.8e-07, 0.75},       {"value", 7.4e-07, 0.76},
    {"attn_out", 1.2e-06, 0.68},   {"resid_mid", 5.1e-07, 0.62}, {"mlp_in", 6.0e-07, 0.66},
    {"gate", 6.1e-07, 0.72},       {"up", 7.4e-07, 0.72},        {"act", 6.8e-07, 0.71},
    {"product", 1.0e-06, 0.71},    {"mlp_out", 1.1e-06, 0.71},   {"resid_post", 5.4e-07, 0.60},
    {"final_norm", 5.4e-07, 0.63}, {"alpha", 4.2e-07, 0.60},
};
constexpr SiteDifference kQwen3[] = {
    {"resid_pre", 5.5e-07, 0.60},  {"key", 5.5e-07, 0.77},       {"value", 6.0e-07, 0.78},
    {"attn_out", 1.1e-06, 0.75},   {"resid_mid", 6.2e-07, 0.55}, {"mlp_in", 6.0e-07, 0.63},
    {"gate", 7.2e-07, 0.74},       {"up", 7.3e-07, 0.73},        {"act", 7.3e-07, 0.72},
    {"product", 1.1e-06, 0.73},    {"mlp_out", 1.1e-06, 0.75},   {"resid_post", 6.4e-07, 0.54},
    {"final_norm", 6.3e-07, 0.61}, {"alpha", 7.2e-07, 0.63},
};
constexpr SiteDifference kQwen35[] = {
    {"resid_pre", 2.4e-06, 0.75},  {"key", 2.5e-06, 0.80},       {"value", 2.8e-06, 0.80},
    {"attn_out", 3.9e-06, 0.83},   {"resid_mid", 2.4e-06, 0.75}, {"mlp_in", 2.3e-06, 0.78},
    {"gate", 2.9e-06, 0.81},       {"up", 2.3e-06, 0.82},        {"act", 2.5e-06, 0.80},
    {"product", 3.7e-06, 0.82},    {"mlp_out", 3.3e-06, 0.82},   {"resid_post", 2.4e-06, 0.73},
    {"final_norm", 2.2e-06, 0.76}, {"alpha", 1.5e-07, 0.75},
};
constexpr SiteDifference kQwen35Moe[] = {
    {"resid_pre", 2.4e-06, 0.71}, {"key", 2.5e-06, 0.66},        {"value", 2.3e-06, 0.65},
    {"attn_out", 3.7e-06, 0.67},  {"resid_mid", 2.4e-06, 0.68},  {"mlp_in", 2.6e-06, 0.68},
    {"mlp_out", 5.7e-06, 0.67},   {"resid_post", 3.1e-06, 0.68}, {"final_norm", 3.0e-06, 0.64},
    {"alpha", 1.6e-07, 0.82},
};
constexpr SiteDifference kQwen35MoeText[] = {
    {"resid_pre", 2.0e-06, 0.73}, {"key", 1.7e-06, 0.71},        {"value", 2.0e-06, 0.76},
    {"attn_out", 5.6e-06, 0.72},  {"resid_mid", 2.1e-06, 0.72},  {"mlp_in", 1.7e-06, 0.70},
    {"mlp_out", 3.2e-06, 0.72},   {"resid_post", 2.6e-06, 0.70}, {"final_norm", 2.8e-06, 0.68},
    {"alpha", 1.8e-07, 0.71},
};
constexpr SiteDifference kQwen35Text[] = {
    {"resid_pre", 2.2e-06, 0.71},  {"key", 2.4e-06, 0.76},       {"value", 2.9e-06, 0.78},
    {"attn_out", 5.3e-06, 0.82},   {"resid_mid", 2.2e-06, 0.70}, {"mlp_in", 2.2e-06, 0.76},
    {"gate", 2.4e-06, 0.80},       {"up", 2.6e-06, 0.80},        {"act", 3.1e-06, 0.79},
    {"product", 3.3e-06, 0.79},    {"mlp_out", 3.6e-06, 0.79},   {"resid_post", 2.3e-06, 0.68},
    {"final_norm", 2.2e-06, 0.74}, {"alpha", 1.2e-07, 0.72},
};
constexpr SiteDifference kQwen3Moe[] = {
    {"resid_pre", 5.6e-07, 0.64},  {"key", 6.3e-07, 0.77},       {"value", 5.8e-07, 0.78},
    {"attn_out", 1.1e-06, 0.87},   {"resid_mid", 5.8e-07, 0.62}, {"mlp_in", 5.9e-07, 0.60},
    {"gate", 5.1e-07, 0.73},       {"up", 5.2e-07, 0.74},        {"act", 6.0e-07, 0.72},
    {"product", 8.7e-07, 0.73},    {"mlp_out", 1.6e-06, 0.71},   {"resid_post", 5.7e-07, 0.60},
    {"final_norm", 5.4e-07, 0.58}, {"alpha", 3.3e-07, 0.63},
};
constexpr SiteDifference kQwen3Next[] = {
    {"resid_pre", 1.8e-06, 0.75},  {"key", 2.3e-06, 0.70},       {"value", 1.7e-06, 0.71},
    {"attn_out", 3.6e-06, 0.68},   {"resid_mid", 1.8e-06, 0.72}, {"mlp_in", 1.9e-06, 0.70},
    {"gate", 2.0e-06, 0.76},       {"up", 1.7e-06, 0.75},        {"act", 1.7e-06, 0.77},
    {"product", 2.6e-06, 0.76},    {"mlp_out", 4.2e-06, 0.74},   {"resid_post", 2.3e-06, 0.72},
    {"final_norm", 2.4e-06, 0.71}, {"alpha", 2.4e-07, 0.69},
};
constexpr SiteDifference kQwen3Vl[] = {
    {"resid_pre", 3.0e-07, 0.29},  {"key", 4.4e-07, 0.64},       {"value", 3.8e-07, 0.65},
    {"attn_out", 5.9e-07, 0.56},   {"resid_mid", 3.4e-07, 0.26}, {"mlp_in", 3.7e-07, 0.34},
    {"gate", 4.1e-07, 0.60},       {"up", 4.0e-07, 0.60},        {"act", 5.3e-07, 0.59},
    {"product", 9.5e-07, 0.62},    {"mlp_out", 1.0e-06, 0.65},   {"resid_post", 3.9e-07, 0.29},
    {"final_norm", 3.6e-07, 0.41}, {"alpha", 1.5e-07, 0.37},
};
constexpr SiteDifference kQwen3VlMoe[] = {
    {"resid_pre", 5.4e-07, 0.77},  {"key", 5.2e-07, 0.82},       {"value", 4.7e-07, 0.80},
    {"attn_out", 7.8e-07, 0.79},   {"resid_mid", 5.2e-07, 0.71}, {"mlp_in", 4.5e-07, 0.68},
    {"gate", 4.1e-07, 0.78},       {"up", 4.0e-07, 0.78},        {"act", 4.6e-07, 0.74},
    {"product", 7.6e-07, 0.76},    {"mlp_out", 9.5e-07, 0.74},   {"resid_post", 6.4e-07, 0.71},
    {"final_norm", 6.3e-07, 0.67}, {"alpha", 1.2e-07, 0.63},
};
constexpr SiteDifference kSeedOss[] = {
    {"resid_pre", 3.2e-07, 0.70},  {"key", 5.1e-07, 0.79},       {"value", 5.0e-07, 0.80},
    {"attn_out", 6.6e-07, 0.76},   {"resid_mid", 3.9e-07, 0.66}, {"mlp_in", 4.2e-07, 0.67},
    {"gate", 4.0e-07, 0.76},       {"up", 3.8e-07, 0.76},        {"act", 4.6e-07, 0.74},
    {"product", 7.5e-07, 0.77},    {"mlp_out", 7.9e-07, 0.79},   {"resid_post", 5.6e-07, 0.65},
    {"final_norm", 6.0e-07, 0.67}, {"alpha", 2.5e-07, 0.55},
};
constexpr SiteDifference kSmollm3[] = {
    {"resid_pre", 6.1e-07, 0.69},  {"key", 8.2e-07, 0.78},       {"value", 7.8e-07, 0.78},
    {"attn_out", 1.6e-06, 0.77},   {"resid_mid", 6.4e-07, 0.66}, {"mlp_in", 6.7e-07, 0.69},
    {"gate", 6.7e-07, 0.77},       {"up", 7.0e-07, 0.77},        {"act", 7.5e-07, 0.76},
    {"product", 1.3e-06, 0.77},    {"mlp_out", 1.5e-06, 0.79},   {"resid_post", 7.7e-07, 0.65},
    {"final_norm", 7.5e-07, 0.65}, {"alpha", 2.4e-07, 0.80},
};
constexpr SiteDifference kSolarOpen[] = {
    {"resid_pre", 8.6e-07, 0.76}, {"key", 9.8e-07, 0.75},        {"value", 8.7e-07, 0.78},
    {"attn_out", 2.0e-06, 0.76},  {"resid_mid", 8.6e-07, 0.71},  {"mlp_in", 8.9e-07, 0.70},
    {"mlp_out", 2.2e-06, 0.72},   {"resid_post", 1.1e-06, 0.73}, {"final_norm", 1.1e-06, 0.68},
    {"alpha", 3.3e-07, 0.71},
};
constexpr SiteDifference kStablelm[] = {
    {"resid_pre", 2.6e-07, 0.71},  {"key", 4.3e-07, 0.89},       {"value", 4.2e-07, 0.89},
    {"attn_out", 7.2e-07, 0.91},   {"resid_mid", 3.3e-07, 0.67}, {"mlp_in", 3.8e-07, 0.75},
    {"gate", 3.5e-07, 0.89},       {"up", 4.6e-07, 0.89},        {"act", 4.2e-07, 0.85},
    {"product", 7.7e-07, 0.89},    {"mlp_out", 8.5e-07, 0.90},   {"resid_post", 3.5e-07, 0.65},
    {"final_norm", 3.4e-07, 0.73}, {"alpha", 1.8e-07, 0.88},
};
constexpr SiteDifference kStarcoder2[] = {
    {"resid_pre", 3.5e-07, 0.70}, {"key", 4.7e-07, 0.84},        {"value", 5.1e-07, 0.85},
    {"attn_out", 6.8e-07, 0.73},  {"resid_mid", 3.9e-07, 0.65},  {"mlp_in", 4.1e-07, 0.70},
    {"up", 4.5e-07, 0.78},        {"act", 5.7e-07, 0.77},        {"product", 5.7e-07, 0.81},
    {"mlp_out", 4.6e-07, 0.84},   {"resid_post", 3.8e-07, 0.64}, {"final_norm", 4.0e-07, 0.67},
    {"alpha", 2.7e-07, 0.56},
};
constexpr SiteDifference kVaultgemma[] = {
    {"resid_pre", 8.8e-08, 0.50},  {"key", 3.0e-07, 0.78},       {"value", 2.9e-07, 0.78},
    {"attn_out", 5.5e-07, 0.67},   {"resid_mid", 9.5e-08, 0.45}, {"mlp_in", 2.3e-07, 0.44},
    {"gate", 3.0e-07, 0.73},       {"up", 2.9e-07, 0.72},        {"act", 3.3e-07, 0.69},
    {"product", 5.8e-07, 0.72},    {"mlp_out", 6.6e-07, 0.75},   {"resid_post", 1.1e-07, 0.42},
    {"final_norm", 2.2e-07, 0.37}, {"alpha", 1.0e-07, 0.53},
};
constexpr SiteDifference kYoutu[] = {
    {"resid_pre", 6.8e-07, 0.77},  {"key", 7.5e-07, 0.84},       {"value", 8.5e-07, 0.85},
    {"attn_out", 1.0e-06, 0.84},   {"resid_mid", 7.8e-07, 0.76}, {"mlp_in", 7.7e-07, 0.78},
    {"gate", 9.1e-07, 0.83},       {"up", 8.4e-07, 0.82},        {"act", 1.0e-06, 0.81},
    {"product", 1.6e-06, 0.80},    {"mlp_out", 1.7e-06, 0.82},   {"resid_post", 8.5e-07, 0.74},
    {"final_norm", 8.9e-07, 0.77}, {"alpha", 4.7e-07, 0.70},
};

}  // namespace

std::span<const SiteDifference> DifferencesOf(std::string_view model_type) {
  if (model_type == "apertus") return kApertus;
  if (model_type == "arcee") return kArcee;
  if (model_type == "bloom") return kBloom;
  if (model_type == "codegen") return kCodegen;
  if (model_type == "cohere") return kCohere;
  if (model_type == "cohere2") return kCohere2;
  if (model_type == "deepseek_v2") return kDeepseekV2;
  if (model_type == "deepseek_v3") return kDeepseekV3;
  if (model_type == "dots1") return kDots1;
  if (model_type == "ernie4_5") return kErnie45;
  if (model_type == "ernie4_5_moe") return kErnie45Moe;
  if (model_type == "exaone4") return kExaone4;
  if (model_type == "falcon") return kFalcon;
  if (model_type == "falcon_h1") return kFalconH1;
  if (model_type == "flex_olmo") return kFlexOlmo;
  if (model_type == "gemma") return kGemma;
  if (model_type == "gemma2") return kGemma2;
  if (model_type == "gemma3") return kGemma3;
  if (model_type == "gemma3_text") return kGemma3Text;
  if (model_type == "gemma4") return kGemma4;
  if (model_type == "gemma4_text") return kGemma4Text;
  if (model_type == "glm") return kGlm;
  if (model_type == "glm4") return kGlm4;
  if (model_type == "glm4_moe") return kGlm4Moe;
  if (model_type == "glm4_moe_lite") return kGlm4MoeLite;
  if (model_type == "gpt2") return kGpt2;
  if (model_type == "gpt_bigcode") return kGptBigcode;
  if (model_type == "gpt_neo") return kGptNeo;
  if (model_type == "gpt_neox") return kGptNeox;
  if (model_type == "gpt_oss") return kGptOss;
  if (model_type == "gptj") return kGptj;
  if (model_type == "granite") return kGranite;
  if (model_type == "granite_swa") return kGraniteSwa;
  if (model_type == "granitemoe") return kGranitemoe;
  if (model_type == "granitemoe_swa") return kGranitemoeSwa;
  if (model_type == "granitemoehybrid") return kGranitemoehybrid;
  if (model_type == "granitemoeshared") return kGranitemoeshared;
  if (model_type == "helium") return kHelium;
  if (model_type == "hunyuan_v1_dense") return kHunyuanV1Dense;
  if (model_type == "hunyuan_v1_moe") return kHunyuanV1Moe;
  if (model_type == "kimi_k25") return kKimiK25;
  if (model_type == "lfm2") return kLfm2;
  if (model_type == "lfm2_moe") return kLfm2Moe;
  if (model_type == "llama") return kLlama;
  if (model_type == "llama4") return kLlama4;
  if (model_type == "llama4_text") return kLlama4Text;
  if (model_type == "llava") return kLlava;
  if (model_type == "mimo_v2_flash") return kMimoV2Flash;
  if (model_type == "minimax_m2") return kMinimaxM2;
  if (model_type == "ministral") return kMinistral;
  if (model_type == "ministral3") return kMinistral3;
  if (model_type == "mistral") return kMistral;
  if (model_type == "mistral3") return kMistral3;
  if (model_type == "mixtral") return kMixtral;
  if (model_type == "mpt") return kMpt;
  if (model_type == "nemotron") return kNemotron;
  if (model_type == "nemotron_h") return kNemotronH;
  if (model_type == "olmo") return kOlmo;
  if (model_type == "olmo2") return kOlmo2;
  if (model_type == "olmo3") return kOlmo3;
  if (model_type == "olmoe") return kOlmoe;
  if (model_type == "opt") return kOpt;
  if (model_type == "persimmon") return kPersimmon;
  if (model_type == "phi") return kPhi;
  if (model_type == "phi3") return kPhi3;
  if (model_type == "phimoe") return kPhimoe;
  if (model_type == "qwen2") return kQwen2;
  if (model_type == "qwen2_5_vl") return kQwen25Vl;
  if (model_type == "qwen2_moe") return kQwen2Moe;
  if (model_type == "qwen2_vl") return kQwen2Vl;
  if (model_type == "qwen3") return kQwen3;
  if (model_type == "qwen3_5") return kQwen35;
  if (model_type == "qwen3_5_moe") return kQwen35Moe;
  if (model_type == "qwen3_5_moe_text") return kQwen35MoeText;
  if (model_type == "qwen3_5_text") return kQwen35Text;
  if (model_type == "qwen3_moe") return kQwen3Moe;
  if (model_type == "qwen3_next") return kQwen3Next;
  if (model_type == "qwen3_vl") return kQwen3Vl;
  if (model_type == "qwen3_vl_moe") return kQwen3VlMoe;
  if (model_type == "seed_oss") return kSeedOss;
  if (model_type == "smollm3") return kSmollm3;
  if (model_type == "solar_open") return kSolarOpen;
  if (model_type == "stablelm") return kStablelm;
  if (model_type == "starcoder2") return kStarcoder2;
  if (model_type == "vaultgemma") return kVaultgemma;
  if (model_type == "youtu") return kYoutu;
  return {};
}

}  // namespace sinkd
