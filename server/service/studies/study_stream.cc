#include "server/service/studies/study_stream.h"

#include <iterator>
#include <utility>

#include "server/base/containment.h"
#include "server/base/sample_name.h"
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/service/analyze/codec_sample.h"
#include "server/service/analyze/sample_run.h"
#include "server/service/calls/message_bytes.h"
#include "server/service/calls/status_mapping.h"
#include "server/service/runs/nearest_run.h"
#include "server/service/runs/run_samples.h"

namespace sinkd {
namespace {

sinks::v1::StudyProgress EncodeProgress(const StepCount& count) {
  sinks::v1::StudyProgress out;
  out.set_phase(std::string(count.phase));
  out.set_steps_done(count.done);
  out.set_steps_total(count.total);
  return out;
}

// The error for `request`, naming the invalid text if that is why parsing stopped.
absl::Status MalformedRequest(const sinks::v1::RunStudyRequest& request) {
  const int last = request.samples_size() - 1;
  if (last >= 0) {
    const absl::Status problem = CheckTexts(request.samples(last));
    if (!problem.ok()) return NameSample(problem, last, EchoedSampleId(request.samples(last)));
  }
  return MalformedMessage(*request.descriptor());
}

}  // namespace

StudyStream::StudyStream(grpc::CallbackServerContext* context, std::string_view method,
                         const CallResources& calls, const StreamResources* resources,
                         const StreamLimits* limits)
    : Call(context, method, calls),
      resources_(*resources),
      limits_(*limits),
      begin_(SteadyClock::now()),
      last_progress_(begin_) {}

absl::Status StudyStream::Start() {
  SINKD_ASSIGN_OR_RETURN(quota_place_, record().principal()->EnterStream());
  SINKD_ASSIGN_OR_RETURN(place_, calls().admission.EnterStream(caller().name));
  resources_.metrics.StreamOpened();
  Read();
  return absl::OkStatus();
}

absl::Status StudyStream::Received(grpc::ByteBuffer message) {
  const std::lock_guard lock(mutex_);
  if (ended()) return absl::OkStatus();
  if (!ParseMessage(message, request_)) return MalformedRequest(request_);
  if (!request_.has_run()) return Open();
  if (resources_.store == nullptr) return StoreOff();
  SINKD_ASSIGN_OR_RETURN(storing_, resources_.storing->OpenStream(1));
  QueueWork(*storing_, &StudyStream::TakeRun);
  return absl::OkStatus();
}

absl::Status StudyStream::TakeRun() {
  SINKD_RETURN_IF_ERROR(
      NameNearestRun(*resources_.store, TakeRunSamples(*resources_.store, request_)));
  const std::lock_guard lock(mutex_);
  return ended() ? absl::OkStatus() : Open();
}

absl::Status StudyStream::Open() {
  incoming_.assign(std::make_move_iterator(request_.mutable_samples()->begin()),
                   std::make_move_iterator(request_.mutable_samples()->end()));
  request_.clear_samples();
  SINKD_ASSIGN_OR_RETURN(
      plan_, OpenStudy(std::move(request_), std::ssize(incoming_), resources_, limits_, caller()));
  started_.emplace();
  *started_->mutable_started() = DescribeStudy(*plan_, limits_, record().request_id());
  WatchTime();
  QueueWork(*plan_->cpu, &StudyStream::EncodeNext);
  return absl::OkStatus();
}

void StudyStream::WatchTime() {
  const Executor::Clock::time_point now = Executor::Clock::now();
  const Executor::Clock::time_point end = EndOfStudy(now, deadline(), plan_->time_budget);
  time_limit_ = end < EndOfStudy(now, deadline(), std::nullopt) ? "the time budget ran out"
                                                                : "the call's deadline came";
  if (end == Executor::Clock::time_point::max()) return;
  end_of_time_.Set(std::chrono::system_clock::now() + (end - now),
                   [weak = weak_from_this(), this](bool rang) {
                     const std::shared_ptr<Call> alive = weak.lock();
                     if (rang && alive) TimeIsUp();
                   });
}

void StudyStream::TimeIsUp() {
  const std::lock_guard lock(mutex_);
  if (ended() || phase_ == Phase::kReporting) return;
  time_is_up_ = true;
  step_stop_.request_stop();
  if (phase_ != Phase::kStepping || stepping_) return;  // the job sees it
  plan_->device->Drop();
  BeginReport();
  Pump();
}

void StudyStream::QueueWork(Executor::Stream& stream, Work work) {
  queued_ = SteadyClock::now();
  Queue(stream, [this, work] { return (this->*work)(); });
}

absl::Status StudyStream::EncodeNext() {
  {
    const std::lock_guard lock(mutex_);
    if (ended()) return absl::OkStatus();
    if (time_is_up_) return BeginSteps();
  }
  sinks::v1::Sample sample = std::move(incoming_[encoded_]);
  const std::string id = EchoedSampleId(sample);
  absl::StatusOr<EncodedSample> encoded = Encode(std::move(sample));
  const std::lock_guard lock(mutex_);
  if (ended()) return absl::OkStatus();
  TakeEncoded(id, std::move(encoded));
  if (encoded_ == incoming_.size()) return BeginSteps();
  QueueWork(*plan_->cpu, &StudyStream::EncodeNext);
  return absl::OkStatus();
}

absl::StatusOr<EncodedSample> StudyStream::Encode(sinks::v1::Sample&& sample) const {
  SINKD_ASSIGN_OR_RETURN(const SampleInput input, DecodeSample(std::move(sample)));
  SINKD_ASSIGN_OR_RETURN(
      EncodedSample encoded,
      EncodeChecked(*plan_->runner, input, plan_->request.template_date(),
                    limits_.max_sample_tokens, {record().principal().get()}, *record().phases()));
  SINKD_RETURN_IF_ERROR(record().principal()->TakeTokens(static_cast<int64_t>(encoded.ids.size())));
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

absl::Status StudyStream::BeginSteps() {
  if (usable_ == 0 && encoded_ == incoming_.size()) {
    outcome_ = first_error_;
    return absl::OkStatus();
  }
  phase_ = Phase::kStepping;
  study_ = plan_->runner->StartStudy(plan_->request, std::move(samples_));
  GoOn();
  return absl::OkStatus();
}

void StudyStream::GoOn() {
  if (time_is_up_ || study_->done()) return BeginReport();
  QueueWork(*plan_->device, &StudyStream::Step);
}

absl::Status StudyStream::Step() {
  {
    const std::lock_guard lock(mutex_);
    if (ended() || phase_ != Phase::kStepping) return absl::OkStatus();
    stepping_ = true;
    record().phases()->Add(SamplePhase::kQueue, SteadyClock::now() - queued_);
  }
  const SteadyClock::time_point begin = SteadyClock::now();
  absl::Status status = study_->Step(step_stop_.get_token());
  record().phases()->Add(SamplePhase::kForward, SteadyClock::now() - begin);
  const std::lock_guard lock(mutex_);
  stepping_ = false;
  if (ended()) return absl::OkStatus();
  const bool stopped = time_is_up_ && absl::IsCancelled(status);
  if (!status.ok() && !stopped) return status;
  progress_ = EncodeProgress(study_->progress());
  GoOn();
  return absl::OkStatus();
}

void StudyStream::BeginReport() {
  phase_ = Phase::kReporting;
  QueueWork(*plan_->cpu, &StudyStream::MakeReport);
}

std::string StudyStream::PartialReason() const {
  if (study_->done() && encoded_ == incoming_.size()) return {};
  if (encoded_ < incoming_.size()) {
    return StrCat(time_limit_, " when ", encoded_, " of ", incoming_.size(),
                  " samples were encoded and none was run");
  }
  const StepCount count = study_->progress();
  return StrCat(time_limit_, " in phase ", count.phase, ", ", count.done, " of ", count.total,
                " steps done");
}

absl::Status StudyStream::MakeReport() {
  const SteadyClock::time_point begin = SteadyClock::now();
  std::string reason = PartialReason();
  sinks::v1::StudyReport& report = *made_.mutable_report();
  report = study_->Report(std::move(reason));
  report.set_seconds(std::chrono::duration<double>(SteadyClock::now() - begin_).count());
  record().phases()->Add(SamplePhase::kAnalyse, SteadyClock::now() - begin);
  if (!storing_) return Publish(absl::OkStatus());
  const std::lock_guard lock(mutex_);
  if (!ended()) QueueWork(*storing_, &StudyStream::KeepReport);
  return absl::OkStatus();
}

absl::Status StudyStream::KeepReport() {
  const SteadyClock::time_point begin = SteadyClock::now();
  absl::Status kept = Contained([this] {
    return resources_.store->AddStudy(plan_->run_id,
                                      {.request = plan_->request.SerializeAsString(),
                                       .report = made_.report().SerializeAsString()});
  });
  record().phases()->Add(SamplePhase::kKeep, SteadyClock::now() - begin);
  return Publish(std::move(kept));
}

absl::Status StudyStream::Publish(absl::Status kept) {
  grpc::ByteBuffer bytes = SerializeMessage(made_);
  const std::lock_guard lock(mutex_);
  report_ = std::move(bytes);  // what was found is told even if it could not be kept
  outcome_ = std::move(kept);
  reported_samples_ = made_.report().samples();
  reported_tokens_ = made_.report().tokens();
  return absl::OkStatus();
}

void StudyStream::Ended() {
  step_stop_.request_stop();
  if (plan_) {
    plan_->device->Drop();
    plan_->cpu->Drop();
  }
  if (storing_) storing_->Drop();
}

CallRecord::Work StudyStream::Done() {
  for (int64_t i = 0; i < usable_; ++i) {
    const bool reported = i < reported_samples_;
    resources_.metrics.SampleDone(reported ? SampleOutcome::kOk : SampleOutcome::kCancelled,
                                  i == 0 ? reported_tokens_ : 0);
  }
  if (place_) resources_.metrics.StreamClosed();
  return {.model = plan_ ? std::string_view(plan_->model_id) : std::string_view(),
          .samples = reported_samples_,
          .tokens = reported_tokens_};
}

void StudyStream::Advance() {
  if (writing() || WriteNext()) return;
  if (outcome_) End(*outcome_);
}

bool StudyStream::WriteNext() {
  if (started_) {
    WriteMessage(*std::exchange(started_, std::nullopt));
  } else if (!errors_.empty()) {
    WriteMessage(errors_.front());
    errors_.pop_front();
  } else if (report_) {
    Write(*std::exchange(report_, std::nullopt));
  } else if (!outcome_ && progress_ &&
             SteadyClock::now() - last_progress_ >= limits_.progress_interval) {
    last_progress_ = SteadyClock::now();
    sinks::v1::RunStudyResponse response;
    *response.mutable_progress() = *std::exchange(progress_, std::nullopt);
    WriteMessage(response);
  } else {
    return false;
  }
  return true;
}

void StudyStream::WriteMessage(const sinks::v1::RunStudyResponse& response) {
  Write(SerializeMessage(response));
}

}  // namespace sinkd
