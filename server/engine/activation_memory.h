// Allocator for activations. In the C library's heap, a forward pass leaves gaps that its later
// allocations, of other sizes, do not fit into: its peak was twice its live memory. Here large
// blocks are placed best fit (best_fit.h) in one address range, which takes a tenth more than the
// live memory. Internal to the engine.
//
// Thread-safety: may be called from any thread.
#pragma once

#include <cstdint>

namespace sinkd {

// From now on, torch's large CPU allocations come from this allocator. They throw std::bad_alloc
// rather than use up the host's reserve (host_memory.h). Does nothing in builds with sanitizers,
// which watch the C library's allocations. Call it once per process.
void KeepActivationsTogether();

// Returns empty pages to the system, except those among the first `kept_bytes`.
void TrimActivations(int64_t kept_bytes = 0);

// Kept after a pass, because the next pass would allocate it again.
inline constexpr int64_t kKeptActivationBytes = int64_t{32} << 20;

}  // namespace sinkd
