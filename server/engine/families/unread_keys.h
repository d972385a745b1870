// What config.json says beside the keys that its family reads: nothing of it may change what the
// model computes in silence.
//
// Source: transformers 5.24.0, configuration_utils.py, masking_utils.py and the families' classes.
// Errors: FAILED_PRECONDITION naming the key.
#pragma once

#include <string>
#include <vector>

#include <absl/status/status.h>

#include "server/engine/families/config_reader.h"

namespace sinkd {

// An error for a key, of whatever family, by which transformers or the model's own code computes
// what no family here does - attention in both directions, settings by block -, unless it is
// neutral.
absl::Status RefuseOtherRules(const ConfigReader& config);

// After the family has read `config`: one line naming the keys that nothing has read and that are
// not known to leave the numbers alone; empty when there are none.
std::vector<std::string> WarnOfUnreadKeys(const ConfigReader& config);

}  // namespace sinkd
