#include "server/service/studies/study_stream.h"

#include <iterator>
#include <utility>

#include "server/base/containment.h"
#include "server/base/sample_name.h"
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/service/analyze/codec_sample.h"
#include "server/service/analyze/sample_run.h"
#include "server/service/calls/call_deadline.h"
#include "server/service/calls/message_bytes.h"
#include "server/service/calls/status_mapping.h"
#include "server/service/runs/nearest_run.h"
#include "server/service/runs/run_samples.h"
#include "server/service/studies/codec_study_report.h"

namespace sinkd {
namespace {

constexpr char kMethod[] = "sinks.v1.MechanismService/RunStudy";

sinks::v1::StudyProgress EncodeProgress(const StepCount& count) {
  sinks::v1::StudyProgress out;
  out.set_phase(std::string(count.phase));
  out.set_steps_done(count.done);
  out.set_steps_total(count.total);
  return out;
}

// The text at fault, when that is why `request` could not be parsed further.
absl::Status MalformedRequest(const sinks::v1::RunStudyRequest& request) {
  const int last = request.samples_size() - 1;
  if (last >= 0) {
    const absl::Status problem = CheckTexts(request.samples(last));
    if (!problem.ok()) return NameSample(problem, last, EchoedSampleId(request.samples(last)));
  }
  return MalformedMessage(*request.descriptor());
}

}  // namespace

StudyStream* StudyStream::Begin(grpc::CallbackServerContext* context,
                                const grpc::ByteBuffer& request, const StreamResources& resources,
                                const StreamLimits& limits) {
  const auto stream = std::make_shared<StudyStream>(context, resources, limits);
  {
    const std::lock_guard lock(stream->mutex_);
    stream->self_ = stream;
    absl::Status started = stream->Start(request);
    if (!started.ok()) stream->End(std::move(started));
    stream->Pump();
  }
  stream->EndOnAbort();
  return stream.get();
}

StudyStream::StudyStream(grpc::CallbackServerContext* context, const StreamResources& resources,
                         const StreamLimits& limits)
    : resources_(resources),
      limits_(limits),
      record_(*context, kMethod, resources.metrics),
      deadline_(DeadlineOf(*context)),
      begin_(SteadyClock::now()),
      last_progress_(begin_) {}

StudyStream::~StudyStream() = default;

absl::Status StudyStream::Start(const grpc::ByteBuffer& bytes) {
  SINKD_RETURN_IF_ERROR(record_.admitted());
  SINKD_ASSIGN_OR_RETURN(quota_place_, record_.principal()->EnterStream());
  SINKD_ASSIGN_OR_RETURN(place_, resources_.admission.EnterStream(record_.caller().name));
  resources_.metrics.StreamOpened();
  if (!ParseMessage(bytes, request_)) return MalformedRequest(request_);
  if (!request_.has_run()) return Open();
  if (resources_.store == nullptr) return StoreOff();
  SINKD_ASSIGN_OR_RETURN(storing_, resources_.storing->OpenStream(1));
  Queue(*storing_, &StudyStream::TakeRun);
  return absl::OkStatus();
}

void StudyStream::TakeRun() {
  absl::Status taken =
      NameNearestRun(*resources_.store, TakeRunSamples(*resources_.store, request_));
  const std::lock_guard lock(mutex_);
  if (end_) return;
  if (taken.ok()) taken = Open();
  if (!taken.ok()) End(std::move(taken));
  Pump();
}

absl::Status StudyStream::Open() {
  SINKD_ASSIGN_OR_RETURN(plan_, OpenStudy(request_, resources_, limits_, record_.caller()));
  incoming_.assign(std::make_move_iterator(request_.mutable_samples()->begin()),
                   std::make_move_iterator(request_.mutable_samples()->end()));
  request_.Clear();
  started_.emplace();
  *started_->mutable_started() = DescribeStudy(*plan_, limits_, record_.request_id());
  WatchTime();
  Queue(*plan_->cpu, &StudyStream::EncodeNext);
  return absl::OkStatus();
}

void StudyStream::WatchTime() {
  const Executor::Clock::time_point now = Executor::Clock::now();
  const Executor::Clock::time_point end = EndOfStudy(now, deadline_, plan_->request.time_budget);
  time_limit_ = end < EndOfStudy(now, deadline_, std::nullopt) ? "the time budget ran out"
                                                               : "the call's deadline came";
  if (end == Executor::Clock::time_point::max()) return;
  alarm_.Set(std::chrono::system_clock::now() + (end - now), [weak = weak_from_this()](bool rang) {
    const std::shared_ptr<StudyStream> stream = weak.lock();
    if (rang && stream) stream->TimeIsUp();
  });
}

void StudyStream::TimeIsUp() {
  const std::lock_guard lock(mutex_);
  if (end_ || phase_ == Phase::kReporting) return;
  time_is_up_ = true;
  stop_.request_stop();
  if (phase_ != Phase::kStepping || stepping_) return;  // the job sees it
  plan_->device->Drop();
  BeginReport();
  Pump();
}

void StudyStream::EndOnAbort() {
  on_abort_.emplace(resources_.admission.abort_token(), [weak = weak_from_this()] {
    if (const std::shared_ptr<StudyStream> stream = weak.lock()) {
      const std::lock_guard lock(stream->mutex_);
      stream->End(ServerStopping());
      stream->Pump();
    }
  });
}

void StudyStream::Queue(Executor::Stream& stream, Work work) {
  const auto run = [self = shared_from_this(), work](const absl::Status& admitted) {
    const auto contained = [&self, work] {
      (self.get()->*work)();
      return absl::OkStatus();
    };
    absl::Status status = admitted.ok() ? Contained(contained) : admitted;
    if (status.ok()) return;
    const std::lock_guard lock(self->mutex_);
    self->End(std::move(status));
    self->Pump();
  };
  queued_ = SteadyClock::now();
  const absl::Status submitted = stream.Submit({.run = run, .deadline = deadline_});
  if (!submitted.ok()) End(submitted);
}

void StudyStream::EncodeNext() {
  {
    const std::lock_guard lock(mutex_);
    if (end_) return;
    if (time_is_up_) {
      BeginSteps();
      return Pump();
    }
  }
  sinks::v1::Sample sample = std::move(incoming_[encoded_]);
  const std::string id = EchoedSampleId(sample);
  absl::StatusOr<EncodedSample> encoded = Encode(std::move(sample));
  const std::lock_guard lock(mutex_);
  if (end_) return;
  TakeEncoded(id, std::move(encoded));
  if (encoded_ < incoming_.size()) {
    Queue(*plan_->cpu, &StudyStream::EncodeNext);
  } else {
    BeginSteps();
  }
  Pump();
}

absl::StatusOr<EncodedSample> StudyStream::Encode(sinks::v1::Sample&& sample) const {
  SINKD_ASSIGN_OR_RETURN(const SampleInput input, DecodeSample(std::move(sample)));
  SINKD_ASSIGN_OR_RETURN(EncodedSample encoded,
                         EncodeChecked(*plan_->runner, input, plan_->request.template_date,
                                       limits_.max_sample_tokens, *record_.phases()));
  SINKD_RETURN_IF_ERROR(record_.principal()->TakeTokens(static_cast<int64_t>(encoded.ids.size())));
  return encoded;
}

void StudyStream::TakeEncoded(const std::string& id, absl::StatusOr<EncodedSample> sample) {
  const auto index = static_cast<int64_t>(encoded_++);
  progress_ = EncodeProgress(
      {.phase = "encode", .done = index + 1, .total = static_cast<int64_t>(incoming_.size())});
  if (sample.ok()) {
    ++usable_;
    samples_.push_back({index, std::move(sample->ids), sample->chat_rendered});
    return;
  }
  resources_.metrics.SampleDone(SampleOutcome::kFailed, 0);
  const absl::Status named = NameSample(sample.status(), index, id);
  if (first_error_.ok()) first_error_ = named;
  sinks::v1::SampleError* error = errors_.emplace_back().mutable_sample_error();
  error->set_sample_index(index);
  error->set_sample_id(id);
  *error->mutable_status() = ToRpcStatus(named);
}

void StudyStream::BeginSteps() {
  if (usable_ == 0 && encoded_ == incoming_.size()) {
    outcome_ = first_error_;
    return;
  }
  phase_ = Phase::kStepping;
  if (!samples_.empty()) {
    study_ = plan_->runner->StartStudy(plan_->request.parameters, std::move(samples_));
  }
  GoOn();
}

void StudyStream::GoOn() {
  if (time_is_up_ || study_->done()) return BeginReport();
  Queue(*plan_->device, &StudyStream::Step);
}

void StudyStream::Step() {
  {
    const std::lock_guard lock(mutex_);
    if (end_ || phase_ != Phase::kStepping) return;
    stepping_ = true;
    record_.phases()->Add(SamplePhase::kQueue, SteadyClock::now() - queued_);
  }
  const SteadyClock::time_point begin = SteadyClock::now();
  const absl::Status status = study_->Step(stop_.get_token());
  record_.phases()->Add(SamplePhase::kForward, SteadyClock::now() - begin);
  const std::lock_guard lock(mutex_);
  stepping_ = false;
  if (end_) return;
  const bool stopped = time_is_up_ && absl::IsCancelled(status);
  if (status.ok() || stopped) {
    progress_ = EncodeProgress(study_->progress());
    GoOn();
  } else {
    End(status);
  }
  Pump();
}

void StudyStream::BeginReport() {
  phase_ = Phase::kReporting;
  Queue(*plan_->cpu, &StudyStream::MakeReport);
}

std::string StudyStream::PartialReason() const {
  if (study_ && study_->done() && encoded_ == incoming_.size()) return {};
  if (encoded_ < incoming_.size()) {
    return StrCat(time_limit_, " when ", encoded_, " of ", incoming_.size(),
                  " samples were encoded and none was run");
  }
  const StepCount count = study_->progress();
  return StrCat(time_limit_, " in phase ", count.phase, ", ", count.done, " of ", count.total,
                " steps done");
}

void StudyStream::MakeReport() {
  const SteadyClock::time_point begin = SteadyClock::now();
  std::string reason = PartialReason();
  StudyReport report =
      study_ ? study_->Report(reason) : EmptyReport(plan_->request.parameters, reason);
  report.partial = !reason.empty();
  report.partial_reason = std::move(reason);
  report.seconds = std::chrono::duration<double>(SteadyClock::now() - begin_).count();
  *made_.mutable_report() = EncodeStudyReport(report);
  record_.phases()->Add(SamplePhase::kAnalyse, SteadyClock::now() - begin);
  if (!storing_) return Publish(absl::OkStatus());
  const std::lock_guard lock(mutex_);
  if (end_) return;
  Queue(*storing_, &StudyStream::KeepReport);
  Pump();
}

void StudyStream::KeepReport() {
  const SteadyClock::time_point begin = SteadyClock::now();
  absl::Status kept = Contained([this] {
    return resources_.store->AddStudy(
        plan_->request.run_id, {.request = EncodeStudyRequest(plan_->request).SerializeAsString(),
                                .report = made_.report().SerializeAsString()});
  });
  record_.phases()->Add(SamplePhase::kKeep, SteadyClock::now() - begin);
  Publish(std::move(kept));
}

void StudyStream::Publish(absl::Status kept) {
  grpc::ByteBuffer bytes = SerializeMessage(made_);
  const std::lock_guard lock(mutex_);
  if (end_) return;
  report_ = std::move(bytes);  // what was found is told even if it could not be kept
  outcome_ = std::move(kept);
  reported_samples_ = made_.report().samples();
  reported_tokens_ = made_.report().tokens();
  Pump();
}

void StudyStream::OnWriteDone(bool ok) {
  const std::lock_guard lock(mutex_);
  writing_ = false;
  if (!ok) End(Cancelled("the client went away"));
  Pump();
}

void StudyStream::OnCancel() {
  const std::lock_guard lock(mutex_);
  End(deadline_ <= Executor::Clock::now()
          ? absl::DeadlineExceededError("the deadline passed before the study could report")
          : Cancelled("the client went away"));
  Pump();
}

void StudyStream::OnDone() {
  std::shared_ptr<StudyStream> self;  // outlives the lock
  const std::lock_guard lock(mutex_);
  for (int64_t i = 0; i < usable_; ++i) {
    const bool reported = i < reported_samples_;
    resources_.metrics.SampleDone(reported ? SampleOutcome::kOk : SampleOutcome::kCancelled,
                                  i == 0 ? reported_tokens_ : 0);
  }
  if (place_) resources_.metrics.StreamClosed();
  record_.End(*end_,
              {.model = plan_ ? std::string_view(plan_->request.model_id) : std::string_view(),
               .samples = reported_samples_,
               .tokens = reported_tokens_});
  self = std::move(self_);
}

void StudyStream::End(absl::Status status) {
  if (end_) return;
  end_ = std::move(status);
  stop_.request_stop();
  if (plan_) {
    plan_->device->Drop();
    plan_->cpu->Drop();
  }
  if (storing_) storing_->Drop();
}

void StudyStream::Pump() {
  if (finished_ || writing_) return;
  if (!end_ && WriteNext()) return;
  if (outcome_) End(*outcome_);
  if (!end_) return;
  finished_ = true;
  Finish(ToGrpcStatus(*end_));
}

bool StudyStream::WriteNext() {
  if (started_) {
    Write(*std::exchange(started_, std::nullopt));
  } else if (!errors_.empty()) {
    Write(errors_.front());
    errors_.pop_front();
  } else if (report_) {
    outgoing_ = *std::exchange(report_, std::nullopt);
    writing_ = true;
    StartWrite(&outgoing_);
  } else if (!outcome_ && progress_ &&
             SteadyClock::now() - last_progress_ >= limits_.progress_interval) {
    last_progress_ = SteadyClock::now();
    sinks::v1::RunStudyResponse response;
    *response.mutable_progress() = *std::exchange(progress_, std::nullopt);
    Write(response);
  } else {
    return false;
  }
  return true;
}

void StudyStream::Write(const sinks::v1::RunStudyResponse& response) {
  outgoing_ = SerializeMessage(response);
  writing_ = true;
  StartWrite(&outgoing_);
}

}  // namespace sinkd
