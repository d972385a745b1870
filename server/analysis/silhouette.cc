#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "server/analysis/separation.h"
#include "server/analysis/separation_inputs.h"
#include "server/base/status.h"

namespace sinkd {
namespace {

// Several sums side by side, which the compiler can hold in vector registers.
double Distance(std::span<const float> a, std::span<const float> b) {
  constexpr size_t kLanes = 8;
  std::array<double, kLanes> sums = {};
  const size_t whole = a.size() / kLanes * kLanes;
  for (size_t i = 0; i < whole; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const double apart = double{a[i + lane]} - double{b[i + lane]};
      sums[lane] += apart * apart;
    }
  }
  for (size_t i = whole; i < a.size(); ++i) {
    const double apart = double{a[i]} - double{b[i]};
    sums[0] += apart * apart;
  }
  double total = 0;
  for (const double sum : sums) total += sum;
  return std::sqrt(total);
}

// Labels as numbers from 0 on, and how many rows have each.
struct Groups {
  std::vector<size_t> of_row;
  std::vector<double> sizes;
};

Groups MakeGroups(std::span<const int32_t> labels) {
  Groups groups;
  std::map<int32_t, size_t> numbers;
  for (const int32_t label : labels) {
    const size_t group = numbers.try_emplace(label, numbers.size()).first->second;
    groups.of_row.push_back(group);
    groups.sizes.resize(numbers.size());
    ++groups.sizes[group];
  }
  return groups;
}

double OfRow(const std::vector<double>& sums, size_t own, const Groups& groups) {
  if (groups.sizes[own] == 1) return 0;
  const double within = sums[own] / (groups.sizes[own] - 1);
  double beyond = std::numeric_limits<double>::infinity();
  for (size_t group = 0; group < sums.size(); ++group) {
    if (group != own) beyond = std::min(beyond, sums[group] / groups.sizes[group]);
  }
  const double larger = std::max(within, beyond);
  return larger == 0 ? 0 : (beyond - within) / larger;
}

// Of one row after the other, the distances to the rows before it.
class SilhouetteInTurns final : public InTurns<SeparationScore> {
 public:
  SilhouetteInTurns(const Matrix& rows, std::span<const int32_t> labels)
      : rows_(rows), undefined_(WhyNoScore(rows, labels)) {
    if (!undefined_.empty()) return;
    groups_ = MakeGroups(labels);
    if (groups_.sizes.size() < 2) {
      undefined_ = "fewer than two groups";
    } else if (groups_.sizes.size() == labels.size()) {
      undefined_ = "every row is a group of its own";
    }
    sums_.resize(labels.size(), std::vector<double>(groups_.sizes.size()));
  }

  bool done() const override { return !undefined_.empty() || next_ == sums_.size(); }

  absl::Status Step(const std::stop_token& stop) override {
    for (int64_t values = 0; !done() && values < kValuesOfATurn;) {
      if (stop.stop_requested()) return Cancelled("the analysis was cancelled");
      values += SumDistances(next_++);
    }
    return absl::OkStatus();
  }

  SeparationScore Take() override {
    if (!undefined_.empty()) return {.undefined = undefined_};
    double total = 0;
    for (size_t i = 0; i < sums_.size(); ++i) {
      total += OfRow(sums_[i], groups_.of_row[i], groups_);
    }
    return {.value = total / static_cast<double>(rows_.rows), .undefined = {}};
  }

 private:
  int64_t SumDistances(size_t i) {
    for (size_t j = 0; j < i; ++j) {
      const double distance =
          Distance(rows_.Row(static_cast<int64_t>(i)), rows_.Row(static_cast<int64_t>(j)));
      sums_[i][groups_.of_row[j]] += distance;
      sums_[j][groups_.of_row[i]] += distance;
    }
    return static_cast<int64_t>(i + 1) * rows_.columns;
  }

  const Matrix& rows_;
  std::string undefined_;
  Groups groups_;
  std::vector<std::vector<double>> sums_;  // [rows, groups] of distances to the rows of a group
  size_t next_ = 0;
};

}  // namespace

std::unique_ptr<InTurns<SeparationScore>> StartSilhouette(const Matrix& rows,
                                                          std::span<const int32_t> labels) {
  return std::make_unique<SilhouetteInTurns>(rows, labels);
}

SeparationScore Silhouette(const Matrix& rows, std::span<const int32_t> labels) {
  SilhouetteInTurns silhouette(rows, labels);
  while (!silhouette.done()) silhouette.Step({}).IgnoreError();
  return silhouette.Take();
}

}  // namespace sinkd
