#include "server/engine/capture.h"

#include <algorithm>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/base/work_beat.h"
#include "server/engine/families/range_checks.h"
#include "server/engine/forward/mlp.h"
#include "server/engine/forward/model_internals.h"
#include "server/engine/forward/piece_sizes.h"
#include "server/engine/forward/torch_boundary.h"
#include "server/engine/numerics/matrix_tensor.h"
#include "server/engine/taps/sample_observer.h"

namespace sinkd {
namespace {

// Keeps the rows that requests name.
class RowKeeper final : public SampleObserver {
 public:
  explicit RowKeeper(std::span<const CaptureRequest> requests)
      : requests_(requests), kept_(requests.size()) {}

  bool Wants(Site site, int64_t block) const override {
    return std::any_of(requests_.begin(), requests_.end(), [&](const CaptureRequest& request) {
      return request.site == site && request.block == block;
    });
  }

  void OnRows(Site site, int64_t block, int64_t first_row, const at::Tensor& rows) override {
    for (size_t r = 0; r < requests_.size(); ++r) {
      const CaptureRequest& request = requests_[r];
      if (request.site == site && request.block == block) {
        Keep(request.positions, first_row, rows, kept_[r]);
      }
    }
  }

  void Finish() override {
    for (const at::Tensor& rows : kept_) matrices_.push_back(ToMatrix(rows));
  }

  std::vector<Matrix>& matrices() { return matrices_; }

 private:
  static void Keep(const std::vector<int64_t>& positions, int64_t first_row, const at::Tensor& rows,
                   at::Tensor& kept) {
    if (!kept.defined()) {
      kept = at::empty({static_cast<int64_t>(positions.size()), rows.size(1)},
                       rows.options().dtype(at::kFloat));
    }
    std::vector<int64_t> from, to;
    for (size_t i = 0; i < positions.size(); ++i) {
      const int64_t row = positions[i] - first_row;
      if (row < 0 || row >= rows.size(0)) continue;
      from.push_back(row);
      to.push_back(static_cast<int64_t>(i));
    }
    const auto index = [&](const std::vector<int64_t>& values) {
      return at::tensor(values, at::kLong).to(rows.device());
    };
    kept.index_copy_(0, index(to), rows.index_select(0, index(from)).to(at::kFloat));
  }

  const std::span<const CaptureRequest> requests_;
  std::vector<at::Tensor> kept_;  // [positions, width] float32 of each request
  std::vector<Matrix> matrices_;
};

absl::Status CheckRequest(const DecoderSpec& spec, const CaptureRequest& request,
                          int64_t positions) {
  SINKD_RETURN_IF_ERROR(CheckBlock(spec, request.block));
  if (!HasSite(spec, request.site, request.block)) {
    return InvalidArgument(
        StrCat("block ", request.block, " of this model has no ", SiteName(request.site)),
        {.reason = "NO_SUCH_SITE", .subject = "site", .fix = "choose another site or block"});
  }
  return CheckPositions(request.positions, positions);
}

}  // namespace

bool HasSite(const DecoderSpec& spec, Site site, int64_t block) {
  const bool dense = spec.HasDenseMlp(block);
  switch (site) {
    case Site::kKey:
    case Site::kValue:
      return spec.Attends(block) && spec.KeysOf(block) == block;
    case Site::kResidMid:
      return spec.HasResidMid(block);
    case Site::kMlpIn:
      return spec.HasMlp(block);
    case Site::kGate:
      return dense && spec.gating != Gating::kNone;
    case Site::kUp:
    case Site::kAct:
    case Site::kProduct:
      return dense;
    case Site::kFinalNorm:
      return block == spec.blocks - 1;
    default:
      return true;
  }
}

absl::StatusOr<std::vector<Matrix>> Capture(const Model& model, const TokenIds& ids,
                                            std::span<const CaptureRequest> requests,
                                            std::stop_token stop) {
  const DecoderSpec& spec = model.info().spec;
  SINKD_RETURN_IF_ERROR(CheckSample(spec, 0, ids));
  int64_t end = 0;
  for (const CaptureRequest& request : requests) {
    SINKD_RETURN_IF_ERROR(CheckRequest(spec, request, static_cast<int64_t>(ids.size())));
    end = std::max(end, request.block + 1);
  }
  if (requests.empty()) return std::vector<Matrix>();
  RowKeeper keeper(requests);
  SINKD_RETURN_IF_ERROR(ShowSample(model, ids, keeper, stop, end));
  return std::move(keeper.matrices());
}

absl::StatusOr<Matrix> RunMlpAlone(const Model& model, int64_t block, const Matrix& rows,
                                   std::stop_token stop) {
  const DecoderSpec& spec = model.info().spec;
  SINKD_RETURN_IF_ERROR(CheckBlock(spec, block));
  if (rows.columns != spec.hidden) {
    return InvalidArgument("rows do not have the width of the model's states",
                           {.reason = "BAD_WIDTH",
                            .subject = "rows",
                            .value = StrCat(rows.columns, " columns"),
                            .fix = StrCat("give ", spec.hidden)});
  }
  Matrix added;
  SINKD_RETURN_IF_ERROR(AtTorchBoundary([&]() -> absl::Status {
    const c10::InferenceMode inference;
    const auto cursor = model.internals().blocks->Begin(block, block + 1, stop);
    SINKD_ASSIGN_OR_RETURN(const BlockWeights* weights, cursor->Next());
    const at::Tensor in = ToTensor(rows, weights->options.device(), at::kFloat);
    TapObserver nobody;
    std::vector<at::Tensor> out;
    for (const at::Tensor& part : in.split(kMlpRows)) {
      Beat();
      if (stop.stop_requested()) return Cancelled("the analysis was cancelled");
      out.push_back(RunMlp(spec, *weights, part, {}, BlockTap(nobody, block, 0), 0));
    }
    added = ToMatrix(at::cat(out));
    return absl::OkStatus();
  }));
  return added;
}

}  // namespace sinkd
