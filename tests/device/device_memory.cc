#include "tests/device/device_memory.h"

#include <sys/resource.h>

#include <fstream>
#include <vector>

#include <ATen/ATen.h>
#include <c10/core/CachingDeviceAllocator.h>

namespace sinkd::device_check {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;
constexpr int64_t kLeft = 128 * kMebibyte;

// Tensors that fill the device up to less than two of the smallest pieces.
std::vector<at::Tensor> FillDevice(const at::Device& device) {
  std::vector<at::Tensor> pieces;
  for (const int64_t size : {1024 * kMebibyte, kLeft / 2}) {
    try {
      while (true) {
        pieces.push_back(at::empty({size}, at::TensorOptions().dtype(at::kByte).device(device)));
      }
    } catch (const c10::OutOfMemoryError&) {
      continue;  // with smaller pieces
    }
  }
  pieces.resize(pieces.size() - std::min<size_t>(pieces.size(), 2));
  return pieces;
}

// Private writable memory of this process: what RLIMIT_DATA limits.
int64_t DataBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmData:")) return std::stoll(line.substr(7)) * 1024;
  }
  return 0;
}

}  // namespace

int64_t PeakBytes(const std::string& device, const std::function<void()>& work) {
  const at::Device where(device);
  if (where.is_cpu()) {
    work();
    return 0;
  }
  const auto all = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  c10::DeviceAllocator* allocator = at::getDeviceAllocator(where.type());
  allocator->resetPeakStats(where.index());
  const int64_t before = allocator->getDeviceStats(where.index()).allocated_bytes[all].current;
  work();
  return allocator->getDeviceStats(where.index()).allocated_bytes[all].peak - before;
}

void WithoutMemory(const std::string& device, const std::function<void()>& work) {
  const at::Device where(device);
  if (!where.is_cpu()) {
    const std::vector<at::Tensor> pieces = FillDevice(where);
    work();
    return;
  }
  rlimit before = {};
  getrlimit(RLIMIT_DATA, &before);
  rlimit tight = before;
  tight.rlim_cur = static_cast<rlim_t>(DataBytes() + kLeft);
  setrlimit(RLIMIT_DATA, &tight);
  work();
  setrlimit(RLIMIT_DATA, &before);
}

}  // namespace sinkd::device_check
