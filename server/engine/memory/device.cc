#include "server/engine/memory/device.h"

#include <dlfcn.h>

#include <ATen/ATen.h>
#include <ATen/DeviceAccelerator.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/memory/host_memory.h"

namespace sinkd {
namespace {

// Why the CUDA half is not there; empty when it is. It registers itself with ATen when it is
// loaded, which must happen before ATen is first asked for CUDA.
const std::string& CudaProblem() {
  static const std::string problem = []() -> std::string {
    if (dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) == nullptr) {
      return "this machine has no CUDA driver";
    }
    if (dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) != nullptr) return "";
    const char* error = dlerror();
    return StrCat("needs libtorch's CUDA half, which cannot be loaded: ",
                  error == nullptr ? "" : error, "; `deploy/setup.sh cuda` installs what it links");
  }();
  return problem;
}

absl::Status Refuse(const std::string& name, std::string_view why) {
  return InvalidArgument(StrCat("device ", why), {.reason = "BAD_DEVICE",
                                                  .subject = "device",
                                                  .value = name,
                                                  .fix = "use cpu, or cuda:N of a GPU here"});
}

}  // namespace

absl::StatusOr<at::Device> OpenDevice(const std::string& name) {
  const std::string& cuda_problem = CudaProblem();
  try {
    const at::Device device(name);
    if (device.is_cpu()) return at::Device(at::kCPU);
    if (device.type() == at::kMeta) return Refuse(name, "holds no data");
    if (device.is_cuda() && !cuda_problem.empty()) return Refuse(name, cuda_problem);
    at::empty({1}, at::TensorOptions().dtype(at::kByte).device(device));
    return device;
  } catch (const c10::Error&) {
    return Refuse(name, "is not one that this server has");
  }
}

std::vector<std::string> Gpus() {
  std::vector<std::string> gpus;
  while (CudaProblem().empty()) {
    std::string name = StrCat("cuda:", gpus.size());
    if (!OpenDevice(name).ok()) break;
    gpus.push_back(std::move(name));
  }
  return gpus;
}

int64_t FreeBytes(const at::Device& device) {
  if (device.is_cpu()) return FreeHostBytes();
  try {
    return static_cast<int64_t>(at::accelerator::getMemoryInfo(device.index()).first);
  } catch (const c10::Error&) {
    return 0;
  }
}

}  // namespace sinkd
