// What the scores of separation.h look at first.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "server/engine/matrix.h"

namespace sinkd {

// Why rows with these labels have no score; empty when nothing is wrong.
inline std::string WhyNoScore(const Matrix& rows, std::span<const int32_t> labels) {
  if (static_cast<int64_t>(labels.size()) != rows.rows) return "labels and rows differ in number";
  const auto finite = [](float value) { return std::isfinite(value); };
  return std::all_of(rows.values.begin(), rows.values.end(), finite) ? "" : "a value is not finite";
}

}  // namespace sinkd
