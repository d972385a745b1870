#include "server/engine/weights/weight_memory.h"

#include <sys/mman.h>

#include <new>

#include <ATen/ATen.h>
#include <c10/util/accumulate.h>

#include "server/engine/memory/host_memory.h"

namespace sinkd {
namespace {

// Smaller ones would waste a good part of their last page.
constexpr size_t kLeastBytes = size_t{256} << 10;

}  // namespace

at::Tensor EmptyTensor(at::IntArrayRef shape, const at::TensorOptions& options) {
  const size_t bytes =
      static_cast<size_t>(c10::multiply_integers(shape)) * options.dtype().itemsize();
  if (!options.device().is_cpu() || bytes < kLeastBytes) return at::empty(shape, options);
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  if (!HostReserveIsFree()) {
    munmap(pages, bytes);
    throw std::bad_alloc();
  }
  return at::from_blob(
      pages, shape, [bytes](void* memory) { munmap(memory, bytes); }, options);
}

}  // namespace sinkd
