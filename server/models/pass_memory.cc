#include "server/models/pass_memory.h"

#include <utility>

#include <absl/strings/str_split.h>

#include "server/engine/memory_estimate.h"

namespace sinkd {
namespace {

// The devices of ModelInfo::device, "cpu" or "cuda:0=0-15,cuda:1=16-31".
std::vector<std::string> DevicesOf(const std::string& placement) {
  std::vector<std::string> devices;
  for (const auto part : absl::StrSplit(placement, ',')) {
    devices.emplace_back(part.substr(0, part.find('=')));
  }
  return devices;
}

}  // namespace

PassMemory::PassMemory(const ModelInfo& info, std::shared_ptr<MemoryBudget> budget)
    : info_(info), budget_(std::move(budget)), devices_(DevicesOf(info.device)) {}

absl::StatusOr<MemoryBudget::Hold> PassMemory::Hold(std::span<const int64_t> lengths,
                                                    int64_t beside) const {
  const int64_t pass = ForwardBytes(info_.spec, info_.compute_type, devices_.front(), lengths);
  return budget_->HoldRun(devices_, pass + beside);
}

absl::StatusOr<MemoryBudget::Hold> PassMemory::HoldAtHome(int64_t bytes) const {
  return budget_->HoldRun({&devices_.front(), 1}, bytes);
}

}  // namespace sinkd
