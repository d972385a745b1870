// Expected values that the oracle scripts wrote: safetensors files read into plain vectors, and the
// folders they lie in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "server/engine/model.h"

namespace sinkd::testing {

// One (checkpoint, sample) of the oracle. Axes as in trace.h.
struct ExpectedSample {
  TokenIds ids;                            // [T]
  std::vector<float> hidden;               // [L, T, C], the last one as the decoder gives it
  std::vector<float> last_raw;             // [T, C]
  std::vector<float> column_sum;           // [L, H, T]
  std::vector<float> attention_self;       // [L, H, T]
  std::vector<float> prefix64_column_sum;  // [L, H, min(64, T)]
  std::vector<float> mlp_norm;             // [L, T]
  std::vector<float> learned_sink_mass;    // [L, H, T] by query; empty without learned sinks
  std::vector<float> gates;                // [L, H, T]; empty where attention is not gated
};

std::filesystem::path OracleFolder();  // where the oracles write

// `checkpoint` is relative to OracleFolder(); precision is what transformers computes in: "f64",
// "f32" or "bf16".
ExpectedSample ReadExpected(const std::string& checkpoint, const std::string& precision,
                            int64_t length);

// How far a float32 result may be from float64 where transformers' float32 is `theirs` away: sums
// are made in another order, on each processor in one of its own, and errors of two orders are
// rarely more than a factor apart. `floor`: what some roundings make, where theirs happen to
// cancel.
inline double Allowed(double theirs, double floor = 2e-6) {
  return std::max(4 * theirs, floor);
}

// Attention in float64, tests/oracle/large_logits.py.
struct ExpectedAlpha {
  TokenIds ids;               // [T]
  std::vector<float> alpha;   // [L, H, T]
  std::vector<float> theirs;  // the same of transformers in float32
};
ExpectedAlpha ReadExpectedAlpha(const std::string& checkpoint, int64_t length);

// Values at every site of every block, by "site.block": rows one after the other, width from the
// number of rows.
using SiteValues = std::map<std::string, std::vector<float>>;
SiteValues ReadSites(const std::string& checkpoint, int64_t length);  // of transformers' float32
// How far each row [T] of transformers' bfloat16 is from its float32.
SiteValues ReadBfloat16Distances(const std::string& checkpoint, int64_t length);

// The last part of a checkpoint's path, as the name of a test.
std::string CheckpointName(const ::testing::TestParamInfo<const char*>& tested);

}  // namespace sinkd::testing
