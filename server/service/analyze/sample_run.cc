#include "server/service/analyze/sample_run.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <absl/strings/str_cat.h>

#include "server/analysis/record_builder.h"
#include "server/base/containment.h"
#include "server/base/status.h"
#include "server/service/analyze/stream_spec.h"
#include "server/service/runs/stored_record.h"

namespace sinkd {
namespace {

using SteadyClock = std::chrono::steady_clock;

// What alpha is made of. It may wait long for a client that reads slowly, without the rest.
Trace OnlyAlpha(Trace&& trace) {
  return {.layers = trace.layers,
          .positions = trace.positions,
          .heads = trace.heads,
          .attention_blocks = std::move(trace.attention_blocks),
          .attention_sum = std::move(trace.attention_sum),
          .attention_self = std::move(trace.attention_self)};
}

// Owned by the closure of whichever step is waiting or running.
class SampleFlow : public std::enable_shared_from_this<SampleFlow> {
 public:
  SampleFlow(std::shared_ptr<const StreamPlan> plan, IncomingSample sample, SampleDone done)
      : plan_(std::move(plan)), sample_(std::move(sample)), done_(std::move(done)) {}

  void Start() { Then(&SampleFlow::Encode); }

 private:
  using Step = absl::Status (SampleFlow::*)();

  // Runs `step` on the CPU executor; the first error of any step is the sample's answer.
  void Then(Step step) {
    const auto run = [self = shared_from_this(), step](const absl::Status& admitted) {
      absl::Status status = admitted.ok() ? (self.get()->*step)() : admitted;
      if (!status.ok()) self->done_(std::move(status));
    };
    absl::Status submitted =
        plan_->cpu->Submit({.run = run, .stop = plan_->stop, .deadline = plan_->deadline});
    if (!submitted.ok()) done_(std::move(submitted));
  }

  absl::Status Encode() {
    SINKD_ASSIGN_OR_RETURN(std::optional<StoredAnswer> stored,
                           Contained([this] { return EncodeOrFind(); }));
    if (stored) {
      SINKD_ASSIGN_OR_RETURN(v1::SampleRecord record, *std::move(stored));
      done_(SampleResult{.record = std::move(record)});
      return absl::OkStatus();
    }
    if (plan_->principal) {
      SINKD_RETURN_IF_ERROR(
          plan_->principal->TakeTokens(static_cast<int64_t>(encoded_.ids.size())));
    }
    WaitForDevice();
    return absl::OkStatus();
  }

  // What the run holds of the sample already, if it does.
  absl::StatusOr<std::optional<StoredAnswer>> EncodeOrFind() {
    SINKD_ASSIGN_OR_RETURN(
        encoded_, EncodeChecked(*plan_->runner, sample_.input, plan_->spec.template_date(),
                                plan_->max_sample_tokens, {plan_->principal.get(), plan_->stop},
                                *plan_->phases));
    if (!plan_->keeper) return std::nullopt;
    if (sample_.id.empty()) sample_.input_digest = DigestOfTokens(encoded_);
    key_ = sample_.id.empty() ? KeyOfDigest(sample_.input_digest) : KeyOfId(sample_.id);
    return plan_->keeper->Find(key_, sample_.input_digest, sample_.index);
  }

  void WaitForDevice() {
    const SteadyClock::time_point since = SteadyClock::now();
    const auto self = shared_from_this();
    plan_->queue->Push(
        {.ids = encoded_.ids,
         .begun =
             [self, since] {
               const std::chrono::duration<double> waited = SteadyClock::now() - since;
               self->plan_->phases->Add(SamplePhase::kQueue, waited);
               self->plan_->metrics.lanes().Waited(LaneName(LaneOf(self->plan_->spec)), waited);
             },
         .done =
             [self](absl::StatusOr<Trace> trace, std::chrono::duration<double> compute) {
               if (!trace.ok()) return self->done_(trace.status());
               self->plan_->phases->Add(SamplePhase::kForward, compute);
               self->trace_ = *std::move(trace);
               self->Then(&SampleFlow::Analyse);
             }});
  }

  absl::Status Analyse() {
    SINKD_ASSIGN_OR_RETURN(SampleResult result, Contained([this] { return MakeResult(); }));
    done_(std::move(result));
    return absl::OkStatus();
  }

