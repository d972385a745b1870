#include "server/service/models/codec_plan.h"

#include <algorithm>

#include <absl/strings/str_cat.h>

#include "server/base/status.h"
#include "server/service/models/codec_model.h"

namespace sinkd {
namespace {

constexpr int32_t kDefaultPositions = 2048;
constexpr int32_t kMaxPositions = 1 << 24;
constexpr int32_t kDefaultPageSize = 1000;
constexpr int32_t kMaxPageSize = 5000;

sinks::v1::TensorUse EncodeUse(TensorUse use) {
  switch (use) {
    case TensorUse::kLoaded:
      return sinks::v1::TENSOR_USE_LOADED;
    case TensorUse::kHead:
      return sinks::v1::TENSOR_USE_HEAD;
    case TensorUse::kUnused:
      return sinks::v1::TENSOR_USE_UNUSED;
  }
  return sinks::v1::TENSOR_USE_UNSPECIFIED;
}

void EncodeTensor(const PlannedTensor& tensor, sinks::v1::PlannedTensor* out) {
  out->set_name(tensor.name);
  out->set_stored_type(tensor.stored_type);
  out->mutable_shape()->Add(tensor.shape.begin(), tensor.shape.end());
  out->set_stored_bytes(tensor.stored_bytes);
  out->set_use(EncodeUse(tensor.use));
}

void EncodeShare(const DeviceShare& share, const DeviceBudget& room, sinks::v1::DeviceShare* out) {
  const MemorySnapshot& now = room.now;
  out->set_device(share.device);
  out->set_first_block(static_cast<int32_t>(share.first_block));
  out->set_blocks(static_cast<int32_t>(share.blocks));
  out->set_weight_bytes(share.weight_bytes);
  out->set_activation_bytes(share.activation_bytes);
  if (now.free_bytes > 0) out->set_free_bytes(now.free_bytes);
  out->set_fits(room.fits);
  if (now.budget_bytes > 0) out->set_budget_bytes(now.budget_bytes);
  out->set_held_bytes(now.weight_bytes + now.loading_bytes);
  out->set_pinned_bytes(room.pinned_bytes);
  out->set_evicted_bytes(room.evicted_bytes);
  out->set_sample_fits(room.HasRoomToRun(share.activation_bytes));
}

void EncodeSizes(const ModelPlan& plan, sinks::v1::ModelPlan* out) {
  out->set_parameters(plan.parameters);
  out->set_tensor_count(static_cast<int64_t>(plan.tensors.size()));
  out->set_stored_bytes(plan.stored_bytes);
  out->set_weight_bytes(plan.weight_bytes);
  out->set_largest_block_bytes(plan.largest_block_bytes);
  out->set_positions(static_cast<int32_t>(plan.positions));
}

void EncodeRoom(const LoadRoom& room, sinks::v1::ModelPlan* out) {
  out->set_fits(room.refusal.ok());
  for (const std::string& id : room.victims) out->add_evicted(absl::StrCat("models/", id));
  if (!room.refusal.ok()) out->set_refusal(std::string(room.refusal.message()));
}

}  // namespace

absl::StatusOr<PlanRequest> DecodePlanRequest(const sinks::v1::PlanModelRequest& request,
                                              const LoadOptions& defaults) {
  PlanRequest out;
  SINKD_ASSIGN_OR_RETURN(out.id, DecodeModelName(request.name(), "name"));
  SINKD_ASSIGN_OR_RETURN(out.options, DecodeLoadOptions(request, defaults));
  const int32_t positions = request.has_positions() ? request.positions() : kDefaultPositions;
  SINKD_RETURN_IF_ERROR(CheckRange(positions, kMaxPositions, "POSITIONS_OUT_OF_RANGE", "positions",
                                   kDefaultPositions));
  const int32_t page_size = request.has_page_size() ? request.page_size() : kDefaultPageSize;
  SINKD_RETURN_IF_ERROR(
      CheckRange(page_size, kMaxPageSize, "INVALID_PAGE_SIZE", "page_size", kDefaultPageSize));
  out.positions = positions;
  out.page_size = static_cast<size_t>(page_size);
  out.after = request.page_token();
  return out;
}

absl::StatusOr<sinks::v1::PlanModelResponse> EncodePlan(const PlanRequest& request,
                                                        const PlannedLoad& planned) {
  const ModelPlan& plan = planned.plan;
  auto begin = plan.tensors.begin();
  if (!request.after.empty()) {
    const auto last = std::find_if(begin, plan.tensors.end(), [&](const PlannedTensor& tensor) {
      return tensor.name == request.after;
    });
    if (last == plan.tensors.end()) {
      return InvalidArgument("page_token does not belong to this checkpoint",
                             {.reason = "INVALID_PAGE_TOKEN",
                              .subject = "page_token",
                              .value = Shorten(request.after),
                              .fix = "use next_page_token of the previous page, or start again"});
    }
    begin = last + 1;
  }
  const auto left = static_cast<size_t>(plan.tensors.end() - begin);
  const auto end = begin + static_cast<std::ptrdiff_t>(std::min(request.page_size, left));

  sinks::v1::PlanModelResponse response;
  sinks::v1::ModelPlan& out = *response.mutable_plan();
  out.set_name(absl::StrCat("models/", request.id));
  EncodeDecoder(plan.spec, &out);
  EncodeSizes(plan, &out);
  out.set_compute_type(EncodeComputeType(plan.compute_type));
  out.set_residency(EncodeResidency(plan.residency));
  out.set_has_weights(plan.has_weights);
  if (!plan.quantization.empty()) out.set_quantization(plan.quantization);
  for (const DeviceShare& share : plan.devices) {
    EncodeShare(share, planned.room.devices.at(share.device), out.add_devices());
  }
  EncodeRoom(planned.room, &out);
  for (const std::string& warning : plan.warnings) out.add_warnings(warning);
  for (auto tensor = begin; tensor != end; ++tensor) EncodeTensor(*tensor, response.add_tensors());
  if (end != plan.tensors.end()) response.set_next_page_token((end - 1)->name);
  return response;
}

}  // namespace sinkd
