// ToyModel: a StudyModel whose numbers can be worked out by hand.
//
// A state has three channels: SINK, CONST, WORD. Token k begins as kEmbeddings[k]; attention adds
// nothing; the MLP of block b adds kWrites[k][b] to SINK, whatever the state. mlp_in is the state.
// The MLP by itself hands back what it is given. Six blocks:
//
//   token  is              state (SINK, CONST, WORD) after blocks 0..5
//   0      the first       (0,1,0) (100,1,0) (101,1,0) (102,1,0) (102,1,0) (2,1,0)
//   1      a sink word     (0,1,2) (0,1,2)   (30,1,2)  (30,1,2)  (0,1,2)   (0,1,2)
//   2      plain           (0,1,2) in all
//   3      a later sink    (0,1,0) (0,1,0)   (0,1,0)   (40,1,0)  (40,1,0)  (40,1,0)
//   4      plain too       (0,2,0) in all
//   5      broken          not finite
//
// so that token 0 is primary in [1, 5), token 1 shows at layers 2 and 3, token 3 at 3 and 4.
// Thread-safety: one thread at a time.
#pragma once

#include <array>
#include <vector>

#include "server/mechanism/study_model.h"

namespace sinkd {

class ToyModel final : public StudyModel {
 public:
  static constexpr int64_t kBlocks = 6;
  static constexpr int64_t kHidden = 3;
  static constexpr double kAlpha = 0.25;  // of every position, in every block and head

  ToyModel();

  const ModelInfo& info() const override { return info_; }
  std::string TokenText(int32_t id) const override { return "token " + std::to_string(id); }
  absl::StatusOr<std::vector<Trace>> Run(std::span<const TokenIds> batch,
                                         const TraceRequest& request,
                                         std::stop_token stop) const override;
  absl::StatusOr<std::shared_ptr<const Head>> LoadHead(std::stop_token stop) const override;
  // The loss is the mean of SINK after the last block, over positions. Of a position, the same is
  // its loss, its size its divergence, and its sign its choice.
  absl::StatusOr<InterventionOutcome> Intervene(const TokenIds& ids,
                                                std::span<const Variant> variants,
                                                const InterventionRequest& request,
                                                std::stop_token stop) const override;
  absl::StatusOr<std::vector<Matrix>> Capture(const TokenIds& ids,
                                              std::span<const CaptureRequest> requests,
                                              std::stop_token stop) const override;
  absl::StatusOr<Matrix> RunMlpAlone(int64_t block, const Matrix& rows,
                                     std::stop_token stop) const override;
  // ||key|| is position + 1, ||value|| ten times that.
  absl::StatusOr<RowNorms> MeasureNorms(const TokenIds& ids, std::stop_token stop) const override;
  absl::StatusOr<std::vector<BlockEntries>> FindLargeEntries(const TokenIds& ids, int64_t top,
                                                             std::span<const int64_t> rest,
                                                             std::stop_token stop) const override;
  // The logarithm of the window's length, whatever is in it.
  absl::StatusOr<std::vector<std::vector<BlockEntropy>>> MeasureEntropy(
      const TokenIds& ids, std::span<const std::vector<int64_t>> windows, double alpha,
      std::stop_token stop) const override;

  // Calls of Run, in order: the number of tokens of each.
  mutable std::vector<int64_t> run_tokens;
  // Variants of each call of Intervene.
  mutable std::vector<int64_t> variants_run;
  // While positive, counts down at each call into the model; at zero they answer CANCELLED.
  mutable int64_t calls_left = -1;

 private:
  using Row = std::array<float, kHidden>;
  // Values of one site: [block][position].
  struct Pass {
    std::vector<std::vector<Row>> mlp_in, mlp_out, resid_post;
  };
  Pass Forward(const TokenIds& ids, const Variant& variant) const;
  Trace MakeTrace(const TokenIds& ids, const Pass& pass, const TraceRequest& request) const;
  absl::Status Enter() const;

  ModelInfo info_;
};

}  // namespace sinkd
