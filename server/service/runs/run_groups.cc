#include "server/service/runs/run_groups.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include "server/analysis/catalog.h"
#include "server/base/parameter_check.h"
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/service/analyze/stream_spec.h"
#include "server/service/runs/codec_run.h"
#include "server/service/runs/common_spec.h"
#include "server/store/run_rules.h"

namespace sinkd {
namespace {

constexpr int kMaxNames = 1000;
constexpr int kPageSize = 1000;

absl::StatusOr<std::vector<Run>> FindNamed(RunStore& store,
                                           const sinks::v1::SummarizeRunsRequest& request,
                                           const ListOptions& filter) {
  SINKD_RETURN_IF_ERROR(CheckRange("names", request.names_size(), 1, kMaxNames));
  std::set<std::string> ids;
  for (int i = 0; i < request.names_size(); ++i) {
    SINKD_ASSIGN_OR_RETURN(const std::string id,
                           DecodeRunName(request.names(i), absl::StrCat("names[", i, "]")));
    ids.insert(id);
  }
  std::vector<Run> runs;
  for (const std::string& id : ids) {
    SINKD_ASSIGN_OR_RETURN(Run run, store.Get(id));
    if (Meets(run, filter)) runs.push_back(std::move(run));
  }
  return runs;
}

absl::StatusOr<std::vector<Run>> FindFiltered(RunStore& store, ListOptions filter) {
  filter.page_size = kPageSize;
  std::vector<Run> runs;
  do {
    SINKD_ASSIGN_OR_RETURN(RunPage page, store.List(filter));
    runs.insert(runs.end(), std::make_move_iterator(page.runs.begin()),
                std::make_move_iterator(page.runs.end()));
    filter.page_token = std::move(page.next_page_token);
  } while (!filter.page_token.empty());
  return runs;
}

absl::StatusOr<std::vector<Run>> FindRuns(RunStore& store,
                                          const sinks::v1::SummarizeRunsRequest& request) {
  if (request.names_size() == 0 && !request.has_filter()) {
    return InvalidArgument("the request chooses no runs",
                           {.reason = "NO_RUNS_CHOSEN",
                            .subject = "names",
                            .fix = "give names, a filter (an empty one takes all), or both"});
  }
  SINKD_ASSIGN_OR_RETURN(const ListOptions filter, DecodeFilter(request.filter()));
  absl::StatusOr<std::vector<Run>> runs =
      request.names_size() > 0 ? FindNamed(store, request, filter) : FindFiltered(store, filter);
  if (!runs.ok()) return runs;
  std::sort(runs->begin(), runs->end(), [](const Run& a, const Run& b) {
    return std::tie(a.created, a.id) < std::tie(b.created, b.id);
  });
  return runs;
}

// A group's name; absent for runs that have none.
absl::StatusOr<std::optional<std::string>> GroupOf(const Run& run,
                                                   const sinks::v1::SummarizeRunsRequest& request) {
  switch (static_cast<int>(request.grouping())) {
    case sinks::v1::SUMMARY_GROUPING_UNSPECIFIED:
      return std::nullopt;
    case sinks::v1::SUMMARY_GROUPING_MODEL:
      return absl::StrCat("models/", run.model_id);
    case sinks::v1::SUMMARY_GROUPING_LABEL: {
      const auto found = run.labels.find(request.label());
      if (found == run.labels.end()) return std::nullopt;
      return found->second;
    }
    case sinks::v1::SUMMARY_GROUPING_RUN:
      return RunName(run.id);
    default:
      return UnknownEnum("grouping", request.grouping(), 0, sinks::v1::SummaryGrouping_MAX);
  }
}

// What runs of one group share; groups are in its order.
struct GroupKey {
  double number = 0;                // with a numeric order
  std::optional<std::string> name;  // without one

