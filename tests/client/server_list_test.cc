#include "client/server_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/channel.h"
#include "client/model_client.h"
#include "tests/client/fake_server.h"

namespace sinkd::client {
namespace {

using ::testing::ElementsAre;
using testing::FakeServer;
using ::testing::HasSubstr;

TEST(ServerList, IsSplitAtCommasButForSchemes) {
  EXPECT_THAT(SplitServers("a:1"), ElementsAre("a:1"));
  EXPECT_THAT(SplitServers("a:1,[::1]:2,"), ElementsAre("a:1", "[::1]:2", ""));
  EXPECT_THAT(SplitServers("ipv4:10.0.0.1:1,10.0.0.2:1"),
              ElementsAre("ipv4:10.0.0.1:1,10.0.0.2:1"));
}

TEST(ServerList, BecomesOneTargetOfOneIpVersion) {
  EXPECT_EQ(*TargetOf({"sinkd.example:1"}), "sinkd.example:1");
  EXPECT_EQ(*TargetOf({"10.0.0.1:1", "10.0.0.2:2", "10.0.0.1:1"}), "ipv4:10.0.0.1:1,10.0.0.2:2");
  EXPECT_EQ(*TargetOf({"[::1]:1", "[::2]:2"}), "ipv6:[::1]:1,[::2]:2");
  EXPECT_EQ(*TargetOf({"unknown.invalid:1", "10.0.0.1:1"}), "ipv4:10.0.0.1:1");
  EXPECT_EQ(*TargetOf({"unknown.invalid:1", "unknown.invalid:2"}), "unknown.invalid:1");
  const absl::StatusOr<std::string> mixed = TargetOf({"10.0.0.1:1", "[::1]:2"});
  EXPECT_TRUE(absl::IsInvalidArgument(mixed.status()));
  EXPECT_THAT(std::string(mixed.status().message()), HasSubstr("10.0.0.1:1,[::1]:2"));
}

TEST(ServerList, IsCheckedServerByServer) {
  EXPECT_TRUE(CheckAddress("a:1,b:2").ok());
  for (const char* address : {"a:1,", "a:1,b", "a:1,,b:2", "a:1,dns:///b:2", "a:1,http://b"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(CheckAddress(address))) << address;
  }
}

TEST(ServerList, IsLoopbackOnlyWhereEveryServerIs) {
  for (const char* address : {"127.0.0.1:1", "127.8.9.10:1", "localhost:1", "[::1]:1",
                              "unix:/run/s", "unix-abstract:s", "127.0.0.1:1,localhost:2"}) {
    EXPECT_TRUE(IsLoopback(address)) << address;
  }
  for (const char* address :
       {"10.0.0.1:1", "127.0.0.1.example.org:1", "localhost.example.org:1", "unix.example.org:1",
        "unixbox:1", "[::2]:1", "dns:///localhost:1", "127.0.0.1:1,10.0.0.1:2"}) {
    EXPECT_FALSE(IsLoopback(address)) << address;
  }
}

TEST(ServerList, IsAskedInTurnAndTheDeadArePassedOver) {
  FakeServer first, second;
  auto third = std::make_unique<FakeServer>();
  const std::string dead = third->address();
  third.reset();
  const auto channel = MakeChannel(first.address() + "," + dead + "," + second.address());
  ASSERT_TRUE(channel.ok());
  const ModelClient client(*channel);
  // The first calls go to whichever is connected first.
  for (int i = 0; i < 10'000 && (first.unary_calls == 0 || second.unary_calls == 0); ++i) {
    ASSERT_TRUE(client.List({}, [](const sinks::v1::Model&) {}).ok());
  }
  const int before_first = first.unary_calls, before_second = second.unary_calls;
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(client.List({}, [](const sinks::v1::Model&) {}).ok());
  EXPECT_EQ(first.unary_calls - before_first, second.unary_calls - before_second);
}

}  // namespace
}  // namespace sinkd::client
