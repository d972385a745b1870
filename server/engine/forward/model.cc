#include "server/engine/model.h"

#include <cstdlib>
#include <numeric>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/activation_memory.h"
#include "server/engine/forward/attention_way.h"
#include "server/engine/forward/model_internals.h"
#include "server/engine/forward/torch_boundary.h"
#include "server/engine/taps/trace_builder.h"
#include "server/engine/weights/block_loader.h"
#include "server/engine/weights/file_tensor_loader.h"
#include "server/engine/weights/model_setup.h"

namespace sinkd {
namespace {

absl::StatusOr<std::unique_ptr<BlockSource>> LoadBlocks(ModelSetup& setup, Residency residency,
                                                        FileTensorLoader& loader) {
  const std::vector<at::Device> devices = setup.BlockDevices();
  const DecoderPlan& plan = setup.weights.decoder;
  if (residency == Residency::kStreamed) {
    return std::make_unique<StreamedBlocks>(*std::move(setup.checkpoint), plan, setup.type,
                                            devices);
  }
  std::vector<BlockWeights> blocks;
  for (int64_t l = 0; l < plan.spec.blocks; ++l) {
    loader.LoadOnto(devices[static_cast<size_t>(l)]);
    SINKD_ASSIGN_OR_RETURN(blocks.emplace_back(), LoadBlock(loader, plan, l));
  }
  return std::make_unique<ResidentBlocks>(std::move(blocks));
}

}  // namespace

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
  const c10::InferenceMode inference;
  SINKD_ASSIGN_OR_RETURN(ModelSetup setup, SetUpModel(folder, options, stop));
  if (!setup.checkpoint) return Checkpoint::Open(folder).status();  // says what is missing
  const std::vector<int64_t> held = setup.HeldBytes(options.residency);
  ModelInfo info{.spec = setup.spec(),
                 .device = PlacementText(setup.spans),
                 .compute_type = TypeName(setup.type),
                 .residency = options.residency,
                 .quantization = setup.checkpoint->quantization(),
                 .activation_quantization = setup.checkpoint->activation_quantization(),
                 .weight_bytes = std::accumulate(held.begin(), held.end(), int64_t{0}),
                 .warnings = setup.weights.warnings};
  LoadProgress loaded{.bytes_total = setup.weights.StoredBytes()};
  std::unique_ptr<Internals> internals;
  SINKD_RETURN_IF_ERROR(AtTorchBoundary([&]() -> absl::Status {
    FileTensorLoader loader(
        *setup.checkpoint, setup.type,
        [&](int64_t bytes) {
          loaded.bytes_done += bytes;
          if (progress) progress(loaded);
        },
        stop);
    loader.LoadOnto(at::Device(setup.spans.front().device));
    SINKD_ASSIGN_OR_RETURN(OuterWeights outer, LoadOuterWeights(loader, setup.weights.decoder));
    if (options.residency == Residency::kStreamed) loaded.bytes_total = loaded.bytes_done;
    SINKD_ASSIGN_OR_RETURN(std::unique_ptr<BlockSource> blocks,
                           LoadBlocks(setup, options.residency, loader));
    HeadFile head{folder, setup.weights.decoder.names.head};
    const AttentionSummary attention =
        SummarizeAttention(info.spec, setup.spans, setup.type == at::kBFloat16);
    info.attention = attention.ways;
    info.attention_fault = attention.fault;
    if (!attention.fault.empty()) {
      info.warnings.push_back(StrCat("attention is computed in strips, not ", attention.fault));
    }
    internals = std::make_unique<Internals>(info.spec, std::move(outer), std::move(blocks),
                                            std::move(head));
    return absl::OkStatus();
  }));
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
    const at::Device device = internals_->outer.embedding.device();
    const PackedBatch packed = Pack(batch, device);
    TraceBuilder builder(info_.spec, request, packed.offsets, device, packed.ids);
    SINKD_RETURN_IF_ERROR(internals_->decoder.Forward(packed, builder, stop));
    traces = builder.Finish();
    return absl::OkStatus();
  }));
  return traces;
}

void SetComputeThreads(int threads) {
  // oneDNN and what calls it keep the code made for each shape, and a pass may have any number of
  // rows: their 1024 entries each would in time hold hundreds of megabytes. The blocks of one pass
  // need a few.
  setenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "128", /*overwrite=*/0);
  setenv("LRU_CACHE_CAPACITY", "64", /*overwrite=*/0);
  KeepActivationsTogether();
  at::set_num_threads(threads);
}

}  // namespace sinkd
