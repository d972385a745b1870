// CallRecord: one RPC from its start to its end - its caller, request id, log lines and metrics.
//
// The request id is the caller's x-request-id (base/request_id.h); it goes back in the initial
// metadata under the same key. Every line about the call has it, and the trace of the caller's
// traceparent (base/trace_context.h).
// Thread-safety: Note may be called from any thread, Begun and End too, once each.
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
  // What the call was about, for the log; zeros and empty names are left out.
  struct Work {
    std::string_view model;
    int64_t samples = 0;
    int64_t tokens = 0;
  };

  // `method` is the full name, "sinks.v1.ModelService/GetModel"; it and `metrics` are borrowed.
  // Empty: the call is neither logged nor counted. To be made before anything is sent.
  CallRecord(grpc::CallbackServerContext& context, std::string_view method, Metrics& metrics);

  const std::string& request_id() const { return request_id_; }

  // OK, or why the gate refused the call: to be answered with before anything else is done.
  const absl::Status& admitted() const { return admitted_; }
  // Who calls; null for a refused call.
  const std::shared_ptr<const Principal>& principal() const { return caller_.principal; }
  const Caller& caller() const { return caller_; }

  // Of the call's samples; told at the end.
  const std::shared_ptr<PhaseTimes>& phases() const { return phases_; }

  // A line of the log about this call.
  void Note(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) const;

  // A call that waited for a thread has one.
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
