// Linear attention with decay, with and without the delta rule (Yang et al., arXiv 2412.06464; Dao
// and Gu, arXiv 2405.21060), in chunks of positions: products within a chunk, and a state that goes
// from chunk to chunk, so that time and memory are linear in T. Internal to the engine.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace sinkd {

// Positions of a chunk.
inline constexpr int64_t kLinearChunk = 64;

// Of S samples of one length T, all float32. A head of queries and keys serves as many heads of
// values as there are more of these.
struct LinearInput {
  at::Tensor q;      // [S, T, key heads, key size]
  at::Tensor k;      // the same shape
  at::Tensor v;      // [S, T, value heads, value size]
  at::Tensor decay;  // [S, T, value heads], the logarithm of what is left of the state: not over 0
  // [S, T, value heads], from 0 to 1: how much of what a key holds is replaced; undefined: values
  // are added to it.
  at::Tensor beta;
};

// With S_0 = 0, a_t = exp(decay_t) and b_t of beta: out_t = S_t^T q_t, where
// S_t = a_t S_{t-1} + k_t v_t^T or, with beta, a_t S_{t-1} + b_t k_t (v_t - a_t S_{t-1}^T k_t)^T.
// Returns [S, T, value heads, value size] float32.
at::Tensor LinearAttention(const LinearInput& input);

}  // namespace sinkd
