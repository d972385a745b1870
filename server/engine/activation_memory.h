// Memory for what lies between two products. The C library's allocator keeps holes that later
// blocks of a pass, of other sizes, do not fit into: at its peak a pass took twice what was alive
// in it. Here large blocks lie in one stretch of addresses, best fit first (best_fit.h), which
// takes a tenth more. Internal to the engine.
//
// Thread-safety: may be called from any thread.
#pragma once

#include <cstdint>

namespace sinkd {

// From now on torch's large blocks on the CPU come from there, and throw std::bad_alloc rather than
// use up the host's reserve (host_memory.h); the rest is as it was. A build with sanitizers, which
// watch the C library's blocks, stays as it is. Once for the whole process.
void KeepActivationsTogether();

// Pages that hold nothing go back to the system, but for those among the first `kept_bytes`.
void TrimActivations(int64_t kept_bytes = 0);

// What is kept after a pass, since the next one would only ask for it again.
inline constexpr int64_t kKeptActivationBytes = int64_t{32} << 20;

}  // namespace sinkd
