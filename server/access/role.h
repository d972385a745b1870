// Role: what a caller may do. Each role includes those before it.
//
// Thread-safety: values; pure functions.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace sinkd {

enum class Role {
  kRead,     // look at models, runs, reports and metrics
  kAnalyse,  // run analyses and studies, and write their runs
  kAdmin,    // load and unload models, import and delete runs
};

inline constexpr std::array<std::string_view, 3> kRoleNames = {"read", "analyse", "admin"};

inline std::string_view RoleName(Role role) {
  return kRoleNames[static_cast<size_t>(role)];
}

inline std::optional<Role> ParseRole(std::string_view name) {
  for (size_t i = 0; i < kRoleNames.size(); ++i) {
    if (kRoleNames[i] == name) return static_cast<Role>(i);
  }
  return std::nullopt;
}

}  // namespace sinkd
