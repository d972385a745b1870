// Attention on the CPU in one parallel region: strips of queries whose scores stay in a core's
// cache from the product with the keys to the product with the values, and whose column sums are
// taken while they are there. Internal to the engine.
//
// Products are oneDNN's small ones (at::native::cpublas::brgemm), of float32, or of bfloat16 summed
// and returned in float32. All else is float32; column sums are float64.
//
// A strip's numbers depend on its sample and head alone: the same for any batch and number of
// threads.
#pragma once

#include "server/engine/forward/attention.h"
#include "server/engine/forward/attention_sums.h"

namespace sinkd {

// Whether it is there: on a CPU with AVX-512, in a libtorch with oneDNN.
bool FusesAttentionOnCpu();

// Whether it has products of bfloat16, by instructions of the processor.
bool NarrowsAttentionOnCpu();

// As Attend, for a scale over 0. With input.narrow, q and k are rounded to bfloat16 before their
// product, weights and v before theirs. Adds to `sums`, which may be null.
at::Tensor FuseAttention(const AttentionInput& input, AttentionSums* sums);

// Bytes that it takes beside its input and output, its sums included.
int64_t FusedAttentionBytes(int64_t samples, int64_t positions, int64_t heads,
                            const HeadShape& shape, bool narrow);

}  // namespace sinkd
