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

// Of the vocabulary at once; whatever the number of rows, so that a row gets what it gets alone.
constexpr int64_t kTokens = 1024;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Sums over the vocabulary, part by part, that give the losses of rows.
class LossSums {
 public:
  // [rows] int64; borrowed.
  explicit LossSums(const at::Tensor& targets)
      : targets_(targets),
        log_total_(at::full(targets.sizes(), -kInfinity, targets.options().dtype(at::kDouble))),
        own_(at::zeros_like(log_total_)) {}

  // `logits` [rows, count] of the tokens from `first` on.
  void Add(int64_t first, const at::Tensor& logits) {
    const at::Tensor largest = logits.amax(1, /*keepdim=*/true);
    const at::Tensor sum = (logits - largest).exp_().sum(1, /*keepdim=*/false, at::kDouble);
    log_total_ = at::logaddexp(log_total_, sum.log_().add_(largest.squeeze(1)));
    const int64_t count = logits.size(1);
    const at::Tensor place = targets_ - first;
    const at::Tensor there = (place >= 0).logical_and(place < count);
    const at::Tensor logit = logits.gather(1, place.clamp(0, count - 1).unsqueeze(1)).squeeze(1);
    own_ = at::where(there, logit.to(at::kDouble), own_);
  }

  at::Tensor losses() const { return log_total_ - own_; }
  const at::Tensor& log_total() const { return log_total_; }

 private:
  const at::Tensor& targets_;
  at::Tensor log_total_, own_;  // [rows] float64
};

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

template <typename Add>
void Head::ForEachPart(const at::Tensor& states, const std::stop_token& stop, Add add) const {
  const int64_t vocabulary = RowsOf(weights_).size(0);
  for (int64_t first = 0; first < vocabulary && !stop.stop_requested(); first += kTokens) {
    Beat();
    add(first, Logits(states, first, std::min(kTokens, vocabulary - first)));
  }
}

at::Tensor Head::Losses(const at::Tensor& states, const at::Tensor& targets,
                        const std::stop_token& stop) const {
  LossSums sums(targets);
  ForEachPart(states, stop,
              [&](int64_t first, const at::Tensor& logits) { sums.Add(first, logits); });
  return sums.losses();
}

RowPredictions Head::Predict(const at::Tensor& states, const at::Tensor& targets,
                             const RowPredictions* base, const std::stop_token& stop) const {
  LossSums sums(targets);
  at::Tensor best = at::full({states.size(0)}, -kInfinity, states.options());
  RowPredictions found{.states = base == nullptr ? states : at::Tensor(),
                       .choices = at::zeros_like(targets)};
  ForEachPart(states, stop, [&](int64_t first, const at::Tensor& logits) {
    sums.Add(first, logits);
    const auto [largest, place] = logits.max(1);
    found.choices = at::where(largest > best, place + first, found.choices);
    best = at::maximum(best, largest);
    if (base == nullptr) return;
    const at::Tensor of_base = Logits(base->states, first, logits.size(1));
    const at::Tensor gaps = of_base - logits.view({-1, of_base.size(0), of_base.size(1)});
    const at::Tensor shares = (of_base.to(at::kDouble) - base->log_total.unsqueeze(1)).exp_();
    const at::Tensor part = (shares * gaps).sum(-1).flatten();
    found.divergence = found.divergence.defined() ? found.divergence + part : part;
  });
  found.losses = sums.losses();
  found.log_total = sums.log_total();
  if (!found.divergence.defined()) return found;
  const at::Tensor totals = found.log_total.view({-1, base->log_total.size(0)}) - base->log_total;
  found.divergence = found.divergence + totals.flatten();
  return found;
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
