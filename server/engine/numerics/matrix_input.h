// What every decomposition begins with: the matrix checked, its device opened, torch's exceptions
// turned into statuses. Internal to the engine (torch in the signatures).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <ATen/core/Tensor.h>
#include <absl/status/status.h>

#include "server/engine/matrix.h"

namespace sinkd {

// Gives `work` the rows on `device`, [rows, columns] float64. Errors: INVALID_ARGUMENT for an empty
// matrix, one with a value that is not finite, and a device that is not here; those of `work`; and
// those of AtTorchBoundary.
absl::Status WithRows(const Matrix& rows, const std::string& device,
                      const std::function<absl::Status(const at::Tensor&)>& work);

}  // namespace sinkd
