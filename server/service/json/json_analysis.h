// JsonAnalysis: analyses over HTTP. Requests are JSON lines, each an AnalyzeRequest; responses are
// JSON lines, each an AnalyzeResponse.
//
// Each analysis is a call of AnalysisService over the server's in-process channel, so limits,
// quotas, fairness and log lines are those of every Analyze. The response is sent as a whole, so it
// has no progress, and the parts of a record are joined. An error before the first response is an
// HTTP error; a later one is the last line, {"error": google.rpc.Status}. An analysis may take five
// minutes and return 64 MiB.
//
// Ownership: borrows the server from Open on. Thread-safety: all methods may be called from any
// thread; Answer, several at once.
#pragma once

#include <memory>
#include <mutex>
#include <stop_token>

#include <grpcpp/channel.h>

#include "server/http/http_api.h"
#include "server/service/calls/local_callers.h"

namespace sinkd {

class JsonAnalysis {
 public:
  // Before this is called, responses are 503 with SERVER_STARTING.
  void Open(std::shared_ptr<grpc::Channel> channel, LocalCallers& callers);

  // An HttpApi::analyze.
  HttpAnswer Answer(const HttpQuery& query, const std::stop_token& stop);

 private:
  std::mutex mutex_;
  std::shared_ptr<grpc::Channel> channel_;
  LocalCallers* callers_ = nullptr;
};

}  // namespace sinkd
