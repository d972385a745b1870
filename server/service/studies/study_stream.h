// StudyStream: one RunStudy call. Encodes the samples on the CPU executor, takes the study's steps
// on the model's device, each queued up behind other streams, and answers with the report.
//
//   started, then progress and errors of samples, then the report
//
// Progress that comes while a write is under way, or too soon, is told as one message, the latest.
// Run: with a run, its samples are read first when the call brings none, and the report is kept
// with it before it is sent. End: whatever ends the call sets the stop token, and so does the end
// of the study's time, which makes the report partial. Exactly one job is outstanding until the
// report is made.
//
// Ownership: owns itself until gRPC is done with it; work under way keeps it alive after that.
// Thread-safety: reactions, jobs and the timer come from any thread; mutex_ guards all state but
// the samples and the study, which belong to the outstanding job.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <grpcpp/alarm.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "server/mechanism/study.h"
#include "server/service/analyze/stream_plan.h"
#include "server/service/calls/admission.h"
#include "server/service/calls/call_record.h"
#include "server/service/studies/study_opening.h"
#include "sinks/v1/mechanism.pb.h"

namespace sinkd {

class StudyStream final : public grpc::ServerWriteReactor<grpc::ByteBuffer>,
                          public std::enable_shared_from_this<StudyStream> {
 public:
  // The reactor for a new call; `resources` and `limits` must outlive it.
  static StudyStream* Begin(grpc::CallbackServerContext* context, const grpc::ByteBuffer& request,
                            const StreamResources& resources, const StreamLimits& limits);

  StudyStream(grpc::CallbackServerContext* context, const StreamResources& resources,
              const StreamLimits& limits);
  ~StudyStream() override;

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  using SteadyClock = std::chrono::steady_clock;
  using Work = void (StudyStream::*)();
  enum class Phase { kEncoding, kStepping, kReporting };

  // Jobs: run without the lock.
  void EncodeNext();
  void Step();
  void MakeReport();
  void TakeRun();     // on a thread that may wait for the store, as is
  void KeepReport();  // this
  void Publish(absl::Status kept);

  absl::StatusOr<EncodedSample> Encode(sinks::v1::Sample&& sample) const;
  void EndOnAbort();
  void TimeIsUp();

  // Under the lock, all of them.
  absl::Status Start(const grpc::ByteBuffer& bytes);
  absl::Status Open();
  void WatchTime();
  void Queue(Executor::Stream& stream, Work work);
  void TakeEncoded(const std::string& id, absl::StatusOr<EncodedSample> sample);
  void BeginSteps();
  void GoOn();  // the next step, or the report
  void BeginReport();
  std::string PartialReason() const;
  void End(absl::Status status);
  void Pump();
  bool WriteNext();
  void Write(const sinks::v1::RunStudyResponse& response);

  std::mutex mutex_;
  std::shared_ptr<StudyStream> self_;  // until OnDone
  const StreamResources& resources_;
  const StreamLimits& limits_;
  CallRecord record_;
  const Executor::Clock::time_point deadline_;
  const SteadyClock::time_point begin_;
  std::stop_source stop_;
  std::unique_ptr<Admission::Place> place_;
  std::unique_ptr<Principal::StreamPlace> quota_place_;
  std::optional<StudyPlan> plan_;  // absent until the request has been accepted

  sinks::v1::RunStudyRequest request_;         // until it is accepted
  std::unique_ptr<Executor::Stream> storing_;  // with a run
  std::vector<sinks::v1::Sample> incoming_;
  std::vector<StudySample> samples_;  // encoded, until the study has them
  std::unique_ptr<Study> study_;
  Phase phase_ = Phase::kEncoding;
  bool stepping_ = false;  // a step runs
  bool time_is_up_ = false;
  std::string_view time_limit_;  // what ends the study's time
  size_t encoded_ = 0;           // samples, usable or not
  int64_t usable_ = 0;           // samples
  absl::Status first_error_;     // of a sample
  SteadyClock::time_point queued_;

  grpc::ByteBuffer outgoing_;
  std::optional<sinks::v1::RunStudyResponse> started_;  // until written
  std::deque<sinks::v1::RunStudyResponse> errors_;      // of samples, not yet written
  std::optional<sinks::v1::StudyProgress> progress_;    // the latest, not yet written
  sinks::v1::RunStudyResponse made_;                    // the report, until it is published
  std::optional<grpc::ByteBuffer> report_;
  SteadyClock::time_point last_progress_;
  int64_t reported_samples_ = 0;
  int64_t reported_tokens_ = 0;
  std::optional<absl::Status> outcome_;  // how the call ends once all is written
  bool writing_ = false;
  bool finished_ = false;
  std::optional<absl::Status> end_;

  // Last, so that they are gone before what they use.
  grpc::Alarm alarm_;
  std::optional<std::stop_callback<std::function<void()>>> on_abort_;
};

}  // namespace sinkd
