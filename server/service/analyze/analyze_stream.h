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
// Thread-safety: as call.h has it.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/analysis/summary.h"
#include "server/service/analyze/sample_answer.h"
#include "server/service/analyze/sample_run.h"
#include "server/service/analyze/stream_plan.h"
#include "server/service/calls/call.h"
#include "sinks/v1/analysis.pb.h"

namespace sinkd {

class AnalyzeStream final : public Call {
 public:
  // `resources` and `limits` must outlive it.
  AnalyzeStream(grpc::CallbackServerContext* context, std::string_view method,
                const CallResources& calls, const StreamResources* resources,
                const StreamLimits* limits);

 private:
  struct Pending {  // a sample under way
    std::string id;
    std::string input_digest;  // where a run keeps the records
    int64_t input_bytes = 0;
    std::unique_ptr<absl::StatusOr<SampleResult>> result;  // null until it is there
    bool kept = false;                                     // in the run, or not to be
  };

  absl::Status Start() override;
  absl::Status Received(grpc::ByteBuffer message) override;
  absl::Status HalfClosed() override;
  void Advance() override;
  void Ended() override;
  CallRecord::Work Done() override;

  // Under the lock, all of them.
  absl::StatusOr<std::optional<IncomingSample>> Take(bool parsed,
                                                     sinks::v1::AnalyzeRequest&& request);
  absl::Status TakeSpec(const sinks::v1::AnalysisSpec& proto);
  std::optional<IncomingSample> TakeSample(sinks::v1::Sample&& sample, const absl::Status& problem);
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
  void WriteMessage(const sinks::v1::AnalyzeResponse& response);
  bool MayRead() const;
  int64_t MostUnderWay() const;  // samples, by how large their answers are

  // Not under the lock.
  void Run(IncomingSample sample);
  absl::Status Keep(std::span<const Record> records);
  // Fills in the summary, where one is wanted, and leaves the run as it shall be.
  absl::Status Conclude(sinks::v1::AnalyzeResponse& response);

  const StreamResources& resources_;
  const StreamLimits& limits_;
  std::unique_ptr<Principal::StreamPlace> quota_place_;
  std::shared_ptr<const StreamPlan> plan_;  // null until the spec has been accepted

  int64_t waiting_bytes_ = 0;  // of the samples without a result
  int64_t answer_bytes_ = 0;   // written of the answer under way
  int64_t largest_answer_ = 0;
  SteadyClock::time_point answer_begin_;
  bool half_closed_ = false;

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
};

}  // namespace sinkd
