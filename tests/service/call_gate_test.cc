#include "server/service/calls/call_gate.h"

#include <gtest/gtest.h>

#include "server/access/method_roles.h"
#include "server/service/server.h"

namespace sinkd {
namespace {

TEST(CallGate, EveryMethodOfTheServerHasARole) {
  ASSERT_GT(Server::Methods().size(), 15u);
  for (const std::string& method : Server::Methods()) {
    const MethodRole* const found = FindMethodRole(method);
    ASSERT_NE(found, nullptr) << method << " is not in server/access/method_roles.cc";
    EXPECT_TRUE(found->role.has_value()) << method << " must not be open to all";
  }
}

TEST(CallGate, OnlyHealthIsOpenToAll) {
  for (const MethodRole& each : MethodRoles()) {
    EXPECT_EQ(!each.role, each.method.starts_with("grpc.health.v1.Health/")) << each.method;
  }
}

TEST(CallGate, AContextThatWasNotJudgedIsRefused) {
  const CallContext context;
  EXPECT_EQ(VerdictOf(context).code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(PrincipalOf(context), nullptr);
}

TEST(CallGate, AContextThatWasNotJudgedIsOfNobody) {
  const CallContext context;
  EXPECT_EQ(PeerOf(context).host, "unknown");
  EXPECT_EQ(PeerOf(context).certificate_name, "");
}

}  // namespace
}  // namespace sinkd
