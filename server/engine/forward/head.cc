#include "server/engine/forward/head.h"

#include <algorithm>
#include <limits>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/base/work_beat.h"
#include "server/engine/checkpoint/checkpoint.h"
#include "server/engine/forward/linear.h"
#include "server/engine/forward/model_internals.h"
#include "server/engine/forward/torch_boundary.h"
#include "server/engine/intervention.h"
#include "server/engine/memory/device.h"
#include "server/engine/weights/file_tensor_loader.h"

namespace sinkd {
namespace {

constexpr int64_t kLogits = int64_t{1} << 23;  // at once
constexpr int64_t kLeastTokens = 1024;

absl::Status CheckFits(const std::string& tensor, int64_t bytes, const at::Device& device) {
  const int64_t free = FreeBytes(device);
  if (free == 0 || bytes <= free) return absl::OkStatus();
  return ResourceExhausted(
      StrCat("the output head does not fit on ", device.str(), ", which has ", free, " bytes free"),
      {.reason = "HEAD_TOO_LARGE",
       .subject = tensor,
       .value = StrCat(bytes, " bytes"),
       .fix = "unload another model, or ask for no loss"});
}

// The weights of an untied head and the bias of one that has it.
absl::Status ReadHead(const Model::Internals& internals, const std::stop_token& stop,
                      at::Tensor& weights, at::Tensor& bias) {
  const HeadFile& file = internals.head_file;
  const bool tied = internals.spec.tied_head;
  const std::string tensor = file.name + (tied ? ".bias" : ".weight");
  absl::StatusOr<Checkpoint> checkpoint = Checkpoint::Open(file.folder);
  if (!checkpoint.ok()) {
    return FailedPrecondition(
        StrCat("the checkpoint cannot be opened again for its output head: ",
               checkpoint.status().message()),
        {.reason = "NO_HEAD", .subject = tensor, .fix = "put the checkpoint back"});
  }
  if (checkpoint->Find(tensor) == nullptr) {
    return FailedPrecondition(StrCat("the checkpoint has no output head, tensor ", tensor,
                                     ", and it is not tied to the embedding"),
                              {.reason = "NO_HEAD",
                               .subject = tensor,
                               .fix = "ask for no loss, or use a checkpoint with a head"});
  }
  const at::Tensor& embedding = internals.outer.embedding;
  FileTensorLoader loader(*checkpoint, embedding.scalar_type(), {}, stop);
  loader.LoadOnto(embedding.device());
  if (!tied) {
    SINKD_RETURN_IF_ERROR(
        CheckFits(tensor, static_cast<int64_t>(embedding.nbytes()), embedding.device()));
    SINKD_ASSIGN_OR_RETURN(weights,
                           loader.LoadWeights({{tensor, embedding.size(0)}}, embedding.size(1)));
  }
  if (!internals.spec.head_bias) return absl::OkStatus();
  SINKD_ASSIGN_OR_RETURN(bias, loader.Load(file.name + ".bias", {embedding.size(0)}, {}));
  return absl::OkStatus();
}

}  // namespace

at::Tensor Head::Losses(const at::Tensor& states, const at::Tensor& targets,
                        const std::stop_token& stop) const {
  const int64_t rows = states.size(0);
  const int64_t vocabulary = RowsOf(weights_).size(0);
  const int64_t step = std::max(kLeastTokens, kLogits / std::max<int64_t>(1, rows));
  const at::TensorOptions options = states.options().dtype(at::kDouble);
  at::Tensor all = at::full({rows}, -std::numeric_limits<double>::infinity(), options);
  at::Tensor own = at::zeros({rows}, options);
  for (int64_t first = 0; first < vocabulary && !stop.stop_requested(); first += step) {
    Beat();
    const int64_t count = std::min(step, vocabulary - first);
    const at::Tensor logits = Logits(states, first, count);
    all = at::logaddexp(all, at::logsumexp(logits, at::IntArrayRef{1}).to(at::kDouble));
    const at::Tensor place = targets - first;
    const at::Tensor there = (place >= 0).logical_and(place < count);
    const at::Tensor logit = logits.gather(1, place.clamp(0, count - 1).unsqueeze(1)).squeeze(1);
    own = at::where(there, logit.to(at::kDouble), own);
  }
  return all - own;
}

at::Tensor Head::Logits(const at::Tensor& states, int64_t first, int64_t count) const {
  const at::Tensor part = weights_.narrow(weights_.dim() - 2, first, count).to(at::kFloat);
  const at::Tensor bias = bias_.defined() ? bias_.narrow(0, first, count).to(at::kFloat) : bias_;
  at::Tensor logits = Linear(states, part, bias);
  if (scale_ != 1) logits = logits * scale_;
  return cap_ > 0 ? cap_ * at::tanh(logits / cap_) : logits;
}

absl::StatusOr<std::shared_ptr<const Head>> LoadHead(const Model& model, std::stop_token stop) {
  const Model::Internals& internals = model.internals();
  at::Tensor weights = internals.outer.embedding;
  at::Tensor bias;
  if (!internals.spec.tied_head || internals.spec.head_bias) {
    SINKD_RETURN_IF_ERROR(AtTorchBoundary([&]() -> absl::Status {
      const c10::InferenceMode inference;
      return ReadHead(internals, stop, weights, bias);
    }));
  }
  return std::make_shared<const Head>(std::move(weights), std::move(bias), internals.spec);
}

}  // namespace sinkd
