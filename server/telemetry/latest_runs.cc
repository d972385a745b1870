#include "server/telemetry/latest_runs.h"

#include <algorithm>

namespace sinkd {
namespace {

struct Statistic {
  const char* name;
  const char* help;
};

constexpr std::array kNames = {
    Statistic{"sinkd_run_samples", "Samples of the model's latest run."},
    Statistic{"sinkd_run_secondary_sinks", "Secondary sinks of the model's latest run."},
    Statistic{"sinkd_run_secondary_sinks_per_1000_tokens",
              "Secondary sinks per 1,000 tokens of the model's latest run."},
    Statistic{"sinkd_run_primary_score_mean",
              "Mean over samples of the primary sink's score, of the model's latest run."},
    Statistic{"sinkd_run_dormant_heads", "Dormant heads in the model's latest run."},
    Statistic{"sinkd_run_collapsed_heads", "Collapsed heads in the model's latest run."},
    Statistic{"sinkd_run_focused_heads", "Focused heads in the model's latest run."},
};

std::array<std::optional<double>, kNames.size()> Values(const RunGauges& run) {
  return {static_cast<double>(run.samples),
          run.secondary_sinks,
          run.secondary_sinks_per_1000_tokens,
          run.primary_score_mean,
          run.dormant_heads,
          run.collapsed_heads,
          run.focused_heads};
}

}  // namespace

LatestRuns::LatestRuns(prometheus::Registry& registry) {
  static_assert(kNames.size() == kStatistics);
  for (size_t i = 0; i < kStatistics; ++i) {
    families_[i] =
        &prometheus::BuildGauge().Name(kNames[i].name).Help(kNames[i].help).Register(registry);
  }
}

void LatestRuns::Set(std::string_view model, const RunGauges& run) {
  const auto values = Values(run);
  const std::lock_guard lock(mutex_);
  Series& series = Newest(model);
  for (size_t i = 0; i < kStatistics; ++i) SetGauge(i, series, values[i]);
}

void LatestRuns::SetGauge(size_t statistic, Series& series, std::optional<double> value) {
  prometheus::Family<prometheus::Gauge>& family = *families_[statistic];
  prometheus::Gauge*& gauge = series.gauges[statistic];
  if (value) {
    if (gauge == nullptr) gauge = &family.Add({{"model", series.model}});
    gauge->Set(*value);
  } else if (gauge != nullptr) {
    family.Remove(gauge);
    gauge = nullptr;
  }
}

LatestRuns::Series& LatestRuns::Newest(std::string_view model) {
  const auto found = std::find_if(series_.begin(), series_.end(),
                                  [&](const Series& each) { return each.model == model; });
  if (found != series_.end()) {
    series_.splice(series_.end(), series_, found);
    return series_.back();
  }
  if (series_.size() == kMostModels) {
    for (size_t i = 0; i < kStatistics; ++i) SetGauge(i, series_.front(), std::nullopt);
    series_.pop_front();
  }
  return series_.emplace_back(Series{.model = std::string(model)});
}

}  // namespace sinkd
