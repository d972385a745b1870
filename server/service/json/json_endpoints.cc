#include "server/service/json/json_endpoints.h"

#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/service/audit/run_audit.h"
#include "server/service/calls/message_bytes.h"
#include "server/service/json/json_text.h"
#include "server/service/models/codec_model.h"
#include "server/service/models/model_service.h"
#include "server/service/runs/codec_run.h"
#include "server/service/runs/run_samples.h"
#include "server/service/runs/run_service.h"
#include "server/service/runs/run_sources.h"

namespace sinkd {
namespace {

namespace v1 = ::sinks::v1;
using Body = absl::StatusOr<std::string>;

constexpr int32_t kDefaultRecords = 100;
constexpr int64_t kMaxPage = 1000;
constexpr int32_t kMostPoints = 50000;  // that the page draws
constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
constexpr int64_t kAnyLayer = std::numeric_limits<int32_t>::max();
constexpr size_t kMaxRecordsBytes = size_t{4} << 20;
constexpr size_t kMaxBodyBytes = size_t{64} << 20;

absl::StatusOr<RunStore*> StoreOf(const JsonCall& call) {
  if (call.store == nullptr) return StoreOff();
  return call.store;
}

// {"name": [item, item]}
class JsonList {
 public:
  explicit JsonList(std::string_view name) : json_(StrCat("{\"", name, "\":[")) {}

  bool empty() const { return json_.back() == '['; }
  size_t SizeWith(const std::string& item) const { return json_.size() + item.size() + 3; }
  void Add(const std::string& item) {
    if (!empty()) json_ += ',';
    json_ += item;
  }
  // `next_page_token` is left out when it is empty.
  std::string Finish(std::string_view next_page_token = "") && {
    json_ += ']';
    // Tokens are digits and need no escapes.
    if (!next_page_token.empty()) json_ += StrCat(",\"nextPageToken\":\"", next_page_token, "\"");
    return std::move(json_) + '}';
  }

