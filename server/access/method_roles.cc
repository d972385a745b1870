#include "server/access/method_roles.h"

#include <algorithm>
#include <array>

namespace sinkd {
namespace {

constexpr std::array kMethodRoles = {
    // Probes have no token, and hear nothing but whether the server serves.
    MethodRole{"grpc.health.v1.Health/Check", std::nullopt},
    MethodRole{"grpc.health.v1.Health/Watch", std::nullopt},
    MethodRole{"grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", Role::kRead},

    MethodRole{"sinks.v1.ModelService/ListModels", Role::kRead},
    MethodRole{"sinks.v1.ModelService/GetModel", Role::kRead},
    MethodRole{"sinks.v1.ModelService/PlanModel", Role::kRead},
    MethodRole{"sinks.v1.ModelService/ListFamilies", Role::kRead},
    MethodRole{"sinks.v1.ModelService/LoadModel", Role::kAdmin},
    MethodRole{"sinks.v1.ModelService/UnloadModel", Role::kAdmin},

    MethodRole{"sinks.v1.ServerService/GetServerStatus", Role::kRead},

    MethodRole{"sinks.v1.AnalysisService/Analyze", Role::kAnalyse},
    MethodRole{"sinks.v1.MechanismService/RunStudy", Role::kAnalyse},

    MethodRole{"sinks.v1.RunService/GetRun", Role::kRead},
    MethodRole{"sinks.v1.RunService/ListRuns", Role::kRead},
    MethodRole{"sinks.v1.RunService/ListSampleKeys", Role::kRead},
    MethodRole{"sinks.v1.RunService/StreamRecords", Role::kRead},
    MethodRole{"sinks.v1.RunService/SummarizeRuns", Role::kRead},
    MethodRole{"sinks.v1.RunService/ListStudies", Role::kRead},
    MethodRole{"sinks.v1.RunService/CreateRun", Role::kAnalyse},
    MethodRole{"sinks.v1.RunService/UpdateRun", Role::kAnalyse},
    // An import puts records into the store that this server did not compute.
    MethodRole{"sinks.v1.RunService/ImportRecords", Role::kAdmin},
    MethodRole{"sinks.v1.RunService/DeleteRun", Role::kAdmin},
    // All that anybody kept.
    MethodRole{"sinks.v1.RunService/BackUpStore", Role::kAdmin},

    MethodRole{"sinks.v1.AuditService/AuditRuns", Role::kRead},

    MethodRole{"sinks.v1.ServerService/GetServerStatus", Role::kRead},
};

}  // namespace

std::span<const MethodRole> MethodRoles() {
  return kMethodRoles;
}

const MethodRole* FindMethodRole(std::string_view method) {
  const auto* const found =
      std::find_if(kMethodRoles.begin(), kMethodRoles.end(),
                   [method](const MethodRole& each) { return each.method == method; });
  return found == kMethodRoles.end() ? nullptr : found;
}

}  // namespace sinkd
