// Sums over rows of numbers, in double.
//
// Thread-safety: pure functions.
#pragma once

#include <span>
#include <vector>

#include "server/engine/matrix.h"

namespace sinkd {

// 0 for a row whose squares vanish in float32: it has no direction for the trace or an edit either.
double Norm(std::span<const float> row);

// 0 when one of them is zero, as in the trace. Both of one length.
double Cosine(std::span<const float> a, std::span<const float> b);

// [columns] of a matrix with rows.
std::vector<float> MeanRow(const Matrix& rows);

}  // namespace sinkd
