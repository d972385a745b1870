// Expected values that the oracle scripts wrote: safetensors files read into plain vectors, and the
// folders they lie in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "server/engine/model.h"

namespace sinkd::testing {

// One (checkpoint, sample) of the oracle. Axes as in trace.h.
struct ExpectedSample {
  TokenIds ids;                            // [T]
  std::vector<float> hidden;               // [L, T, C], the last layer after the final norm
  std::vector<float> last_raw;             // [T, C]
  std::vector<float> column_sum;           // [L, H, T]
  std::vector<float> attention_self;       // [L, H, T]
  std::vector<float> prefix64_column_sum;  // [L, H, min(64, T)]
  std::vector<float> mlp_norm;             // [L, T]
  std::vector<float> learned_sink_mass;    // [L, H, T] by query; empty without learned sinks
};

std::filesystem::path OracleFolder();  // where the oracles write

// `checkpoint` is relative to OracleFolder(); precision is "f32" or "bf16".
ExpectedSample ReadExpected(const std::string& checkpoint, const std::string& precision,
                            int64_t length);

}  // namespace sinkd::testing
