#include "server/net/open_connections.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>

#include "server/net/socket_handle.h"

namespace sinkd {
namespace {

using Refusal = std::optional<ConnectionRefusal>;

SocketHandle NewSocket() {
  return SocketHandle(socket(AF_INET, SOCK_STREAM, 0));
}

sockaddr_storage Address(int family, const char* text) {
  sockaddr_storage address{.ss_family = static_cast<sa_family_t>(family)};
  void* const place = family == AF_INET
                          ? static_cast<void*>(&reinterpret_cast<sockaddr_in&>(address).sin_addr)
                          : &reinterpret_cast<sockaddr_in6&>(address).sin6_addr;
  EXPECT_EQ(inet_pton(family, text, place), 1);
  return address;
}

TEST(OpenConnections, RefusesWhatIsAboveALimit) {
  OpenConnections open({.in_all = 3, .by_address = 2});
  const SocketHandle a = NewSocket(), b = NewSocket(), c = NewSocket(), d = NewSocket();
  EXPECT_EQ(open.Admit(a.get(), "10.0.0.1"), std::nullopt);
  EXPECT_EQ(open.Admit(b.get(), "10.0.0.1"), std::nullopt);
  EXPECT_EQ(open.Admit(c.get(), "10.0.0.1"), Refusal(ConnectionRefusal::kAddress));
  EXPECT_EQ(open.Admit(c.get(), "10.0.0.2"), std::nullopt);
  EXPECT_EQ(open.Admit(d.get(), "10.0.0.3"), Refusal(ConnectionRefusal::kConnections));
  EXPECT_EQ(open.Count(), 3);
}

TEST(OpenConnections, NoticesWhatWasClosed) {
  OpenConnections open({.in_all = 2, .by_address = 1});
  SocketHandle a = NewSocket(), b = NewSocket();
  const SocketHandle c = NewSocket();
  EXPECT_EQ(open.Admit(a.get(), "10.0.0.1"), std::nullopt);
  EXPECT_EQ(open.Admit(b.get(), "10.0.0.2"), std::nullopt);
  a.Close();
  EXPECT_EQ(open.Admit(c.get(), "10.0.0.1"), std::nullopt);
  b.Close();
  EXPECT_EQ(open.Count(), 1);
}

TEST(OpenConnections, IsNotFooledByANumberThatIsUsedAgain) {
  OpenConnections open({.in_all = 1, .by_address = 1});
  SocketHandle a = NewSocket();
  const SocketHandle late = NewSocket();
  EXPECT_EQ(open.Admit(a.get(), "10.0.0.1"), std::nullopt);
  const int number = a.get();
  a.Close();
  const SocketHandle other = NewSocket();
  ASSERT_EQ(other.get(), number);
  EXPECT_EQ(open.Count(), 0);
  EXPECT_EQ(open.Admit(late.get(), "10.0.0.1"), std::nullopt);
}

TEST(OpenConnections, ASocketThatComesAgainUnderItsNumberCountsOnce) {
  OpenConnections open({.in_all = 9, .by_address = 1});
  SocketHandle a = NewSocket();
  EXPECT_EQ(open.Admit(a.get(), "10.0.0.1"), std::nullopt);
  const int number = a.get();
  a.Close();
  const SocketHandle b = NewSocket();
  ASSERT_EQ(b.get(), number);
  EXPECT_EQ(open.Admit(b.get(), "10.0.0.1"), std::nullopt);
  EXPECT_EQ(open.Count(), 1);
}

TEST(AddressOf, IsTheClientsAddressOrNetwork) {
  EXPECT_EQ(AddressOf(Address(AF_INET, "192.0.2.7")), "192.0.2.7");
  EXPECT_EQ(AddressOf(Address(AF_INET6, "::ffff:192.0.2.7")), "192.0.2.7");
  EXPECT_EQ(AddressOf(Address(AF_INET6, "2001:db8:1:2:3:4:5:6")), "2001:db8:1:2::/64");
  EXPECT_EQ(AddressOf(Address(AF_INET6, "::1")), "::/64");
  EXPECT_EQ(AddressOf({.ss_family = AF_UNIX}), "unix");
}

}  // namespace
}  // namespace sinkd
