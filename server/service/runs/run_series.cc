#include "server/service/runs/run_series.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "server/analysis/change_point.h"

namespace sinkd {
namespace {

namespace v1 = ::sinks::v1;

using Number = std::optional<double>;

Number MeanOf(const v1::ScoreStatistics& statistics) {
  return statistics.count() > 0 ? Number(statistics.mean()) : std::nullopt;
}

template <auto kField>
Number OfLevels(const v1::Summary& summary) {
  return summary.has_levels() ? Number(static_cast<double>((summary.levels().*kField)()))
                              : std::nullopt;
}

Number Entropy(const v1::Summary& summary) {
  return summary.levels().has_entropy() ? Number(summary.levels().entropy()) : std::nullopt;
}

Number PrimaryScore(const v1::Summary& summary) {
  return MeanOf(summary.scores().primary_position());
}

Number SecondaryScore(const v1::Summary& summary) {
  for (const v1::ScoreStatistics& each : summary.scores().by_kind()) {
    if (each.kind() == v1::SINK_KIND_SECONDARY) return MeanOf(each);
  }
  return std::nullopt;
}

Number SinkRate(const v1::Summary& summary) {
  const v1::SinkRateReport& report = summary.sink_rate();
  const bool known = report.rates_size() > 0 && report.cells_size() > 0 && report.cells(0) > 0;
  return known ? Number(report.rates(0)) : std::nullopt;
}

Number PrimaryNorm(const v1::Summary& summary) {
  Number largest;
  for (const v1::BlockCompensation& block : summary.compensation().blocks()) {
    if (!block.has_primary_norm()) continue;
    largest = std::max(largest.value_or(block.primary_norm()), block.primary_norm());
  }
  return largest;
}

struct NumberOfSummary {
  const char* name;
  Number (*read)(const v1::Summary& summary);
};

constexpr std::array kNumbers = {
    NumberOfSummary{"secondary_per_1000_tokens",
                    OfLevels<&v1::LevelReport::secondary_per_1000_tokens>},
    NumberOfSummary{"share_of_samples_with_secondary",
                    OfLevels<&v1::LevelReport::share_of_samples_with_secondary>},
    NumberOfSummary{"distinct_levels", OfLevels<&v1::LevelReport::distinct_levels>},
    NumberOfSummary{"entropy", Entropy},
    NumberOfSummary{"primary_score", PrimaryScore},
    NumberOfSummary{"secondary_score", SecondaryScore},
    NumberOfSummary{"sink_rate", SinkRate},
    NumberOfSummary{"primary_norm", PrimaryNorm},
};

void Encode(const ChangePoint& found, const std::vector<double>& label_values,
            v1::ChangePoint& into) {
  if (!found.undefined.empty()) {
    into.set_undefined(found.undefined);
    return;
  }
  into.set_last_before(label_values[found.at - 1]);
  into.set_first_after(label_values[found.at]);
  into.set_mean_before(found.mean_before);
  into.set_mean_after(found.mean_after);
  into.mutable_interval()->set_lower(label_values[found.lowest - 1]);
  into.mutable_interval()->set_upper(label_values[found.highest]);
  into.set_p(found.p);
}

}  // namespace

void RunSeries::Add(double label_value, const v1::Summary& summary) {
  for (size_t i = 0; i < kNumbers.size(); ++i) {
    const Number value = kNumbers[i].read(summary);
    if (!value || !std::isfinite(*value)) continue;
    points_[i].label_values.push_back(label_value);
    points_[i].values.push_back(*value);
  }
}

void RunSeries::Report(v1::SummarizeRunsResponse& response) const {
  for (const auto& [i, points] : points_) {
    v1::SummarySeries& series = *response.add_series();
    series.set_name(kNumbers[i].name);
    series.mutable_label_values()->Add(points.label_values.begin(), points.label_values.end());
    series.mutable_values()->Add(points.values.begin(), points.values.end());
    Encode(FindChangePoint(points.values), points.label_values, *series.mutable_change_point());
  }
}

}  // namespace sinkd
