#include "server/engine/numerics/matrix_input.h"

#include <algorithm>
#include <cmath>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "server/base/in_turns.h"
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/base/work_beat.h"
#include "server/engine/forward/torch_boundary.h"
#include "server/engine/memory/device.h"
#include "server/engine/memory/own_thread.h"
#include "server/engine/numerics/matrix_tensor.h"

namespace sinkd {
namespace {

// What calls of torch take however small their tensors are, in values of large ones.
constexpr int64_t kValuesOfACall = int64_t{1} << 14;

absl::Status CheckMatrix(const Matrix& rows) {
  const auto refuse = [&](const char* what, std::string value) {
    return InvalidArgument(what, {.reason = "BAD_MATRIX",
                                  .subject = "rows",
                                  .value = std::move(value),
                                  .fix = "give at least one row of finite numbers"});
  };
  if (rows.rows < 1 || rows.columns < 1) {
    return refuse("the matrix is empty", StrCat(rows.rows, " x ", rows.columns));
  }
  if (static_cast<int64_t>(rows.values.size()) != rows.rows * rows.columns) {
    return refuse("the matrix has not as many values as its shape says",
                  StrCat(rows.rows, " x ", rows.columns, ", ", rows.values.size(), " values"));
  }
  if (!std::all_of(rows.values.begin(), rows.values.end(),
                   [](float value) { return std::isfinite(value); })) {
    return refuse("the matrix holds a value that is not finite", "");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WithRows(const Matrix& rows, const std::string& device,
                      const std::function<absl::Status(const at::Tensor&)>& work) {
  SINKD_RETURN_IF_ERROR(CheckMatrix(rows));
  SINKD_ASSIGN_OR_RETURN(const at::Device place, OpenDevice(device));
  return OnOwnThread([&] {
    return AtTorchBoundary([&]() -> absl::Status {
      const c10::InferenceMode inference;
      return work(ToTensor(rows, place, at::kDouble));
    });
  });
}

absl::Status DoTurn(const std::stop_token& stop, const std::function<bool()>& done,
                    const std::function<int64_t()>& work) {
  return OnOwnThread([&] {
    return AtTorchBoundary([&]() -> absl::Status {
      const c10::InferenceMode inference;
      int64_t values = 0;
      while (!done() && values < kValuesOfATurn) {
        Beat();
        if (stop.stop_requested()) return Cancelled("the analysis was cancelled");
        values += std::max(work(), kValuesOfACall);
      }
      return absl::OkStatus();
    });
  });
}

}  // namespace sinkd