  absl::StatusOr<SampleResult> MakeResult() {
    const SteadyClock::time_point begin = SteadyClock::now();
    const v1::AnalysisSpec& spec = plan_->spec;
    const SampleFacts facts{.sample_index = sample_.index,
                            .sample_id = sample_.id,
                            .token_ids = encoded_.ids,
                            .prompt_tokens = encoded_.prompt_tokens,
                            .response_tokens = encoded_.response_tokens,
                            .chat_rendered = encoded_.chat_rendered,
                            .token_spans_boundary = encoded_.token_spans_boundary,
                            .bfloat16 = plan_->runner->info().compute_type == "bfloat16",
                            .arithmetic = plan_->arithmetic};
    SampleResult result;
    const auto text_of = [this](int32_t id) { return plan_->runner->TokenText(id); };
    SINKD_ASSIGN_OR_RETURN(result.record, BuildRecord(spec, facts, trace_, text_of));
    plan_->phases->Add(SamplePhase::kAnalyse, SteadyClock::now() - begin);
    if (plan_->keeper) {
      result.to_keep = KeepRecord(key_, sample_.input_digest, result.record, &encoded_);
    }
    const bool wants_alpha = spec.scores().all_positions() && !spec.summary_only();
    if (wants_alpha) result.trace = OnlyAlpha(std::move(trace_));
    return result;
  }

  const std::shared_ptr<const StreamPlan> plan_;
  IncomingSample sample_;
  const SampleDone done_;
  EncodedSample encoded_;
  std::string key_;  // in the stream's run, if it has one
  Trace trace_;
};

}  // namespace

void RunSample(std::shared_ptr<const StreamPlan> plan, IncomingSample sample, SampleDone done) {
  std::make_shared<SampleFlow>(std::move(plan), std::move(sample), std::move(done))->Start();
}

absl::StatusOr<EncodedSample> EncodeChecked(const SampleRunner& runner, const SampleInput& input,
                                            std::string_view date, int64_t max_sample_tokens,
                                            const EncodeCaller& caller, PhaseTimes& phases) {
  const SteadyClock::time_point begin = SteadyClock::now();
  const DecoderSpec& spec = runner.info().spec;
  const EncodeLimit limit{.max_tokens = std::min(spec.max_positions, max_sample_tokens),
                          .stop = caller.stop};
  SINKD_ASSIGN_OR_RETURN(EncodedSample encoded, runner.Encode(input, date, limit));
  phases.Add(SamplePhase::kEncode, SteadyClock::now() - begin);
  absl::Status checked = CheckEncoded(encoded, spec, max_sample_tokens);
  if (checked.ok()) return encoded;
  if (caller.principal) {
    SINKD_RETURN_IF_ERROR(caller.principal->TakeTokens(static_cast<int64_t>(encoded.ids.size())));
  }
  return checked;
}

absl::Status CheckEncoded(const EncodedSample& sample, const DecoderSpec& spec,
                          int64_t max_sample_tokens) {
  const auto length = static_cast<int64_t>(sample.ids.size());
  if (length == 0) {
    return InvalidArgument("the sample is empty: it has no tokens",
                           {.reason = "SAMPLE_EMPTY",
                            .subject = "sample.input",
                            .fix = "send at least one token, or leave the sample out"});
  }
  const bool model_is_shorter = spec.max_positions < max_sample_tokens;
  const int64_t limit = model_is_shorter ? spec.max_positions : max_sample_tokens;
  if (length > limit) {
    const std::string count =
        sample.is_beginning ? absl::StrCat("more than ", limit) : absl::StrCat(length);
    return InvalidArgument(
        absl::StrCat("the sample has ", count, " tokens, ",
                     model_is_shorter ? "the model takes at most " : "the server takes at most ",
                     limit),
        {.reason = "SAMPLE_TOO_LONG",
         .subject = "sample.input",
         .value = count,
         .fix = model_is_shorter ? "cut or split the sample"
                                 : "cut or split the sample, or raise --max-sample-tokens"});
  }
  for (int64_t i = 0; i < length; ++i) {
    const int32_t id = sample.ids[static_cast<size_t>(i)];
    if (id >= 0 && id < spec.vocabulary) continue;
    return InvalidArgument(
        absl::StrCat("token ids of this model are in [0, ", spec.vocabulary, ")"),
        {.reason = "TOKEN_ID_OUT_OF_RANGE",
         .subject = absl::StrCat("sample.token_ids.ids[", i, "]"),
         .value = absl::StrCat(id),
         .fix = "encode the text with this checkpoint's own tokenizer"});
  }
  return absl::OkStatus();
}

}  // namespace sinkd
