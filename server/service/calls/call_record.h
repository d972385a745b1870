// CallRecord: one RPC from its start to its end - its caller, request id, log lines and metrics.
//
// The request id is the caller's x-request-id (base/request_id.h), returned in the initial metadata
// under the same key. Every log line about the call has it, and the trace of the caller's
// traceparent (base/trace_context.h).
// Thread-safety: Note may be called from any thread; Begun and End as well, once each.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/status.h>
#include <grpcpp/server_context.h>

#include "server/access/principal.h"
#include "server/base/trace_context.h"
#include "server/service/calls/caller.h"
#include "server/telemetry/log.h"
#include "server/telemetry/metrics.h"
#include "server/telemetry/phase_times.h"

namespace sinkd {

class CallRecord {
 public:
  // The subject of the call, for the log; zeros and empty names are omitted.
  struct Work {
    std::string_view model;
    int64_t samples = 0;
    int64_t tokens = 0;
  };

  // `method` is the full name, "sinks.v1.ModelService/GetModel"; it and `metrics` are borrowed.
  // Empty: the call is neither logged nor counted. Construct it before anything is sent.
  CallRecord(grpc::CallbackServerContext& context, std::string_view method, Metrics& metrics);

  const std::string& request_id() const { return request_id_; }

  // OK, or the gate's refusal, which must be returned before anything else is done.
  const absl::Status& admitted() const { return admitted_; }
  // The caller; null for a refused call.
  const std::shared_ptr<const Principal>& principal() const { return caller_.principal; }
  const Caller& caller() const { return caller_; }

  // Times of the call's samples, logged at the end.
  const std::shared_ptr<PhaseTimes>& phases() const { return phases_; }

  // Writes a log line about this call.
  void Note(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) const;

  // The call got the thread that it waited for.
  void Begun() { waited_ = std::chrono::steady_clock::now() - begin_; }

  void End(const absl::Status& status, const Work& work);
  void End(const absl::Status& status) { End(status, Work{}); }

 private:
  const std::string_view method_;
  Metrics& metrics_;
  const std::string peer_;
  const Caller caller_;
  const std::string request_id_;
  const std::optional<TraceContext> trace_;
  const std::shared_ptr<PhaseTimes> phases_;
  const absl::Status admitted_;
  const std::chrono::steady_clock::time_point begin_;
  std::optional<std::chrono::duration<double>> waited_;
};

}  // namespace sinkd
