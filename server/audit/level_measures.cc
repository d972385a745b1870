// How the levels of the secondary sinks differ between two sets.
#include <algorithm>
#include <cmath>
#include <memory>

#include "server/audit/category_counts.h"
#include "server/audit/measures.h"
#include "server/audit/statistics.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

constexpr size_t kLevelsTold = 5;

void ListLevels(const AuditUnit& unit, const std::function<void(const Level&)>& add) {
  for (const SecondarySink& sink : unit.sinks) add(sink.level);
}

std::string LevelText(const Level& level) {
  return StrCat("(", level.l_start, ", ", level.lifetime, ")");
}

double ShareOf(int64_t count, const std::vector<int64_t>& counts) {
  int64_t total = 0;
  for (const int64_t each : counts) total += each;
  return total == 0 ? 0 : static_cast<double>(count) / static_cast<double>(total);
}

std::string Percent(double share) {
  return StrCat(std::round(1000 * share) / 10, "%");
}

using Counts = std::array<std::vector<int64_t>, 2>;  // by side, one a level
using DistanceOf = std::function<double(const MeasureOptions&, const Counts&)>;
using TellOf =
    std::function<std::string(const MeasureOptions&, const std::vector<Level>&, const Counts&)>;

class LevelStatistic final : public Statistic {
 public:
  LevelStatistic(const MeasureOptions& options, const Pool& pool, DistanceOf distance)
      : options_(options), distance_(std::move(distance)), counts_(pool.units(), ListLevels) {}

  double At(const Sides& sides) override { return distance_(options_, counts_.Count(sides)); }

 private:
  const MeasureOptions options_;
  const DistanceOf distance_;
  CategoryCounts<Level> counts_;
};

// The level whose share changed most.
std::string TellMostMoved(const MeasureOptions&, const std::vector<Level>& levels,
                          const Counts& counts) {
  double most = 0;
  std::string text;
  for (size_t i = 0; i < levels.size(); ++i) {
    const double from = ShareOf(counts[kBaseline][i], counts[kBaseline]);
    const double to = ShareOf(counts[kCandidate][i], counts[kCandidate]);
    if (std::fabs(to - from) <= most) continue;
    most = std::fabs(to - from);
    text = StrCat("level ", LevelText(levels[i]), " changed most, from ", Percent(from), " to ",
                  Percent(to), " of the secondary sinks");
  }
  return text;
}

// The indices of levels that hold at least min_share of one side's sinks and none of the other's.
std::vector<size_t> OnlyOn(Side side, const MeasureOptions& options, const Counts& counts) {
  std::vector<size_t> found;
  const std::vector<int64_t>& there = counts[side];
  const std::vector<int64_t>& other = counts[side == kCandidate ? kBaseline : kCandidate];
  for (size_t i = 0; i < there.size(); ++i) {
    if (other[i] > 0 || there[i] == 0) continue;
    if (ShareOf(there[i], there) >= options.min_share) found.push_back(i);
  }
  return found;
}

std::string TellOnly(Side side, const MeasureOptions& options, const std::vector<Level>& levels,
                     const Counts& counts) {
  const std::vector<size_t> found = OnlyOn(side, options, counts);
  std::string text;
  for (size_t i = 0; i < std::min(found.size(), kLevelsTold); ++i) {
    text += StrCat(text.empty() ? "" : ", ", LevelText(levels[found[i]]), " with ",
                   Percent(ShareOf(counts[side][found[i]], counts[side])));
  }
  if (found.size() > kLevelsTold) text += StrCat(" and ", found.size() - kLevelsTold, " more");
  return text;
}

// The largest share that a level of one side alone holds there.
double LargestOnly(Side side, const Counts& counts) {
  const std::vector<int64_t>& there = counts[side];
  const std::vector<int64_t>& other = counts[side == kCandidate ? kBaseline : kCandidate];
  int64_t most = 0;
  for (size_t i = 0; i < there.size(); ++i) {
    if (other[i] == 0) most = std::max(most, there[i]);
  }
  return ShareOf(most, there);
}

