// How far a checkpoint's numbers are from transformers', site by site: what the parity test checks
// and what server/engine/families/family_differences.cc tells.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "server/engine/family_facts.h"
#include "tests/engine/parity_cases.h"

namespace sinkd::testing {

// All sites in the order of a block, then "alpha".
std::span<const std::string_view> SitesInOrder();

struct CaseDifferences {
  std::string family;                       // model_type
  std::vector<SiteDifference> differences;  // as in SitesInOrder()
};

// Runs the checkpoint in float32 and bfloat16. `float32` is the largest distance of any row of any
// block and length; `bfloat16_ratio` compares distances to transformers' float32, averaged over
// blocks, of one sample: ours over that of transformers' bfloat16. An error when the taps do not
// show exactly the sites that transformers has.
absl::StatusOr<CaseDifferences> DifferencesOfCase(const ParityCase& parity);

}  // namespace sinkd::testing
