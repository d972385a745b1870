#include "server/service/json/json_api.h"

#include <algorithm>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include "server/base/containment.h"
#include "server/base/status.h"
#include "server/service/calls/admission.h"
#include "server/service/json/json_text.h"
#include "server/service/json/openapi.h"
#include "server/service/runs/nearest_run.h"
#include "server/telemetry/log.h"
#include "server/telemetry/trace_fields.h"

namespace sinkd {
namespace {

constexpr int kFoldThreads = 3;
constexpr size_t kFolds = 8;  // under way and waiting
constexpr std::chrono::seconds kLongestFold{60};
constexpr char kDescription[] = "openapi.yaml";
constexpr char kYaml[] = "application/yaml";

// The value of {id}; nullopt if the path is another one.
std::optional<std::string> Match(const std::string& path, std::span<const std::string> segments) {
  const std::vector<std::string> parts = absl::StrSplit(path, '/');
  if (parts.size() != segments.size()) return std::nullopt;
  std::string id;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] == "{id}") {
      id = segments[i];
    } else if (parts[i] != segments[i]) {
      return std::nullopt;
    }
  }
  return id;
}

// The path's segments past /api/v1/.
std::span<const std::string> PastVersion(const std::vector<std::string>& path) {
  if (path.size() < 3 || path[0] != "api" || path[1] != "v1") return {};
  return std::span(path).subspan(2);
}

absl::Status NoSuchPath() {
  return NotFound("the API has no such path", {.reason = "PATH_NOT_FOUND",
                                               .subject = "path",
                                               .fix = "see /api/v1/openapi.yaml for all paths"});
}

absl::Status TookTooLong() {
  return MakeError(absl::StatusCode::kDeadlineExceeded, "the summary took more than a minute",
                   {.reason = "SUMMARY_TOO_LONG",
                    .subject = "summary",
                    .fix = "choose fewer runs, or ask by gRPC, which waits as long as you like"});
}

}  // namespace

JsonApi::JsonApi(ModelCatalog& catalog, RunStore* store, int64_t max_caller_percent)
    : catalog_(catalog),
      store_(store),
      folds_({.name = "summaries for HTTP",
              .when_full = "retry when another summary is done",
              .threads = kFoldThreads,
              .capacity = kFolds,
              .caller_percent = max_caller_percent}) {}

HttpApi JsonApi::Bind() {
  return {.answer = [this](const HttpQuery& query,
                           const std::stop_token& stop) { return Answer(query, stop); },
          .refuse = [](const absl::Status& error) { return ErrorAnswer(error); }};
}

HttpAnswer JsonApi::Answer(const HttpQuery& query, const std::stop_token& stop) {
  absl::StatusOr<HttpAnswer> answer = Contained([&] { return Make(query, stop); });
  if (answer.ok()) return *std::move(answer);
  // Clients that disconnected get no response, so a cancelled call means that the server stops.
  absl::Status error = absl::IsCancelled(answer.status()) ? ServerStopping() : answer.status();
  if (store_ != nullptr) error = NameNearestRun(*store_, std::move(error));
  HttpAnswer refused = ErrorAnswer(error);
  if (refused.status == 500) {
    const std::string path = absl::StrJoin(query.path, "/");
    const std::string text = error.ToString();
    std::vector<LogField> fields = {
        {"request_id", query.request_id}, {"path", path}, {"error", text}};
    for (const LogField& field : TraceFields(query.trace)) fields.push_back(field);
    Log(LogLevel::kError, "the JSON API failed", fields);
  }
  return refused;
}

absl::StatusOr<HttpAnswer> JsonApi::Make(const HttpQuery& query, const std::stop_token& stop) {
  const std::span<const std::string> path = PastVersion(query.path);
  if (path.size() == 1 && path[0] == kDescription) {
    SINKD_RETURN_IF_ERROR(JsonParameters::Read(query, {}).status());
    return HttpAnswer{.content_type = kYaml, .fixed_body = OpenApiText()};
  }
  for (const JsonEndpoint& endpoint : JsonEndpoints()) {
    const std::optional<std::string> id = Match(endpoint.path, path);
    if (!id) continue;
    SINKD_ASSIGN_OR_RETURN(const JsonParameters parameters,
                           JsonParameters::Read(query, endpoint.parameters));
    absl::StatusOr<std::string> body =
        endpoint.weight == Weight::kFold ? Fold(endpoint, *id, query.caller, parameters, stop)
                                         : endpoint.body({catalog_, store_, *id, parameters, stop});
    SINKD_RETURN_IF_ERROR(body.status());
    return HttpAnswer{.content_type = kJsonType, .body = *std::move(body)};
  }
  return NoSuchPath();
}

absl::StatusOr<std::string> JsonApi::Fold(const JsonEndpoint& endpoint, const std::string& id,
                                          const std::string& caller,
                                          const JsonParameters& parameters,
                                          const std::stop_token& stop) {
  SINKD_ASSIGN_OR_RETURN(const std::unique_ptr<Executor::Stream> place,
                         folds_.OpenStream(1, {.caller = caller}));
  std::stop_source end;
  const std::stop_callback when_stopped(stop, [&end] { end.request_stop(); });
  const auto done = std::make_shared<std::promise<absl::StatusOr<std::string>>>();
  std::future<absl::StatusOr<std::string>> body = done->get_future();
  const auto run = [&, done](const absl::Status& admitted) {
    const std::stop_token told = end.get_token();
    const auto make = [&] { return endpoint.body({catalog_, store_, id, parameters, told}); };
    done->set_value(admitted.ok() ? Contained(make) : absl::StatusOr<std::string>(admitted));
  };
  SINKD_RETURN_IF_ERROR(place->Submit({.run = run, .stop = end.get_token()}));
  if (body.wait_for(kLongestFold) == std::future_status::ready) return body.get();
  end.request_stop();
  (void)body.get();  // which borrows what is of this call
  return TookTooLong();
}

}  // namespace sinkd
