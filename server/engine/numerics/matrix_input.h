// What every decomposition begins with: the matrix checked, its device opened, torch's exceptions
// turned into statuses; and how those in turns go on. Internal to the engine (torch in the
// signatures).
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include <ATen/core/Tensor.h>
#include <absl/status/status.h>

#include "server/engine/matrix.h"

namespace sinkd {

// Gives `work` the rows on `device`, [rows, columns] float64. Errors: INVALID_ARGUMENT for an empty
// matrix, one with a value that is not finite, and a device that is not here; those of `work`; and
// those of AtTorchBoundary.
absl::Status WithRows(const Matrix& rows, const std::string& device,
                      const std::function<absl::Status(const at::Tensor&)>& work);

// A turn: calls `work`, which returns how many values it computed, until it has been enough or
// `done` says so. CANCELLED once `stop` is set; errors of AtTorchBoundary.
absl::Status DoTurn(const std::stop_token& stop, const std::function<bool()>& done,
                    const std::function<int64_t()>& work);

}  // namespace sinkd
