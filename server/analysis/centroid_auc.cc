#include <cmath>
#include <utility>

#include "server/analysis/mid_ranks.h"
#include "server/analysis/separation.h"
#include "server/analysis/separation_inputs.h"
#include "server/base/seeded_draws.h"

namespace sinkd {
namespace {

constexpr int64_t kFewest = 5;  // of each group

// The mean of the rows that `chosen` takes.
template <typename Chosen>
std::vector<double> MeanRow(const Matrix& rows, const Chosen& chosen) {
  std::vector<double> mean(static_cast<size_t>(rows.columns));
  double count = 0;
  for (int64_t i = 0; i < rows.rows; ++i) {
    if (!chosen(static_cast<size_t>(i))) continue;
    const std::span<const float> row = rows.Row(i);
    for (size_t c = 0; c < mean.size(); ++c) mean[c] += double{row[c]};
    ++count;
  }
  for (double& value : mean) value /= count;
  return mean;
}

double Distance(std::span<const float> row, const std::vector<double>& centre) {
  double squares = 0;
  for (size_t c = 0; c < centre.size(); ++c) {
    const double apart = double{row[c]} - centre[c];
    squares += apart * apart;
  }
  return std::sqrt(squares);
}

std::pair<int64_t, int64_t> CountGroups(std::span<const int32_t> labels) {
  int64_t targets = 0;
  for (const int32_t label : labels) targets += label == 1 ? 1 : 0;
  return {targets, static_cast<int64_t>(labels.size()) - targets};
}

}  // namespace

SeparationScore AreaUnderCurve(std::span<const double> scores, std::span<const int32_t> labels) {
  if (scores.size() != labels.size()) return {.undefined = "labels and rows differ in number"};
  for (const double score : scores) {
    if (!std::isfinite(score)) return {.undefined = "a value is not finite"};
  }
  const auto [targets, controls] = CountGroups(labels);
  if (targets == 0) return {.undefined = "no targets"};
  if (controls == 0) return {.undefined = "no controls"};
  const std::vector<double> ranks = MidRanks(scores);
  double sum = 0;
  for (size_t i = 0; i < labels.size(); ++i) sum += labels[i] == 1 ? ranks[i] : 0;
  const auto n = static_cast<double>(targets);
  return {.value = (sum - n * (n + 1) / 2) / n / static_cast<double>(controls), .undefined = {}};
}

std::vector<int32_t> AssignFolds(std::span<const int32_t> labels, uint64_t seed) {
  SeededDraws draws(seed);
  std::vector<int32_t> folds(labels.size());
  size_t dealt = 0;
  for (const bool target : {true, false}) {
    std::vector<size_t> members;
    for (size_t i = 0; i < labels.size(); ++i) {
      if ((labels[i] == 1) == target) members.push_back(i);
    }
    for (size_t left = members.size(); left > 1; --left) {
      std::swap(members[left - 1], members[draws.Index(left)]);
    }
    for (const size_t member : members)
      folds[member] = static_cast<int32_t>(dealt++ % kCentroidFolds);
  }
  return folds;
}

std::vector<double> HeldOutScores(const Matrix& rows, std::span<const int32_t> labels,
                                  std::span<const int32_t> folds) {
  std::vector<double> scores(labels.size());
  for (int32_t fold = 0; fold < kCentroidFolds; ++fold) {
    const auto centre = [&](bool target) {
      return MeanRow(rows,
                     [&](size_t i) { return folds[i] != fold && (labels[i] == 1) == target; });
    };
    const std::vector<double> targets = centre(true), controls = centre(false);
    for (size_t i = 0; i < scores.size(); ++i) {
      if (folds[i] != fold) continue;
      const std::span<const float> row = rows.Row(static_cast<int64_t>(i));
      scores[i] = Distance(row, controls) - Distance(row, targets);
    }
  }
  return scores;
}

SeparationScore CentroidAuc(const Matrix& rows, std::span<const int32_t> labels, uint64_t seed) {
  std::string undefined = WhyNoScore(rows, labels);
  if (!undefined.empty()) return {.undefined = std::move(undefined)};
  const auto [targets, controls] = CountGroups(labels);
  if (targets < kFewest) return {.undefined = "fewer than 5 targets"};
  if (controls < kFewest) return {.undefined = "fewer than 5 controls"};
  return AreaUnderCurve(HeldOutScores(rows, labels, AssignFolds(labels, seed)), labels);
}

}  // namespace sinkd
