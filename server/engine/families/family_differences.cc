// Written by the target family_differences (tests/engine/write_family_differences.cc).
#include "server/engine/families/family_differences.h"

namespace sinkd {
namespace {

constexpr SiteDifference kApertus[] = {
    {"resid_pre", 6.1e-07, 0.77}, {"key", 6.6e-07, 0.83},        {"value", 5.7e-07, 0.83},
    {"attn_out", 6.3e-07, 0.84},  {"resid_mid", 6.1e-07, 0.69},  {"mlp_in", 6.1e-07, 0.73},
    {"up", 6.5e-07, 0.80},        {"act", 1.2e-06, 0.77},        {"product", 1.2e-06, 0.80},
    {"mlp_out", 1.3e-06, 0.82},   {"resid_post", 7.8e-07, 0.73}, {"final_norm", 7.9e-07, 0.74},
    {"alpha", 1.2e-07, 0.72},
};
constexpr SiteDifference kArcee[] = {
    {"resid_pre", 4.9e-07, 0.74}, {"key", 6.5e-07, 0.83},        {"value", 7.0e-07, 0.82},
    {"attn_out", 9.9e-07, 0.73},  {"resid_mid", 6.2e-07, 0.69},  {"mlp_in", 5.5e-07, 0.71},
    {"up", 6.3e-07, 0.78},        {"act", 8.8e-07, 0.78},        {"product", 8.8e-07, 0.80},
    {"mlp_out", 8.9e-07, 0.81},   {"resid_post", 6.5e-07, 0.69}, {"final_norm", 6.6e-07, 0.71},
    {"alpha", 2.4e-07, 0.70},
};
constexpr SiteDifference kBloom[] = {
    {"resid_pre", 8.3e-07, 0.36}, {"key", 8.2e-07, 0.45},        {"value", 6.8e-07, 0.45},
    {"attn_out", 1.6e-06, 0.34},  {"resid_mid", 8.7e-07, 0.33},  {"mlp_in", 8.0e-07, 0.34},
    {"up", 8.2e-07, 0.37},        {"act", 9.1e-07, 0.38},        {"product", 9.1e-07, 0.39},
    {"mlp_out", 7.9e-07, 0.42},   {"resid_post", 8.3e-07, 0.34}, {"final_norm", 8.1e-07, 0.37},
    {"alpha", 7.5e-07, 0.23},
};
constexpr SiteDifference kCodegen[] = {
    {"resid_pre", 4.0e-07, 0.88},  {"key", 4.8e-07, 0.94},        {"value", 4.4e-07, 0.94},
    {"attn_out", 1.4e-06, 0.96},   {"mlp_in", 4.0e-07, 0.86},     {"up", 4.4e-07, 0.94},
    {"act", 5.0e-07, 0.86},        {"product", 5.0e-07, 0.90},    {"mlp_out", 4.7e-07, 0.93},
    {"resid_post", 6.7e-07, 0.86}, {"final_norm", 5.9e-07, 0.88}, {"alpha", 2.2e-07, 0.91},
};
constexpr SiteDifference kCohere[] = {
    {"resid_pre", 7.0e-07, 0.70}, {"key", 9.0e-07, 0.89},        {"value", 9.2e-07, 0.88},
    {"attn_out", 2.0e-06, 0.97},  {"mlp_in", 6.8e-07, 0.76},     {"gate", 8.9e-07, 0.88},
    {"up", 7.4e-07, 0.89},        {"act", 9.1e-07, 0.83},        {"product", 1.6e-06, 0.87},
    {"mlp_out", 1.8e-06, 0.88},   {"resid_post", 7.7e-07, 0.66}, {"final_norm", 8.0e-07, 0.72},
    {"alpha", 4.8e-07, 0.76},
};
constexpr SiteDifference kCohere2[] = {
    {"resid_pre", 7.4e-07, 0.49}, {"key", 1.2e-06, 0.72},        {"value", 1.1e-06, 0.71},
    {"attn_out", 1.9e-06, 0.68},  {"mlp_in", 7.1e-07, 0.56},     {"gate", 7.7e-07, 0.72},
    {"up", 6.1e-07, 0.72},        {"act", 9.2e-07, 0.69},        {"product", 1.1e-06, 0.72},
    {"mlp_out", 1.2e-06, 0.74},   {"resid_post", 7.4e-07, 0.49}, {"final_norm", 7.3e-07, 0.62},
    {"alpha", 5.4e-07, 0.63},
};
constexpr SiteDifference kDeepseekV2[] = {
    {"resid_pre", 1.4e-06, 0.80},  {"key", 1.7e-06, 0.81},       {"value", 2.3e-06, 0.82},
    {"attn_out", 3.4e-06, 0.78},   {"resid_mid", 1.6e-06, 0.81}, {"mlp_in", 1.7e-06, 0.79},
    {"gate", 8.4e-07, 0.81},       {"up", 8.3e-07, 0.80},        {"act", 8.1e-07, 0.81},
    {"product", 1.3e-06, 0.78},    {"mlp_out", 3.7e-06, 0.79},   {"resid_post", 2.2e-06, 0.80},
    {"final_norm", 2.3e-06, 0.83}, {"alpha", 4.5e-07, 0.77},
};
constexpr SiteDifference kDeepseekV3[] = {
    {"resid_pre", 1.2e-06, 0.80},  {"key", 2.1e-06, 0.83},       {"value", 2.1e-06, 0.85},
    {"attn_out", 4.0e-06, 0.80},   {"resid_mid", 1.9e-06, 0.78}, {"mlp_in", 2.0e-06, 0.77},
    {"gate", 6.7e-07, 0.83},       {"up", 6.3e-07, 0.85},        {"act", 6.6e-07, 0.78},
    {"product", 1.1e-06, 0.83},    {"mlp_out", 3.4e-06, 0.81},   {"resid_post", 2.4e-06, 0.79},
    {"final_norm", 2.4e-06, 0.76}, {"alpha", 8.3e-07, 0.77},
};
constexpr SiteDifference kDots1[] = {
    {"resid_pre", 5.4e-07, 0.74},  {"key", 7.1e-07, 0.81},       {"value", 7.5e-07, 0.80},
    {"attn_out", 9.6e-07, 0.78},   {"resid_mid", 5.3e-07, 0.70}, {"mlp_in", 4.9e-07, 0.67},
    {"gate", 2.7e-07, 0.84},       {"up", 2.7e-07, 0.85},        {"act", 3.4e-07, 0.80},
    {"product", 6.5e-07, 0.82},    {"mlp_out", 1.3e-06, 0.78},   {"resid_post", 8.5e-07, 0.72},
    {"final_norm", 7.8e-07, 0.74}, {"alpha", 1.8e-07, 0.75},
};
constexpr SiteDifference kErnie45[] = {
    {"resid_pre", 4.2e-07, 0.75},  {"key", 5.6e-07, 0.85},       {"value", 4.7e-07, 0.85},
    {"attn_out", 1.1e-06, 0.87},   {"resid_mid", 5.1e-07, 0.72}, {"mlp_in", 4.7e-07, 0.76},
    {"gate", 5.1e-07, 0.83},       {"up", 5.6e-07, 0.82},        {"act", 5.4e-07, 0.81},
    {"product", 1.0e-06, 0.83},    {"mlp_out", 8.8e-07, 0.86},   {"resid_post", 6.5e-07, 0.68},
    {"final_norm", 6.1e-07, 0.73}, {"alpha", 2.4e-07, 0.88},
};
constexpr SiteDifference kErnie45Moe[] = {
    {"resid_pre", 8.5e-07, 0.77},  {"key", 9.2e-07, 0.82},       {"value", 9.8e-07, 0.84},
    {"attn_out", 1.9e-06, 0.75},   {"resid_mid", 9.2e-07, 0.76}, {"mlp_in", 8.0e-07, 0.72},
    {"gate", 5.5e-07, 0.82},       {"up", 6.0e-07, 0.80},        {"act", 5.7e-07, 0.77},
    {"product", 8.6e-07, 0.83},    {"mlp_out", 1.6e-06, 0.77},   {"resid_post", 1.2e-06, 0.75},
    {"final_norm", 1.1e-06, 0.74}, {"alpha", 4.8e-07, 0.76},
};
constexpr SiteDifference kExaone4[] = {
    {"resid_pre", 1.3e-06, 0.76},  {"key", 1.4e-06, 0.81},       {"value", 1.3e-06, 0.83},
    {"attn_out", 1.3e-06, 0.78},   {"resid_mid", 1.1e-06, 0.73}, {"mlp_in", 1.1e-06, 0.73},
    {"gate", 1.1e-06, 0.80},       {"up", 1.3e-06, 0.79},        {"act", 1.1e-06, 0.79},
    {"product", 2.0e-06, 0.82},    {"mlp_out", 2.1e-06, 0.79},   {"resid_post", 1.3e-06, 0.74},
    {"final_norm", 1.2e-06, 0.74}, {"alpha", 4.2e-07, 0.77},
};
constexpr SiteDifference kFalcon[] = {
    {"resid_pre", 7.3e-07, 0.74}, {"key", 9.7e-07, 0.81},        {"value", 8.0e-07, 0.81},
    {"attn_out", 1.4e-06, 0.75},  {"resid_mid", 7.4e-07, 0.51},  {"mlp_in", 7.8e-07, 0.72},
    {"up", 8.5e-07, 0.80},        {"act", 9.3e-07, 0.78},        {"product", 9.3e-07, 0.82},
    {"mlp_out", 6.9e-07, 0.85},   {"resid_post", 7.3e-07, 0.71}, {"final_norm", 7.5e-07, 0.74},
    {"alpha", 5.1e-07, 0.72},
};
constexpr SiteDifference kFalconH1[] = {
    {"resid_pre", 1.2e-06, 0.80},  {"key", 1.5e-06, 0.82},       {"value", 1.5e-06, 0.81},
    {"attn_out", 4.0e-06, 0.79},   {"resid_mid", 1.8e-06, 0.78}, {"mlp_in", 1.9e-06, 0.79},
    {"gate", 1.7e-06, 0.81},       {"up", 2.0e-06, 0.81},        {"act", 2.0e-06, 0.80},
    {"product", 2.5e-06, 0.79},    {"mlp_out", 2.4e-06, 0.79},   {"resid_post", 1.8e-06, 0.77},
    {"final_norm", 1.9e-06, 0.79}, {"alpha", 8.3e-07, 0.73},
};
constexpr SiteDifference kFlexOlmo[] = {
    {"resid_pre", 6.9e-07, 0.80}, {"key", 9.9e-07, 0.85},        {"value", 1.1e-06, 0.83},
    {"attn_out", 7.9e-07, 0.90},  {"resid_mid", 7.1e-07, 0.79},  {"mlp_in", 7.1e-07, 0.79},
    {"mlp_out", 1.8e-06, 0.83},   {"resid_post", 1.2e-06, 0.78}, {"final_norm", 1.2e-06, 0.80},
    {"alpha", 2.2e-07, 0.84},
};
constexpr SiteDifference kGemma[] = {
    {"resid_pre", 1.0e-07, 0.49},  {"key", 3.5e-07, 0.77},       {"value", 3.0e-07, 0.77},
    {"attn_out", 1.1e-06, 0.72},   {"resid_mid", 1.2e-07, 0.44}, {"mlp_in", 2.4e-07, 0.44},
    {"gate", 3.1e-07, 0.72},       {"up", 3.0e-07, 0.71},        {"act", 3.6e-07, 0.69},
    {"product", 6.6e-07, 0.73},    {"mlp_out", 7.2e-07, 0.75},   {"resid_post", 1.3e-07, 0.42},
    {"final_norm", 2.6e-07, 0.37}, {"alpha", 1.5e-07, 0.74},
};
constexpr SiteDifference kGemma2[] = {
    {"resid_pre", 1.7e-07, 0.43},  {"key", 3.7e-07, 0.72},       {"value", 3.9e-07, 0.71},
    {"attn_out", 7.5e-07, 0.68},   {"resid_mid", 1.9e-07, 0.40}, {"mlp_in", 2.9e-07, 0.46},
    {"gate", 3.5e-07, 0.68},       {"up", 3.6e-07, 0.67},        {"act", 4.4e-07, 0.66},
    {"product", 7.4e-07, 0.68},    {"mlp_out", 6.8e-07, 0.68},   {"resid_post", 2.2e-07, 0.38},
    {"final_norm", 2.7e-07, 0.41}, {"alpha", 2.4e-07, 0.59},
};
constexpr SiteDifference kGemma3[] = {
    {"resid_pre", 2.2e-07, 0.38},  {"key", 3.7e-07, 0.66},       {"value", 5.3e-07, 0.66},
    {"attn_out", 9.1e-07, 0.68},   {"resid_mid", 2.3e-07, 0.37}, {"mlp_in", 3.0e-07, 0.44},
    {"gate", 3.6e-07, 0.64},       {"up", 4.1e-07, 0.64},        {"act", 4.6e-07, 0.62},
    {"product", 7.6e-07, 0.65},    {"mlp_out", 7.2e-07, 0.65},   {"resid_post", 2.6e-07, 0.35},
    {"final_norm", 3.3e-07, 0.41}, {"alpha", 1.2e-07, 0.64},
};
constexpr SiteDifference kGemma3Text[] = {
    {"resid_pre", 2.2e-07, 0.40},  {"key", 4.3e-07, 0.67},       {"value", 4.4e-07, 0.68},
    {"attn_out", 1.2e-06, 0.69},   {"resid_mid", 2.4e-07, 0.38}, {"mlp_in", 3.0e-07, 0.45},
    {"gate", 4.4e-07, 0.65},       {"up", 4.0e-07, 0.65},        {"act", 4.7e-07, 0.63},
    {"product", 8.0e-07, 0.66},    {"mlp_out", 8.2e-07, 0.66},   {"resid_post", 2.5e-07, 0.37},
    {"final_norm", 2.9e-07, 0.41}, {"alpha", 1.5e-07, 0.62},
};
constexpr SiteDifference kGemma4[] = {
    {"resid_pre", 1.3e-07, 0.04},  {"key", 3.3e-07, 0.66},       {"value", 3.5e-07, 0.65},
    {"attn_out", 5.2e-07, 0.72},   {"resid_mid", 1.3e-07, 0.05}, {"mlp_in", 2.5e-07, 0.09},
    {"gate", 2.9e-07, 0.48},       {"up", 2.8e-07, 0.48},        {"act", 3.0e-07, 0.47},
    {"product", 5.3e-07, 0.51},    {"mlp_out", 5.8e-07, 0.51},   {"resid_post", 1.6e-07, 0.05},
    {"final_norm", 2.5e-07, 0.11}, {"alpha", 3.0e-08, 0.50},
};
constexpr SiteDifference kGemma4Text[] = {
    {"resid_pre", 3.2e-07, 0.49},  {"key", 3.3e-07, 0.69},       {"value", 3.2e-07, 0.69},
    {"attn_out", 6.1e-07, 0.80},   {"resid_mid", 3.1e-07, 0.47}, {"mlp_in", 3.2e-07, 0.46},
    {"gate", 4.1e-07, 0.65},       {"up", 3.6e-07, 0.66},        {"act", 4.3e-07, 0.63},
    {"product", 6.6e-07, 0.66},    {"mlp_out", 7.0e-07, 0.67},   {"resid_post", 3.2e-07, 0.50},
    {"final_norm", 3.4e-07, 0.37}, {"alpha", 8.9e-08, 0.59},
};
constexpr SiteDifference kGlm[] = {
    {"resid_pre", 8.2e-07, 0.71},  {"key", 7.9e-07, 0.82},       {"value", 9.2e-07, 0.82},
    {"attn_out", 1.5e-06, 0.79},   {"resid_mid", 9.2e-07, 0.68}, {"mlp_in", 8.9e-07, 0.73},
    {"gate", 1.0e-06, 0.79},       {"up", 8.9e-07, 0.80},        {"act", 1.1e-06, 0.77},
    {"product", 1.3e-06, 0.79},    {"mlp_out", 1.3e-06, 0.80},   {"resid_post", 9.9e-07, 0.65},
    {"final_norm", 1.1e-06, 0.72}, {"alpha", 4.2e-07, 0.82},
};
constexpr SiteDifference kGlm4[] = {
    {"resid_pre", 2.8e-06, 0.78},  {"key", 3.0e-06, 0.79},       {"value", 3.8e-06, 0.80},
    {"attn_out", 4.0e-06, 0.78},   {"resid_mid", 2.5e-06, 0.76}, {"mlp_in", 2.8e-06, 0.77},
    {"gate", 2.7e-06, 0.79},       {"up", 2.5e-06, 0.78},        {"act", 2.8e-06, 0.79},
    {"product", 4.2e-06, 0.80},    {"mlp_out", 3.9e-06, 0.79},   {"resid_post", 2.8e-06, 0.76},
    {"final_norm", 2.5e-06, 0.79}, {"alpha", 2.4e-07, 0.81},
};
constexpr SiteDifference kGlm4Moe[] = {
    {"resid_pre", 5.3e-07, 0.75},  {"key", 7.1e-07, 0.80},       {"value", 9.9e-07, 0.79},
    {"attn_out", 7.5e-07, 0.84},   {"resid_mid", 5.2e-07, 0.71}, {"mlp_in", 5.3e-07, 0.68},
    {"gate", 2.6e-07, 0.83},       {"up", 2.5e-07, 0.84},        {"act", 3.2e-07, 0.78},
    {"product", 5.7e-07, 0.79},    {"mlp_out", 1.1e-06, 0.75},   {"resid_post", 7.2e-07, 0.72},
    {"final_norm", 7.1e-07, 0.71}, {"alpha", 2.7e-07, 0.75},
};
constexpr SiteDifference kGlm4MoeLite[] = {
    {"resid_pre", 1.3e-06, 0.84},  {"key", 1.5e-06, 0.84},       {"value", 1.4e-06, 0.85},
    {"attn_out", 3.0e-06, 0.82},   {"resid_mid", 1.6e-06, 0.83}, {"mlp_in", 1.5e-06, 0.80},
    {"gate", 7.8e-07, 0.84},       {"up", 8.1e-07, 0.87},        {"act", 6.7e-07, 0.83},
    {"product", 1.0e-06, 0.84},    {"mlp_out", 2.9e-06, 0.84},   {"resid_post", 1.9e-06, 0.82},
    {"final_norm", 2.0e-06, 0.81}, {"alpha", 2.7e-07, 0.78},
};
constexpr SiteDifference kGpt2[] = {
    {"resid_pre", 6.6e-07, 0.69}, {"key", 6.7e-07, 0.80},        {"value", 9.2e-07, 0.82},
    {"attn_out", 1.1e-06, 0.82},  {"resid_mid", 7.0e-07, 0.70},  {"mlp_in", 6.8e-07, 0.74},
    {"up", 7.9e-07, 0.80},        {"act", 9.8e-07, 0.76},        {"product", 9.8e-07, 0.79},
    {"mlp_out", 8.1e-07, 0.81},   {"resid_post", 6.6e-07, 0.68}, {"final_norm", 6.0e-07, 0.70},
    {"alpha", 3.6e-07, 0.71},
};
constexpr SiteDifference kGptBigcode[] = {
    {"resid_pre", 3.0e-07, 0.64}, {"key", 1.2e-06, 0.82},        {"value", 5.7e-07, 0.83},
    {"attn_out", 8.9e-07, 0.82},  {"resid_mid", 5.1e-07, 0.63},  {"mlp_in", 4.5e-07, 0.72},
    {"up", 4.4e-07, 0.80},        {"act", 5.7e-07, 0.77},        {"product", 5.7e-07, 0.81},
    {"mlp_out", 4.8e-07, 0.84},   {"resid_post", 4.7e-07, 0.61}, {"final_norm", 4.3e-07, 0.67},
    {"alpha", 2.4e-07, 0.78},
};
constexpr SiteDifference kGptNeo[] = {
    {"resid_pre", 8.0e-07, 0.74}, {"key", 8.7e-07, 0.84},        {"value", 7.8e-07, 0.85},
    {"attn_out", 2.8e-06, 0.87},  {"resid_mid", 1.3e-06, 0.78},  {"mlp_in", 1.3e-06, 0.82},
    {"up", 1.2e-06, 0.84},        {"act", 1.2e-06, 0.81},        {"product", 1.2e-06, 0.83},
    {"mlp_out", 9.7e-07, 0.84},   {"resid_post", 1.3e-06, 0.76}, {"final_norm", 1.3e-06, 0.83},
    {"alpha", 7.3e-07, 1.06},
};
constexpr SiteDifference kGptNeox[] = {
    {"resid_pre", 5.3e-07, 0.81}, {"key", 6.1e-07, 0.88},        {"value", 6.1e-07, 0.87},
    {"attn_out", 1.2e-06, 0.87},  {"resid_mid", 7.2e-07, 0.77},  {"mlp_in", 6.8e-07, 0.81},
    {"up", 7.5e-07, 0.87},        {"act", 7.2e-07, 0.84},        {"product", 7.2e-07, 0.88},
    {"mlp_out", 8.0e-07, 0.89},   {"resid_post", 7.4e-07, 0.79}, {"final_norm", 7.7e-07, 0.80},
    {"alpha", 4.5e-07, 0.82},
};
constexpr SiteDifference kGptOss[] = {
    {"resid_pre", 1.7e-06, 0.82}, {"key", 2.4e-06, 0.86},        {"value", 1.8e-06, 0.87},
    {"attn_out", 3.9e-06, 0.97},  {"resid_mid", 1.8e-06, 0.88},  {"mlp_in", 2.0e-06, 0.89},
    {"mlp_out", 3.7e-06, 0.91},   {"resid_post", 2.3e-06, 0.87}, {"final_norm", 2.3e-06, 0.99},
    {"alpha", 2.1e-06, 0.92},
};
constexpr SiteDifference kGptj[] = {
    {"resid_pre", 2.7e-07, 0.81},  {"key", 3.7e-07, 0.92},        {"value", 3.4e-07, 0.91},
    {"attn_out", 1.0e-06, 0.91},   {"mlp_in", 2.7e-07, 0.80},     {"up", 3.1e-07, 0.92},
    {"act", 3.4e-07, 0.81},        {"product", 3.4e-07, 0.88},    {"mlp_out", 3.6e-07, 0.90},
    {"resid_post", 3.8e-07, 0.75}, {"final_norm", 3.6e-07, 0.79}, {"alpha", 4.8e-07, 0.82},
};
constexpr SiteDifference kGranite[] = {
    {"resid_pre", 8.9e-08, 0.52},  {"key", 3.3e-07, 0.74},       {"value", 3.4e-07, 0.74},
    {"attn_out", 1.0e-06, 0.65},   {"resid_mid", 9.6e-08, 0.48}, {"mlp_in", 2.2e-07, 0.51},
    {"gate", 2.9e-07, 0.72},       {"up", 2.6e-07, 0.72},        {"act", 3.4e-07, 0.70},
    {"product", 6.3e-07, 0.72},    {"mlp_out", 6.8e-07, 0.74},   {"resid_post", 1.1e-07, 0.44},
    {"final_norm", 2.4e-07, 0.43}, {"alpha", 8.9e-08, 0.64},
};
constexpr SiteDifference kGraniteSwa[] = {
    {"resid_pre", 1.2e-07, 0.47},  {"key", 3.7e-07, 0.70},       {"value", 3.4e-07, 0.71},
    {"attn_out", 1.2e-06, 0.65},   {"resid_mid", 1.2e-07, 0.43}, {"mlp_in", 2.5e-07, 0.47},
    {"gate", 2.9e-07, 0.67},       {"up", 2.8e-07, 0.67},        {"act", 3.7e-07, 0.65},
    {"product", 6.4e-07, 0.67},    {"mlp_out", 7.2e-07, 0.69},   {"resid_post", 1.4e-07, 0.40},
    {"final_norm", 2.2e-07, 0.40}, {"alpha", 1.5e-07, 0.63},
};
constexpr SiteDifference kGranitemoe[] = {
    {"resid_pre", 1.4e-07, 0.53}, {"key", 3.3e-07, 0.76},        {"value", 3.1e-07, 0.76},
    {"attn_out", 1.3e-06, 0.74},  {"resid_mid", 1.4e-07, 0.49},  {"mlp_in", 2.3e-07, 0.54},
    {"mlp_out", 6.7e-07, 0.72},   {"resid_post", 1.6e-07, 0.47}, {"final_norm", 2.3e-07, 0.50},
    {"alpha", 1.8e-07, 0.76},
};
constexpr SiteDifference kGranitemoeSwa[] = {
    {"resid_pre", 3.9e-07, 0.67}, {"key", 4.6e-07, 0.78},        {"value", 5.7e-07, 0.78},
    {"attn_out", 1.7e-06, 0.71},  {"resid_mid", 4.3e-07, 0.62},  {"mlp_in", 5.3e-07, 0.61},
    {"mlp_out", 9.7e-07, 0.73},   {"resid_post", 4.7e-07, 0.63}, {"final_norm", 4.9e-07, 0.61},
    {"alpha", 3.3e-07, 0.68},
};
constexpr SiteDifference kGranitemoehybrid[] = {
    {"resid_pre", 1.1e-06, 0.53},  {"key", 7.3e-07, 0.76},       {"value", 8.0e-07, 0.75},
    {"attn_out", 4.1e-06, 0.72},   {"resid_mid", 1.7e-06, 0.54}, {"mlp_in", 1.6e-06, 0.56},
    {"gate", 1.5e-06, 0.61},       {"up", 1.6e-06, 0.62},        {"act", 1.6e-06, 0.60},
    {"product", 2.3e-06, 0.62},    {"mlp_out", 2.3e-06, 0.69},   {"resid_post", 1.6e-06, 0.52},
    {"final_norm", 1.7e-06, 0.55}, {"alpha", 1.8e-07, 0.74},
};
constexpr SiteDifference kGranitemoeshared[] = {
    {"resid_pre", 2.9e-07, 0.71}, {"key", 5.8e-07, 0.81},        {"value", 4.6e-07, 0.80},
    {"attn_out", 1.6e-06, 0.68},  {"resid_mid", 2.8e-07, 0.64},  {"mlp_in", 2.9e-07, 0.64},
    {"mlp_out", 7.5e-07, 0.74},   {"resid_post", 3.7e-07, 0.65}, {"final_norm", 4.2e-07, 0.63},
    {"alpha", 1.6e-07, 0.70},
};
constexpr SiteDifference kHelium[] = {
    {"resid_pre", 4.1e-07, 0.49},  {"key", 6.2e-07, 0.70},       {"value", 6.6e-07, 0.71},
    {"attn_out", 1.6e-06, 0.63},   {"resid_mid", 5.2e-07, 0.50}, {"mlp_in", 5.3e-07, 0.55},
    {"gate", 6.0e-07, 0.66},       {"up", 5.8e-07, 0.65},        {"act", 7.0e-07, 0.64},
    {"product", 1.4e-06, 0.66},    {"mlp_out", 1.3e-06, 0.67},   {"resid_post", 6.0e-07, 0.50},
    {"final_norm", 5.8e-07, 0.55}, {"alpha", 2.4e-07, 0.64},
};
constexpr SiteDifference kHunyuanV1Dense[] = {
    {"resid_pre", 2.9e-07, 0.67},  {"key", 4.3e-07, 0.83},       {"value", 4.0e-07, 0.82},
    {"attn_out", 7.4e-07, 0.88},   {"resid_mid", 3.5e-07, 0.61}, {"mlp_in", 4.0e-07, 0.67},
    {"gate", 4.7e-07, 0.80},       {"up", 4.6e-07, 0.79},        {"act", 5.1e-07, 0.76},
    {"product", 8.4e-07, 0.79},    {"mlp_out", 9.3e-07, 0.80},   {"resid_post", 4.0e-07, 0.57},
    {"final_norm", 3.9e-07, 0.64}, {"alpha", 1.2e-07, 0.78},
};
constexpr SiteDifference kHunyuanV1Moe[] = {
    {"resid_pre", 5.5e-07, 0.73}, {"key", 6.3e-07, 0.76},        {"value", 6.4e-07, 0.76},
    {"attn_out", 9.5e-07, 0.34},  {"resid_mid", 5.3e-07, 0.61},  {"mlp_in", 5.7e-07, 0.61},
    {"mlp_out", 1.2e-06, 0.64},   {"resid_post", 6.9e-07, 0.64}, {"final_norm", 6.7e-07, 0.57},
    {"alpha", 1.2e-07, 0.38},
};
constexpr SiteDifference kKimiK25[] = {
    {"resid_pre", 1.2e-06, 0.84},  {"key", 1.8e-06, 0.85},       {"value", 1.5e-06, 0.87},
    {"attn_out", 4.7e-06, 0.81},   {"resid_mid", 1.9e-06, 0.81}, {"mlp_in", 1.9e-06, 0.81},
    {"gate", 5.3e-07, 0.83},       {"up", 6.4e-07, 0.87},        {"act", 6.0e-07, 0.81},
    {"product", 1.2e-06, 0.81},    {"mlp_out", 3.5e-06, 0.82},   {"resid_post", 2.6e-06, 0.83},
    {"final_norm", 2.4e-06, 0.83}, {"alpha", 3.3e-07, 0.82},
};
constexpr SiteDifference kLfm2[] = {
    {"resid_pre", 3.6e-07, 0.65},  {"key", 5.8e-07, 0.81},       {"value", 5.5e-07, 0.81},
    {"attn_out", 8.7e-07, 0.76},   {"resid_mid", 4.8e-07, 0.60}, {"mlp_in", 5.4e-07, 0.63},
    {"gate", 5.3e-07, 0.74},       {"up", 5.7e-07, 0.74},        {"act", 6.2e-07, 0.72},
    {"product", 1.0e-06, 0.73},    {"mlp_out", 1.0e-06, 0.75},   {"resid_post", 5.2e-07, 0.59},
    {"final_norm", 4.9e-07, 0.61}, {"alpha", 8.9e-08, 0.60},
};
constexpr SiteDifference kLfm2Moe[] = {
    {"resid_pre", 4.3e-07, 0.75},  {"key", 4.2e-07, 0.80},       {"value", 3.7e-07, 0.83},
    {"attn_out", 1.1e-06, 0.79},   {"resid_mid", 4.6e-07, 0.71}, {"mlp_in", 5.2e-07, 0.66},
    {"gate", 2.9e-07, 0.86},       {"up", 2.9e-07, 0.89},        {"act", 3.7e-07, 0.79},
    {"product", 5.8e-07, 0.84},    {"mlp_out", 8.3e-07, 0.77},   {"resid_post", 6.6e-07, 0.70},
    {"final_norm", 6.7e-07, 0.68}, {"alpha", 7.5e-08, 0.62},
};
constexpr SiteDifference kLlama[] = {
    {"resid_pre", 1.3e-06, 0.74},  {"key", 1.4e-06, 0.81},       {"value", 1.7e-06, 0.81},
    {"attn_out", 4.7e-06, 0.81},   {"resid_mid", 1.4e-06, 0.75}, {"mlp_in", 1.6e-06, 0.75},
    {"gate", 1.6e-06, 0.78},       {"up", 1.7e-06, 0.78},        {"act", 1.6e-06, 0.77},
    {"product", 2.9e-06, 0.78},    {"mlp_out", 3.6e-06, 0.79},   {"resid_post", 1.6e-06, 0.73},
    {"final_norm", 1.6e-06, 0.76}, {"alpha", 1.3e-06, 0.88},
};
constexpr SiteDifference kLlama4[] = {
    {"resid_pre", 1.1e-06, 0.58}, {"key", 1.3e-06, 0.68},        {"value", 9.6e-07, 0.66},
    {"attn_out", 2.9e-06, 0.67},  {"resid_mid", 1.1e-06, 0.59},  {"mlp_in", 1.1e-06, 0.55},
    {"mlp_out", 3.1e-06, 0.60},   {"resid_post", 1.4e-06, 0.57}, {"final_norm", 1.3e-06, 0.55},
    {"alpha", 3.4e-07, 1.11},
};
constexpr SiteDifference kLlama4Text[] = {
    {"resid_pre", 1.6e-06, 0.69},  {"key", 1.5e-06, 0.76},       {"value", 1.8e-06, 0.78},
    {"attn_out", 3.0e-06, 0.76},   {"resid_mid", 1.6e-06, 0.68}, {"mlp_in", 2.0e-06, 0.67},
    {"gate", 6.9e-07, 0.77},       {"up", 7.9e-07, 0.76},        {"act", 7.5e-07, 0.75},
    {"product", 1.0e-06, 0.75},    {"mlp_out", 2.4e-06, 0.72},   {"resid_post", 1.8e-06, 0.67},
    {"final_norm", 2.1e-06, 0.69}, {"alpha", 5.7e-07, 0.63},
};
constexpr SiteDifference kLlava[] = {
    {"resid_pre", 5.9e-07, 0.70},  {"key", 5.9e-07, 0.78},       {"value", 5.6e-07, 0.78},
    {"attn_out", 1.2e-06, 0.79},   {"resid_mid", 5.9e-07, 0.67}, {"mlp_in", 6.2e-07, 0.69},
    {"gate", 6.2e-07, 0.76},       {"up", 6.5e-07, 0.76},        {"act", 8.0e-07, 0.75},
    {"product", 1.2e-06, 0.76},    {"mlp_out", 1.4e-06, 0.77},   {"resid_post", 6.7e-07, 0.64},
    {"final_norm", 6.3e-07, 0.70}, {"alpha", 2.4e-07, 0.78},
};
constexpr SiteDifference kMimoV2Flash[] = {
    {"resid_pre", 1.0e-06, 0.76},  {"key", 1.0e-06, 0.77},       {"value", 1.2e-06, 0.81},
    {"attn_out", 2.2e-06, 0.79},   {"resid_mid", 1.1e-06, 0.75}, {"mlp_in", 9.4e-07, 0.72},
    {"gate", 3.3e-07, 0.80},       {"up", 3.1e-07, 0.82},        {"act", 4.4e-07, 0.78},
    {"product", 6.2e-07, 0.83},    {"mlp_out", 1.7e-06, 0.78},   {"resid_post", 1.1e-06, 0.75},
    {"final_norm", 1.2e-06, 0.75}, {"alpha", 3.0e-07, 0.83},
};
constexpr SiteDifference kMinimaxM2[] = {
    {"resid_pre", 5.3e-07, 0.59}, {"key", 5.4e-07, 0.69},        {"value", 6.1e-07, 0.68},
    {"attn_out", 8.1e-07, 0.77},  {"resid_mid", 5.3e-07, 0.55},  {"mlp_in", 5.3e-07, 0.48},
    {"mlp_out", 9.6e-07, 0.67},   {"resid_post", 6.1e-07, 0.59}, {"final_norm", 6.7e-07, 0.54},
    {"alpha", 2.4e-07, 1.06},
};
constexpr SiteDifference kMinistral[] = {
    {"resid_pre", 5.8e-07, 0.72},  {"key", 1.0e-06, 0.81},       {"value", 5.5e-07, 0.81},
    {"attn_out", 1.6e-06, 0.77},   {"resid_mid", 6.6e-07, 0.68}, {"mlp_in", 6.5e-07, 0.71},
    {"gate", 7.2e-07, 0.77},       {"up", 7.0e-07, 0.77},        {"act", 7.6e-07, 0.75},
    {"product", 1.2e-06, 0.77},    {"mlp_out", 1.3e-06, 0.77},   {"resid_post", 7.1e-07, 0.65},
    {"final_norm", 6.8e-07, 0.70}, {"alpha", 2.2e-07, 0.67},
};
constexpr SiteDifference kMinistral3[] = {
    {"resid_pre", 9.3e-07, 0.73},  {"key", 1.1e-06, 0.79},       {"value", 1.1e-06, 0.77},
    {"attn_out", 3.1e-06, 0.72},   {"resid_mid", 1.2e-06, 0.69}, {"mlp_in", 1.2e-06, 0.70},
    {"gate", 1.4e-06, 0.74},       {"up", 1.2e-06, 0.74},        {"act", 1.5e-06, 0.74},
    {"product", 2.1e-06, 0.74},    {"mlp_out", 2.5e-06, 0.75},   {"resid_post", 1.3e-06, 0.68},
    {"final_norm", 1.3e-06, 0.69}, {"alpha", 4.8e-07, 0.53},
};
constexpr SiteDifference kMistral[] = {
    {"resid_pre", 7.5e-07, 0.70},  {"key", 1.1e-06, 0.78},       {"value", 9.2e-07, 0.79},
    {"attn_out", 2.9e-06, 0.74},   {"resid_mid", 7.8e-07, 0.68}, {"mlp_in", 8.0e-07, 0.71},
    {"gate", 8.8e-07, 0.76},       {"up", 9.6e-07, 0.76},        {"act", 1.0e-06, 0.75},
    {"product", 1.7e-06, 0.77},    {"mlp_out", 1.6e-06, 0.78},   {"resid_post", 7.9e-07, 0.67},
    {"final_norm", 9.5e-07, 0.70}, {"alpha", 5.4e-07, 0.73},
};
constexpr SiteDifference kMistral3[] = {
    {"resid_pre", 7.2e-07, 0.74},  {"key", 8.2e-07, 0.81},       {"value", 9.5e-07, 0.80},
    {"attn_out", 3.3e-06, 0.76},   {"resid_mid", 1.1e-06, 0.72}, {"mlp_in", 1.2e-06, 0.74},
    {"gate", 1.3e-06, 0.77},       {"up", 1.3e-06, 0.77},        {"act", 1.8e-06, 0.75},
    {"product", 2.3e-06, 0.77},    {"mlp_out", 2.4e-06, 0.77},   {"resid_post", 1.1e-06, 0.71},
    {"final_norm", 1.1e-06, 0.74}, {"alpha", 3.3e-07, 0.84},
};
constexpr SiteDifference kMixtral[] = {
    {"resid_pre", 7.4e-07, 0.76}, {"key", 9.3e-07, 0.77},        {"value", 8.7e-07, 0.81},
    {"attn_out", 3.1e-06, 0.86},  {"resid_mid", 9.3e-07, 0.80},  {"mlp_in", 1.0e-06, 0.78},
    {"mlp_out", 2.1e-06, 0.80},   {"resid_post", 9.5e-07, 0.79}, {"final_norm", 9.1e-07, 0.85},
    {"alpha", 5.7e-07, 0.85},
};
constexpr SiteDifference kMpt[] = {
    {"resid_pre", 5.8e-07, 0.33}, {"key", 7.6e-07, 0.77},        {"value", 6.6e-07, 0.77},
    {"attn_out", 3.0e-06, 0.78},  {"resid_mid", 7.5e-07, 0.30},  {"mlp_in", 7.9e-07, 0.44},
    {"up", 8.2e-07, 0.71},        {"act", 8.2e-07, 0.68},        {"product", 8.2e-07, 0.78},
    {"mlp_out", 1.1e-06, 0.80},   {"resid_post", 7.9e-07, 0.33}, {"final_norm", 8.6e-07, 0.47},
    {"alpha", 1.5e-07, 0.55},
};
constexpr SiteDifference kNemotron[] = {
    {"resid_pre", 5.6e-07, 0.72}, {"key", 6.4e-07, 0.78},        {"value", 6.7e-07, 0.79},
    {"attn_out", 8.8e-07, 0.74},  {"resid_mid", 5.9e-07, 0.66},  {"mlp_in", 5.4e-07, 0.67},
    {"up", 5.9e-07, 0.78},        {"act", 7.8e-07, 0.79},        {"product", 7.8e-07, 0.82},
    {"mlp_out", 7.9e-07, 0.83},   {"resid_post", 6.2e-07, 0.68}, {"final_norm", 6.2e-07, 0.70},
    {"alpha", 3.3e-07, 0.78},
};
constexpr SiteDifference kNemotronH[] = {
    {"resid_pre", 2.2e-06, 0.94},  {"key", 1.9e-06, 0.97},        {"value", 2.3e-06, 0.93},
    {"attn_out", 3.8e-06, 0.94},   {"mlp_in", 2.5e-06, 0.91},     {"up", 2.1e-06, 0.89},
    {"act", 2.9e-06, 0.93},        {"product", 2.9e-06, 0.94},    {"mlp_out", 2.7e-06, 0.95},
    {"resid_post", 2.2e-06, 0.93}, {"final_norm", 1.9e-06, 0.89}, {"alpha", 4.2e-07, 1.01},
};
constexpr SiteDifference kOlmo[] = {
    {"resid_pre", 4.4e-07, 0.68},  {"key", 6.0e-07, 0.83},       {"value", 6.2e-07, 0.83},
    {"attn_out", 2.4e-06, 0.84},   {"resid_mid", 5.6e-07, 0.64}, {"mlp_in", 5.6e-07, 0.68},
    {"gate", 6.0e-07, 0.78},       {"up", 5.2e-07, 0.79},        {"act", 6.8e-07, 0.75},
    {"product", 1.0e-06, 0.78},    {"mlp_out", 1.2e-06, 0.80},   {"resid_post", 6.4e-07, 0.61},
    {"final_norm", 6.3e-07, 0.69}, {"alpha", 3.9e-07, 0.89},
};
constexpr SiteDifference kOlmo2[] = {
    {"resid_pre", 8.6e-07, 0.82},  {"key", 1.2e-06, 0.87},       {"value", 1.0e-06, 0.88},
    {"attn_out", 8.2e-07, 0.89},   {"resid_mid", 8.7e-07, 0.80}, {"mlp_in", 8.7e-07, 0.80},
    {"gate", 9.4e-07, 0.86},       {"up", 8.1e-07, 0.86},        {"act", 1.0e-06, 0.85},
    {"product", 1.7e-06, 0.82},    {"mlp_out", 1.6e-06, 0.86},   {"resid_post", 1.0e-06, 0.80},
    {"final_norm", 1.2e-06, 0.82}, {"alpha", 1.5e-07, 0.86},
};
constexpr SiteDifference kOlmo3[] = {
    {"resid_pre", 7.4e-07, 0.79},  {"key", 1.0e-06, 0.85},       {"value", 1.1e-06, 0.84},
    {"attn_out", 1.2e-06, 0.82},   {"resid_mid", 7.7e-07, 0.77}, {"mlp_in", 7.7e-07, 0.77},
    {"gate", 8.7e-07, 0.83},       {"up", 8.7e-07, 0.84},        {"act", 8.5e-07, 0.81},
    {"product", 1.5e-06, 0.77},    {"mlp_out", 1.8e-06, 0.82},   {"resid_post", 7.7e-07, 0.77},
    {"final_norm", 7.8e-07, 0.76}, {"alpha", 3.3e-07, 0.59},
};
constexpr SiteDifference kOlmoe[] = {
    {"resid_pre", 4.5e-07, 0.77}, {"key", 5.4e-07, 0.83},        {"value", 7.5e-07, 0.82},
    {"attn_out", 7.5e-07, 0.86},  {"resid_mid", 4.5e-07, 0.74},  {"mlp_in", 4.3e-07, 0.70},
    {"mlp_out", 1.3e-06, 0.78},   {"resid_post", 6.4e-07, 0.74}, {"final_norm", 7.0e-07, 0.71},
    {"alpha", 2.4e-07, 0.66},
};
constexpr SiteDifference kOpt[] = {
    {"resid_pre", 5.6e-07, 0.84}, {"key", 7.5e-07, 0.87},        {"value", 5.9e-07, 0.87},
    {"attn_out", 1.1e-06, 0.90},  {"resid_mid", 5.6e-07, 0.84},  {"mlp_in", 5.6e-07, 0.84},
    {"up", 6.1e-07, 0.86},        {"act", 7.4e-07, 0.86},        {"product", 7.4e-07, 0.86},
    {"mlp_out", 6.8e-07, 0.87},   {"resid_post", 5.6e-07, 0.83}, {"final_norm", 5.5e-07, 0.83},
    {"alpha", 3.9e-07, 0.86},
};
constexpr SiteDifference kPersimmon[] = {
    {"resid_pre", 3.8e-07, 0.84}, {"key", 4.6e-07, 0.92},        {"value", 5.1e-07, 0.91},
    {"attn_out", 4.1e-07, 0.96},  {"resid_mid", 4.2e-07, 0.79},  {"mlp_in", 3.8e-07, 0.80},
    {"up", 4.2e-07, 0.88},        {"act", 7.6e-07, 0.90},        {"product", 7.6e-07, 0.92},
    {"mlp_out", 7.7e-07, 0.93},   {"resid_post", 4.2e-07, 0.79}, {"final_norm", 4.2e-07, 0.80},
    {"alpha", 7.5e-08, 0.86},
};
constexpr SiteDifference kPhi[] = {
    {"resid_pre", 3.4e-07, 0.74},  {"key", 4.9e-07, 0.85},        {"value", 5.2e-07, 0.86},
    {"attn_out", 9.4e-07, 0.90},   {"mlp_in", 3.7e-07, 0.77},     {"up", 3.6e-07, 0.87},
    {"act", 4.0e-07, 0.80},        {"product", 4.0e-07, 0.84},    {"mlp_out", 4.7e-07, 0.87},
    {"resid_post", 3.8e-07, 0.70}, {"final_norm", 3.6e-07, 0.72}, {"alpha", 1.9e-07, 0.70},
};
constexpr SiteDifference kPhi3[] = {
    {"resid_pre", 3.7e-06, 0.80},  {"key", 4.9e-06, 0.80},       {"value", 4.3e-06, 0.81},
    {"attn_out", 5.5e-06, 0.82},   {"resid_mid", 3.8e-06, 0.80}, {"mlp_in", 3.6e-06, 0.80},
    {"gate", 3.9e-06, 0.80},       {"up", 3.5e-06, 0.81},        {"act", 3.8e-06, 0.81},
    {"product", 4.8e-06, 0.80},    {"mlp_out", 5.2e-06, 0.80},   {"resid_post", 3.7e-06, 0.80},
    {"final_norm", 4.0e-06, 0.81}, {"alpha", 4.5e-07, 0.86},
};
constexpr SiteDifference kPhimoe[] = {
    {"resid_pre", 7.6e-07, 0.86}, {"key", 1.0e-06, 0.88},        {"value", 9.7e-07, 0.87},
    {"attn_out", 1.7e-06, 1.17},  {"resid_mid", 7.7e-07, 0.95},  {"mlp_in", 8.3e-07, 0.94},
    {"mlp_out", 1.8e-06, 0.88},   {"resid_post", 1.1e-06, 0.91}, {"final_norm", 1.1e-06, 1.00},
    {"alpha", 7.5e-07, 0.63},
};
constexpr SiteDifference kQwen2[] = {
    {"resid_pre", 1.6e-06, 0.70},  {"key", 2.2e-06, 0.78},       {"value", 1.7e-06, 0.77},
    {"attn_out", 3.5e-06, 0.77},   {"resid_mid", 1.8e-06, 0.70}, {"mlp_in", 1.8e-06, 0.72},
    {"gate", 1.8e-06, 0.77},       {"up", 1.7e-06, 0.75},        {"act", 1.9e-06, 0.76},
    {"product", 3.0e-06, 0.77},    {"mlp_out", 3.0e-06, 0.78},   {"resid_post", 1.8e-06, 0.69},
    {"final_norm", 1.8e-06, 0.72}, {"alpha", 1.3e-06, 0.72},
};
constexpr SiteDifference kQwen25Vl[] = {
    {"resid_pre", 5.7e-07, 0.71},  {"key", 7.4e-07, 0.78},       {"value", 6.5e-07, 0.78},
    {"attn_out", 1.2e-06, 0.73},   {"resid_mid", 5.7e-07, 0.67}, {"mlp_in", 5.8e-07, 0.68},
    {"gate", 6.3e-07, 0.73},       {"up", 6.3e-07, 0.74},        {"act", 7.0e-07, 0.72},
    {"product", 1.1e-06, 0.76},    {"mlp_out", 1.4e-06, 0.77},   {"resid_post", 6.1e-07, 0.65},
    {"final_norm", 6.6e-07, 0.68}, {"alpha", 3.3e-07, 0.77},
};
constexpr SiteDifference kQwen2Moe[] = {
    {"resid_pre", 5.9e-07, 0.78},  {"key", 1.0e-06, 0.79},       {"value", 8.5e-07, 0.80},
    {"attn_out", 2.0e-06, 0.82},   {"resid_mid", 6.2e-07, 0.78}, {"mlp_in", 6.3e-07, 0.76},
    {"gate", 7.3e-07, 0.81},       {"up", 6.3e-07, 0.78},        {"act", 7.9e-07, 0.80},
    {"product", 9.3e-07, 0.86},    {"mlp_out", 1.7e-06, 0.80},   {"resid_post", 8.6e-07, 0.76},
    {"final_norm", 8.6e-07, 0.76}, {"alpha", 4.2e-07, 1.03},
};
constexpr SiteDifference kQwen2Vl[] = {
    {"resid_pre", 5.1e-07, 0.70},  {"key", 7.0e-07, 0.78},       {"value", 8.5e-07, 0.79},
    {"attn_out", 1.3e-06, 0.74},   {"resid_mid", 7.2e-07, 0.66}, {"mlp_in", 5.3e-07, 0.71},
    {"gate", 6.3e-07, 0.76},       {"up", 5.3e-07, 0.76},        {"act", 6.0e-07, 0.74},
    {"product", 1.2e-06, 0.75},    {"mlp_out", 1.2e-06, 0.74},   {"resid_post", 8.2e-07, 0.63},
    {"final_norm", 8.2e-07, 0.68}, {"alpha", 2.7e-07, 0.68},
};
constexpr SiteDifference kQwen3[] = {
    {"resid_pre", 4.9e-07, 0.60},  {"key", 5.9e-07, 0.77},       {"value", 6.3e-07, 0.78},
    {"attn_out", 8.7e-07, 0.79},   {"resid_mid", 5.0e-07, 0.56}, {"mlp_in", 5.4e-07, 0.64},
    {"gate", 7.0e-07, 0.74},       {"up", 6.2e-07, 0.74},        {"act", 7.7e-07, 0.72},
    {"product", 1.1e-06, 0.73},    {"mlp_out", 1.4e-06, 0.75},   {"resid_post", 5.5e-07, 0.55},
    {"final_norm", 5.2e-07, 0.61}, {"alpha", 3.6e-07, 0.66},
};
constexpr SiteDifference kQwen35[] = {
    {"resid_pre", 2.4e-06, 0.75},  {"key", 2.5e-06, 0.80},       {"value", 2.8e-06, 0.80},
    {"attn_out", 3.9e-06, 0.83},   {"resid_mid", 2.4e-06, 0.75}, {"mlp_in", 2.3e-06, 0.78},
    {"gate", 2.9e-06, 0.82},       {"up", 2.3e-06, 0.82},        {"act", 2.5e-06, 0.80},
    {"product", 3.7e-06, 0.82},    {"mlp_out", 3.3e-06, 0.82},   {"resid_post", 2.4e-06, 0.73},
    {"final_norm", 2.2e-06, 0.76}, {"alpha", 1.8e-07, 0.77},
};
constexpr SiteDifference kQwen35Moe[] = {
    {"resid_pre", 2.4e-06, 0.74}, {"key", 2.5e-06, 0.65},        {"value", 2.3e-06, 0.69},
    {"attn_out", 3.7e-06, 0.73},  {"resid_mid", 2.4e-06, 0.71},  {"mlp_in", 2.6e-06, 0.70},
    {"mlp_out", 5.7e-06, 0.70},   {"resid_post", 3.1e-06, 0.71}, {"final_norm", 3.0e-06, 0.66},
    {"alpha", 1.8e-07, 0.89},
};
constexpr SiteDifference kQwen35MoeText[] = {
    {"resid_pre", 2.0e-06, 0.75}, {"key", 1.7e-06, 0.74},        {"value", 2.0e-06, 0.78},
    {"attn_out", 5.6e-06, 0.73},  {"resid_mid", 2.1e-06, 0.74},  {"mlp_in", 1.7e-06, 0.71},
    {"mlp_out", 3.2e-06, 0.74},   {"resid_post", 2.6e-06, 0.72}, {"final_norm", 2.8e-06, 0.70},
    {"alpha", 1.8e-07, 0.69},
};
constexpr SiteDifference kQwen35Text[] = {
    {"resid_pre", 1.9e-06, 0.71},  {"key", 2.1e-06, 0.76},       {"value", 2.4e-06, 0.78},
    {"attn_out", 4.0e-06, 0.82},   {"resid_mid", 2.0e-06, 0.70}, {"mlp_in", 2.1e-06, 0.76},
    {"gate", 2.4e-06, 0.80},       {"up", 2.6e-06, 0.80},        {"act", 2.5e-06, 0.79},
    {"product", 3.3e-06, 0.79},    {"mlp_out", 3.6e-06, 0.79},   {"resid_post", 2.3e-06, 0.68},
    {"final_norm", 2.1e-06, 0.74}, {"alpha", 1.5e-07, 0.73},
};
constexpr SiteDifference kQwen3Moe[] = {
    {"resid_pre", 5.8e-07, 0.66},  {"key", 7.8e-07, 0.79},       {"value", 6.9e-07, 0.79},
    {"attn_out", 9.6e-07, 0.90},   {"resid_mid", 5.6e-07, 0.63}, {"mlp_in", 5.9e-07, 0.62},
    {"gate", 6.3e-07, 0.74},       {"up", 5.5e-07, 0.74},        {"act", 7.8e-07, 0.71},
    {"product", 1.1e-06, 0.74},    {"mlp_out", 1.6e-06, 0.73},   {"resid_post", 6.1e-07, 0.62},
    {"final_norm", 5.7e-07, 0.60}, {"alpha", 4.2e-07, 0.69},
};
constexpr SiteDifference kQwen3Next[] = {
    {"resid_pre", 1.8e-06, 0.75},  {"key", 2.3e-06, 0.74},       {"value", 1.7e-06, 0.72},
    {"attn_out", 3.6e-06, 0.71},   {"resid_mid", 1.8e-06, 0.73}, {"mlp_in", 1.9e-06, 0.71},
    {"gate", 2.0e-06, 0.77},       {"up", 1.7e-06, 0.76},        {"act", 1.7e-06, 0.75},
    {"product", 2.6e-06, 0.74},    {"mlp_out", 4.2e-06, 0.76},   {"resid_post", 2.3e-06, 0.73},
    {"final_norm", 2.4e-06, 0.73}, {"alpha", 3.0e-07, 0.71},
};
constexpr SiteDifference kQwen3Vl[] = {
    {"resid_pre", 3.1e-07, 0.30},  {"key", 4.2e-07, 0.65},       {"value", 3.8e-07, 0.66},
    {"attn_out", 6.1e-07, 0.63},   {"resid_mid", 3.2e-07, 0.27}, {"mlp_in", 3.3e-07, 0.36},
    {"gate", 3.7e-07, 0.61},       {"up", 4.1e-07, 0.61},        {"act", 4.9e-07, 0.60},
    {"product", 7.4e-07, 0.63},    {"mlp_out", 7.5e-07, 0.65},   {"resid_post", 3.2e-07, 0.30},
    {"final_norm", 3.5e-07, 0.42}, {"alpha", 8.9e-08, 0.51},
};
constexpr SiteDifference kQwen3VlMoe[] = {
    {"resid_pre", 5.6e-07, 0.80},  {"key", 6.2e-07, 0.83},       {"value", 5.2e-07, 0.81},
    {"attn_out", 7.3e-07, 0.85},   {"resid_mid", 5.8e-07, 0.74}, {"mlp_in", 4.5e-07, 0.71},
    {"gate", 4.7e-07, 0.79},       {"up", 3.9e-07, 0.81},        {"act", 5.2e-07, 0.77},
    {"product", 8.6e-07, 0.83},    {"mlp_out", 1.1e-06, 0.80},   {"resid_post", 6.5e-07, 0.75},
    {"final_norm", 7.1e-07, 0.70}, {"alpha", 1.2e-07, 0.69},
};
constexpr SiteDifference kSeedOss[] = {
    {"resid_pre", 3.6e-07, 0.73},  {"key", 5.0e-07, 0.81},       {"value", 4.3e-07, 0.83},
    {"attn_out", 6.8e-07, 0.79},   {"resid_mid", 4.1e-07, 0.69}, {"mlp_in", 4.3e-07, 0.70},
    {"gate", 4.1e-07, 0.78},       {"up", 4.5e-07, 0.79},        {"act", 4.7e-07, 0.76},
    {"product", 8.8e-07, 0.78},    {"mlp_out", 7.1e-07, 0.79},   {"resid_post", 4.6e-07, 0.67},
    {"final_norm", 5.0e-07, 0.68}, {"alpha", 2.4e-07, 0.51},
};
constexpr SiteDifference kSmollm3[] = {
    {"resid_pre", 6.3e-07, 0.71},  {"key", 8.8e-07, 0.78},       {"value", 1.0e-06, 0.79},
    {"attn_out", 2.1e-06, 0.79},   {"resid_mid", 6.7e-07, 0.67}, {"mlp_in", 7.2e-07, 0.70},
    {"gate", 7.7e-07, 0.78},       {"up", 7.5e-07, 0.77},        {"act", 8.6e-07, 0.77},
    {"product", 1.3e-06, 0.78},    {"mlp_out", 1.5e-06, 0.80},   {"resid_post", 8.0e-07, 0.66},
    {"final_norm", 8.6e-07, 0.69}, {"alpha", 3.6e-07, 0.95},
};
constexpr SiteDifference kSolarOpen[] = {
    {"resid_pre", 9.4e-07, 0.78}, {"key", 8.9e-07, 0.79},        {"value", 1.2e-06, 0.82},
    {"attn_out", 2.2e-06, 0.77},  {"resid_mid", 9.9e-07, 0.73},  {"mlp_in", 8.7e-07, 0.72},
    {"mlp_out", 2.0e-06, 0.76},   {"resid_post", 1.3e-06, 0.77}, {"final_norm", 1.2e-06, 0.77},
    {"alpha", 3.9e-07, 0.67},
};
constexpr SiteDifference kStablelm[] = {
    {"resid_pre", 3.6e-07, 0.71},  {"key", 5.0e-07, 0.89},       {"value", 6.0e-07, 0.88},
    {"attn_out", 1.2e-06, 0.92},   {"resid_mid", 4.9e-07, 0.67}, {"mlp_in", 5.0e-07, 0.75},
    {"gate", 5.2e-07, 0.89},       {"up", 5.5e-07, 0.89},        {"act", 5.5e-07, 0.84},
    {"product", 7.9e-07, 0.88},    {"mlp_out", 9.9e-07, 0.89},   {"resid_post", 5.7e-07, 0.65},
    {"final_norm", 5.6e-07, 0.73}, {"alpha", 2.1e-07, 0.91},
};
constexpr SiteDifference kStarcoder2[] = {
    {"resid_pre", 3.2e-07, 0.73}, {"key", 4.4e-07, 0.86},        {"value", 5.4e-07, 0.87},
    {"attn_out", 7.1e-07, 0.78},  {"resid_mid", 3.8e-07, 0.69},  {"mlp_in", 3.8e-07, 0.75},
    {"up", 4.1e-07, 0.83},        {"act", 4.5e-07, 0.82},        {"product", 4.5e-07, 0.85},
    {"mlp_out", 4.4e-07, 0.88},   {"resid_post", 4.1e-07, 0.67}, {"final_norm", 4.1e-07, 0.71},
    {"alpha", 1.9e-07, 0.60},
};
constexpr SiteDifference kVaultgemma[] = {
    {"resid_pre", 8.6e-08, 0.50},  {"key", 3.0e-07, 0.79},       {"value", 2.8e-07, 0.79},
    {"attn_out", 7.0e-07, 0.72},   {"resid_mid", 9.0e-08, 0.45}, {"mlp_in", 2.5e-07, 0.44},
    {"gate", 3.1e-07, 0.73},       {"up", 2.9e-07, 0.72},        {"act", 3.6e-07, 0.69},
    {"product", 6.5e-07, 0.71},    {"mlp_out", 8.3e-07, 0.74},   {"resid_post", 9.6e-08, 0.42},
    {"final_norm", 2.1e-07, 0.37}, {"alpha", 2.4e-07, 0.63},
};
constexpr SiteDifference kYoutu[] = {
    {"resid_pre", 6.9e-07, 0.78},  {"key", 7.0e-07, 0.85},       {"value", 9.0e-07, 0.86},
    {"attn_out", 1.5e-06, 0.84},   {"resid_mid", 9.7e-07, 0.77}, {"mlp_in", 9.1e-07, 0.80},
    {"gate", 9.6e-07, 0.83},       {"up", 1.2e-06, 0.83},        {"act", 1.1e-06, 0.81},
    {"product", 1.6e-06, 0.81},    {"mlp_out", 1.7e-06, 0.82},   {"resid_post", 1.0e-06, 0.74},
    {"final_norm", 9.7e-07, 0.78}, {"alpha", 6.6e-07, 0.72},
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
