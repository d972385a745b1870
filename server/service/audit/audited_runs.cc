#include "server/service/audit/audited_runs.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <absl/strings/str_cat.h>

#include "server/base/status.h"
#include "server/service/calls/status_mapping.h"
#include "server/service/runs/codec_run.h"
#include "server/service/runs/common_spec.h"
#include "server/service/runs/nearest_run.h"
#include "server/service/runs/stored_record.h"

namespace sinkd {
namespace {

constexpr int kRecordsPerPage = 1000;
constexpr char kNonFinite[] = "NON_FINITE_ACTIVATION";

absl::Status NoRuns(const std::string& field) {
  return InvalidArgument(
      absl::StrCat(field, " names no runs"),
      {.reason = "NO_RUNS_CHOSEN", .subject = field, .fix = "give names, a filter, or both"});
}

absl::Status Differ(const RunGroup& first, const RunGroup& second, const std::string& what) {
  const std::string name = RunName(second.runs.front());
  return FailedPrecondition(
      absl::StrCat(RunName(first.runs.front()), " and ", name, " were made with different ", what),
      {.reason = "RUNS_DIFFER",
       .subject = name,
       .fix = "audit runs that were made with the same parameters"});
}

absl::Status AddRecord(const Record& stored, Evidence& evidence) {
  if (!stored.failed) {
    v1::SampleRecord record;
    SINKD_RETURN_IF_ERROR(ReadPayload(stored, record));
    evidence.Add(stored.sample_key, record);
    return absl::OkStatus();
  }
  SINKD_ASSIGN_OR_RETURN(const sinks::v1::SampleError error, ReadFailure(stored));
  const std::optional<ErrorDetail> detail = GetErrorDetail(FromRpcStatus(error.status()));
  evidence.AddFailure(stored.sample_key, detail && detail->reason == kNonFinite);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<RunGroup>> FindAuditedRuns(RunStore& store,
                                                      const sinks::v1::RunSelection& selection,
                                                      const std::string& field) {
  if (selection.names_size() == 0 && !selection.has_filter()) return NoRuns(field);
  sinks::v1::SummarizeRunsRequest request;
  *request.mutable_names() = selection.names();
  if (selection.has_filter()) *request.mutable_filter() = selection.filter();
  request.set_grouping(sinks::v1::SUMMARY_GROUPING_RUN);
  SINKD_ASSIGN_OR_RETURN(std::vector<RunGroup> runs, FindRunGroups(store, request));
  if (!runs.empty()) return runs;
  SINKD_ASSIGN_OR_RETURN(const ListOptions filter, DecodeFilter(selection.filter()));
  const std::string nearest = NearestToFilter(store, filter);
  return NotFound(
      absl::StrCat("no run matches ", field, ""),
      {.reason = "NO_RUN_SELECTED",
       .subject = field,
       .fix = nearest.empty() ? "list the runs that there are, and choose others"
                              : absl::StrCat("choose ", nearest, ", or list the runs")});
}

absl::Status CheckComparable(const std::vector<RunGroup>& runs) {
  const RunGroup* scored = nullptr;
  for (const RunGroup& run : runs) {
    if (!Equal(run.spec.detection(), runs.front().spec.detection())) {
      return Differ(runs.front(), run, "detection");
    }
    if (!run.spec.has_scores()) continue;
    if (scored == nullptr) scored = &run;
    if (!Equal(AlphaOf(run.spec), AlphaOf(scored->spec))) {
      return Differ(*scored, run, "scores");
    }
  }
  return absl::OkStatus();
}

absl::Status GatherEvidence(RunStore& store, const std::vector<RunGroup>& runs,
                            const std::function<bool()>& stopped, Evidence& evidence) {
  for (const RunGroup& run : runs) {
    ReadOptions page{.limit = kRecordsPerPage};
    while (true) {
      if (stopped()) return Cancelled("the audit is not wanted any more");
      SINKD_ASSIGN_OR_RETURN(const std::vector<Record> records,
                             store.ReadRecords(run.runs.front(), page));
      if (records.empty()) break;
      for (const Record& record : records) SINKD_RETURN_IF_ERROR(AddRecord(record, evidence));
      page.after = records.back().sequence;
    }
  }
  return absl::OkStatus();
}

}  // namespace sinkd
