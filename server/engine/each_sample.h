// Samples too short to keep the threads of the CPU busy one by one. Internal to the engine.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

namespace sinkd {

// Calls `work(sample)` for each, several at once on the CPU's threads. What each of them computes
// is then computed by one thread.
template <typename Work>
void AtOnce(const std::vector<int64_t>& samples, const Work& work) {
  at::parallel_for(0, static_cast<int64_t>(samples.size()), 1, [&](int64_t begin, int64_t end) {
    const c10::InferenceMode inference;  // of a thread, not of the pass
    for (int64_t i = begin; i < end; ++i) work(samples[static_cast<size_t>(i)]);
  });
}

}  // namespace sinkd
