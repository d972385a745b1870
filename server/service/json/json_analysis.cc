#include "server/service/json/json_analysis.h"

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <absl/strings/str_cat.h>
#include <google/protobuf/util/json_util.h>
#include <google/rpc/status.pb.h>
#include <grpcpp/client_context.h>

#include "server/base/status.h"
#include "server/service/calls/status_mapping.h"
#include "server/service/json/json_text.h"
#include "sinks/v1/analysis.grpc.pb.h"

namespace sinkd {
namespace {

namespace v1 = ::sinks::v1;

constexpr std::chrono::minutes kLongest{5};
constexpr size_t kMostBytes = size_t{64} << 20;  // of an answer

absl::Status Starting() {
  return Unavailable("the server is starting", {.reason = "SERVER_STARTING",
                                                .subject = "server",
                                                .fix = "retry when /readyz says ready",
                                                .retry_after = std::chrono::seconds(1)});
}

absl::Status BadLine(size_t number, std::string_view why) {
  return InvalidArgument(
      absl::StrCat("line ", number, " of the body is not an AnalyzeRequest: ",
                   absl::string_view(why.data(), why.size())),
      {.reason = "MALFORMED_MESSAGE",
       .subject = absl::StrCat("line ", number),
       .fix =
           "send one AnalyzeRequest a line, in the JSON form that /api/v1/openapi.yaml describes"});
}

absl::Status AnswerTooLarge() {
  return ResourceExhausted("the answer is over the limit of 64 MiB",
                           {.reason = "ANSWER_TOO_LARGE",
                            .subject = "body",
                            .fix = "send fewer samples at once, or use gRPC"});
}

absl::StatusOr<std::vector<v1::AnalyzeRequest>> ParseLines(std::string_view body) {
  std::vector<v1::AnalyzeRequest> requests;
  for (size_t number = 1; !body.empty(); ++number) {
    const size_t end = std::min(body.find('\n'), body.size());
    const std::string_view line = body.substr(0, end);
    body.remove_prefix(std::min(end + 1, body.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const auto parsed = google::protobuf::util::JsonStringToMessage(
        google::protobuf::StringPiece(line.data(), line.size()), &requests.emplace_back());
    if (!parsed.ok()) {
      const auto why = parsed.message();
      return BadLine(number, Shorten(std::string_view(why.data(), why.size())));
    }
  }
  if (requests.empty()) return BadLine(1, "it is empty");
  return requests;
}

google::rpc::Status StatusOf(const grpc::Status& status) {
  google::rpc::Status rpc;
  if (status.error_details().empty() || !rpc.ParseFromString(status.error_details())) {
    rpc = ToRpcStatus(
        absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message()));
  }
  return rpc;
}

// The lines of an answer, as they come.
class Lines {
 public:
  // False: there are too many.
  bool Add(v1::AnalyzeResponse response) {
    if (response.has_progress()) return true;
    if (response.has_record() && JoinRecord(*response.mutable_record())) return true;
    if (whole_record_) {
      *response.mutable_record() = *std::move(whole_record_);
      whole_record_.reset();
    }
    return AddLine(ToJson(response).value_or("{}"));
  }
  bool AddLine(std::string_view line) {
    if (text_.size() + line.size() > kMostBytes) return false;
    absl::StrAppend(&text_, absl::string_view(line.data(), line.size()), "\n");
    return true;
  }
  bool empty() const { return text_.empty(); }
  std::string Take() { return std::move(text_); }

 private:
  // Whether more of it is to come.
  bool JoinRecord(v1::SampleRecord& part) {
    const bool more = part.continued();
    part.clear_continued();
    if (!whole_record_) {
      if (!more) return false;
      whole_record_ = std::move(part);
    } else {
      whole_record_->mutable_sinks()->MergeFrom(part.sinks());
    }
    return more;
  }

  std::string text_;
  std::optional<v1::SampleRecord> whole_record_;  // whose last part has not come
};

void Describe(const HttpQuery& query, const std::string& key, grpc::ClientContext& context) {
  context.AddMetadata(kLocalCallerKey, key);
  context.AddMetadata("x-request-id", query.request_id);
  if (query.trace) {
    context.AddMetadata("traceparent", absl::StrCat("00-", query.trace->trace_id, "-",
                                                    query.trace->parent_id, "-01"));
  }
  context.set_deadline(std::chrono::system_clock::now() + kLongest);
}

// `requests` go out on a thread of their own: the server takes no more while answers wait.
google::rpc::Status Exchange(v1::AnalysisService::Stub& stub, grpc::ClientContext& context,
                             std::span<const v1::AnalyzeRequest> requests, Lines& lines) {
  const auto stream = stub.Analyze(&context);
  bool fits = true;
  {
    const std::jthread writer([&] {
      for (const v1::AnalyzeRequest& each : requests) {
        if (!stream->Write(each)) return;
      }
      stream->WritesDone();
    });
    v1::AnalyzeResponse response;
    while (stream->Read(&response)) {
      if (!fits) continue;
      fits = lines.Add(std::move(response));
      if (!fits) context.TryCancel();
    }
  }
  const grpc::Status ended = stream->Finish();
  return fits ? StatusOf(ended) : ToRpcStatus(AnswerTooLarge());
}

}  // namespace

void JsonAnalysis::Open(std::shared_ptr<grpc::Channel> channel, LocalCallers& callers) {
  const std::lock_guard lock(mutex_);
  channel_ = std::move(channel);
  callers_ = &callers;
}

HttpAnswer JsonAnalysis::Answer(const HttpQuery& query, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const std::shared_ptr<grpc::Channel> channel = channel_;
  LocalCallers* const callers = callers_;
  lock.unlock();
  if (!channel) return ErrorAnswer(Starting());
  const absl::StatusOr<std::vector<v1::AnalyzeRequest>> requests = ParseLines(query.body);
  if (!requests.ok()) return ErrorAnswer(requests.status());
  const LocalCallers::Entry entry(
      *callers, {query.principal, {.address = query.peer_host, .host = query.peer_host}});
  v1::AnalysisService::Stub stub(channel);
  grpc::ClientContext context;
  Describe(query, entry.key(), context);
  const std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
  Lines lines;
  const google::rpc::Status ended = Exchange(stub, context, *requests, lines);
  if (ended.code() != 0) {
    if (lines.empty()) return ErrorAnswer(ended);
    lines.AddLine(absl::StrCat("{\"error\":", ToJson(ended).value_or("{}"), "}"));
  }
  return {.content_type = std::string(kJsonLinesType), .body = lines.Take()};
}

}  // namespace sinkd
