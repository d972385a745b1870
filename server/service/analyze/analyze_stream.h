// AnalyzeStream: one Analyze call. Takes the spec, then samples; answers every sample in the order
// sent, then the summary.
//
// Flow control: a sample counts as under way from the moment it is read until its last message has
// been handed to the transport. While `read_ahead` samples are under way, or the inputs of those
// that wait for the model take 8 MiB, none is read, so neither a slow model nor a slow reader makes
// anything here grow. One write is outstanding at a time.
// Keeping: with a run id, and a store, a record is on disk before it is answered. While one batch
// of them is written, those that get ready meanwhile gather and make up the next. End: whatever
// ends the stream sets the stop token, and nothing more of it is computed.
//
// Bytes are parsed here and not by gRPC, which cannot tell text that is not UTF-8 from a
// half-close.
//
// Ownership: owns itself until gRPC is done with it; work under way keeps it alive after that.
// Thread-safety: reactions and results come from any thread; mutex_ guards all state.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "server/analysis/summary.h"
#include "server/service/analyze/sample_answer.h"
#include "server/service/analyze/sample_run.h"
#include "server/service/analyze/stream_plan.h"
#include "server/service/calls/admission.h"
#include "server/service/calls/call_record.h"
#include "sinks/v1/analysis.pb.h"

namespace sinkd {

class AnalyzeStream final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                            public std::enable_shared_from_this<AnalyzeStream> {
 public:
  // The reactor for a new call; `resources` and `limits` must outlive it.
  static AnalyzeStream* Begin(grpc::CallbackServerContext* context,
                              const StreamResources& resources, const StreamLimits& limits);

  AnalyzeStream(grpc::CallbackServerContext* context, const StreamResources& resources,
                const StreamLimits& limits);
  ~AnalyzeStream() override;

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  using SteadyClock = std::chrono::steady_clock;

  struct Pending {  // a sample under way
    std::string id;
    std::string input_digest;  // where a run keeps the records
    int64_t input_bytes = 0;
    std::unique_ptr<absl::StatusOr<SampleResult>> result;  // null until it is there
    bool kept = false;                                     // in the run, or not to be
  };

  // Under the lock, all of them.
  absl::Status Admit();
  std::optional<IncomingSample> Take(bool parsed, sinks::v1::AnalyzeRequest&& request);
  absl::Status TakeSpec(const sinks::v1::AnalysisSpec& proto);
  std::optional<IncomingSample> TakeSample(sinks::v1::Sample&& sample, const absl::Status& problem);
  void End(absl::Status status);
  void EndAsCancelled();
  void Pump();         // starts whatever read, write or finish can be started
  void WriteNext();    // the next message, if there is one
  bool WriteAnswer();  // true when it started a write
  void AnswerFirst();  // turns the first finished sample into answer_
  void NoteWritten();
  bool WriteProgress();
  void SumUp();
  // Of the stream's run (analyze_run.cc).
  void OpenRun();
  void Announce(const std::optional<RunCounts>& held);
  void KeepReady();
  std::optional<Record> TakeForRun(Pending& pending, int64_t sample_index) const;
  bool MayAnswerFirst() const;
  void Write(const sinks::v1::AnalyzeResponse& response);
  bool MayRead() const;
  int64_t MostUnderWay() const;  // samples, by how large their answers are

  // Not under the lock.
  void EndOnAbort();
  void Run(IncomingSample sample);
  absl::Status Keep(std::span<const Record> records);
  // Fills in the summary, where one is wanted, and leaves the run as it shall be.
  absl::Status Conclude(sinks::v1::AnalyzeResponse& response);

  std::mutex mutex_;
  std::shared_ptr<AnalyzeStream> self_;  // until OnDone
  const StreamResources& resources_;
  const StreamLimits& limits_;
  CallRecord record_;
  const grpc::CallbackServerContext& context_;  // until OnDone
  const Executor::Clock::time_point deadline_;
  std::stop_source stop_;
  std::unique_ptr<Admission::Place> place_;
  std::unique_ptr<Principal::StreamPlace> quota_place_;
  std::shared_ptr<const StreamPlan> plan_;  // null until the spec has been accepted

  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;
  int64_t waiting_bytes_ = 0;  // of the samples without a result
  int64_t answer_bytes_ = 0;   // written of the answer under way
  int64_t largest_answer_ = 0;
  SteadyClock::time_point answer_begin_;
  bool reading_ = false;
  bool writing_ = false;
  bool half_closed_ = false;
  bool finished_ = false;            // Finish was called
  std::optional<absl::Status> end_;  // how the stream is to end

  std::optional<sinks::v1::AnalyzeResponse> started_;  // the answer to the spec, until written
  std::deque<Pending> pending_;                        // not yet answered, in the order sent
  std::optional<SampleAnswer> answer_;                 // of the sample being answered
  int64_t received_ = 0;                               // samples
  int64_t answered_ = 0;                               // samples whose answer has begun
  int64_t written_ = 0;                                // samples whose answer is all written
  int64_t tokens_ = 0;
  SteadyClock::time_point last_progress_;

  std::optional<Summary> fold_;
  bool opening_run_ = false;
  bool keeping_ = false;  // a batch is being written
  bool summing_up_ = false;
  bool summary_written_ = false;
  std::optional<sinks::v1::AnalyzeResponse> summary_;

  // Last, so that it is gone before what it uses.
  std::optional<std::stop_callback<std::function<void()>>> on_abort_;
};

}  // namespace sinkd
