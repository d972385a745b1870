// Trace: the result of one forward pass for one sample: a few numbers per layer and position, never
// hidden states. It holds everything that the analyses need, and nothing else leaves the device.
//
// Axes: L layers (block outputs; the embedding is not a layer), T positions, H query heads,
// P = min(prefix, T), N = candidates = min(3, T). All arrays are row-major, the last axis fastest.
// state[l,t] is the residual stream after block l; in the last layer after the final norm, unless
// TraceRequest::last_state is kRaw (definitions: Notation).
//
// Thread-safety: plain values.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

namespace sinkd {

enum class LastState { kNormed, kRaw };

// Positions that can be the primary sink: the first three (definitions: Primary sink).
inline constexpr int64_t kPrimaryCandidates = 3;

struct TraceRequest {
  LastState last_state = LastState::kNormed;
  bool attention = true;  // fill attention_sum to gates
  int64_t prefix = 0;     // > 0: also sum over only the queries before `prefix`
  bool heads = false;     // with attention: fill row_entropy to value_norm
  bool operator==(const TraceRequest&) const = default;
};

// A token is an outlier if the largest entry of its MLP input is so many times the median or more.
inline constexpr float kOutlierRatio = 64;

struct Trace {
  int64_t layers = 0;      // L
  int64_t positions = 0;   // T
  int64_t heads = 0;       // H
  int64_t candidates = 0;  // N
  int64_t prefix = 0;      // P; 0 when not requested

  // The blocks with softmax attention, ascending; empty: all of them. Of the others, the arrays of
  // attention hold zeros that mean nothing.
  std::vector<int32_t> attention_blocks;

  std::vector<float> state_norm;        // [L, T]    ||state[l,t]||2
  std::vector<float> candidate_cosine;  // [L, N, T] cos(state[l,t], state[l,c]); 0 for zero vectors
  std::vector<float> mlp_norm;          // [L, T]    ||mlp_out[l,t]||2
  // [T] max |mlp_in[l,t]| / median |mlp_in[l,t]|, the largest over the layers; 0 where it is under
  // kOutlierRatio in all of them. The median is the lower of the two in the middle.
  std::vector<float> outlier_ratio;
  std::vector<float> attention_sum;         // [L, H, T] sum over queries i >= k of A[l,h,i,k]
  std::vector<float> attention_self;        // [L, H, T] A[l,h,k,k]
  std::vector<float> prefix_attention_sum;  // [L, H, P] as attention_sum, over queries i < P
  // [L, H] share of the softmax that goes to the head's learned sink, as the mean over queries;
  // empty for a model without learned sinks.
  std::vector<float> learned_sink_mass;
  // [L, H, T] mean over a head's channels of the gate that multiplies what query t attends to;
  // empty for a model whose attention is not gated.
  std::vector<float> gates;
  // [L, H] what rows of weights are like; empty when not requested (definitions: Heads).
  std::vector<float> row_entropy;         // mean of the entropy over ln(visible keys), of the
  std::vector<float> row_maximum;         // largest weight; over queries with two such keys or more
  std::vector<float> previous_attention;  // sum over queries i of A[l,h,i,i-1]
  std::vector<float> duplicate_attention;  // sum over keys k < i of the same token as query i
  std::vector<float> value_norm;           // [L, H, T] ||W_o v[k]||2, of a head's part of W_o

  std::vector<int32_t> AttentionBlocks() const {
    if (!attention_blocks.empty()) return attention_blocks;
    std::vector<int32_t> all(At(layers));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  float StateNorm(int64_t l, int64_t t) const { return state_norm[At(l * positions + t)]; }
  float MlpNorm(int64_t l, int64_t t) const { return mlp_norm[At(l * positions + t)]; }
  float Cosine(int64_t l, int64_t candidate, int64_t t) const {
    return candidate_cosine[At((l * candidates + candidate) * positions + t)];
  }
  float AttentionSum(int64_t l, int64_t h, int64_t k) const {
    return attention_sum[At((l * heads + h) * positions + k)];
  }
  float AttentionSelf(int64_t l, int64_t h, int64_t k) const {
    return attention_self[At((l * heads + h) * positions + k)];
  }
  float PrefixAttentionSum(int64_t l, int64_t h, int64_t k) const {
    return prefix_attention_sum[At((l * heads + h) * prefix + k)];
  }
  float Gate(int64_t l, int64_t h, int64_t t) const {
    return gates[At((l * heads + h) * positions + t)];
  }
  float ValueNorm(int64_t l, int64_t h, int64_t t) const {
    return value_norm[At((l * heads + h) * positions + t)];
  }
  float LearnedSinkMass(int64_t l, int64_t h) const { return learned_sink_mass[At(l * heads + h)]; }
  static size_t At(int64_t index) { return static_cast<size_t>(index); }
};

}  // namespace sinkd
