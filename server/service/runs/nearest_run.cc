#include "server/service/runs/nearest_run.h"

#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/strings/str_cat.h>

#include "server/base/nearest_word.h"
#include "server/base/status.h"
#include "server/service/runs/codec_run.h"

namespace sinkd {
namespace {

constexpr int kMostRuns = 1000;

std::vector<Run> NewestRuns(RunStore& store) {
  absl::StatusOr<RunPage> page = store.List({.page_size = kMostRuns});
  return page.ok() ? std::move(page->runs) : std::vector<Run>();
}

}  // namespace

absl::Status NameNearestRun(RunStore& store, absl::Status status) {
  std::optional<ErrorDetail> detail = GetErrorDetail(status);
  if (!detail || detail->reason != "RUN_NOT_FOUND") return status;
  std::vector<std::string> ids;
  for (Run& run : NewestRuns(store)) ids.push_back(std::move(run.id));
  const std::string nearest(NearestWord(detail->value, ids));
  if (nearest.empty()) return status;
  detail->fix = absl::StrCat("use ", RunName(nearest), ", or another that ListRuns returns");
  return NotFound("there is no such run", *std::move(detail));
}

std::string NearestToFilter(RunStore& store, const ListOptions& filter) {
  std::set<std::string> models;
  std::set<std::string> labels;
  for (const Run& run : NewestRuns(store)) {
    models.insert(run.model_id);
    for (const auto& [name, value] : run.labels) labels.insert(absl::StrCat(name, "=", value));
  }
  if (filter.model_id && !models.contains(*filter.model_id)) {
    const std::string_view nearest = NearestWord(*filter.model_id, models);
    if (!nearest.empty()) return absl::StrCat("models/", std::string(nearest));
  }
  for (const auto& [name, value] : filter.labels) {
    const std::string label = absl::StrCat(name, "=", value);
    const std::string_view nearest =
        labels.contains(label) ? std::string_view() : NearestWord(label, labels);
    if (!nearest.empty()) return absl::StrCat("the label ", std::string(nearest));
  }
  return "";
}

}  // namespace sinkd
