#include "server/engine/numerics/matrix_entropy.h"

#include <cmath>
#include <limits>

#include <ATen/ATen.h>

#include "server/base/parameter_check.h"
#include "server/base/status.h"
#include "server/engine/decomposition.h"
#include "server/engine/numerics/matrix_input.h"

namespace sinkd {
namespace {

// The spectrum's shares: those of an eigenvalue that cannot be told from zero are zero. Under a
// small alpha the rounding errors of many would add up to something.
at::Tensor Shares(const at::Tensor& gram) {
  const at::Tensor eigenvalues = at::linalg_eigvalsh(gram);
  const double rounding =
      static_cast<double>(gram.size(0)) * std::numeric_limits<double>::epsilon();
  const double floor = rounding * eigenvalues.max().item<double>();
  const at::Tensor kept = eigenvalues.masked_select(eigenvalues > floor);
  return kept / kept.sum();
}

}  // namespace

double EntropyOfRows(const at::Tensor& rows, double alpha) {
  at::Tensor wide = rows.to(at::kDouble);
  const double largest = wide.abs().max().item<double>();
  if (largest == 0) return std::numeric_limits<double>::quiet_NaN();
  // Entropy knows no scale, but squares of tiny numbers would vanish.
  wide = wide / largest;
  const at::Tensor shares =
      Shares(wide.size(1) > wide.size(0) ? at::matmul(wide, wide.t()) : at::matmul(wide.t(), wide));
  const at::Tensor entropy =
      alpha == 1 ? -at::xlogy(shares, shares).sum() : shares.pow(alpha).sum().log() / (1 - alpha);
  return entropy.item<double>();
}

absl::StatusOr<double> MatrixEntropy(const Matrix& rows, double alpha, const std::string& device) {
  SINKD_RETURN_IF_ERROR(
      CheckParameter(std::isfinite(alpha) && alpha > 0, "alpha", alpha, "finite, and over 0"));
  double entropy = 0;
  SINKD_RETURN_IF_ERROR(WithRows(rows, device, [&](const at::Tensor& values) -> absl::Status {
    entropy = EntropyOfRows(values, alpha);
    return absl::OkStatus();
  }));
  return entropy;
}

}  // namespace sinkd
