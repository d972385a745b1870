#include <algorithm>
#include <tuple>

#include <ATen/ATen.h>

#include "server/base/parameter_check.h"
#include "server/base/status.h"
#include "server/engine/decomposition.h"
#include "server/engine/numerics/host_values.h"
#include "server/engine/numerics/matrix_input.h"
#include "server/engine/numerics/matrix_tensor.h"
#include "server/engine/numerics/principal_axes.h"

namespace sinkd {
namespace {

// Of the strongest axis: the rows are float32, and what lies under their rounding is no axis.
constexpr double kRounding = 1e-7;

// [k, C], each row's largest |entry| made positive.
at::Tensor Orient(const at::Tensor& directions) {
  const at::Tensor largest = directions.abs().argmax(1, /*keepdim=*/true);
  return directions * directions.gather(1, largest).sign();
}

}  // namespace

PrincipalAxes FindAxes(const at::Tensor& centred, int64_t count) {
  const bool wide = centred.size(1) > centred.size(0);
  const at::Tensor gram =
      wide ? at::matmul(centred, centred.t()) : at::matmul(centred.t(), centred);
  const int64_t side = gram.size(0);
  const int64_t wanted = std::min(count, side);
  const at::Tensor vectors =
      std::get<1>(at::linalg_eigh(gram)).narrow(1, side - wanted, wanted).flip(1);
  // The Gram matrix holds squares, and half the digits of a weak axis are lost in it: directions
  // are made orthogonal again, and lengths measured on the rows themselves.
  const at::Tensor spanning = wide ? at::matmul(centred.t(), vectors) : vectors;
  const at::Tensor directions = std::get<0>(at::linalg_qr(spanning)).t();
  const at::Tensor lengths =
      at::linalg_vector_norm(at::matmul(centred, directions.t()), 2, at::IntArrayRef{0});
  const double floor = kRounding * lengths.max().item<double>();
  const int64_t kept = lengths.gt(floor).sum().item<int64_t>();
  return {.directions = directions.narrow(0, 0, kept),
          .singular_values = lengths.narrow(0, 0, kept)};
}

absl::StatusOr<PrincipalComponents> FindComponents(const Matrix& rows, int64_t count,
                                                   const std::string& device) {
  SINKD_RETURN_IF_ERROR(CheckParameter(count >= 1, "count", count, "at least 1"));
  PrincipalComponents components;
  SINKD_RETURN_IF_ERROR(WithRows(rows, device, [&](const at::Tensor& values) -> absl::Status {
    const at::Tensor centred = values - values.mean(0, /*keepdim=*/true);
    const PrincipalAxes axes = FindAxes(centred, count);
    components.directions = ToMatrix(Orient(axes.directions));
    components.singular_values = HostValues<double>(axes.singular_values);
    components.explained =
        HostValues<double>(axes.singular_values.square() / centred.square().sum().item<double>());
    return absl::OkStatus();
  }));
  return components;
}

}  // namespace sinkd
