#include "server/service/analyze/analyze_stream.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "server/base/sample_name.h"
#include "server/base/status.h"
#include "server/service/analyze/codec_sample.h"
#include "server/service/analyze/stream_spec.h"
#include "server/service/calls/message_bytes.h"
#include "server/service/calls/status_mapping.h"
#include "server/service/calls/stream_opening.h"

namespace sinkd {
namespace {

constexpr int64_t kMaxWaitingBytes = 8 << 20;
// Of answers, which lie in memory while a client reads nothing.
constexpr int64_t kMaxAnswerBytes = 512 << 10;
constexpr int64_t kFirstLargeAnswers = 2;  // at once, until it is known how large they are

// These say of a sample that the stream is over, not that the sample is bad.
bool EndsStream(const absl::Status& status) {
  return absl::IsCancelled(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsUnavailable(status);
}

absl::Status OutOfPlace(std::string_view what, std::string_view reason, std::string_view fix) {
  return InvalidArgument(
      what, {.reason = std::string(reason), .subject = "message", .fix = std::string(fix)});
}

}  // namespace

AnalyzeStream::AnalyzeStream(grpc::CallbackServerContext* context, std::string_view method,
                             const CallResources& calls, const StreamResources* resources,
                             const StreamLimits* limits)
    : Call(context, method, calls),
      resources_(*resources),
      limits_(*limits),
      last_progress_(SteadyClock::now()) {}

absl::Status AnalyzeStream::Start() {
  SINKD_ASSIGN_OR_RETURN(quota_place_, record().principal()->EnterStream());
  SINKD_ASSIGN_OR_RETURN(place_, calls().admission.EnterStream(caller().name));
  resources_.metrics.StreamOpened();
  return absl::OkStatus();
}

absl::Status AnalyzeStream::Received(grpc::ByteBuffer message) {
  sinks::v1::AnalyzeRequest request;
  const bool parsed = ParseMessage(message, request);
  std::string digest;
  // The plan was made by an earlier read.
  if (parsed && plan_ && plan_->keeper) digest = InputDigest(request.sample());
  std::optional<IncomingSample> sample;
  {
    const std::lock_guard lock(mutex_);
    if (ended()) return absl::OkStatus();
    SINKD_ASSIGN_OR_RETURN(sample, Take(parsed, std::move(request)));
    if (!digest.empty()) pending_.back().input_digest = digest;
    if (sample) {
      sample->input_digest = std::move(digest);
      pending_.back().input_bytes = static_cast<int64_t>(message.Length());
      waiting_bytes_ += pending_.back().input_bytes;
    }
  }
  if (sample) Run(*std::move(sample));
  return absl::OkStatus();
}

absl::Status AnalyzeStream::HalfClosed() {
  half_closed_ = true;
  if (plan_) return absl::OkStatus();
  return OutOfPlace("the stream was closed before its spec", "SPEC_MISSING",
                    "send a message with spec first");
}

CallRecord::Work AnalyzeStream::Done() {
  for (int64_t i = answered_; i < received_; ++i) {
    resources_.metrics.SampleDone(SampleOutcome::kCancelled, 0);
  }
  if (place_) resources_.metrics.StreamClosed();
  return {.model = plan_ ? ModelIdOf(plan_->spec) : std::string_view(),
          .samples = answered_,
          .tokens = tokens_};
}

absl::StatusOr<std::optional<IncomingSample>> AnalyzeStream::Take(
    bool parsed, sinks::v1::AnalyzeRequest&& request) {
  using Message = sinks::v1::AnalyzeRequest;
  absl::Status problem;  // of a sample's text
  if (!parsed) {
    // What was parsed before the fault is kept, and ends with the text that is at fault.
    problem = CheckTexts(request.sample());
    if (request.message_case() != Message::kSample || problem.ok()) {
      return MalformedMessage(*request.descriptor());
    }
  }
  if (request.message_case() == Message::MESSAGE_NOT_SET) {
    return OutOfPlace("a message holds neither spec nor sample", "EMPTY_MESSAGE",
                      "set spec in the first message and sample in every later one");
  }
  if (request.has_spec() && plan_) {
    return OutOfPlace("a second spec came", "SPEC_TWICE", "send one spec a stream, first");
  }
  if (request.has_spec()) {
    SINKD_RETURN_IF_ERROR(TakeSpec(request.spec()));
    return std::nullopt;
  }
  if (!plan_) {
    return OutOfPlace("a sample came before the spec", "SPEC_MISSING",
                      "send a message with spec first");
  }
  return TakeSample(std::move(*request.mutable_sample()), problem);
}

absl::Status AnalyzeStream::TakeSpec(const sinks::v1::AnalysisSpec& proto) {
  SINKD_ASSIGN_OR_RETURN(plan_, OpenStream(proto, resources_, limits_, caller(), deadline(), stop(),
                                           record().phases()));
  if (plan_->keeper) {
    OpenRun();
    return absl::OkStatus();
  }
  if (!plan_->spec.no_summary()) fold_.emplace(plan_->spec);
  Announce(std::nullopt);
  return absl::OkStatus();
}

std::optional<IncomingSample> AnalyzeStream::TakeSample(sinks::v1::Sample&& sample,
                                                        const absl::Status& problem) {
  IncomingSample out{.index = received_++, .id = EchoedSampleId(sample)};
  Pending& pending = pending_.emplace_back();
  pending.id = out.id;
  absl::StatusOr<SampleInput> input =
      problem.ok() ? DecodeSample(std::move(sample)) : absl::StatusOr<SampleInput>(problem);
  if (!input.ok()) {
    pending.result = std::make_unique<absl::StatusOr<SampleResult>>(input.status());
    return std::nullopt;
  }
  out.input = *std::move(input);
  return out;
}

void AnalyzeStream::Run(IncomingSample sample) {
  const int64_t index = sample.index;
  RunSample(plan_, std::move(sample),
            [this, self = shared_from_this(), index](absl::StatusOr<SampleResult> result) {
              const std::lock_guard lock(mutex_);
              if (ended()) return;
              const auto place = static_cast<size_t>(index - answered_);
              Pending& pending = pending_[place];
              pending.result = std::make_unique<absl::StatusOr<SampleResult>>(std::move(result));
              waiting_bytes_ -= pending.input_bytes;
              Pump();
            });
}

void AnalyzeStream::Ended() {
  if (plan_) {
    plan_->queue->Close();
    plan_->cpu->Drop();
    if (plan_->storing) plan_->storing->Drop();
  }
  NoteWritten();
  answer_.reset();
  pending_.clear();
}

void AnalyzeStream::Advance() {
  KeepReady();
  if (!writing() && !ended()) WriteNext();
  if (MayRead()) Read();
}

bool AnalyzeStream::MayRead() const {
  return !reading() && !half_closed_ && !ended() && !opening_run_ &&
         received_ - written_ < MostUnderWay() && waiting_bytes_ < kMaxWaitingBytes;
}

int64_t AnalyzeStream::MostUnderWay() const {
  if (!plan_ || plan_->spec.summary_only()) return limits_.read_ahead;
  const int64_t most = largest_answer_ > 0                    ? kMaxAnswerBytes / largest_answer_
                       : plan_->spec.scores().all_positions() ? kFirstLargeAnswers
                                                              : limits_.read_ahead;
  return std::clamp<int64_t>(most, 1, limits_.read_ahead);
}

void AnalyzeStream::WriteNext() {
  if (started_) {
    WriteMessage(*started_);
    started_.reset();
    return;
  }
  while (!ended()) {
    if (answer_) {
      if (WriteAnswer()) return;
    } else if (MayAnswerFirst()) {
      AnswerFirst();
    } else {
      break;
    }
  }
  if (ended() || !half_closed_ || opening_run_ || !pending_.empty()) return;
  if (summary_written_) return End(absl::OkStatus());
  if (summary_) {
    summary_written_ = true;
    return WriteMessage(*summary_);
  }
  SumUp();
}

bool AnalyzeStream::WriteAnswer() {
  if (const std::optional<sinks::v1::AnalyzeResponse> response = answer_->Next()) {
    WriteMessage(*response);
    answer_bytes_ += static_cast<int64_t>(response->ByteSizeLong());
    return true;
  }
  NoteWritten();
  largest_answer_ = std::max(largest_answer_, std::exchange(answer_bytes_, 0));
  answer_.reset();
  ++written_;
  return WriteProgress();
}

void AnalyzeStream::AnswerFirst() {
  Pending first = std::move(pending_.front());
  const int64_t index = answered_;
  absl::Status status = first.result->status();
  if (EndsStream(status)) return End(std::move(status));
  answer_begin_ = SteadyClock::now();
  pending_.pop_front();
  ++answered_;
  if (!status.ok()) {
    resources_.metrics.SampleDone(SampleOutcome::kFailed, 0);
    status = NameSample(status, index, first.id);
    if (plan_->spec.fail_fast()) return End(std::move(status));
    answer_ = SampleAnswer::Error(status, index, first.id);
    return;
  }
  SampleResult& result = **first.result;
  if (result.trace) {
    const size_t values = result.trace->attention_sum.size() + result.trace->attention_self.size();
    largest_answer_ = std::max(largest_answer_, static_cast<int64_t>(values * sizeof(float)));
  }
  resources_.metrics.SampleDone(SampleOutcome::kOk, result.record.positions());
  tokens_ += result.record.positions();
  if (fold_) {
    if (absl::Status added = fold_->Add(result.record); !added.ok()) return End(std::move(added));
  }
  if (plan_->spec.summary_only()) {
    answer_ = SampleAnswer::Silent();
    return;
  }
  resources_.metrics.RecordsSent(1);
  answer_ = SampleAnswer::Record(plan_->spec, std::move(result));
}

void AnalyzeStream::NoteWritten() {
  if (answer_bytes_ == 0) return;
  record().phases()->Add(SamplePhase::kWrite, SteadyClock::now() - answer_begin_);
}

bool AnalyzeStream::WriteProgress() {
  const SteadyClock::time_point now = SteadyClock::now();
  if (now - last_progress_ < limits_.progress_interval) return false;
  last_progress_ = now;
  sinks::v1::AnalyzeResponse response;
  response.mutable_progress()->set_samples_done(written_);
  response.mutable_progress()->set_samples_received(received_);
  response.mutable_progress()->set_tokens_done(tokens_);
  WriteMessage(response);
  return true;
}

void AnalyzeStream::WriteMessage(const sinks::v1::AnalyzeResponse& response) {
  Write(SerializeMessage(response));
}

}  // namespace sinkd
