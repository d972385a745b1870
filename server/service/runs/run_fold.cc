#include "server/service/runs/run_fold.h"

#include <algorithm>
#include <future>
#include <utility>
#include <vector>

#include "server/analysis/catalog.h"
#include "server/base/status.h"
#include "server/service/runs/stored_record.h"

namespace sinkd {
namespace {

constexpr int kRecordsPerPage = 1000;

v1::AnalysisSpec WithoutWhatIsNotOfSinks(v1::AnalysisSpec spec, const LevelFilter& level) {
  if (level.empty()) return spec;
  for (const AnalysisEntry& analysis : Analyses()) {
    if (!analysis.of_single_sinks) Drop(analysis, spec);
  }
  return spec;
}

}  // namespace

RunFold::RunFold(v1::AnalysisSpec spec, const LevelFilter& level)
    : level_(level), summary_(WithoutWhatIsNotOfSinks(std::move(spec), level)) {}

absl::Status RunFold::Add(RunStore& store, const std::string& run_id, const std::stop_token& stop) {
  const auto read = [&store, &run_id](int64_t after) {
    return store.ReadRecords(run_id, {.after = after, .limit = kRecordsPerPage});
  };
  absl::StatusOr<std::vector<Record>> page = read(0);
  while (page.ok() && !page->empty()) {
    if (stop.stop_requested()) return Cancelled("the summary is not wanted any more");
    auto next = std::async(std::launch::async, read, page->back().sequence);
    const absl::Status added = AddPage(*page);
    page = next.get();
    SINKD_RETURN_IF_ERROR(added);
  }
  return page.status();
}

absl::Status RunFold::AddPage(const std::vector<Record>& records) {
  for (const Record& stored : records) {
    if (stored.failed) continue;
    SINKD_RETURN_IF_ERROR(ParsePayload(stored, record_));
    if (!level_.empty()) RemoveSinks();
    SINKD_RETURN_IF_ERROR(summary_.Add(record_));
  }
  return absl::OkStatus();
}

void RunFold::RemoveSinks() {
  auto& sinks = *record_.mutable_sinks();
  const auto other = [this](const v1::Sink& sink) {
    return (level_.l_start && sink.l_start() != *level_.l_start) ||
           (level_.lifetime && sink.lifetime() != *level_.lifetime);
  };
  sinks.erase(std::remove_if(sinks.begin(), sinks.end(), other), sinks.end());
}

v1::Summary RunFold::Report() const {
  v1::Summary report = summary_.Report();
  if (!level_.empty()) {
    report.add_notes(
        "only sinks of the level asked for; primary sinks are always in, and compensation and the "
        "sink rate, which are not about single sinks, never");
  }
  return report;
}

}  // namespace sinkd
