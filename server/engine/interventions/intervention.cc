#include "server/engine/intervention.h"

#include <algorithm>
#include <map>
#include <numeric>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/base/work_beat.h"
#include "server/engine/forward/head.h"
#include "server/engine/forward/loss_meter.h"
#include "server/engine/forward/model_internals.h"
#include "server/engine/forward/prediction_meter.h"
#include "server/engine/forward/torch_boundary.h"
#include "server/engine/interventions/edit_checks.h"
#include "server/engine/interventions/variant_start.h"
#include "server/engine/taps/tap_group.h"
#include "server/engine/taps/trace_builder.h"

namespace sinkd {
namespace {

// What attention adds at the block under way.
class AttentionKeeper final : public TapObserver {
 public:
  bool Wants(Site site, int64_t) const override { return site == Site::kAttnOut; }
  void OnRows(Site, int64_t, int64_t, const at::Tensor& rows) override { rows_ = rows; }
  const at::Tensor& rows() const { return rows_; }

 private:
  at::Tensor rows_;
};

void TakePredictions(Predictions& predictions, PassOutcome& outcome) {
  const std::vector<double>& losses = predictions.losses;
  if (!losses.empty()) {
    outcome.loss =
        std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size());
  }
  outcome.predictions = std::move(predictions);
}

// Turns one packed batch's pass into outcomes.
class Meter {
 public:
  // `base`: null, or to compare what the passes predict with.
  Meter(const Model::Internals& model, const InterventionRequest& request, const PackedBatch& batch,
        const RowPredictions* base, const std::stop_token& stop)
      : builder_(model.spec, request.trace, batch.offsets, batch.ids.device()) {
    if (base != nullptr) {
      predictions_.emplace(*request.head, batch, base, stop);
    } else if (request.head) {
      loss_.emplace(*request.head, batch, stop);
    }
  }

  std::vector<TapObserver*> observers() {
    if (predictions_) return {&builder_, &*predictions_};
    if (loss_) return {&builder_, &*loss_};
    return {&builder_};
  }

  std::vector<PassOutcome> Finish() {
    std::vector<PassOutcome> outcomes;
    for (Trace& trace : builder_.Finish())
      outcomes.push_back({.trace = std::move(trace), .loss = {}, .predictions = {}});
    if (predictions_) {
      std::vector<Predictions> predictions = predictions_->Finish();
      for (size_t s = 0; s < outcomes.size(); ++s) TakePredictions(predictions[s], outcomes[s]);
    } else if (loss_) {
      const std::vector<std::optional<double>> losses = loss_->Finish();
      for (size_t s = 0; s < outcomes.size(); ++s) outcomes[s].loss = losses[s];
    }
    return outcomes;
  }

 private:
  TraceBuilder builder_;
  std::optional<LossMeter> loss_;
  std::optional<PredictionMeter> predictions_;
};

// One sample and its variants.
class Runner {
 public:
  Runner(const Model::Internals& model, const TokenIds& ids, std::span<const Variant> variants,
         const InterventionRequest& request, const std::stop_token& stop)
      : model_(model),
        ids_(ids),
        variants_(variants),
        request_(request),
        stop_(stop),
        end_(request.head ? model.spec.blocks : request.end_block.value_or(model.spec.blocks)),
        starts_(variants.size()) {
    outcome_.variants.resize(variants.size());
    for (size_t v = 0; v < variants.size(); ++v) {
      const std::optional<int64_t> first = FirstEditedBlock(variants[v]);
      if (first && *first < end_) beginning_at_[*first].push_back(v);
    }
  }

  absl::StatusOr<InterventionOutcome> Run() {
    if (request_.head && request_.predictions) SINKD_RETURN_IF_ERROR(Predict());
    SINKD_RETURN_IF_ERROR(RunBase());
    FillFromBase();
    const auto passes = 1 + static_cast<int64_t>(variants_.size());
    outcome_.naive_block_rows = Length() * model_.spec.blocks * passes;
    return std::move(outcome_);
  }

 private:
  int64_t Length() const { return static_cast<int64_t>(ids_.size()); }

  PackedBatch Batch(size_t samples) const {
    return Pack(std::vector<TokenIds>(samples, ids_), model_.outer.embedding.device());
  }

