#include "tests/client/fake_runs.h"

#include <algorithm>

#include <google/protobuf/util/time_util.h>

#include "tests/client/fake_answers.h"
#include "tests/client/fake_server.h"

namespace sinkd::testing {
namespace {

namespace v1 = ::sinks::v1;

grpc::Status NoRun(const std::string& name) {
  return MakeError(grpc::StatusCode::NOT_FOUND, "there is no such run " + name, "RUN_NOT_FOUND");
}

// Where the page that a token names begins, two to a page.
size_t BeginOf(const std::string& token) {
  return token.empty() ? 0 : std::stoul(token);
}

}  // namespace

FakeRuns::FakeRuns() {
  for (const char* model : {"alpha", "beta"}) {
    v1::Run& run = runs.emplace_back();
    run.set_name(std::string("runs/") + model + "-1");
    run.set_model(std::string("models/") + model);
    (*run.mutable_labels())["branch"] = "main";
    run.mutable_spec()->set_model(run.model());
    run.mutable_spec()->mutable_levels();
    run.set_state(v1::RUN_STATE_OPEN);
    *run.mutable_create_time() =
        google::protobuf::util::TimeUtil::SecondsToTimestamp(1'767'225'600);  // 2026-01-01
    run.set_samples(1234);
    run.set_secondary_sinks(5);
    run.set_size_bytes(3 << 20);
  }
  v1::StoredRecord& record = records.emplace_back();
  record.set_sequence(1);
  record.set_sample_key("one");
  *record.mutable_record() = MakeRecord(0, v1::Sample());
  v1::StoredRecord& failed = records.emplace_back();
  failed.set_sequence(2);
  failed.set_sample_key("two");
  failed.mutable_error()->mutable_status()->set_message("too long");
}

v1::Run* FakeRuns::Find(const std::string& name) {
  const auto found = std::find_if(runs.begin(), runs.end(),
                                  [&name](const v1::Run& run) { return run.name() == name; });
  return found == runs.end() ? nullptr : &*found;
}

grpc::Status FakeRuns::GetRun(grpc::ServerContext*, const v1::GetRunRequest* request,
                              v1::GetRunResponse* response) {
  const std::lock_guard lock(mutex_);
  const v1::Run* run = Find(request->name());
  if (run == nullptr) return NoRun(request->name());
  *response->mutable_run() = *run;
  return grpc::Status::OK;
}

grpc::Status FakeRuns::ListRuns(grpc::ServerContext*, const v1::ListRunsRequest* request,
                                v1::ListRunsResponse* response) {
  const std::lock_guard lock(mutex_);
  list_request_ = *request;
  const size_t begin = BeginOf(request->page_token());
  const size_t end = std::min(begin + 2, runs.size());
  for (size_t i = begin; i < end; ++i) *response->add_runs() = runs[i];
  if (end < runs.size()) response->set_next_page_token(std::to_string(end));
  if (runs.empty() && request->has_filter()) response->set_did_you_mean("the label a=\x1b[31mb");
  return grpc::Status::OK;
}

grpc::Status FakeRuns::UpdateRun(grpc::ServerContext*, const v1::UpdateRunRequest* request,
                                 v1::UpdateRunResponse* response) {
  const std::lock_guard lock(mutex_);
  v1::Run* run = Find(request->name());
  if (run == nullptr) return NoRun(request->name());
  run->set_state(request->state());
  *response->mutable_run() = *run;
  return grpc::Status::OK;
}

grpc::Status FakeRuns::DeleteRun(grpc::ServerContext*, const v1::DeleteRunRequest* request,
                                 v1::DeleteRunResponse*) {
  const std::lock_guard lock(mutex_);
  const auto removed =
      std::erase_if(runs, [request](const v1::Run& run) { return run.name() == request->name(); });
  return removed == 0 ? NoRun(request->name()) : grpc::Status::OK;
}

grpc::Status FakeRuns::ListSampleKeys(grpc::ServerContext*,
                                      const v1::ListSampleKeysRequest* request,
                                      v1::ListSampleKeysResponse* response) {
  const std::lock_guard lock(mutex_);
  if (Find(request->name()) == nullptr) return NoRun(request->name());
  const size_t begin = BeginOf(request->page_token());
  const size_t end = std::min(begin + 2, keys.size());
  for (size_t i = begin; i < end; ++i) {
    response->add_sample_keys(keys[i]);
    if (!input_digests.empty()) response->add_input_digests(input_digests[i]);
  }
  if (end < keys.size()) response->set_next_page_token(std::to_string(end));
  return grpc::Status::OK;
}

grpc::Status FakeRuns::StreamRecords(grpc::ServerContext*, const v1::StreamRecordsRequest* request,
                                     grpc::ServerWriter<v1::StreamRecordsResponse>* writer) {
  {
    const std::lock_guard lock(mutex_);
    records_request_ = *request;
  }
  for (const v1::StoredRecord& record : records) {
    v1::StreamRecordsResponse response;
    *response.add_records() = record;
    writer->Write(response);
  }
  return grpc::Status::OK;
}

void FakeRuns::AddSeries(v1::SummarizeRunsResponse& response) {
  const bool is_first = response.group() == "runs/alpha-1";
  response.set_group(is_first ? "512" : "1e3");
  response.set_label_value(is_first ? 512 : 1000);
  if (is_first) return;
  v1::SummarySeries& share = *response.add_series();
  share.set_name("share_of_samples_with_secondary");
  for (const double value : {512, 1000}) share.add_label_values(value);
  for (const double value : {0.125, 0.75}) share.add_values(value);
  v1::ChangePoint& change = *share.mutable_change_point();
  change.set_last_before(512);
  change.set_first_after(1000);
  change.mutable_interval()->set_lower(256);
  change.mutable_interval()->set_upper(2000);
  change.set_mean_before(0.125);
  change.set_mean_after(0.75);
  change.set_p(0.004);
  v1::SummarySeries& entropy = *response.add_series();
  entropy.set_name("entropy");
  entropy.add_label_values(1000);
  entropy.add_values(1.5);
  entropy.mutable_change_point()->set_undefined("needs at least 5 values; there are 1");
}

grpc::Status FakeRuns::SummarizeRuns(grpc::ServerContext*, const v1::SummarizeRunsRequest* request,
                                     grpc::ServerWriter<v1::SummarizeRunsResponse>* writer) {
  std::vector<v1::Run> all;
  {
    const std::lock_guard lock(mutex_);
    summarize_request_ = *request;
    all = runs;
  }
  if (!request->has_grouping()) all.resize(1);
  for (const v1::Run& run : all) {
    v1::SummarizeRunsResponse response;
    if (request->has_grouping()) response.set_group(run.name());
    response.add_runs(run.name());
    response.set_run_count(1);
    *response.mutable_summary() = MakeSummary(run.spec(), 3, 30);
    if (request->order() == v1::SUMMARY_ORDER_NUMERIC) AddSeries(response);
    writer->Write(response);
  }
  return grpc::Status::OK;
}

grpc::Status FakeRuns::BackUpStore(grpc::ServerContext*, const v1::BackUpStoreRequest*,
                                   grpc::ServerWriter<v1::BackUpStoreResponse>* writer) {
  v1::BackUpStoreResponse response;
  response.set_total_bytes(store_bytes);
  response.set_data(store.substr(0, 5));
  writer->Write(response);
  response.Clear();
  response.set_data(store.substr(5));
  writer->Write(response);
  return grpc::Status::OK;
}

grpc::Status FakeRuns::ImportRecords(grpc::ServerContext*,
                                     grpc::ServerReader<v1::ImportRecordsRequest>* reader,
                                     v1::ImportRecordsResponse* response) {
  std::vector<v1::ImportRecordsRequest> requests;
  v1::ImportRecordsRequest request;
  while (reader->Read(&request)) {
    response->set_imported(response->imported() + request.records_size() + request.lines_size());
    requests.push_back(request);
  }
  if (requests.empty()) return {grpc::StatusCode::INVALID_ARGUMENT, "no header came"};
  const v1::ImportHeader& header = requests[0].header();
  response->mutable_run()->set_name("runs/" + header.run_id());
  response->mutable_run()->set_model(header.spec().model());
  response->mutable_run()->set_state(v1::RUN_STATE_COMPLETE);
  const std::lock_guard lock(mutex_);
  import_requests_ = std::move(requests);
  return grpc::Status::OK;
}

v1::ListRunsRequest FakeRuns::list_request() const {
  const std::lock_guard lock(mutex_);
  return list_request_;
}

v1::SummarizeRunsRequest FakeRuns::summarize_request() const {
  const std::lock_guard lock(mutex_);
  return summarize_request_;
}

v1::StreamRecordsRequest FakeRuns::records_request() const {
  const std::lock_guard lock(mutex_);
  return records_request_;
}

std::vector<v1::ImportRecordsRequest> FakeRuns::import_requests() const {
  const std::lock_guard lock(mutex_);
  return import_requests_;
}

}  // namespace sinkd::testing
