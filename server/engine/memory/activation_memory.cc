#include "server/engine/activation_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <new>

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include "server/engine/memory/best_fit.h"
#include "server/engine/memory/host_memory.h"

namespace sinkd {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

constexpr int64_t kPage = 4096;
// Smaller blocks leave small holes, and the C library is quicker with them.
constexpr int64_t kLeastBytes = int64_t{64} << 10;
// The system is asked for so much at a time.
constexpr int64_t kStepBytes = int64_t{16} << 20;

class Pool final : public c10::Allocator {
 public:
  // The addresses alone; memory comes as blocks do. Without them all is left to the C library.
  static Pool& The() {
    static Pool* const pool = [] {
      const int64_t limit = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
      void* const base = mmap(nullptr, static_cast<size_t>(limit), PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      return base == MAP_FAILED ? new Pool(nullptr, 0) : new Pool(static_cast<char*>(base), limit);
    }();
    return *pool;
  }

  c10::DataPtr allocate(size_t size) override {
    const auto bytes = static_cast<int64_t>(size);
    void* const block = bytes < kLeastBytes ? nullptr : Take(bytes);
    if (block == nullptr) return small_.allocate(size);
    return {block, block, &Delete, c10::Device(c10::kCPU)};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &Delete; }

  void copy_data(void* to, const void* from, size_t count) const override {
    default_copy_data(to, from, count);
  }

  void Trim(int64_t kept_bytes) {
    const std::lock_guard lock(mutex_);
    int64_t kept_end = std::max(fit_.end(), kept_bytes);
    for (const auto& [begin, bytes] : fit_.holes()) {
      const int64_t from = std::max(begin, kept_bytes);
      const int64_t to = begin + bytes;
      if (from < to) madvise(base_ + from, static_cast<size_t>(to - from), MADV_DONTNEED);
      if (to == fit_.end()) kept_end = from;
    }
    GiveBackFrom(kept_end);
  }

 private:
  Pool(char* base, int64_t limit)
      : base_(base),
        limit_(limit / kStepBytes * kStepBytes),
        small_(*c10::GetCPUAllocator()),
        fit_(limit_) {}

  static void Delete(void* block) {
    Pool& pool = The();
    const int64_t offset = static_cast<char*>(block) - pool.base_;
    if (offset < 0 || offset >= pool.limit_) return pool.small_.raw_deleter()(block);
    const std::lock_guard lock(pool.mutex_);
    pool.fit_.Give(offset);
  }

  // What may be written to counts where the system gives no more than it has, used or not.
  void GiveBackFrom(int64_t offset) {
    const int64_t usable = (offset + kStepBytes - 1) / kStepBytes * kStepBytes;
    if (usable >= usable_) return;
    if (mprotect(base_ + usable, static_cast<size_t>(usable_ - usable), PROT_NONE) == 0) {
      usable_ = usable;
    }
  }

  // Null when the addresses are used up.
  void* Take(int64_t bytes) {
    const int64_t pages = (bytes + kPage - 1) / kPage * kPage;
    const std::lock_guard lock(mutex_);
    const std::optional<int64_t> begin = fit_.Take(pages);
    if (!begin) return nullptr;
    if (*begin + pages <= usable_) return base_ + *begin;
    const int64_t usable = (*begin + pages + kStepBytes - 1) / kStepBytes * kStepBytes;
    const auto more = static_cast<size_t>(usable - usable_);
    const bool given = mprotect(base_ + usable_, more, PROT_READ | PROT_WRITE) == 0;
    if (given && HostReserveIsFree()) {
      usable_ = usable;
      return base_ + *begin;
    }
    if (given) mprotect(base_ + usable_, more, PROT_NONE);
    fit_.Give(*begin);
    throw std::bad_alloc();
  }

  char* const base_;
  const int64_t limit_;
  c10::Allocator& small_;
  std::mutex mutex_;
  BestFit fit_;
  int64_t usable_ = 0;  // bytes from base_ on that may be written to
};

}  // namespace

void KeepActivationsTogether() {
  if (kSanitized) return;
  c10::SetCPUAllocator(&Pool::The(), /*priority=*/1);
}

void TrimActivations(int64_t kept_bytes) {
  if (!kSanitized) Pool::The().Trim(kept_bytes);
}

}  // namespace sinkd
