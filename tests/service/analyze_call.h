// One Analyze call as a test tells it: send, read, close.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include "sinks/v1/analysis.grpc.pb.h"

namespace sinkd::testing {

sinks::v1::AnalysisSpec SpecFor(const std::string& model = "models/fake");
sinks::v1::Sample TextSample(const std::string& text, const std::string& id = "");
sinks::v1::Sample IdsSample(const std::vector<int32_t>& ids, const std::string& id = "");

class AnalyzeCall {
 public:
  explicit AnalyzeCall(const std::shared_ptr<grpc::Channel>& channel) : stub_(channel) {}

  // Opens the stream and sends `spec`.
  void Open(const sinks::v1::AnalysisSpec& spec);
  void OpenWithout();  // opens the stream and sends nothing

  bool Send(const sinks::v1::AnalyzeRequest& request) { return stream_->Write(request); }
  bool Send(const sinks::v1::Sample& sample);
  void Close() { stream_->WritesDone(); }

  // nullopt at the end of the stream.
  std::optional<sinks::v1::AnalyzeResponse> Read();
  // The next message that is not Progress.
  std::optional<sinks::v1::AnalyzeResponse> ReadAnswer();
  std::vector<sinks::v1::AnalyzeResponse> ReadAll();
  grpc::Status Finish() { return stream_->Finish(); }
  // Reads to the end, then Finish.
  grpc::Status Drain();

  grpc::ClientContext context;

 private:
  sinks::v1::AnalysisService::Stub stub_;
  std::unique_ptr<grpc::ClientReaderWriter<sinks::v1::AnalyzeRequest, sinks::v1::AnalyzeResponse>>
      stream_;
};

}  // namespace sinkd::testing
