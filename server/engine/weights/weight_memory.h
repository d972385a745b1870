// Memory for weights. Internal to the engine.
#pragma once

#include <ATen/core/Tensor.h>

namespace sinkd {

// An uninitialized tensor. On the CPU, large ones are mapped separately, so that their memory
// returns to the system when they are destroyed; the allocator would keep the holes that unloaded
// weights leave. Throws std::bad_alloc, like torch's allocator, if no memory is left beyond the
// host's reserve (host_memory.h).
at::Tensor EmptyTensor(at::IntArrayRef shape, const at::TensorOptions& options);

}  // namespace sinkd
