#include "server/service/calls/call.h"

#include <string>
#include <utility>

#include <absl/strings/str_cat.h>
#include <grpc/grpc.h>

#include "server/base/containment.h"
#include "server/base/status.h"
#include "server/service/calls/call_deadline.h"
#include "server/service/calls/status_mapping.h"

namespace sinkd {
namespace {

constexpr size_t kBytesOfASecond = 64 << 10;

absl::Status FirstMessageLate(std::chrono::milliseconds limit) {
  return MakeError(absl::StatusCode::kDeadlineExceeded,
                   absl::StrCat("no whole message came within ", limit.count(), " ms"),
                   {.reason = "FIRST_MESSAGE_LATE",
                    .subject = "message",
                    .value = absl::StrCat(limit.count(), " ms"),
                    .fix = "send the first message with the call, or raise the server's "
                           "--first-message-timeout"});
}

absl::Status AnswerNotTaken(std::chrono::milliseconds limit) {
  return MakeError(absl::StatusCode::kDeadlineExceeded,
                   absl::StrCat("the client did not read an answer within ", limit.count(), " ms"),
                   {.reason = "ANSWER_NOT_READ",
                    .subject = "answer",
                    .value = absl::StrCat(limit.count(), " ms"),
                    .fix = "read answers as they come, or raise the server's --write-timeout"});
}

}  // namespace

Call* Call::Begin(const std::shared_ptr<Call>& call) {
  {
    const std::lock_guard lock(call->mutex_);
    call->self_ = call;
    absl::Status started = call->record_.admitted();
    if (started.ok()) started = Contained([&call] { return call->Start(); });
    if (!started.ok()) call->End(std::move(started));
    call->Pump();
  }
  call->on_abort_.emplace(call->resources_.admission.abort_token(),
                          [weak = std::weak_ptr<Call>(call)] {
                            if (const std::shared_ptr<Call> aborted = weak.lock()) {
                              const std::lock_guard lock(aborted->mutex_);
                              aborted->End(ServerStopping());
                              aborted->Pump();
                            }
                          });
  return call.get();
}

Call::Call(grpc::CallbackServerContext* context, std::string_view method,
           const CallResources& resources)
    : resources_(resources),
      context_(*context),
      record_(*context, method, resources.metrics),
      deadline_(DeadlineOf(*context)) {}

void Call::OnReadDone(bool ok) {
  grpc::ByteBuffer message;
  {
    const std::lock_guard lock(mutex_);
    reading_ = false;
    if (!any_read_) due_.reset();
    any_read_ |= ok;
    message.Swap(&incoming_);
    if (!ok && context_.IsCancelled()) EndAsCancelled();
    if (!ok && !end_) {
      if (absl::Status status = HalfClosed(); !status.ok()) End(std::move(status));
    }
    if (!ok || end_) return Pump();
    receiving_ = true;
  }
  absl::Status taken = Contained([&] { return Received(std::move(message)); });
  const std::lock_guard lock(mutex_);
  receiving_ = false;
  if (!taken.ok()) End(std::move(taken));
  Pump();
}

absl::Status Call::HalfClosed() {
  if (any_read_) return absl::OkStatus();
  return InvalidArgument(
      "the call brought no message",
      {.reason = "MESSAGE_MISSING", .subject = "message", .fix = "send the method's request"});
}

void Call::OnWriteDone(bool ok) {
  const std::lock_guard lock(mutex_);
  writing_ = false;
  due_.reset();
  if (!ok) End(Cancelled("the client went away"));
  Pump();
}

void Call::OnCancel() {
  const std::lock_guard lock(mutex_);
  EndAsCancelled();
  Pump();
}

void Call::OnDone() {
  std::shared_ptr<Call> self;  // outlives the lock
  const std::lock_guard lock(mutex_);
  due_.reset();
  self = std::move(self_);
}

void Call::Read() {
  reading_ = true;
  if (!any_read_) Await(resources_.times.first_message);
  StartRead(&incoming_);
}

void Call::Write(grpc::ByteBuffer message) {
  outgoing_.Swap(&message);
  writing_ = true;
  Await(resources_.times.write + std::chrono::seconds(outgoing_.Length() / kBytesOfASecond));
  StartWrite(&outgoing_);
}

void Call::Queue(Executor::Stream& stream, std::function<absl::Status()> work) {
  const auto run = [self = shared_from_this(),
                    work = std::move(work)](const absl::Status& admitted) {
    absl::Status status = admitted.ok() ? Contained(work) : admitted;
    const std::lock_guard lock(self->mutex_);
    if (!status.ok()) self->End(std::move(status));
    self->Pump();
  };
  absl::Status submitted = stream.Submit({.run = run, .stop = stop(), .deadline = deadline_});
  if (!submitted.ok()) End(std::move(submitted));
}

void Call::End(absl::Status status) {
  if (end_) return;
  end_ = std::move(status);
  stop_.request_stop();
  Ended();
}

void Call::EndWith(grpc::ByteBuffer answer) {
  if (end_) return;
  last_ = std::move(answer);
  End(absl::OkStatus());
}

void Call::EndAsCancelled() {
  End(deadline_ <= Executor::Clock::now()
          ? absl::DeadlineExceededError("the deadline passed before the call was done")
          : Cancelled("the client went away"));
}

void Call::Pump() {
  if (finished_) return;
  if (!end_) {
    absl::Status advanced = Contained([this] {
      Advance();
      return absl::OkStatus();
    });
    if (!advanced.ok()) End(std::move(advanced));
  }
  if (!end_ || writing_) return;
  finished_ = true;
  record_.End(*end_, Done());
  const bool answers = end_->ok() && last_;
  if (answers) outgoing_.Swap(&*last_);
  // Waits until OnDone, since earlier messages may not be sent yet.
  Await(resources_.times.write + std::chrono::seconds(outgoing_.Length() / kBytesOfASecond));
  if (answers) {
    StartWriteAndFinish(&outgoing_, grpc::WriteOptions(), grpc::Status::OK);
  } else {
    Finish(ToGrpcStatus(*end_));
  }
}

void Call::Await(std::chrono::milliseconds limit) {
  due_ = SteadyClock::now() + limit;
  if (!alarm_set_) SetAlarm();
}

// An alarm that rings early is set again, so that most calls need one, however much they write.
void Call::SetAlarm() {
  alarm_set_ = true;
  alarm_ = grpc::Alarm();
  alarm_.Set(std::chrono::system_clock::now() + (*due_ - SteadyClock::now()),
             [weak = weak_from_this()](bool rang) {
               const std::shared_ptr<Call> call = weak.lock();
               if (!rang || !call) return;
               const std::lock_guard lock(call->mutex_);
               call->alarm_set_ = false;
               if (!call->due_ || !call->self_) return;
               if (SteadyClock::now() < *call->due_) return call->SetAlarm();
               call->NoteOverdue();
             });
}

void Call::NoteOverdue() {
  due_.reset();
  if (!writing_ && !finished_) {
    End(FirstMessageLate(resources_.times.first_message));
    return Pump();
  }
  const absl::Status error = AnswerNotTaken(resources_.times.write);
  if (finished_) record_.Note(LogLevel::kWarning, "the client did not read the end of a call", {});
  End(error);
  // Behind what the client does not read nothing else would reach it.
  const std::string message(error.message());
  grpc_call_cancel_with_status(context_.c_call(), GRPC_STATUS_DEADLINE_EXCEEDED, message.c_str(),
                               nullptr);
}

}  // namespace sinkd