  bool operator<(const GroupKey& other) const {
    return std::tie(number, name) < std::tie(other.number, other.name);
  }
};

bool IsNumeric(const sinks::v1::SummarizeRunsRequest& request) {
  return request.order() == sinks::v1::SUMMARY_ORDER_NUMERIC;
}

absl::Status CheckOrder(const sinks::v1::SummarizeRunsRequest& request) {
  if (!sinks::v1::SummaryOrder_IsValid(static_cast<int>(request.order()))) {
    return UnknownEnum("order", request.order(), 0, sinks::v1::SummaryOrder_MAX);
  }
  if (!IsNumeric(request) || request.grouping() == sinks::v1::SUMMARY_GROUPING_LABEL) {
    return absl::OkStatus();
  }
  return InvalidArgument("only the values of a label can be numbers",
                         {.reason = "ORDER_NEEDS_LABEL",
                          .subject = "order",
                          .fix = "group by a label, or leave out the order"});
}

absl::StatusOr<double> NumberOf(const Run& run, const std::string& label,
                                const std::optional<std::string>& value) {
  if (!value) {
    return FailedPrecondition(StrCat(RunName(run.id), " has no label ", label),
                              {.reason = "LABEL_MISSING",
                               .subject = RunName(run.id),
                               .value = label,
                               .fix = "choose runs that have it, by name, model or another label"});
  }
  double number = 0;
  if (absl::SimpleAtod(*value, &number) && std::isfinite(number)) return number;
  return FailedPrecondition(
      StrCat("the label ", label, " of ", RunName(run.id), " is no number"),
      {.reason = "LABEL_NOT_NUMERIC",
       .subject = RunName(run.id),
       .value = *value,
       .fix = "choose runs whose label is a number such as 1000 or 2.5e3, or leave out the order"});
}

absl::StatusOr<GroupKey> KeyOf(const Run& run, const sinks::v1::SummarizeRunsRequest& request,
                               const std::optional<std::string>& name) {
  if (!IsNumeric(request)) return GroupKey{.name = name};
  SINKD_ASSIGN_OR_RETURN(const double number, NumberOf(run, request.label(), name));
  return GroupKey{.number = number + 0.0};  // -0 is 0
}

absl::Status Lacks(const Run& run, const std::string& what) {
  return FailedPrecondition(
      absl::StrCat("the records of ", RunName(run.id), " do not hold ", what),
      {.reason = "RUN_LACKS_ANALYSIS",
       .subject = RunName(run.id),
       .fix = "leave this analysis out of spec, or analyse the samples with it"});
}

// What is missing in records made with `made` for folding `analysis` of `wanted`; empty: nothing.
std::string Missing(const AnalysisEntry& analysis, const v1::AnalysisSpec& made,
                    const v1::AnalysisSpec& wanted) {
  if (analysis.folds.empty() || !Requested(analysis, wanted)) return {};
  if (!Requested(AnalysisNamed(analysis.folds), made)) {
    return analysis.folds == analysis.name
               ? std::string(analysis.name)
               : StrCat(analysis.folds, ", which ", analysis.name, " needs");
  }
  const bool same = analysis.name == "scores"
                        ? Equal(AlphaOf(wanted), AlphaOf(made))
                        : !analysis.parameters_in_record ||
                              Equal(ParametersOf(analysis, wanted), ParametersOf(analysis, made));
  return same ? std::string() : StrCat(analysis.name, " with these parameters");
}

// Whether records made with `made` hold what folding with `wanted` needs.
absl::Status CheckHolds(const Run& run, const v1::AnalysisSpec& made,
                        const v1::AnalysisSpec& wanted) {
  if (!Equal(wanted.detection(), made.detection())) {
    return Lacks(run, "sinks found with this detection");
  }
  for (const AnalysisEntry& analysis : Analyses()) {
    const std::string missing = Missing(analysis, made, wanted);
    if (!missing.empty()) return Lacks(run, missing);
  }
  return absl::OkStatus();
}

// The detection and what of the analyses is folded.
v1::AnalysisSpec FoldedOf(v1::AnalysisSpec spec) {
  for (const AnalysisEntry& analysis : Analyses()) {
    if (analysis.fill && !analysis.accumulate) Drop(analysis, spec);
  }
  return spec;
}

// What the run is to be folded with.
absl::StatusOr<v1::AnalysisSpec> SpecFor(const Run& run,
                                         const sinks::v1::SummarizeRunsRequest& request) {
  SINKD_ASSIGN_OR_RETURN(const v1::AnalysisSpec spec, ReadRunSpec(run));
  const v1::AnalysisSpec made = FoldedOf(AnalysesOf(spec));
  if (!request.has_spec()) return made;
  SINKD_ASSIGN_OR_RETURN(const v1::AnalysisSpec asked, CompleteAnalyses(request.spec()));
  v1::AnalysisSpec wanted = FoldedOf(asked);
  if (!request.spec().has_detection()) *wanted.mutable_detection() = made.detection();
  SINKD_RETURN_IF_ERROR(CheckHolds(run, made, wanted));
  return wanted;
}

absl::Status Differ(const std::string& first, const Run& second) {
  return FailedPrecondition(
      absl::StrCat(RunName(first), " and ", RunName(second.id),
                   " were made with different parameters"),
      {.reason = "RUNS_DIFFER",
       .subject = RunName(second.id),
       .fix = "group by run, choose runs of the same parameters, give spec, or set common"});
}

constexpr int32_t kMostPoints = 100000;

absl::Status CheckPoints(int32_t points) {
  if (points >= 0 && points <= kMostPoints) return absl::OkStatus();
  return InvalidArgument("regression_points is out of range",
                         {.reason = "OUT_OF_RANGE",
                          .subject = "regression_points",
                          .value = absl::StrCat(points),
                          .fix = absl::StrCat("choose from 0 to ", kMostPoints)});
}

// Sinks of the run that a regression with these parameters is fitted to.
int64_t SinksFitted(const Run& run, const v1::RegressionParameters& parameters) {
  const SinkCounts& sinks = run.counts.sinks;
  return sinks.secondary + (parameters.include_primary() ? sinks.primary : 0);
}

// A group while runs are put into it.
struct Filling {
  RunGroup group;
  std::vector<RunMaking> runs;  // with `common` only
  int64_t fitted = 0;
};

absl::Status Put(const Run& run, const sinks::v1::SummarizeRunsRequest& request, bool is_new,
                 Filling& into) {
  SINKD_ASSIGN_OR_RETURN(v1::AnalysisSpec spec, SpecFor(run, request));
  RunGroup& group = into.group;
  if (request.common()) {
    into.runs.push_back({RunName(run.id), absl::StrCat("models/", run.model_id), spec});
  }
  if (is_new) {
    group.spec = std::move(spec);
    group.common = request.common();
  } else if (request.common()) {
    group.spec = CommonSpec(group.spec, spec);
  } else if (!Equal(group.spec, spec)) {
    return Differ(group.runs.front(), run);
  }
  group.runs.push_back(run.id);
  group.samples += run.counts.samples - run.counts.failed_samples;
  group.tokens += run.counts.tokens;
  if (group.spec.has_regression()) into.fitted += SinksFitted(run, group.spec.regression());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<RunGroup>> FindRunGroups(
    RunStore& store, const sinks::v1::SummarizeRunsRequest& request) {
  SINKD_RETURN_IF_ERROR(CheckPoints(request.regression_points()));
  SINKD_RETURN_IF_ERROR(CheckOrder(request));
  SINKD_ASSIGN_OR_RETURN(const std::vector<Run> runs, FindRuns(store, request));
  std::map<GroupKey, Filling> groups;
  for (const Run& run : runs) {
    SINKD_ASSIGN_OR_RETURN(const std::optional<std::string> name, GroupOf(run, request));
    SINKD_ASSIGN_OR_RETURN(const GroupKey key, KeyOf(run, request, name));
    const auto [found, is_new] = groups.try_emplace(key);
    if (is_new) found->second.group.name = name.value_or("");
    SINKD_RETURN_IF_ERROR(Put(run, request, is_new, found->second));
  }
  std::vector<RunGroup> sorted;
  for (auto& [key, filled] : groups) {
    RunGroup& group = sorted.emplace_back(std::move(filled.group));
    group.number = key.number;
    group.differences = SpecDifferences(filled.runs);
    const int32_t most = request.regression_points();
    if (most > 0 && group.spec.has_regression() && filled.fitted <= most) {
      group.spec.mutable_regression()->set_points(true);
    }
  }
  return sorted;
}

}  // namespace sinkd
