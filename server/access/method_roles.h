// MethodRoles: the role that each RPC needs at least. RPCs that are not listed are refused to
// everyone.
//
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "server/access/role.h"

namespace sinkd {

struct MethodRole {
  std::string_view method;   // full name, "sinks.v1.ModelService/LoadModel"
  std::optional<Role> role;  // nullopt: open to all
};

std::span<const MethodRole> MethodRoles();

// Null for a method that is not listed.
const MethodRole* FindMethodRole(std::string_view method);

}  // namespace sinkd
