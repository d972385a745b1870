#include "server/service/calls/call_record.h"

#include <iterator>
#include <vector>

#include "server/base/request_id.h"
#include "server/base/status.h"
#include "server/service/calls/call_gate.h"
#include "server/telemetry/sparse_log.h"
#include "server/telemetry/trace_fields.h"

namespace sinkd {
namespace {

constexpr char kRequestIdKey[] = "x-request-id";
constexpr char kTraceparentKey[] = "traceparent";
// Anybody can be refused, as often as it likes.
constexpr std::chrono::seconds kBetweenRefusals{1};

std::string GivenId(const grpc::CallbackServerContext& context) {
  const auto found = context.client_metadata().find(kRequestIdKey);
  if (found == context.client_metadata().end()) return "";
  return {found->second.data(), found->second.size()};
}

std::optional<TraceContext> TraceOf(const grpc::CallbackServerContext& context) {
  const auto [begin, end] = context.client_metadata().equal_range(kTraceparentKey);
  if (begin == end || std::next(begin) != end) return std::nullopt;  // of two neither counts
  return ParseTraceparent({begin->second.data(), begin->second.size()});
}

LogLevel LevelOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kDataLoss:
      return LogLevel::kError;
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kUnavailable:
      return LogLevel::kWarning;
    default:
      return LogLevel::kInfo;
  }
}

}  // namespace

CallRecord::CallRecord(grpc::CallbackServerContext& context, std::string_view method,
                       Metrics& metrics)
    : method_(method),
      metrics_(metrics),
      peer_(PeerOf(context).address),
      caller_(CallerOf(context)),
      request_id_(RequestIdOf(GivenId(context))),
      trace_(TraceOf(context)),
      phases_(std::make_shared<PhaseTimes>(metrics)),
      admitted_(VerdictOf(context)),
      begin_(std::chrono::steady_clock::now()) {
  context.AddInitialMetadata(kRequestIdKey, request_id_);
  if (!method_.empty()) metrics_.RpcStarted(method_);
}

void CallRecord::Note(LogLevel level, std::string_view message,
                      std::initializer_list<LogField> fields) const {
  std::vector<LogField> all = {{"request_id", request_id_}};
  all.insert(all.end(), fields.begin(), fields.end());
  for (const LogField& field : TraceFields(trace_)) all.push_back(field);
  Log(level, message, all);
}

void CallRecord::End(const absl::Status& status, const Work& work) {
  if (method_.empty()) return;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin_;
  metrics_.RpcHandled(method_, status.code(), seconds);
  const std::string code = absl::StatusCodeToString(status.code());
  std::vector<LogField> fields = {{"request_id", request_id_},
                                  {"method", method_},
                                  {"code", code},
                                  {"seconds", seconds.count()},
                                  {"peer", peer_}};
  if (principal()) fields.emplace_back("caller", caller_.name);
  if (!work.model.empty()) fields.emplace_back("model", work.model);
  if (work.samples > 0) fields.emplace_back("samples", work.samples);
  if (work.tokens > 0) fields.emplace_back("tokens", work.tokens);
  if (waited_) fields.emplace_back("queue_seconds", *waited_);
  for (const LogField& field : phases_->Fields()) fields.push_back(field);
  for (const LogField& field : TraceFields(trace_)) fields.push_back(field);
  const std::string error = Shorten({status.message().data(), status.message().size()}, 500);
  if (!status.ok()) fields.emplace_back("error", error);
  if (!absl::IsUnauthenticated(admitted_)) {
    return Log(LevelOf(status.code()), "request done", fields);
  }
  static auto* const refused = new SparseLog(kBetweenRefusals);
  refused->Note(LevelOf(status.code()), "request done", fields);
}

}  // namespace sinkd
