// The mean of one row of a matrix that a message holds row-major.
#pragma once

#include <cstdint>
#include <numeric>

#include <google/protobuf/repeated_field.h>

namespace sinkd::cli {

// `values` [rows, columns]; `columns` is not 0, and there is such a row.
template <typename T>
double MeanOfRow(const google::protobuf::RepeatedField<T>& values, int64_t row, int64_t columns) {
  const auto first = values.begin() + static_cast<int>(row * columns);
  return std::accumulate(first, first + static_cast<int>(columns), 0.0) /
         static_cast<double>(columns);
}

}  // namespace sinkd::cli
