#include "client/cli/output/report_data.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/time_util.h>

#include <map>
#include <optional>
#include <utility>

#include <absl/strings/str_replace.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "client/cli/output/json_parts.h"
#include "sinks/v1/models.pb.h"
#include "sinks/v1/runs.pb.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

constexpr char kApi[] = "/api/v1/";
constexpr int32_t kMostPoints =
    50000;  // that the page draws, as the API's summary of a run has them

std::string Quote(const std::string& text) {
  google::protobuf::Value value;
  value.set_string_value(text);
  return ToJson(value);
}

// Answers as JSON, by path of the API.
using Answers = std::map<std::string, std::string>;

std::string ToObject(const Answers& answers) {
  std::vector<std::string> members;
  for (const auto& [path, json] : answers) members.push_back(Quote(path) + ':' + json);
  return fmt::format("{{{}}}", fmt::join(members, ","));
}

absl::Status AddSummary(const client::RunClient& runs, const std::string& name,
                        const client::CallOptions& options, Answers& answers) {
  v1::SummarizeRunsRequest request;
  request.add_names(name);
  request.set_regression_points(kMostPoints);
  std::optional<v1::SummarizeRunsResponse> summary;
  const absl::Status status =
      runs.Summarize(request, options, [&](const v1::SummarizeRunsResponse& response) {
        summary = response;
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  if (!summary) return absl::InternalError("the server sent no summary of " + name);
  answers[kApi + name + "/summary"] = ToJson(*summary);
  return absl::OkStatus();
}

absl::Status AddRecords(const client::RunClient& runs, const std::string& name, int64_t samples,
                        const client::CallOptions& options, Answers& answers) {
  v1::StreamRecordsRequest request;
  request.set_name(name);
  request.set_limit(samples);
  v1::StreamRecordsResponse all;
  // A limit of none would mean all of them.
  if (samples > 0) {
    const absl::Status status = runs.Records(request, options, [&](const v1::StoredRecord& record) {
      *all.add_records() = record;
      return absl::OkStatus();
    });
    if (!status.ok()) return status;
  }
  answers[kApi + name + "/records"] = ToJson(all);
  return absl::OkStatus();
}

absl::Status AddStudies(const client::RunClient& runs, const std::string& name,
                        const client::CallOptions& options, Answers& answers) {
  std::string list;
  const absl::Status status =
      runs.Studies(name, options, [&](const v1::ListStudiesResponse& study) {
        list += (list.empty() ? "" : ",") + ToJson(study);
        return absl::OkStatus();
      });
  if (status.ok()) answers[kApi + name + "/studies"] = "{\"studies\":[" + list + "]}";
  return status;
}

absl::Status AddModel(const client::ModelClient& models, const std::string& name,
                      const client::CallOptions& options, Answers& answers) {
  absl::StatusOr<v1::Model> model = models.Get(name, options);
  if (absl::IsNotFound(model.status())) return absl::OkStatus();
  if (!model.ok()) return model.status();
  v1::GetModelResponse response;
  *response.mutable_model() = *std::move(model);
  answers[kApi + name] = ToJson(response);
  return absl::OkStatus();
}

absl::StatusOr<v1::Run> AddRun(const client::RunClient& runs, const std::string& run,
                               int64_t samples, const client::CallOptions& options,
                               Answers& answers) {
  const std::string name = client::RunName(run);
  absl::StatusOr<v1::Run> found = runs.Get(name, options);
  if (!found.ok()) return found.status();
  v1::GetRunResponse response;
  *response.mutable_run() = *found;
  answers[kApi + name] = ToJson(response);
  absl::Status status = AddSummary(runs, name, options, answers);
  if (status.ok()) status = AddRecords(runs, name, samples, options, answers);
  if (status.ok()) status = AddStudies(runs, name, options, answers);
  if (!status.ok()) return status;
  return found;
}

}  // namespace

absl::StatusOr<std::string> GatherReport(const client::RunClient& runs,
                                         const client::ModelClient& models,
                                         const ReportRequest& request,
                                         const client::CallOptions& options) {
  Answers answers;
  v1::ListRunsResponse list;
  for (const std::string& each : request.runs) {
    absl::StatusOr<v1::Run> run = AddRun(runs, each, request.samples, options, answers);
    if (!run.ok()) return run.status();
    const absl::Status status = AddModel(models, run->model(), options, answers);
    if (!status.ok()) return status;
    *list.add_runs() = *std::move(run);
  }
  answers[std::string(kApi) + "runs"] = ToJson(list);
  const std::string now = google::protobuf::util::TimeUtil::ToString(
      google::protobuf::util::TimeUtil::GetCurrentTime());
  const std::string json =
      fmt::format(R"({{"sinkctl":{},"created":{},"server":{},"responses":{}}})",
                  Quote(SINKCTL_VERSION), Quote(now), Quote(request.server), ToObject(answers));
  return absl::StrReplaceAll(json, {{"<", "\\u003c"}});
}

}  // namespace sinkd::cli
