// How far each family's states are from the reference's, measured by the parity tests.
//
// Thread-safety: constant data.
#pragma once

#include <span>
#include <string_view>

#include "server/engine/family_facts.h"

namespace sinkd {

// Of the family `model_type`, in the order of the sites in a block; empty where nothing was
// measured.
std::span<const SiteDifference> DifferencesOf(std::string_view model_type);

}  // namespace sinkd
