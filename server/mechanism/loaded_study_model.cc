#include "server/mechanism/loaded_study_model.h"

namespace sinkd {

const ModelInfo& LoadedStudyModel::info() const {
  return model().info();
}

std::string LoadedStudyModel::TokenText(int32_t id) const {
  return handle_->tokenizer ? handle_->tokenizer->TokenText(id) : std::string();
}

absl::StatusOr<std::vector<Trace>> LoadedStudyModel::Run(std::span<const TokenIds> batch,
                                                         const TraceRequest& request,
                                                         std::stop_token stop) const {
  return model().Run(batch, request, stop);
}

absl::StatusOr<std::shared_ptr<const Head>> LoadedStudyModel::LoadHead(std::stop_token stop) const {
  return sinkd::LoadHead(model(), stop);
}

absl::StatusOr<InterventionOutcome> LoadedStudyModel::Intervene(const TokenIds& ids,
                                                                std::span<const Variant> variants,
                                                                const InterventionRequest& request,
                                                                std::stop_token stop) const {
  return sinkd::Intervene(model(), ids, variants, request, stop);
}

absl::StatusOr<std::vector<Matrix>> LoadedStudyModel::Capture(
    const TokenIds& ids, std::span<const CaptureRequest> requests, std::stop_token stop) const {
  return sinkd::Capture(model(), ids, requests, stop);
}

absl::StatusOr<Matrix> LoadedStudyModel::RunMlpAlone(int64_t block, const Matrix& rows,
                                                     std::stop_token stop) const {
  return sinkd::RunMlpAlone(model(), block, rows, stop);
}

absl::StatusOr<RowNorms> LoadedStudyModel::MeasureNorms(const TokenIds& ids,
                                                        std::stop_token stop) const {
  return sinkd::MeasureNorms(model(), ids, stop);
}

absl::StatusOr<std::vector<BlockEntries>> LoadedStudyModel::FindLargeEntries(
    const TokenIds& ids, int64_t top, std::span<const int64_t> rest, std::stop_token stop) const {
  return sinkd::FindLargeEntries(model(), ids, top, rest, stop);
}

absl::StatusOr<std::vector<std::vector<BlockEntropy>>> LoadedStudyModel::MeasureEntropy(
    const TokenIds& ids, std::span<const std::vector<int64_t>> windows, double alpha,
    std::stop_token stop) const {
  return sinkd::MeasureEntropy(model(), ids, windows, alpha, stop);
}

}  // namespace sinkd
