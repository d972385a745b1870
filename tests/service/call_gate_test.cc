#include "server/service/calls/call_gate.h"

#include <gtest/gtest.h>

#include "server/access/method_roles.h"
#include "server/service/calls/peer_host.h"
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

TEST(PeerHost, IsThePeerWithoutItsPort) {
  EXPECT_EQ(PeerHost("ipv4:127.0.0.1:50051"), "127.0.0.1");
  EXPECT_EQ(PeerHost("ipv6:%5B::1%5D:50051"), "::1");
  EXPECT_EQ(PeerHost("ipv6:[2001:db8::7]:1"), "2001:db8::7");
  EXPECT_EQ(PeerHost("unix:"), "unix");
  EXPECT_EQ(PeerHost("unix:/run/sinkd"), "unix");
}

}  // namespace
}  // namespace sinkd
