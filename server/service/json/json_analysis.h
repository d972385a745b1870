// JsonAnalysis: analyses over HTTP - a body of JSON lines, each an AnalyzeRequest, answered with
// JSON lines, each an AnalyzeResponse.
//
// Each is a call of AnalysisService over the server's own channel, so that limits, quotas, fairness
// and the log are those of every Analyze. Progress is left out and the parts of a record are
// joined, since the answer comes as a whole. An error before the first answer is an HTTP error; a
// later one is the last line, {"error": google.rpc.Status}. An analysis takes five minutes at most,
// and its answer 64 MiB.
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
  // Until then, answers are 503 with SERVER_STARTING.
  void Open(std::shared_ptr<grpc::Channel> channel, LocalCallers& callers);

  // An HttpApi::analyze.
  HttpAnswer Answer(const HttpQuery& query, const std::stop_token& stop);

 private:
  std::mutex mutex_;
  std::shared_ptr<grpc::Channel> channel_;
  LocalCallers* callers_ = nullptr;
};

}  // namespace sinkd
