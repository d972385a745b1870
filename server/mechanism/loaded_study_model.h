// LoadedStudyModel: a model of the registry as studies see it.
//
// Ownership: holds the handle, and so keeps the model loaded.
// Thread-safety and errors: as the functions of the engine behind each method.
#pragma once

#include "server/mechanism/study_model.h"
#include "server/models/registry.h"

namespace sinkd {

class LoadedStudyModel final : public StudyModel {
 public:
  explicit LoadedStudyModel(ModelHandle handle) : handle_(std::move(handle)) {}

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

  const ModelHandle handle_;
};

}  // namespace sinkd