 private:
  std::string json_;
};

absl::Status TooLarge() {
  return FailedPrecondition("the answer is larger than 64 MiB",
                            {.reason = "ANSWER_TOO_LARGE",
                             .subject = "answer",
                             .fix = "ask for less, or ask by gRPC, which streams it"});
}

// All that a source gives, as a list.
template <typename Message>
Body ListAll(std::string_view name, ReplySource& source, const std::stop_token& stop) {
  JsonList list(name);
  while (true) {
    SINKD_ASSIGN_OR_RETURN(const std::optional<grpc::ByteBuffer> bytes, source.Next(stop));
    if (!bytes) return std::move(list).Finish();
    Message message;
    if (!ParseMessage(*bytes, message)) return Internal("an answer cannot be read");
    SINKD_ASSIGN_OR_RETURN(const std::string json, ToJson(message));
    if (list.SizeWith(json) > kMaxBodyBytes) return TooLarge();
    list.Add(json);
  }
}

template <typename Request>
void FillPage(const JsonParameters& parameters, Request& request) {
  if (const auto size = parameters.Number("pageSize")) {
    request.set_page_size(static_cast<int32_t>(*size));
  }
  if (auto token = parameters.Text("pageToken")) request.set_page_token(*std::move(token));
}

void FillFilter(const JsonParameters& parameters, v1::RunFilter& filter) {
  if (auto model = parameters.Text("model")) filter.set_model(*std::move(model));
  for (const auto& [key, value] : parameters.Labels()) (*filter.mutable_labels())[key] = value;
  if (const auto time = parameters.Time("createdFrom")) *filter.mutable_created_from() = *time;
  if (const auto time = parameters.Time("createdBefore")) *filter.mutable_created_before() = *time;
}

Body ListModels(const JsonCall& call) {
  v1::ListModelsRequest request;
  FillPage(call.parameters, request);
  SINKD_ASSIGN_OR_RETURN(const auto page, PageOfModels(request, call.catalog.List()));
  return ToJson(page);
}

Body GetModel(const JsonCall& call) {
  SINKD_ASSIGN_OR_RETURN(const std::string id, DecodeModelName(StrCat("models/", call.id), "id"));
  SINKD_ASSIGN_OR_RETURN(const ModelEntry entry, call.catalog.Get(id));
  v1::GetModelResponse response;
  *response.mutable_model() = EncodeModel(entry);
  return ToJson(response);
}

Body ListRuns(const JsonCall& call) {
  SINKD_ASSIGN_OR_RETURN(RunStore * store, StoreOf(call));
  v1::ListRunsRequest request;
  FillPage(call.parameters, request);
  FillFilter(call.parameters, *request.mutable_filter());
  SINKD_ASSIGN_OR_RETURN(const auto page, PageOfRuns(*store, request));
  return ToJson(page);
}

Body GetRun(const JsonCall& call) {
  SINKD_ASSIGN_OR_RETURN(RunStore * store, StoreOf(call));
  SINKD_ASSIGN_OR_RETURN(const std::string id, DecodeRunName(RunName(call.id), "id"));
  SINKD_ASSIGN_OR_RETURN(const Run run, store->Get(id));
  v1::GetRunResponse response;
  SINKD_ASSIGN_OR_RETURN(*response.mutable_run(), EncodeRun(run));
  return ToJson(response);
}

Body GetSummary(const JsonCall& call) {
  SINKD_ASSIGN_OR_RETURN(RunStore * store, StoreOf(call));
  SINKD_ASSIGN_OR_RETURN(const std::string id, DecodeRunName(RunName(call.id), "id"));
  v1::SummarizeRunsRequest request;
  request.add_names(RunName(id));
  request.set_grouping(v1::SUMMARY_GROUPING_RUN);
  request.set_regression_points(kMostPoints);
  const auto level = [&call](const char* name) { return call.parameters.Number(name); };
  if (const auto layer = level("lStart")) request.set_l_start(static_cast<int32_t>(*layer));
  if (const auto life = level("lifetime")) request.set_lifetime(static_cast<int32_t>(*life));
  SINKD_ASSIGN_OR_RETURN(const auto source, SendSummaries(*store, request));
  SINKD_ASSIGN_OR_RETURN(const std::optional<grpc::ByteBuffer> bytes, source->Next(call.stop));
  v1::SummarizeRunsResponse response;
  if (!bytes || !ParseMessage(*bytes, response)) return Internal("an answer cannot be read");
  SINKD_ASSIGN_OR_RETURN(std::string json, ToJson(response));
  if (json.size() > kMaxBodyBytes) return TooLarge();
  return json;
}

Body ListSummaries(const JsonCall& call) {
  SINKD_ASSIGN_OR_RETURN(RunStore * store, StoreOf(call));
  v1::SummarizeRunsRequest request;
  for (const std::string& id : call.parameters.All("run")) request.add_names(RunName(id));
  FillFilter(call.parameters, *request.mutable_filter());
  if (const auto word = call.parameters.Text("grouping")) {
    v1::SummaryGrouping grouping{};
    v1::SummaryGrouping_Parse("SUMMARY_GROUPING_" + *word, &grouping);  // one of the rule's words
    request.set_grouping(grouping);
  }
  const std::optional<std::string> label = call.parameters.Text("label");
  if (label.has_value() != (request.grouping() == v1::SUMMARY_GROUPING_LABEL)) {
    return InvalidArgument("label and grouping=LABEL need each other",
                           {.reason = "INVALID_PARAMETER",
                            .subject = label ? "label" : "grouping",
                            .fix = "give both or neither; label.KEY=VALUE chooses runs"});
  }
  if (label) request.set_label(*label);
  if (call.parameters.Text("order")) request.set_order(v1::SUMMARY_ORDER_NUMERIC);
  request.set_common(true);
  SINKD_ASSIGN_OR_RETURN(const auto source, SendSummaries(*store, request));
  return ListAll<v1::SummarizeRunsResponse>("summaries", *source, call.stop);
}

Body GetAudit(const JsonCall& call) {
  SINKD_ASSIGN_OR_RETURN(RunStore * store, StoreOf(call));
  v1::AuditRunsRequest request;
  if (auto policy = call.parameters.Text("policy")) request.set_policy(*std::move(policy));
  for (const std::string& id : call.parameters.All("candidate")) {
    request.mutable_candidate()->add_names(RunName(id));
  }
  for (const std::string& id : call.parameters.All("baseline")) {
    request.mutable_baseline()->add_names(RunName(id));
  }
  if (const auto seed = call.parameters.Number("seed")) request.set_seed(*seed);
  SINKD_ASSIGN_OR_RETURN(const v1::AuditRunsResponse response,
                         RunAudit(*store, request, [&call] { return call.stop.stop_requested(); }));
  return ToJson(response);
}

// A page ends after `pageSize` records, or before the one that would make it too large.
Body ListRecords(const JsonCall& call) {
  SINKD_ASSIGN_OR_RETURN(RunStore * store, StoreOf(call));
  SINKD_ASSIGN_OR_RETURN(const int64_t after,
                         ReadSequenceToken(call.parameters.Text("pageToken").value_or("")));
  const int64_t size = call.parameters.Number("pageSize").value_or(kDefaultRecords);
  v1::StreamRecordsRequest request;
  request.set_name(RunName(call.id));
  request.set_after_sequence(after);
  request.set_limit(size + 1);  // one more shows whether another page follows
  SINKD_ASSIGN_OR_RETURN(const auto source, SendRecords(*store, request));
  JsonList list("records");
  int64_t records = 0;
  int64_t last = after;
  while (true) {
    SINKD_ASSIGN_OR_RETURN(const std::optional<grpc::ByteBuffer> bytes, source->Next(call.stop));
    if (!bytes) return std::move(list).Finish();
    v1::StreamRecordsResponse response;
    if (!ParseMessage(*bytes, response)) return Internal("an answer cannot be read");
    for (const v1::StoredRecord& record : response.records()) {
      SINKD_ASSIGN_OR_RETURN(const std::string json, ToJson(record));
      const bool too_large = !list.empty() && list.SizeWith(json) > kMaxRecordsBytes;
      if (records == size || too_large) return std::move(list).Finish(WriteSequenceToken(last));
      list.Add(json);
      ++records;
      last = record.sequence();
    }
  }
}

Body ListStudies(const JsonCall& call) {
  SINKD_ASSIGN_OR_RETURN(RunStore * store, StoreOf(call));
  v1::ListStudiesRequest request;
  request.set_name(RunName(call.id));
  SINKD_ASSIGN_OR_RETURN(const auto source, SendStudies(*store, request));
  return ListAll<v1::ListStudiesResponse>("studies", *source, call.stop);
}

std::vector<ParameterRule> With(std::vector<ParameterRule> rules,
                                const std::vector<ParameterRule>& more) {
  rules.insert(rules.end(), more.begin(), more.end());
  return rules;
}

const std::vector<JsonEndpoint>& Table() {
  using enum ParameterType;
  static const auto& table = *[] {
    const std::vector<ParameterRule> page = {{"pageSize", kNumber, 1, kMaxPage}, {"pageToken"}};
    const std::vector<ParameterRule> filter = {
        {"model", kModel}, {"label.", kLabels}, {"createdFrom", kTime}, {"createdBefore", kTime}};
    const std::vector<ParameterRule> level = {{"lStart", kNumber, 0, kAnyLayer},
                                              {"lifetime", kNumber, 0, kAnyLayer}};
    const std::vector<ParameterRule> groups = {
        {"run", kRun},
        {.name = "grouping", .choices = {"MODEL", "LABEL", "RUN"}},
        {"label"},
        {.name = "order", .choices = {"NUMERIC"}}};
    const std::vector<ParameterRule> audit = {
        {"policy"}, {"candidate", kRun}, {"baseline", kRun}, {"seed", kNumber, 0, kAny}};
    return new std::vector<JsonEndpoint>{
        {"models", page, Weight::kLight, ListModels},
        {"models/{id}", {}, Weight::kLight, GetModel},
        {"runs", With(page, filter), Weight::kLight, ListRuns},
        {"runs/{id}", {}, Weight::kLight, GetRun},
        {"runs/{id}/summary", level, Weight::kFold, GetSummary},
        {"runs/{id}/records", page, Weight::kLight, ListRecords},
        {"runs/{id}/studies", {}, Weight::kLight, ListStudies},
        {"summaries", With(groups, filter), Weight::kFold, ListSummaries},
        {"audit", audit, Weight::kFold, GetAudit},
    };
  }();
  return table;
}

}  // namespace

std::span<const JsonEndpoint> JsonEndpoints() {
  return Table();
}

}  // namespace sinkd
