// Matrix: numbers that enter or leave the engine, row-major. No torch types.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sinkd {

struct Matrix {
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<float> values;  // [rows, columns]

  std::span<const float> Row(int64_t row) const {
    return std::span(values).subspan(static_cast<size_t>(row * columns),
                                     static_cast<size_t>(columns));
  }
};

}  // namespace sinkd
