// Whether two groups of rows lie apart: agreement of labellings, silhouette, and how well the
// distance to the groups' centres tells them apart (definitions: Formation, Clustering).
//
// Labels are any numbers but for the functions of targets and controls, where 1 is a target and 0 a
// control; one label a row. All sums are in double.
// A score that does not exist says why: "labels and rows differ in number", "a value is not
// finite", or what each function names. Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "server/base/in_turns.h"
#include "server/engine/matrix.h"

namespace sinkd {

struct SeparationScore {
  double value = 0;
  std::string undefined;  // the reason; value is then 0
};

// Hubert and Arabie's index: 1 for the same split, about 0 for unrelated ones. Two labellings that
// both tell nothing apart, or both everything, are the same split.
SeparationScore AdjustedRand(std::span<const int32_t> a, std::span<const int32_t> b);

// Rousseeuw's, by euclidean distance, the mean over all rows; a row alone in its group counts 0.
// From -1 to 1. Undefined: "fewer than two groups", "every row is a group of its own". Takes
// rows^2 * columns / 2 steps.
SeparationScore Silhouette(const Matrix& rows, std::span<const int32_t> labels);
// The same in turns; borrows both until it is done.
std::unique_ptr<InTurns<SeparationScore>> StartSilhouette(const Matrix& rows,
                                                          std::span<const int32_t> labels);

// The share of pairs of a target and a control in which the target has the higher score; ties count
// half. Undefined: "no targets", "no controls".
SeparationScore AreaUnderCurve(std::span<const double> scores, std::span<const int32_t> labels);

inline constexpr int32_t kCentroidFolds = 5;

// The fold of each row, from 0 to kCentroidFolds - 1: targets, and then controls, are shuffled
// (Fisher and Yates, SeededDraws) and dealt out in turn, so that folds hold as many of each but for
// one.
std::vector<int32_t> AssignFolds(std::span<const int32_t> labels, uint64_t seed);

// Each row's distance to the mean of the controls less that to the mean of the targets, both over
// the rows of the other folds, which must hold some of each.
std::vector<double> HeldOutScores(const Matrix& rows, std::span<const int32_t> labels,
                                  std::span<const int32_t> folds);

// The area under the curve of the held-out scores, all folds together. Undefined: "fewer than 5
// targets", "fewer than 5 controls".
SeparationScore CentroidAuc(const Matrix& rows, std::span<const int32_t> labels, uint64_t seed);

}  // namespace sinkd
