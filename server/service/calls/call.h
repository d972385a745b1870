// Call: the base class of all RPCs. It handles authorization, admission, the deadline, time limits
// for slow clients, aborts, the end of the call and its log line. Subclasses handle the messages
// that arrive and produce those that are sent.
//
// For gRPC every call is bidirectional, whatever the protocol says. Otherwise gRPC would read the
// request before this class has seen who sends it. Messages arrive as bytes and are parsed here,
// because gRPC answers messages that it cannot parse with UNIMPLEMENTED and no explanation.
//
// Life: Begin, Start (reads, takes places), then reactions and jobs, each of which ends with Pump;
// End, once; Finish when no write is pending; OnDone. Whatever ends the call triggers stop().
// Ownership: owns itself until gRPC is done with it; running work keeps it alive after that.
// Thread-safety: reactions and jobs run on any thread; mutex_ guards all state.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string_view>

#include <absl/status/status.h>
#include <grpcpp/alarm.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "server/scheduler/executor.h"
#include "server/service/calls/admission.h"
#include "server/service/calls/call_record.h"
#include "server/telemetry/metrics.h"

namespace sinkd {

// Time limits for clients.
struct CallTimes {
  std::chrono::milliseconds first_message{30000};  // to send it completely
  // To receive a response, plus one second per 64 KiB of it.
  std::chrono::milliseconds write{60000};
};

// What all calls of a server share. Borrowed.
struct CallResources {
  Admission& admission;
  Metrics& metrics;
  CallTimes times = {};
  int64_t max_caller_percent = 100;  // of each kind of work, per caller; 100: no limit
};

using CallReactor = grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>;

class Call : public CallReactor, public std::enable_shared_from_this<Call> {
 public:
  // The reactor for a new call.
  static Call* Begin(const std::shared_ptr<Call>& call);

  ~Call() override = default;

  void OnReadDone(bool ok) final;
  void OnWriteDone(bool ok) final;
  void OnCancel() final;
  void OnDone() final;

 protected:
  using SteadyClock = std::chrono::steady_clock;

  // `method` is the full name, "sinks.v1.ModelService/GetModel", borrowed forever.
  Call(grpc::CallbackServerContext* context, std::string_view method,
       const CallResources& resources);

  // For subclasses. An error ends the call. Called under the lock:
  // Acquires what the call needs. The caller is authorized, and no message has been read yet.
  virtual absl::Status Start() = 0;
  // Starts every read, write or job that can start now.
  virtual void Advance() {}
  // The client has half-closed the call. By default an error: no message has arrived.
  virtual absl::Status HalfClosed();
  // Drops waiting work; the call has ended.
  virtual void Ended() {}
  // For the log, after the call has ended.
  virtual CallRecord::Work Done() { return {}; }
  // Called without the lock:
  virtual absl::Status Received(grpc::ByteBuffer message) = 0;

  // All of these need the lock.
  void Read();  // the next message
  void Write(grpc::ByteBuffer message);
  // Runs `work`, which borrows this call, as a job of `stream`. An error ends the call.
  void Queue(Executor::Stream& stream, std::function<absl::Status()> work);
  void End(absl::Status status);
  void EndWith(grpc::ByteBuffer answer);  // the only message or the last one
  void Pump();
  bool ended() const { return end_.has_value(); }
  bool reading() const {
    return reading_ || receiving_;
  }  // true until the message has been processed
  bool writing() const { return writing_; }

  std::stop_token stop() const { return stop_.get_token(); }
  const CallRecord& record() const { return record_; }
  CallRecord& record() { return record_; }
  const Caller& caller() const { return record_.caller(); }
  Executor::Clock::time_point deadline() const { return deadline_; }
  const CallResources& calls() const { return resources_; }

  std::mutex mutex_;
  std::unique_ptr<Admission::Place> place_;  // while the call's work runs; null: none needed

 private:
  // Under the lock.
  void Await(std::chrono::milliseconds limit);  // the client
  void SetAlarm();
  void NoteOverdue();
  void EndAsCancelled();

  std::shared_ptr<Call> self_;  // until OnDone
  const CallResources resources_;
  grpc::CallbackServerContext& context_;  // until OnDone
  CallRecord record_;
  const Executor::Clock::time_point deadline_;
  std::stop_source stop_;

  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;
  std::optional<grpc::ByteBuffer> last_;
  bool any_read_ = false;
  bool reading_ = false;
  bool receiving_ = false;
  bool writing_ = false;
  bool finished_ = false;            // Finish has been called
  std::optional<absl::Status> end_;  // the status that the call will end with

  std::optional<SteadyClock::time_point> due_;  // the client's time limit
  bool alarm_set_ = false;

  // Last, so that they are destroyed before what they use.
  grpc::Alarm alarm_;
  std::optional<std::stop_callback<std::function<void()>>> on_abort_;
};

}  // namespace sinkd
