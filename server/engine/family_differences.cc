#include "server/engine/family_differences.h"

namespace sinkd {

std::span<const SiteDifference> DifferencesOf(std::string_view) {
  return {};
}

}  // namespace sinkd
