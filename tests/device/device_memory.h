// The device's memory as libtorch's allocators see it. In a file of its own: it includes torch.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace sinkd::device_check {

// The most bytes that tensors took on `device` at once during `work`, over what they take before
// it; 0 on the CPU, whose allocator does not count.
int64_t PeakBytes(const std::string& device, const std::function<void()>& work);

// Runs `work` while only some 128 MiB of the device's memory can be taken.
void WithoutMemory(const std::string& device, const std::function<void()>& work);

}  // namespace sinkd::device_check
