#include "server/engine/model.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/checkpoint.h"
#include "server/engine/device.h"
#include "server/engine/hf_config.h"
#include "server/engine/model_internals.h"
#include "server/engine/torch_boundary.h"
#include "server/engine/trace_builder.h"

namespace sinkd {
namespace {

// kAuto: as stored. The config's word, or the embedding's dtype where the config is silent.
at::ScalarType ChooseType(ComputeType wanted, const DecoderPlan& plan,
                          const Checkpoint& checkpoint) {
  if (wanted == ComputeType::kFloat32) return at::kFloat;
  if (wanted == ComputeType::kBfloat16) return at::kBFloat16;
  if (!plan.spec.dtype.empty()) return plan.spec.dtype == "bfloat16" ? at::kBFloat16 : at::kFloat;
  const Checkpoint::Location* embedding = checkpoint.Find(plan.names.embedding + ".weight");
  return embedding != nullptr && embedding->entry->dtype == "BF16" ? at::kBFloat16 : at::kFloat;
}

absl::Status CheckSample(const DecoderSpec& spec, size_t index, const TokenIds& ids) {
  const std::string where = StrCat("sample ", index);
  if (ids.empty()) {
    return InvalidArgument(
        where + " is empty",
        {.reason = "EMPTY_SAMPLE", .subject = "token_ids", .fix = "send at least one token"});
  }
  if (static_cast<int64_t>(ids.size()) > spec.max_positions) {
    return InvalidArgument(
        StrCat(where, " is longer than the model's ", spec.max_positions, " positions"),
        {.reason = "SAMPLE_TOO_LONG",
         .subject = "token_ids",
         .value = StrCat(ids.size(), " tokens"),
         .fix = "cut it"});
  }
  for (size_t t = 0; t < ids.size(); ++t) {
    if (ids[t] < 0 || ids[t] >= spec.vocabulary) {
      return InvalidArgument(StrCat(where, ": a token id is outside [0, ", spec.vocabulary, ")"),
                             {.reason = "TOKEN_ID_OUT_OF_RANGE",
                              .subject = StrCat("token_ids[", t, "]"),
                              .value = StrCat(ids[t]),
                              .fix = "encode the text with this model's tokenizer"});
    }
  }
  return absl::OkStatus();
}

}  // namespace

PackedBatch Pack(std::span<const TokenIds> batch, const at::Device& device) {
  PackedBatch packed{.ids = {}, .offsets = {0}};
  std::vector<int64_t> ids;
  for (const TokenIds& sample : batch) {
    ids.insert(ids.end(), sample.begin(), sample.end());
    packed.offsets.push_back(static_cast<int64_t>(ids.size()));
  }
  packed.ids = at::tensor(ids, at::kLong).to(device);
  return packed;
}

Model::Model(ModelInfo info, std::unique_ptr<Internals> internals)
    : info_(std::move(info)), internals_(std::move(internals)) {}

Model::~Model() = default;

absl::StatusOr<std::unique_ptr<Model>> Model::Load(
    const std::filesystem::path& folder, const LoadOptions& options,
    const std::function<void(const LoadProgress&)>& progress, std::stop_token stop) {
  SINKD_ASSIGN_OR_RETURN(const at::Device device, OpenDevice(options.device));
  const c10::InferenceMode inference;
  SINKD_ASSIGN_OR_RETURN(DecoderPlan plan, PlanFromFolder(folder));
  SINKD_ASSIGN_OR_RETURN(const Checkpoint checkpoint, Checkpoint::Open(folder));
  const at::ScalarType type = ChooseType(options.compute_type, plan, checkpoint);
  std::unique_ptr<Internals> internals;
  SINKD_RETURN_IF_ERROR(AtTorchBoundary([&]() -> absl::Status {
    SINKD_ASSIGN_OR_RETURN(DecoderWeights weights,
                           LoadWeights(checkpoint, plan, type, device, progress, stop));
    internals = std::make_unique<Internals>(plan.spec, std::move(weights));
    return absl::OkStatus();
  }));
  ModelInfo info{.spec = plan.spec,
                 .device = device.str(),
                 .compute_type = type == at::kBFloat16 ? "bfloat16" : "float32",
                 .weight_bytes = internals->weights.bytes,
                 .warnings = internals->weights.warnings};
  return std::unique_ptr<Model>(new Model(std::move(info), std::move(internals)));
}

absl::StatusOr<std::vector<Trace>> Model::Run(std::span<const TokenIds> batch,
                                              const TraceRequest& request,
                                              std::stop_token stop) const {
  for (size_t s = 0; s < batch.size(); ++s) {
    SINKD_RETURN_IF_ERROR(CheckSample(info_.spec, s, batch[s]));
  }
  std::vector<Trace> traces;
  if (batch.empty()) return traces;
  SINKD_RETURN_IF_ERROR(AtTorchBoundary([&]() -> absl::Status {
    const c10::InferenceMode inference;
    const at::Device device = internals_->weights.embedding.device();
    const PackedBatch packed = Pack(batch, device);
    TraceBuilder builder(info_.spec, request, packed.offsets, device);
    SINKD_RETURN_IF_ERROR(internals_->decoder.Forward(packed, builder, stop));
    traces = builder.Finish();
    return absl::OkStatus();
  }));
  return traces;
}

void SetComputeThreads(int threads) {
  at::set_num_threads(threads);
}

}  // namespace sinkd
