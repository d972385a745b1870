// LoadedStudyModel: a model of the registry as studies see it. What a step takes on the model's
// devices is held of their memory budget while it runs, and an output head while it lives.
//
// Ownership: holds the handle, and so keeps the model loaded.
// Thread-safety and errors: as the functions of the engine behind each method; RESOURCE_EXHAUSTED
// when the budget has no room.
#pragma once

#include <memory>

#include "server/mechanism/study_model.h"
#include "server/models/pass_memory.h"
#include "server/models/registry.h"

namespace sinkd {

class LoadedStudyModel final : public StudyModel {
 public:
  LoadedStudyModel(ModelHandle handle, std::shared_ptr<MemoryBudget> budget)
      : handle_(std::move(handle)), memory_(model().info(), std::move(budget)) {}

  const ModelInfo& info() const override;
  std::string TokenText(int32_t id) const override;  // empty without a tokenizer
  absl::StatusOr<std::vector<Trace>> Run(std::span<const TokenIds> batch,
                                         const TraceRequest& request,
                                         std::stop_token stop) const override;
  absl::StatusOr<std::shared_ptr<const Head>> LoadHead(std::stop_token stop) const override;
  absl::StatusOr<InterventionOutcome> Intervene(const TokenIds& ids,
                                                std::span<const Variant> variants,
                                                const InterventionRequest& request,
                                                std::stop_token stop) const override;
  absl::StatusOr<std::vector<Matrix>> Capture(const TokenIds& ids,
                                              std::span<const CaptureRequest> requests,
                                              std::stop_token stop) const override;
  absl::StatusOr<Matrix> RunMlpAlone(int64_t block, const Matrix& rows,
                                     std::stop_token stop) const override;
  absl::StatusOr<RowNorms> MeasureNorms(const TokenIds& ids, std::stop_token stop) const override;
  absl::StatusOr<std::vector<BlockEntries>> FindLargeEntries(const TokenIds& ids, int64_t top,
                                                             std::span<const int64_t> rest,
                                                             std::stop_token stop) const override;
  absl::StatusOr<std::vector<std::vector<BlockEntropy>>> MeasureEntropy(
      const TokenIds& ids, std::span<const std::vector<int64_t>> windows, double alpha,
      std::stop_token stop) const override;

 private:
  const Model& model() const { return *handle_->model; }
  // For a pass over `ids` once, and `beside` bytes more.
  absl::StatusOr<MemoryBudget::Hold> Hold(const TokenIds& ids, int64_t beside = 0) const;

  const ModelHandle handle_;
  const PassMemory memory_;
};

}  // namespace sinkd