// Of counts on the two sides of pairs.
WeightedValue WeightedDistance(const MeasureOptions& options, std::span<const UnitPair> pairs,
                               const DistanceOf& distance) {
  std::vector<const AuditUnit*> units;
  Sides sides;
  for (const auto& [candidate, baseline] : pairs) {
    units.insert(units.end(), {candidate, baseline});
    sides.insert(sides.end(), {kCandidate, kBaseline});
  }
  const auto levels = std::make_shared<CategoryCounts<Level>>(units, ListLevels);
  return [=](std::span<const int32_t> weights) -> std::optional<double> {
    std::vector<int32_t> both;
    for (const int32_t weight : weights) both.insert(both.end(), 2, weight);
    return distance(options, levels->Count(sides, both));
  };
}

int64_t CountSinksOf(const MeasureOptions&, UnitSpan units) {
  int64_t count = 0;
  for (const AuditUnit* unit : units) count += static_cast<int64_t>(unit->sinks.size());
  return count;
}

Measure LevelMeasure(std::string_view name, std::string_view text, const DistanceOf& value,
                     const DistanceOf& tested, const TellOf& tell) {
  Measure measure;
  measure.name = name;
  measure.text = text;
  measure.basis = Basis::kSinks;
  measure.count = CountSinksOf;
  measure.compare = [value, tell](const MeasureOptions& options, UnitSpan candidate,
                                  UnitSpan baseline) {
    const Pool pool(candidate, baseline);
    CategoryCounts<Level> levels(pool.units(), ListLevels);
    const Counts& counts = levels.Count(pool.sides());
    return Reading{.value = value(options, counts),
                   .detail = tell(options, levels.categories(), counts)};
  };
  measure.statistic = [tested](const MeasureOptions& options, const Pool& pool) {
    return std::make_unique<LevelStatistic>(options, pool, tested);
  };
  return measure;
}

Measure OneSidedMeasure(std::string_view name, std::string_view text, Side side) {
  Measure measure = LevelMeasure(
      name, text,
      [side](const MeasureOptions& options, const Counts& counts) {
        return static_cast<double>(OnlyOn(side, options, counts).size());
      },
      [side](const MeasureOptions&, const Counts& counts) { return LargestOnly(side, counts); },
      [side](const MeasureOptions& options, const std::vector<Level>& levels,
             const Counts& counts) { return TellOnly(side, options, levels, counts); });
  measure.has_share = true;
  measure.candidate_counts = side == kCandidate;
  measure.baseline_counts = side == kBaseline;
  return measure;
}

}  // namespace

void AddLevelMeasures(std::vector<Measure>& measures) {
  const DistanceOf divergence = [](const MeasureOptions&, const Counts& counts) {
    return JensenShannon(counts[kCandidate], counts[kBaseline]);
  };
  const DistanceOf chi_square = [](const MeasureOptions&, const Counts& counts) {
    return ChiSquare(counts[kCandidate], counts[kBaseline]);
  };
  Measure level_divergence = LevelMeasure(
      "level_divergence", "Jensen-Shannon divergence of the secondary sinks' levels, bits",
      divergence, divergence, TellMostMoved);
  level_divergence.weighted_pairs = [divergence](const MeasureOptions& options,
                                                 std::span<const UnitPair> pairs) {
    return WeightedDistance(options, pairs, divergence);
  };
  measures.push_back(std::move(level_divergence));
  measures.push_back(LevelMeasure("level_chi_square",
                                  "Pearson's chi-square of the secondary sinks' levels", chi_square,
                                  chi_square, TellMostMoved));
  measures.push_back(OneSidedMeasure(
      "new_levels", "levels that the candidate has and the baseline has not", kCandidate));
  measures.push_back(OneSidedMeasure(
      "lost_levels", "levels that the baseline has and the candidate has not", kBaseline));
}

}  // namespace sinkd
