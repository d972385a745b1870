#include "server/engine/weights/model_setup.h"

#include <algorithm>
#include <utility>

#include "server/base/status.h"
#include "server/engine/families/hf_config.h"
#include "server/engine/forward/torch_boundary.h"
#include "server/engine/memory/device.h"

namespace sinkd {
namespace {

// kAuto: as stored. The config's word, or the embedding's dtype where the config is silent.
at::ScalarType ChooseType(ComputeType wanted, const DecoderPlan& plan,
                          const std::optional<Checkpoint>& checkpoint) {
  if (wanted == ComputeType::kFloat32) return at::kFloat;
  if (wanted == ComputeType::kBfloat16) return at::kBFloat16;
  if (!plan.spec.dtype.empty()) return plan.spec.dtype == "bfloat16" ? at::kBFloat16 : at::kFloat;
  if (!checkpoint) return at::kFloat;
  const Checkpoint::Location* embedding = checkpoint->Find(plan.names.embedding + ".weight");
  return embedding != nullptr && embedding->entry->dtype == "BF16" ? at::kBFloat16 : at::kFloat;
}

// Empty for a folder that holds a config.json and nothing in place of weights.
absl::StatusOr<std::optional<Checkpoint>> OpenWeights(const std::filesystem::path& folder,
                                                      std::stop_token stop) {
  absl::StatusOr<Checkpoint> checkpoint = Checkpoint::Open(folder, std::move(stop));
  if (checkpoint.ok()) return std::optional<Checkpoint>(*std::move(checkpoint));
  const std::optional<ErrorDetail> detail = GetErrorDetail(checkpoint.status());
  if (detail && detail->reason == "NO_WEIGHTS") return std::optional<Checkpoint>();
  return std::move(checkpoint).status();
}

absl::StatusOr<std::vector<BlockSpan>> Place(const LoadOptions& options,
                                             const WeightPlan& weights) {
  if (options.device != kAutoDevice) {
    return ParsePlacement(options.device, weights.decoder.spec.blocks);
  }
  std::vector<std::string> devices = Gpus();
  if (devices.empty()) devices.push_back("cpu");
  std::vector<DeviceRoom> rooms;
  for (std::string& device : devices) {
    int64_t bytes = FreeBytes(at::Device(device));
    const auto limit = options.room.find(device);
    if (limit != options.room.end() && (bytes == 0 || limit->second < bytes)) bytes = limit->second;
    rooms.push_back({std::move(device), bytes});
  }
  return SpreadBlocks(rooms, weights.outer_bytes, weights.block_bytes);
}

}  // namespace

std::vector<at::Device> ModelSetup::BlockDevices() const {
  std::vector<at::Device> devices;
  for (const BlockSpan& span : spans) {
    devices.insert(devices.end(), static_cast<size_t>(span.blocks), at::Device(span.device));
  }
  return devices;
}

std::vector<int64_t> ModelSetup::HeldBytes(Residency residency) const {
  std::vector<int64_t> held;
  for (const BlockSpan& span : spans) {
    const auto begin = weights.block_bytes.begin() + span.first;
    int64_t bytes = held.empty() ? weights.outer_bytes : 0;
    if (residency == Residency::kStreamed) {
      bytes += std::min<int64_t>(2, span.blocks) * *std::max_element(begin, begin + span.blocks);
    } else {
      for (int64_t l = 0; l < span.blocks; ++l) bytes += begin[l];
    }
    held.push_back(bytes);
  }
  return held;
}

absl::StatusOr<ModelSetup> SetUpModel(const std::filesystem::path& folder,
                                      const LoadOptions& options, std::stop_token stop) {
  SINKD_ASSIGN_OR_RETURN(const DecoderPlan plan, PlanFromFolder(folder));
  ModelSetup setup;
  SINKD_ASSIGN_OR_RETURN(setup.checkpoint, OpenWeights(folder, stop));
  if (options.activation_quantization == ActivationQuantization::kAsStored && setup.checkpoint) {
    SINKD_RETURN_IF_ERROR(setup.checkpoint->RoundActivations());
  }
  setup.type = ChooseType(options.compute_type, plan, setup.checkpoint);
  SINKD_RETURN_IF_ERROR(AtTorchBoundary([&]() -> absl::Status {
    SINKD_ASSIGN_OR_RETURN(
        setup.weights,
        PlanWeights(setup.checkpoint ? &*setup.checkpoint : nullptr, plan, setup.type, stop));
    return absl::OkStatus();
  }));
  SINKD_ASSIGN_OR_RETURN(setup.spans, Place(options, setup.weights));
  for (BlockSpan& span : setup.spans) {
    SINKD_ASSIGN_OR_RETURN(const at::Device device, OpenDevice(span.device));
    span.device = device.str();
  }
  return setup;
}

std::string TypeName(at::ScalarType type) {
  return type == at::kBFloat16 ? "bfloat16" : "float32";
}

}  // namespace sinkd
