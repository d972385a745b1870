// StudyStream: one RunStudy call. Encodes the samples on the CPU executor, runs the study's steps
// on the model's device, each queued fairly with other streams, and sends the report.
//
//   started, then progress and errors of samples, then the report
//
// Progress that arrives during a write, or too soon, is merged: only the latest message is sent.
// Run: if the call names a run and brings no samples, the run's are read first. The report is
// stored with the run before it is sent. End: whatever ends the call triggers the stop token. So
// does the end of the study's time, which makes the report partial. Exactly one job is outstanding
// until the report is made.
//
// Thread-safety: see call.h; the samples and the study belong to the outstanding job.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <grpcpp/alarm.h>

#include "server/mechanism/study.h"
#include "server/service/analyze/stream_plan.h"
#include "server/service/calls/call.h"
#include "server/service/studies/study_opening.h"
#include "sinks/v1/mechanism.pb.h"

namespace sinkd {

class StudyStream final : public Call {
 public:
  // `resources` and `limits` must outlive it.
  StudyStream(grpc::CallbackServerContext* context, std::string_view method,
              const CallResources& calls, const StreamResources* resources,
              const StreamLimits* limits);

 private:
  using Work = absl::Status (StudyStream::*)();
  enum class Phase { kEncoding, kStepping, kReporting };

  absl::Status Start() override;
  absl::Status Received(grpc::ByteBuffer message) override;
  void Advance() override;
  void Ended() override;
  CallRecord::Work Done() override;

  // Jobs, which run without the lock.
  absl::Status EncodeNext();
  absl::Status Step();
  absl::Status MakeReport();
  absl::Status TakeRun();     // these two run on a thread that may
  absl::Status KeepReport();  // wait for the store
  absl::Status Publish(absl::Status kept);

  absl::StatusOr<EncodedSample> Encode(sinks::v1::Sample&& sample) const;
  void TimeIsUp();

  // All of these need the lock.
  absl::Status Open();
  void WatchTime();
  void QueueWork(Executor::Stream& stream, Work work);
  void TakeEncoded(const std::string& id, absl::StatusOr<EncodedSample> sample);
  absl::Status BeginSteps();
  void GoOn();  // the next step, or the report
  void BeginReport();
  std::string PartialReason() const;
  bool WriteNext();
  void WriteMessage(const sinks::v1::RunStudyResponse& response);

  const StreamResources& resources_;
  const StreamLimits& limits_;
  const SteadyClock::time_point begin_;
  std::stop_source step_stop_;  // the study's time is up, or the call has ended
  std::unique_ptr<Principal::StreamPlace> quota_place_;
  std::optional<StudyPlan> plan_;  // absent until the request has been accepted

  sinks::v1::RunStudyRequest request_;         // until it is accepted
  std::unique_ptr<Executor::Stream> storing_;  // with a run
  std::vector<sinks::v1::Sample> incoming_;
  std::vector<StudySample> samples_;  // encoded, until the study has them
  std::unique_ptr<Study> study_;
  Phase phase_ = Phase::kEncoding;
  bool stepping_ = false;  // a step is running
  bool time_is_up_ = false;
  std::string_view time_limit_;  // the limit that ends the study: budget or deadline
  size_t encoded_ = 0;           // samples, usable or not
  int64_t usable_ = 0;           // samples
  absl::Status first_error_;     // of a sample
  SteadyClock::time_point queued_;

  std::optional<sinks::v1::RunStudyResponse> started_;  // until written
  std::deque<sinks::v1::RunStudyResponse> errors_;      // of samples, not yet written
  std::optional<sinks::v1::StudyProgress> progress_;    // the latest, not yet written
  sinks::v1::RunStudyResponse made_;                    // the report, until it is published
  std::optional<grpc::ByteBuffer> report_;
  SteadyClock::time_point last_progress_;
  int64_t reported_samples_ = 0;
  int64_t reported_tokens_ = 0;
  std::optional<absl::Status> outcome_;  // the call's status once all is written

  grpc::Alarm end_of_time_;  // last: destroyed before what it uses
};

}  // namespace sinkd
