// Memory for weights. Internal to the engine.
#pragma once

#include <ATen/core/Tensor.h>

namespace sinkd {

// A tensor without values. On the CPU a large one has pages of its own, which go back to the system
// when it is destroyed: weights come and go, and the allocator would keep the holes they leave.
// Throws std::bad_alloc, as torch's allocator throws, when there is no memory beside the host's
// reserve (host_memory.h).
at::Tensor EmptyTensor(at::IntArrayRef shape, const at::TensorOptions& options);

}  // namespace sinkd