  // The pass that what the variants predict is compared with.
  absl::Status Predict() {
    const PackedBatch batch = Batch(1);
    PredictionMeter meter(*request_.head, batch, nullptr, stop_);
    SINKD_RETURN_IF_ERROR(model_.decoder.Forward(batch, meter, stop_));
    if (stop_.stop_requested()) return Cancelled("the analysis was cancelled");
    outcome_.block_rows += Length() * model_.spec.blocks;
    predicted_ = meter.Rows();
    TakePredictions(meter.Finish().front(), outcome_.base);
    return absl::OkStatus();
  }

  // Null without predictions.
  const RowPredictions* predicted() const {
    return predicted_.states.defined() ? &predicted_ : nullptr;
  }

  absl::Status RunBase() {
    const int64_t blocks = model_.spec.blocks;
    const PackedBatch batch = Batch(1);
    InterventionRequest base_request = request_;
    if (predicted() != nullptr) base_request.head = nullptr;
    Meter meter(model_, base_request, batch, nullptr, stop_);
    DecoderPass pass(model_.spec, model_.outer, batch);
    std::unique_ptr<BlockCursor> cursor = model_.blocks->Begin(0, blocks, stop_);
    for (int64_t l = 0; l < blocks; ++l) {
      SINKD_ASSIGN_OR_RETURN(const BlockWeights* weights, cursor->Next());
      const auto begin = beginning_at_.find(l);
      const bool begins = begin != beginning_at_.end();
      std::vector<TapObserver*> observers = meter.observers();
      AttentionKeeper attention;
      if (begins) observers.push_back(&attention);
      TapGroup taps(observers);
      at::Tensor in = begins ? pass.states().front() : at::Tensor();
      SINKD_RETURN_IF_ERROR(pass.RunBlock(*weights, l, {}, taps, stop_));
      outcome_.block_rows += Length();
      if (!begins) continue;
      const at::Tensor& out = pass.states().front();
      const BaseBlock base{.block = l,
                           .weights = weights,
                           .in = in.to(out.device()),
                           .attention = attention.rows(),
                           .out = out};
      for (const size_t v : begin->second) {
        starts_[v] = StartVariant(pass, base, variants_[v]);
        outcome_.block_rows += static_cast<int64_t>(starts_[v].positions.size());
      }
      // Streamed, the passes of the variants take the place of this one's blocks.
      cursor.reset();
      const auto later = std::stable_partition(begin->second.begin(), begin->second.end(),
                                               [&](size_t v) { return starts_[v].whole_block; });
      SINKD_RETURN_IF_ERROR(RunVariants(pass, base, {begin->second.begin(), later}));
      SINKD_RETURN_IF_ERROR(RunVariants(pass, base, {later, begin->second.end()}));
      cursor = model_.blocks->Begin(l + 1, blocks, stop_);
    }
    TapGroup taps(meter.observers());
    pass.Finish(taps);
    return Done(meter, [&](size_t, PassOutcome outcome) {
      outcome_.base.trace = std::move(outcome.trace);
      if (predicted() == nullptr) outcome_.base.loss = outcome.loss;
    });
  }

  // `which` all begin at the base's block, with it or after it; its weights may be gone.
  absl::Status RunVariants(const DecoderPass& base_pass, const BaseBlock& base,
                           std::span<const size_t> which) {
    const auto at_once = static_cast<size_t>(std::max<int64_t>(1, kVariantRows / Length()));
    for (size_t first = 0; first < which.size(); first += at_once) {
      SINKD_RETURN_IF_ERROR(
          RunBatch(base_pass, base, which.subspan(first, std::min(at_once, which.size() - first))));
    }
    return absl::OkStatus();
  }

