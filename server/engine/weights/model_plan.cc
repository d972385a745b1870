#include "server/engine/model_plan.h"

#include <algorithm>
#include <utility>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/memory_estimate.h"
#include "server/engine/weights/model_setup.h"

namespace sinkd {
namespace {

// MXFP4 packs two values into a byte and stores scales beside them, which are no parameters.
int64_t Parameters(const PlannedTensor& tensor) {
  if (tensor.use == TensorUse::kUnused) return 0;
  int64_t count = 1;
  for (const int64_t size : tensor.shape) count *= size;
  if (tensor.stored_type != "U8") return count;
  return tensor.name.ends_with("_blocks") ? 2 * count : 0;
}

}  // namespace

std::string ModelPlan::Placement() const {
  std::vector<BlockSpan> spans;
  for (const DeviceShare& share : devices) {
    spans.push_back({share.device, share.first_block, share.blocks});
  }
  return PlacementText(spans);
}

absl::StatusOr<ModelPlan> PlanModel(const std::filesystem::path& folder, const LoadOptions& options,
                                    int64_t positions, std::stop_token stop) {
  if (positions < 1) {
    return InvalidArgument("a sample has at least one position",
                           {.reason = "BAD_POSITIONS",
                            .subject = "positions",
                            .value = StrCat(positions),
                            .fix = "give the length of the longest sample, in tokens"});
  }
  SINKD_ASSIGN_OR_RETURN(const ModelSetup setup, SetUpModel(folder, options, std::move(stop)));
  const DecoderSpec& spec = setup.spec();
  const WeightPlan& weights = setup.weights;
  ModelPlan plan{.spec = spec,
                 .compute_type = TypeName(setup.type),
                 .residency = options.residency,
                 .has_weights = setup.checkpoint.has_value(),
                 .quantization = weights.quantization,
                 .tensors = weights.tensors,
                 .stored_bytes = weights.StoredBytes(),
                 .weight_bytes = weights.WeightBytes(),
                 .largest_block_bytes =
                     *std::max_element(weights.block_bytes.begin(), weights.block_bytes.end()),
                 .positions = std::min(positions, spec.max_positions),
                 .warnings = weights.warnings};
  for (const PlannedTensor& tensor : plan.tensors) {
    plan.parameters += Parameters(tensor);
  }
  const std::vector<int64_t> held = setup.HeldBytes(options.residency);
  for (size_t d = 0; d < setup.spans.size(); ++d) {
    const BlockSpan& span = setup.spans[d];
    DeviceShare share{.device = span.device,
                      .first_block = span.first,
                      .blocks = span.blocks,
                      .weight_bytes = held[d],
                      .activation_bytes =
                          ForwardBytes(spec, plan.compute_type, span.device, {&plan.positions, 1})};
    plan.devices.push_back(std::move(share));
  }
  return plan;
}

}  // namespace sinkd
