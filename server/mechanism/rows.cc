#include "server/mechanism/rows.h"

#include <cmath>
#include <limits>

namespace sinkd {
namespace {

double Dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  return sum;
}

}  // namespace

double Norm(std::span<const float> row) {
  const double squares = Dot(row, row);
  return squares < std::numeric_limits<float>::min() ? 0 : std::sqrt(squares);
}

double Cosine(std::span<const float> a, std::span<const float> b) {
  const double norms = Norm(a) * Norm(b);
  return norms == 0 ? 0 : Dot(a, b) / norms;
}

std::vector<float> MeanRow(const Matrix& rows) {
  std::vector<double> sums(static_cast<size_t>(rows.columns));
  for (int64_t i = 0; i < rows.rows; ++i) {
    const std::span<const float> row = rows.Row(i);
    for (size_t c = 0; c < row.size(); ++c) sums[c] += row[c];
  }
  std::vector<float> mean;
  for (const double sum : sums) mean.push_back(static_cast<float>(sum / double(rows.rows)));
  return mean;
}

}  // namespace sinkd