  absl::Status RunBatch(const DecoderPass& base_pass, const BaseBlock& base,
                        std::span<const size_t> which) {
    const PackedBatch batch = Batch(which.size());
    Meter meter(model_, request_, batch, predicted(), stop_);
    TapGroup taps(meter.observers());
    const bool whole = starts_[which.front()].whole_block;
    const int64_t first = whole ? base.block : base.block + 1;
    std::vector<at::Tensor> states;
    std::vector<const Variant*> edits;
    for (const size_t v : which) {
      states.push_back(whole ? base.in : StateAfterStart(base, starts_[v]));
      starts_[v].out.reset();
      edits.push_back(&variants_[v]);
    }
    const bool shown = !whole && taps.Wants(Site::kResidPost, base.block);
    for (size_t s = 0; s < which.size() && shown; ++s) {
      taps.OnRows(Site::kResidPost, base.block, batch.offsets[s], states[s]);
    }
    DecoderPass pass(base_pass, states);
    states.clear();
    SINKD_RETURN_IF_ERROR(
        model_.decoder.Continue(pass, first, taps, stop_, {.end_block = end_, .edits = edits}));
    outcome_.block_rows += batch.offsets.back() * (end_ - first);
    return Done(meter, [&](size_t s, PassOutcome outcome) {
      outcome_.variants[which[s]] = std::move(outcome);
    });
  }

  // A loss that was stopped halfway means nothing.
  absl::Status Done(Meter& meter, const std::function<void(size_t, PassOutcome)>& take) const {
    Beat();
    if (stop_.stop_requested()) return Cancelled("the analysis was cancelled");
    std::vector<PassOutcome> outcomes = meter.Finish();
    for (size_t s = 0; s < outcomes.size(); ++s) take(s, std::move(outcomes[s]));
    return absl::OkStatus();
  }

  // Gives every variant what it shares with the base.
  void FillFromBase() {
    std::vector<bool> ran(variants_.size());
    for (const auto& [block, which] : beginning_at_) {
      for (const size_t v : which) {
        ran[v] = true;
        TakeFromBase(outcome_.base.trace, block, end_, starts_[v], outcome_.variants[v].trace);
      }
    }
    for (size_t v = 0; v < variants_.size(); ++v) {
      if (ran[v]) continue;
      outcome_.variants[v] = {.trace = CutTrace(outcome_.base.trace, end_),
                              .loss = outcome_.base.loss,
                              .predictions = outcome_.base.predictions};
      outcome_.variants[v].predictions.divergence.assign(outcome_.base.predictions.losses.size(),
                                                         0);
    }
  }

  const Model::Internals& model_;
  const TokenIds& ids_;
  const std::span<const Variant> variants_;
  const InterventionRequest& request_;
  const std::stop_token& stop_;
  const int64_t end_;
  std::map<int64_t, std::vector<size_t>> beginning_at_;  // variants by block
  std::vector<VariantStart> starts_;                     // of each variant
  RowPredictions predicted_;                             // of the base; empty when not asked for
  InterventionOutcome outcome_;
};

absl::Status CheckEnd(const DecoderSpec& spec, const std::optional<int64_t>& end_block) {
  if (!end_block || (*end_block >= 0 && *end_block <= spec.blocks)) return absl::OkStatus();
  return InvalidArgument(StrCat("a pass cannot end there; the model has ", spec.blocks, " blocks"),
                         {.reason = "BLOCK_OUT_OF_RANGE",
                          .subject = "end_block",
                          .value = StrCat(*end_block),
                          .fix = StrCat("choose from 0 to ", spec.blocks)});
}

}  // namespace

absl::StatusOr<InterventionOutcome> Intervene(const Model& model, const TokenIds& ids,
                                              std::span<const Variant> variants,
                                              const InterventionRequest& request,
                                              std::stop_token stop) {
  const DecoderSpec& spec = model.info().spec;
  SINKD_RETURN_IF_ERROR(CheckSample(spec, 0, ids));
  SINKD_RETURN_IF_ERROR(CheckEnd(spec, request.end_block));
  SINKD_RETURN_IF_ERROR(CheckVariants(spec, variants, static_cast<int64_t>(ids.size())));
  InterventionOutcome outcome;
  SINKD_RETURN_IF_ERROR(AtTorchBoundary([&]() -> absl::Status {
    const c10::InferenceMode inference;
    Runner runner(model.internals(), ids, variants, request, stop);
    SINKD_ASSIGN_OR_RETURN(outcome, runner.Run());
    return absl::OkStatus();
  }));
  return outcome;
}

}  // namespace sinkd
