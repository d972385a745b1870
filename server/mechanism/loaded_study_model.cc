#include "server/mechanism/loaded_study_model.h"

#include <algorithm>

#include "server/base/status.h"

namespace sinkd {
namespace {

constexpr int64_t kFloat = 4;
constexpr int64_t kDouble = 8;

int64_t Length(const TokenIds& ids) {
  return static_cast<int64_t>(ids.size());
}

}  // namespace

const ModelInfo& LoadedStudyModel::info() const {
  return model().info();
}

std::string LoadedStudyModel::TokenText(int32_t id) const {
  return handle_->tokenizer ? handle_->tokenizer->TokenText(id) : std::string();
}

absl::StatusOr<MemoryBudget::Hold> LoadedStudyModel::Hold(const TokenIds& ids,
                                                          int64_t beside) const {
  const int64_t length = Length(ids);
  return memory_.Hold({&length, 1}, beside);
}

absl::StatusOr<std::vector<Trace>> LoadedStudyModel::Run(std::span<const TokenIds> batch,
                                                         const TraceRequest& request,
                                                         std::stop_token stop) const {
  std::vector<int64_t> lengths;
  for (const TokenIds& ids : batch) lengths.push_back(Length(ids));
  SINKD_ASSIGN_OR_RETURN(const MemoryBudget::Hold hold, memory_.Hold(lengths));
  return model().Run(batch, request, stop);
}

// A tied head is the embedding, which is held already.
absl::StatusOr<std::shared_ptr<const Head>> LoadedStudyModel::LoadHead(std::stop_token stop) const {
  const DecoderSpec& spec = info().spec;
  if (spec.tied_head) return sinkd::LoadHead(model(), stop);
  const int64_t value = info().compute_type == "bfloat16" ? 2 : kFloat;
  SINKD_ASSIGN_OR_RETURN(MemoryBudget::Hold room,
                         memory_.HoldAtHome(spec.vocabulary * spec.hidden * value));
  SINKD_ASSIGN_OR_RETURN(std::shared_ptr<const Head> head, sinkd::LoadHead(model(), stop));
  const Head* const loaded = head.get();
  // The head goes first, its room after it.
  auto hold = std::make_shared<MemoryBudget::Hold>(std::move(room));
  return std::shared_ptr<const Head>(
      loaded, [hold, head = std::move(head)](const Head*) mutable { head.reset(); });
}

// The sample's states stay while its variants run.
absl::StatusOr<InterventionOutcome> LoadedStudyModel::Intervene(const TokenIds& ids,
                                                                std::span<const Variant> variants,
                                                                const InterventionRequest& request,
                                                                std::stop_token stop) const {
  const int64_t length = std::max<int64_t>(1, Length(ids));
  const int64_t at_once = std::clamp<int64_t>(static_cast<int64_t>(variants.size()), 1,
                                              std::max<int64_t>(1, kVariantRows / length));
  const std::vector<int64_t> lengths(static_cast<size_t>(at_once), length);
  const int64_t states = 3 * kFloat * length * info().spec.hidden;
  SINKD_ASSIGN_OR_RETURN(const MemoryBudget::Hold hold, memory_.Hold(lengths, states));
  return sinkd::Intervene(model(), ids, variants, request, stop);
}

// Rows of the widest site, on the device and as they leave it.
absl::StatusOr<std::vector<Matrix>> LoadedStudyModel::Capture(
    const TokenIds& ids, std::span<const CaptureRequest> requests, std::stop_token stop) const {
  const int64_t width = std::max(info().spec.hidden, info().spec.intermediate);
  int64_t rows = 0;
  for (const CaptureRequest& request : requests) {
    rows += static_cast<int64_t>(request.positions.size());
  }
  SINKD_ASSIGN_OR_RETURN(const MemoryBudget::Hold hold, Hold(ids, 2 * kFloat * rows * width));
  return sinkd::Capture(model(), ids, requests, stop);
}

absl::StatusOr<Matrix> LoadedStudyModel::RunMlpAlone(int64_t block, const Matrix& rows,
                                                     std::stop_token stop) const {
  SINKD_ASSIGN_OR_RETURN(const MemoryBudget::Hold hold, memory_.Hold({&rows.rows, 1}));
  return sinkd::RunMlpAlone(model(), block, rows, stop);
}

absl::StatusOr<RowNorms> LoadedStudyModel::MeasureNorms(const TokenIds& ids,
                                                        std::stop_token stop) const {
  SINKD_ASSIGN_OR_RETURN(const MemoryBudget::Hold hold, Hold(ids));
  return sinkd::MeasureNorms(model(), ids, stop);
}

absl::StatusOr<std::vector<BlockEntries>> LoadedStudyModel::FindLargeEntries(
    const TokenIds& ids, int64_t top, std::span<const int64_t> rest, std::stop_token stop) const {
  SINKD_ASSIGN_OR_RETURN(const MemoryBudget::Hold hold,
                         Hold(ids, kFloat * Length(ids) * info().spec.hidden));
  return sinkd::FindLargeEntries(model(), ids, top, rest, stop);
}

// Of a window: its rows in float64, scaled; their Gram matrix and what its eigenvalues take.
absl::StatusOr<std::vector<std::vector<BlockEntropy>>> LoadedStudyModel::MeasureEntropy(
    const TokenIds& ids, std::span<const std::vector<int64_t>> windows, double alpha,
    std::stop_token stop) const {
  const int64_t width = info().spec.hidden;
  const int64_t gram = std::min(Length(ids), width);
  SINKD_ASSIGN_OR_RETURN(const MemoryBudget::Hold hold,
                         Hold(ids, kDouble * (2 * Length(ids) * width + 3 * gram * gram)));
  return sinkd::MeasureEntropy(model(), ids, windows, alpha, stop);
}

}  // namespace sinkd
