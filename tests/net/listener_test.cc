#include "server/net/listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <filesystem>

#include "tests/net/client_socket.h"

namespace sinkd {
namespace {

using testing::HasSubstr;

TEST(Listener, PicksAFreePortAndSaysWhich) {
  const absl::StatusOr<Listener> listener = Listener::Open("127.0.0.1:0");
  ASSERT_TRUE(listener.ok()) << listener.status();
  EXPECT_GT(listener->port(), 0);
  EXPECT_EQ(listener->address(), "127.0.0.1:" + std::to_string(listener->port()));
  EXPECT_TRUE(ConnectTo("127.0.0.1", listener->port()).valid());
  EXPECT_FALSE(ConnectTo("127.0.0.2", listener->port()).valid());
}

TEST(Listener, TakesIpv6AndKeepsItsBrackets) {
  const absl::StatusOr<Listener> listener = Listener::Open("[::1]:0");
  if (!listener.ok()) GTEST_SKIP() << "this machine has no IPv6: " << listener.status();
  EXPECT_THAT(listener->address(), testing::StartsWith("[::1]:"));
  EXPECT_TRUE(ConnectTo("::1", listener->port()).valid());
}

TEST(Listener, TakesIpv4OnTheIpv6Wildcard) {
  const absl::StatusOr<Listener> listener = Listener::Open("[::]:0");
  if (!listener.ok()) GTEST_SKIP() << "this machine has no IPv6: " << listener.status();
  EXPECT_TRUE(ConnectTo("127.0.0.1", listener->port()).valid());
  EXPECT_TRUE(ConnectTo("::1", listener->port()).valid());
}

TEST(Listener, ListensOnEveryAddressOfAName) {
  const absl::StatusOr<Listener> listener = Listener::Open("localhost:0");
  ASSERT_TRUE(listener.ok()) << listener.status();
  EXPECT_EQ(listener->address(), "localhost:" + std::to_string(listener->port()));
  EXPECT_TRUE(ConnectTo("127.0.0.1", listener->port()).valid());
}

TEST(Listener, ASecondOneOnAPortFails) {
  const absl::StatusOr<Listener> first = Listener::Open("127.0.0.1:0");
  ASSERT_TRUE(first.ok());
  const absl::Status second = Listener::Open(first->address()).status();
  EXPECT_TRUE(absl::IsUnavailable(second)) << second;
  EXPECT_THAT(std::string(second.message()), HasSubstr(first->address()));
  EXPECT_THAT(std::string(second.message()), HasSubstr("in use"));
}

TEST(Listener, ANameWithoutAddressFails) {
  const absl::Status error = Listener::Open("no-such-host.invalid:0").status();
  EXPECT_TRUE(absl::IsUnavailable(error)) << error;
  EXPECT_THAT(std::string(error.message()), HasSubstr("no-such-host.invalid"));
}

TEST(Listener, WhatIsNoAddressIsRefused) {
  for (const char* const bad : {"", ":1", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:-1",
                                "127.0.0.1:65536", "127.0.0.1:1 ", "unix:"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Listener::Open(bad).status())) << bad;
  }
}

class UnixListener : public testing::Test {
 protected:
  UnixListener() {
    std::string name = testing::TempDir() + "/listener-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~UnixListener() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

TEST_F(UnixListener, ListensInTheFileSystemAndRemovesItsSocket) {
  const std::string path = folder_ / "socket";
  {
    const absl::StatusOr<Listener> listener = Listener::Open("unix:" + path);
    ASSERT_TRUE(listener.ok()) << listener.status();
    EXPECT_EQ(listener->address(), "unix:" + path);
    EXPECT_EQ(listener->port(), 0);
    EXPECT_TRUE(ConnectToPath(path).valid());
    EXPECT_TRUE(absl::IsUnavailable(Listener::Open("unix:" + path).status()));
    EXPECT_TRUE(ConnectToPath(path).valid());
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(UnixListener, TakesThePlaceOfASocketThatWasLeftBehind) {
  const std::string path = folder_ / "socket";
  {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    path.copy(address.sun_path, path.size());
    const SocketHandle left(socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(bind(left.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  ASSERT_TRUE(std::filesystem::exists(path));
  EXPECT_TRUE(Listener::Open("unix:" + path).ok());
}

TEST_F(UnixListener, LeavesTheSocketOfTheServerThatReplacedItAlone) {
  const std::string path = folder_ / "socket";
  absl::StatusOr<Listener> first = Listener::Open("unix:" + path);
  ASSERT_TRUE(first.ok()) << first.status();
  std::filesystem::remove(path);
  const absl::StatusOr<Listener> second = Listener::Open("unix:" + path);
  ASSERT_TRUE(second.ok()) << second.status();
  first->Close();
  EXPECT_TRUE(ConnectToPath(path).valid());
}

TEST_F(UnixListener, APathThatIsTooLongSaysHowLongItMayBe) {
  EXPECT_TRUE(Listener::Open("unix:/tmp/" + std::string(102, 'x')).ok());
  const absl::Status error = Listener::Open("unix:/tmp/" + std::string(103, 'x')).status();
  EXPECT_TRUE(absl::IsInvalidArgument(error)) << error;
  EXPECT_THAT(std::string(error.message()), HasSubstr("at most 107 bytes, this one has 108"));
}

TEST_F(UnixListener, LeavesOtherFilesAlone) {
  const std::string path = folder_ / "file";
  fclose(fopen(path.c_str(), "w"));
  EXPECT_TRUE(absl::IsUnavailable(Listener::Open("unix:" + path).status()));
  EXPECT_TRUE(std::filesystem::is_regular_file(path));
}

}  // namespace
}  // namespace sinkd
