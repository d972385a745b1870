// Call: one RPC from its metadata to its last byte, the base of all of them: who may call, places,
// deadline, what the client may take its time for, abort, ending, and the log line. A kind of call
// says what it does with messages and what it writes.
//
// Every call is bidirectional to gRPC, whatever the protocol says of it: else gRPC would read a
// request before anything here has seen who sends it. Messages are bytes, parsed here, because gRPC
// answers those that it cannot parse with UNIMPLEMENTED and not a word.
//
// Life: Begin, Start (reads, takes places), then reactions and jobs, each of which ends with Pump;
// End, once; Finish when no write is under way; OnDone. Whatever ends the call sets stop().
// Ownership: owns itself until gRPC is done with it; work under way keeps it alive after that.
// Thread-safety: reactions and jobs come from any thread; mutex_ guards all state.
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

// How long clients may take.
struct CallTimes {
  std::chrono::milliseconds first_message{30000};  // to send it whole
  // To take an answer, and a second more for each 64 KiB of it.
  std::chrono::milliseconds write{60000};
};

// What all calls of a server share; borrowed.
struct CallResources {
  Admission& admission;
  Metrics& metrics;
  CallTimes times = {};
  int64_t max_caller_percent = 100;  // what of every kind of work one caller may hold; 100: all
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

  // `method` is the full name, "sinks.v1.ModelService/GetModel", borrowed for good.
  Call(grpc::CallbackServerContext* context, std::string_view method,
       const CallResources& resources);

  // What a kind of call does. An error ends the call. Under the lock:
  // Takes what the call needs. The caller has been let in, and nothing of the call has been read.
  virtual absl::Status Start() = 0;
  // Starts whatever read, write or job can be started.
  virtual void Advance() {}
  // The client will send no more. By default that was too early: no message came.
  virtual absl::Status HalfClosed();
  // Lets go of what waits; the call has ended.
  virtual void Ended() {}
  // For the log, once the call has ended.
  virtual CallRecord::Work Done() { return {}; }
  // Not under the lock:
  virtual absl::Status Received(grpc::ByteBuffer message) = 0;

  // Under the lock, all of them.
  void Read();  // the next message
  void Write(grpc::ByteBuffer message);
  // Does `work`, which borrows this call, on a thread that takes from `stream`; an error ends the
  // call.
  void Queue(Executor::Stream& stream, std::function<absl::Status()> work);
  void End(absl::Status status);
  void EndWith(grpc::ByteBuffer answer);  // the only one, or the last
  void Pump();
  bool ended() const { return end_.has_value(); }
  bool reading() const { return reading_ || receiving_; }  // until what came has been taken
  bool writing() const { return writing_; }

  std::stop_token stop() const { return stop_.get_token(); }
  const CallRecord& record() const { return record_; }
  CallRecord& record() { return record_; }
  const Caller& caller() const { return record_.caller(); }
  Executor::Clock::time_point deadline() const { return deadline_; }
  const CallResources& calls() const { return resources_; }

  std::mutex mutex_;
  std::unique_ptr<Admission::Place> place_;  // while the call's work runs; null: it needs none

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
  bool finished_ = false;            // Finish was called
  std::optional<absl::Status> end_;  // how the call is to end

  std::optional<SteadyClock::time_point> due_;  // when the client has taken too long
  bool alarm_set_ = false;

  // Last, so that they are gone before what they use.
  grpc::Alarm alarm_;
  std::optional<std::stop_callback<std::function<void()>>> on_abort_;
};

}  // namespace sinkd
