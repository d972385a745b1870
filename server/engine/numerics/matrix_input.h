// The common beginning of all decompositions: checks the matrix, opens the device, and turns
// torch's exceptions into statuses. Also runs decompositions in turns. Internal to the engine
// (torch in the signatures).
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include <ATen/core/Tensor.h>
#include <absl/status/status.h>

#include "server/engine/matrix.h"

namespace sinkd {

// Calls `work` with the rows on `device`, [rows, columns] float64. Errors: INVALID_ARGUMENT for an
// empty matrix, values that are not finite, and an unknown device; those of `work`; and those of
// AtTorchBoundary.
absl::Status WithRows(const Matrix& rows, const std::string& device,
                      const std::function<absl::Status(const at::Tensor&)>& work);

// One turn: calls `work`, which returns how many values it computed, until that is enough or `done`
// returns true. CANCELLED once `stop` is triggered; errors of AtTorchBoundary.
absl::Status DoTurn(const std::stop_token& stop, const std::function<bool()>& done,
                    const std::function<int64_t()>& work);

}  // namespace sinkd
