// Attention and its sums by two fused calls, which hold no weights: the way for GPUs. Internal to
// the engine.
//
// The first call gives outputs and, of each query i, the log-sum-exp of its scores lse[i]. The sum
// of a key's column of the softmax is the sum over i of e^(score[i, k] - lse[i]), which is e to the
// power of another log-sum-exp, over queries: that of a call whose queries are the keys and whose
// keys are the queries, each with -lse[i] added to its scores. Both in reverse order, so that the
// mask is causal again and a window the same. The addend comes as further channels: -lse / scale
// beside each query, 1 beside each key; in bfloat16 as three numbers that add up to it.
//
// Memory is linear in T, and nothing waits for the device.
#pragma once

#include "server/engine/forward/attention.h"
#include "server/engine/forward/attention_sums.h"
#include "server/engine/forward/fused_calls.h"

namespace sinkd {

// As Attend, for an input without cap, chunks, distance bias and hidden keys, of a scale over 0.
// With a call in bfloat16, q, k and v are rounded to it first. Adds to `sums`, which may be null.
at::Tensor AttendByCalls(const FusedCall& call, const AttentionInput& input, AttentionSums* sums);

// Bytes that it takes beside its input, its output and sums included.
int64_t AttentionByCallsBytes(const FusedCall& call, int64_t samples, int64_t positions,
                              int64_t heads, const HeadShape& shape);

}  // namespace sinkd
