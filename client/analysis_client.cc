#include "client/analysis_client.h"

#include <thread>
#include <utility>

#include <fmt/format.h>

#include "client/error_report.h"
#include "client/record_assembler.h"

namespace sinkd::client {
namespace {

namespace v1 = ::sinks::v1;
using Stream = grpc::ClientReaderWriterInterface<v1::AnalyzeRequest, v1::AnalyzeResponse>;

// Sends the spec and the samples on a thread of its own.
class Sender {
 public:
  Sender(Stream& stream, grpc::ClientContext& context, SampleSource& source)
      : stream_(stream), context_(context), source_(source) {}

  void Start(const v1::AnalysisSpec& spec) {
    v1::AnalyzeRequest first;
    *first.mutable_spec() = spec;
    thread_ = std::thread([this, request = std::move(first)] { Run(request); });
  }

  // Ends the thread; the source's error, if it had one. `sent` is valid from here on.
  absl::Status Join() {
    source_.Stop();
    thread_.join();
    return status_;
  }

  int64_t sent() const { return sent_; }
  // All samples were sent, and the stream half-closed.
  bool complete() const { return complete_; }

 private:
  void Run(const v1::AnalyzeRequest& first) {
    if (!stream_.Write(first)) return;
    v1::AnalyzeRequest request;
    while (true) {
      absl::StatusOr<std::optional<v1::Sample>> sample = source_.Next();
      if (!sample.ok()) {
        status_ = sample.status();
        context_.TryCancel();
        return;
      }
      if (!sample->has_value()) break;
      *request.mutable_sample() = **std::move(sample);
      if (!stream_.Write(request)) return;
      ++sent_;
    }
    complete_ = stream_.WritesDone();
  }

  Stream& stream_;
  grpc::ClientContext& context_;
  SampleSource& source_;
  std::thread thread_;
  // Written by the thread, read after Join.
  absl::Status status_;
  int64_t sent_ = 0;
  bool complete_ = false;
};

// Reads the answers and passes them on.
class Receiver {
 public:
  explicit Receiver(AnalysisObserver& observer) : observer_(observer) {}

  absl::Status Take(v1::AnalyzeResponse& response) {
    if (summary_seen_) return absl::InternalError("the server sent more after the summary");
    if (!started_ && !response.has_started()) {
      return absl::InternalError("the server's first message is not `started`");
    }
    switch (response.message_case()) {
      case v1::AnalyzeResponse::kStarted:
        if (std::exchange(started_, true)) {
          return absl::InternalError("the server sent `started` twice");
        }
        return observer_.OnStarted(response.started());
      case v1::AnalyzeResponse::kRecord:
        return TakeRecord(std::move(*response.mutable_record()));
      case v1::AnalyzeResponse::kAlpha:
        return observer_.OnAlpha(response.alpha());
      case v1::AnalyzeResponse::kSampleError:
        if (absl::Status status = assembler_.AddError(response.sample_error().sample_index());
            !status.ok()) {
          return status;
        }
        return observer_.OnSampleError(response.sample_error());
      case v1::AnalyzeResponse::kProgress:
        return observer_.OnProgress(response.progress());
      case v1::AnalyzeResponse::kSummary:
        summary_seen_ = true;
        return observer_.OnSummary(response.summary());
      case v1::AnalyzeResponse::MESSAGE_NOT_SET:
        return absl::OkStatus();  // a kind of message from a newer server
    }
    return absl::OkStatus();
  }

  // What is missing from a stream that the server ended with OK; without records (`summary_only`)
  // samples go unanswered.
  absl::Status Finish(const Sender& sender, const v1::AnalysisSpec& spec) const {
    if (!summary_seen_ && !spec.no_summary()) {
      return absl::InternalError("the server ended the stream without a summary");
    }
    if (absl::Status status = assembler_.Finish(); !status.ok()) return status;
    const bool all = sender.complete() && assembler_.answered() == sender.sent();
    if (!spec.summary_only() && !all) {
      return absl::InternalError(fmt::format("the server answered {} of {} samples",
                                             assembler_.answered(), sender.sent()));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status TakeRecord(v1::SampleRecord part) {
    v1::SampleRecord record;
    bool complete = false;
    if (absl::Status status = assembler_.AddPart(std::move(part), record, complete); !status.ok()) {
      return status;
    }
    return complete ? observer_.OnRecord(std::move(record)) : absl::OkStatus();
  }

  AnalysisObserver& observer_;
  RecordAssembler assembler_;
  bool started_ = false;
  bool summary_seen_ = false;
};

}  // namespace

AnalysisClient::AnalysisClient(std::shared_ptr<grpc::Channel> channel)
    : stub_(v1::AnalysisService::NewStub(std::move(channel))) {}

absl::Status AnalysisClient::Analyze(const v1::AnalysisSpec& spec, SampleSource& source,
                                     AnalysisObserver& observer, const CallOptions& options) const {
  ScopedCall call(options);
  const auto stream = stub_->Analyze(call.context());
  Sender sender(*stream, *call.context(), source);
  Receiver receiver(observer);
  sender.Start(spec);

  absl::Status own;  // the observer's error, or a broken contract
  v1::AnalyzeResponse response;
  while (own.ok() && stream->Read(&response)) own = receiver.Take(response);
  if (!own.ok()) {
    call.context()->TryCancel();
    while (stream->Read(&response)) {
    }
  }
  const absl::Status source_status = sender.Join();
  const absl::Status server_status = FromGrpcStatus(stream->Finish());
  if (!own.ok()) return own;
  if (!source_status.ok()) return source_status;
  if (!server_status.ok()) return server_status;
  return receiver.Finish(sender, spec);
}

}  // namespace sinkd::client
