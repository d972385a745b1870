#include "server/service/analyze/analyze_stream.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "server/base/containment.h"
#include "server/base/sample_name.h"
#include "server/base/status.h"
#include "server/service/analyze/codec_sample.h"
#include "server/service/analyze/codec_spec.h"
#include "server/service/calls/call_deadline.h"
#include "server/service/calls/message_bytes.h"
#include "server/service/calls/status_mapping.h"
#include "server/service/calls/stream_opening.h"

namespace sinkd {
namespace {

constexpr char kMethod[] = "sinks.v1.AnalysisService/Analyze";
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

AnalyzeStream* AnalyzeStream::Begin(grpc::CallbackServerContext* context,
                                    const StreamResources& resources, const StreamLimits& limits) {
  const auto stream = std::make_shared<AnalyzeStream>(context, resources, limits);
  {
    const std::lock_guard lock(stream->mutex_);
    stream->self_ = stream;
    if (absl::Status admitted = stream->Admit(); !admitted.ok()) stream->End(std::move(admitted));
    stream->Pump();
  }
  stream->EndOnAbort();
  return stream.get();
}

AnalyzeStream::AnalyzeStream(grpc::CallbackServerContext* context, const StreamResources& resources,
                             const StreamLimits& limits)
    : resources_(resources),
      limits_(limits),
      record_(*context, kMethod, resources.metrics),
      context_(*context),
      deadline_(DeadlineOf(*context)),
      last_progress_(SteadyClock::now()) {}

AnalyzeStream::~AnalyzeStream() = default;

absl::Status AnalyzeStream::Admit() {
  SINKD_RETURN_IF_ERROR(record_.admitted());
  SINKD_ASSIGN_OR_RETURN(quota_place_, record_.principal()->EnterStream());
  SINKD_ASSIGN_OR_RETURN(place_, resources_.admission.EnterStream(record_.caller().name));
  resources_.metrics.StreamOpened();
  return absl::OkStatus();
}

void AnalyzeStream::EndOnAbort() {
  on_abort_.emplace(resources_.admission.abort_token(), [weak = weak_from_this()] {
    if (const std::shared_ptr<AnalyzeStream> stream = weak.lock()) {
      const std::lock_guard lock(stream->mutex_);
      stream->End(ServerStopping());
      stream->Pump();
    }
  });
}

void AnalyzeStream::OnReadDone(bool ok) {
  sinks::v1::AnalyzeRequest request;
  bool parsed = false;
  std::string digest;
  const absl::Status read = Contained([&] {
    parsed = ok && ParseMessage(incoming_, request);
    // The plan was made by an earlier read.
    if (parsed && plan_ && plan_->keeper) digest = InputDigest(request.sample());
    return absl::OkStatus();
  });
  std::optional<IncomingSample> sample;
  {
    const std::lock_guard lock(mutex_);
    reading_ = false;
    if (ok) {
      const auto bytes = static_cast<int64_t>(incoming_.Length());
      incoming_.Clear();
      if (!read.ok()) End(read);
      if (!end_) sample = Take(parsed, std::move(request));
      if (!end_ && !digest.empty()) pending_.back().input_digest = digest;
      if (sample) {
        sample->input_digest = std::move(digest);
        waiting_bytes_ += pending_.back().input_bytes = bytes;
      }
    } else {
      half_closed_ = true;
      if (context_.IsCancelled()) {
        EndAsCancelled();
      } else if (!plan_) {
        End(OutOfPlace("the stream was closed before its spec", "SPEC_MISSING",
                       "send a message with spec first"));
      }
    }
  }
  if (sample) Run(*std::move(sample));
  const std::lock_guard lock(mutex_);
  Pump();
}

void AnalyzeStream::OnWriteDone(bool ok) {
  const std::lock_guard lock(mutex_);
  writing_ = false;
  if (!ok) End(Cancelled("the client went away"));
  Pump();
}

void AnalyzeStream::OnCancel() {
  const std::lock_guard lock(mutex_);
  EndAsCancelled();
  Pump();
}

void AnalyzeStream::OnDone() {
  std::shared_ptr<AnalyzeStream> self;  // outlives the lock
  const std::lock_guard lock(mutex_);
  stop_.request_stop();
  for (int64_t i = answered_; i < received_; ++i) {
    resources_.metrics.SampleDone(SampleOutcome::kCancelled, 0);
  }
  if (place_) resources_.metrics.StreamClosed();
  record_.End(*end_, {.model = plan_ ? std::string_view(plan_->spec.model_id) : std::string_view(),
                      .samples = answered_,
                      .tokens = tokens_});
  self = std::move(self_);
}

std::optional<IncomingSample> AnalyzeStream::Take(bool parsed,
                                                  sinks::v1::AnalyzeRequest&& request) {
  using Message = sinks::v1::AnalyzeRequest;
  absl::Status problem;  // of a sample's text
  if (!parsed) {
    // What was parsed before the fault is kept, and ends with the text that is at fault.
    problem = CheckTexts(request.sample());
    if (request.message_case() != Message::kSample || problem.ok()) {
      End(MalformedMessage(*request.descriptor()));
      return std::nullopt;
    }
  }
  if (request.message_case() == Message::MESSAGE_NOT_SET) {
    End(OutOfPlace("a message holds neither spec nor sample", "EMPTY_MESSAGE",
                   "set spec in the first message and sample in every later one"));
  } else if (request.has_spec() && plan_) {
    End(OutOfPlace("a second spec came", "SPEC_TWICE", "send one spec a stream, first"));
  } else if (request.has_spec()) {
    const absl::Status status = TakeSpec(request.spec());
    if (!status.ok()) End(status);
  } else if (!plan_) {
    End(OutOfPlace("a sample came before the spec", "SPEC_MISSING",
                   "send a message with spec first"));
  } else {
    return TakeSample(std::move(*request.mutable_sample()), problem);
  }
  return std::nullopt;
}

absl::Status AnalyzeStream::TakeSpec(const sinks::v1::AnalysisSpec& proto) {
  SINKD_ASSIGN_OR_RETURN(plan_, OpenStream(proto, resources_, limits_, record_.caller(), deadline_,
                                           stop_.get_token(), record_.phases()));
  if (plan_->keeper) {
    OpenRun();
    return absl::OkStatus();
  }
  if (!plan_->spec.no_summary) fold_.emplace(plan_->spec.analysis);
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
            [self = shared_from_this(), index](absl::StatusOr<SampleResult> result) {
              const std::lock_guard lock(self->mutex_);
              if (self->end_) return;
              const auto place = static_cast<size_t>(index - self->answered_);
              Pending& pending = self->pending_[place];
              pending.result = std::make_unique<absl::StatusOr<SampleResult>>(std::move(result));
              self->waiting_bytes_ -= pending.input_bytes;
              self->Pump();
            });
}

void AnalyzeStream::End(absl::Status status) {
  if (end_) return;
  end_ = std::move(status);
  stop_.request_stop();
  if (plan_) {
    plan_->queue->Close();
    plan_->cpu->Drop();
    if (plan_->storing) plan_->storing->Drop();
  }
  NoteWritten();
  answer_.reset();
  pending_.clear();
}

void AnalyzeStream::EndAsCancelled() {
  End(deadline_ <= Executor::Clock::now()
          ? absl::DeadlineExceededError("the deadline passed before the stream was done")
          : Cancelled("the client went away"));
}

void AnalyzeStream::Pump() {
  if (finished_) return;
  absl::Status moved = Contained([this] {
    KeepReady();
    if (!writing_ && !end_) WriteNext();
    return absl::OkStatus();
  });
  if (!moved.ok()) End(std::move(moved));
  if (!writing_ && end_) {
    finished_ = true;
    Finish(ToGrpcStatus(*end_));
    return;
  }
  if (MayRead()) {
    reading_ = true;
    StartRead(&incoming_);
  }
}

bool AnalyzeStream::MayRead() const {
  return !reading_ && !half_closed_ && !end_ && !opening_run_ &&
         received_ - written_ < MostUnderWay() && waiting_bytes_ < kMaxWaitingBytes;
}

int64_t AnalyzeStream::MostUnderWay() const {
  if (!plan_ || plan_->spec.summary_only) return limits_.read_ahead;
  const std::optional<ScoreParameters>& scores = plan_->spec.analysis.scores;
  const int64_t most = largest_answer_ > 0               ? kMaxAnswerBytes / largest_answer_
                       : scores && scores->all_positions ? kFirstLargeAnswers
                                                         : limits_.read_ahead;
  return std::clamp<int64_t>(most, 1, limits_.read_ahead);
}

void AnalyzeStream::WriteNext() {
  if (started_) {
    Write(*started_);
    started_.reset();
    return;
  }
  while (!end_) {
    if (answer_) {
      if (WriteAnswer()) return;
    } else if (MayAnswerFirst()) {
      AnswerFirst();
    } else {
      break;
    }
  }
  if (end_ || !half_closed_ || opening_run_ || !pending_.empty()) return;
  if (summary_written_) return End(absl::OkStatus());
  if (summary_) {
    summary_written_ = true;
    return Write(*summary_);
  }
  SumUp();
}

bool AnalyzeStream::WriteAnswer() {
  if (const std::optional<sinks::v1::AnalyzeResponse> response = answer_->Next()) {
    Write(*response);
    answer_bytes_ += static_cast<int64_t>(outgoing_.Length());
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
    if (plan_->spec.fail_fast) return End(std::move(status));
    answer_ = SampleAnswer::Error(status, index, first.id);
    return;
  }
  SampleResult& result = **first.result;
  if (result.trace) {
    const size_t values = result.trace->attention_sum.size() + result.trace->attention_self.size();
    largest_answer_ = std::max(largest_answer_, static_cast<int64_t>(values * sizeof(float)));
  }
  resources_.metrics.SampleDone(SampleOutcome::kOk, result.record.positions);
  tokens_ += result.record.positions;
  if (fold_) {
    if (absl::Status added = fold_->Add(result.record); !added.ok()) return End(std::move(added));
  }
  if (plan_->spec.summary_only) {
    answer_ = SampleAnswer::Silent();
    return;
  }
  resources_.metrics.RecordsSent(1);
  answer_ = SampleAnswer::Record(plan_->spec.analysis, std::move(result));
}

void AnalyzeStream::NoteWritten() {
  if (answer_bytes_ == 0) return;
  record_.phases()->Add(SamplePhase::kWrite, SteadyClock::now() - answer_begin_);
}

bool AnalyzeStream::WriteProgress() {
  const SteadyClock::time_point now = SteadyClock::now();
  if (now - last_progress_ < limits_.progress_interval) return false;
  last_progress_ = now;
  sinks::v1::AnalyzeResponse response;
  response.mutable_progress()->set_samples_done(written_);
  response.mutable_progress()->set_samples_received(received_);
  response.mutable_progress()->set_tokens_done(tokens_);
  Write(response);
  return true;
}

void AnalyzeStream::Write(const sinks::v1::AnalyzeResponse& response) {
  outgoing_ = SerializeMessage(response);
  writing_ = true;
  StartWrite(&outgoing_);
}

}  // namespace sinkd
