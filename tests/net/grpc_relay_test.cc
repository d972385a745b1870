#include "server/net/grpc_relay.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "server/net/listener.h"
#include "server/telemetry/log.h"
#include "tests/net/client_socket.h"
#include "tests/net/h2_frame.h"

namespace sinkd {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

void Send(const SocketHandle& socket, std::string_view bytes) {
  ASSERT_EQ(send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

// As many bytes, or less where the other side closes before.
std::string Receive(const SocketHandle& socket, size_t size) {
  std::string bytes(size, '\0');
  const ssize_t got = recv(socket.get(), bytes.data(), size, MSG_WAITALL);
  bytes.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return bytes;
}

class GrpcRelayTest : public testing::Test {
 protected:
  ~GrpcRelayTest() override {
    loop_.reset();
    relay_.reset();
    SetLogWriter({});
  }

  void Start(FrameLimits limits = {}, RelayTimes times = {}) {
    SetLogWriter([this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      log_.emplace_back(line);
    });
    relay_ =
        std::make_unique<GrpcRelay>(GrpcRelay::Options{.limits = limits,
                                                       .max_connections = 4,
                                                       .times = times,
                                                       .hand_over =
                                                           [this](int, int socket) {
                                                             fcntl(socket, F_SETFL, 0);
                                                             const std::lock_guard lock(mutex_);
                                                             taken_.emplace_back(socket);
                                                             changed_.notify_all();
                                                           },
                                                       .refused = [this] { ++refused_; }});
    absl::StatusOr<Listener> listener = Listener::Open("127.0.0.1:0");
    ASSERT_TRUE(listener.ok()) << listener.status();
    port_ = listener->port();
    absl::StatusOr<std::unique_ptr<AcceptLoop>> loop =
        AcceptLoop::Start(*std::move(listener), {.name = "grpc", .limits = {}},
                          [this](int from, int socket) { return relay_->Take(from, socket); });
    ASSERT_TRUE(loop.ok()) << loop.status();
    loop_ = *std::move(loop);
  }

  SocketHandle Connect() const { return ConnectTo("127.0.0.1", port_); }

  // gRPC's end, once a client has spoken.
  SocketHandle WaitForTaken() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !taken_.empty(); });
    SocketHandle socket = std::move(taken_.front());
    taken_.pop_front();
    return socket;
  }
  bool HasTaken() {
    const std::lock_guard lock(mutex_);
    return !taken_.empty();
  }
  std::vector<std::string> LogLines() {
    const std::lock_guard lock(mutex_);
    return log_;
  }

  // As gRPC calls the client whose connection `socket` is.
  static std::string GrpcPeer(const SocketHandle& socket) {
    sockaddr_un address{};
    socklen_t size = sizeof(address);
    getpeername(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
    return "unix-abstract:" +
           std::string(address.sun_path + 1, size - offsetof(sockaddr_un, sun_path) - 1);
  }

  std::unique_ptr<GrpcRelay> relay_;
  std::unique_ptr<AcceptLoop> loop_;
  int port_ = 0;
  int refused_ = 0;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<SocketHandle> taken_;
  std::vector<std::string> log_;
};

TEST_F(GrpcRelayTest, PassesOnWhatEitherSideSays) {
  Start();
  const SocketHandle client = Connect();
  const std::string first =
      std::string(kH2Preface) + H2Frame(FrameType::kHeaders, kEndHeaders, 1, "headers");
  Send(client, first);
  const SocketHandle grpc = WaitForTaken();
  EXPECT_EQ(Receive(grpc, first.size()), first);
  Send(grpc, "an answer");
  EXPECT_EQ(Receive(client, 9), "an answer");
}

TEST_F(GrpcRelayTest, KnowsWhoIsBehindGrpcsEndAndForgetsWhoIsGone) {
  Start();
  SocketHandle client = Connect();
  Send(client, kH2Preface);
  SocketHandle grpc = WaitForTaken();
  const std::string name = GrpcPeer(grpc);
  const std::shared_ptr<const Peer> peer = relay_->PeerOf(name);
  ASSERT_NE(peer, nullptr);
  EXPECT_THAT(peer->address, StartsWith("ipv4:127.0.0.1:"));
  EXPECT_EQ(peer->host, "127.0.0.1");
  EXPECT_EQ(peer->certificate_name, "");
  EXPECT_EQ(relay_->PeerOf("ipv4:127.0.0.1:1"), nullptr);
  EXPECT_EQ(relay_->PeerOf(""), nullptr);
  client.Close();
  EXPECT_EQ(Receive(grpc, 100), kH2Preface);  // and the end
  grpc.Close();
  relay_->Stop();
  EXPECT_EQ(relay_->PeerOf(name), nullptr);
}

TEST_F(GrpcRelayTest, GrpcDoesNotSeeAClientThatSpeaksNoHttp2OrNothing) {
  Start({}, {.begin = milliseconds(200)});
  const SocketHandle other = Connect();
  Send(other, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(Receive(other, 100), H2Frame(FrameType::kSettings, 0, 0));  // and the end
  const SocketHandle silent = Connect();
  EXPECT_TRUE(WaitUntilClosed(silent));
  const SocketHandle slow = Connect();
  Send(slow, kH2Preface.substr(0, 23));
  EXPECT_TRUE(WaitUntilClosed(slow));
  EXPECT_FALSE(HasTaken());
}

TEST_F(GrpcRelayTest, EndsAConnectionThatGoesTooFarWithTheReason) {
  Start({.of_connection = {.calls = 2, .message_bytes = 100}});
  const SocketHandle client = Connect();
  std::string calls(kH2Preface);
  for (const uint32_t stream : {1u, 3u, 5u}) calls += H2Frame(FrameType::kHeaders, 0, stream);
  Send(client, calls);
  const SocketHandle grpc = WaitForTaken();
  EXPECT_THAT(Receive(grpc, 4096), StartsWith(kH2Preface));  // and the end
  const std::string said = Receive(client, 4096);
  EXPECT_EQ(said.substr(3, 1), std::string(1, static_cast<char>(FrameType::kGoaway)));
  EXPECT_EQ(said.substr(9 + 4, 4), std::string("\0\0\0\x0b", 4));  // ENHANCE_YOUR_CALM
  EXPECT_THAT(said, HasSubstr("too many calls"));
  loop_.reset();
  relay_.reset();
  EXPECT_EQ(refused_, 1);
  EXPECT_THAT(LogLines(), testing::ElementsAre(HasSubstr("too many calls")));
}

TEST_F(GrpcRelayTest, HoldsLittleForASideThatDoesNotRead) {
  Start();
  const SocketHandle client = Connect();
  Send(client, kH2Preface);
  const SocketHandle grpc = WaitForTaken();
  for (const auto& [from, to] : {std::pair(&client, &grpc), std::pair(&grpc, &client)}) {
    fcntl(from->get(), F_SETFL, O_NONBLOCK);
    const std::string piece = H2Frame(FrameType::kData, 0, 1, std::string(65536, 'x'));
    size_t sent = 0;
    // Until no room comes.
    for (pollfd polled{from->get(), POLLOUT, 0}; poll(&polled, 1, 300) > 0;) {
      const ssize_t size = send(from->get(), piece.data(), piece.size(), MSG_NOSIGNAL);
      ASSERT_GT(size, 0);
      sent += static_cast<size_t>(size);
      ASSERT_LT(sent, size_t{64} << 20);
    }
    EXPECT_GT(sent, 0u);
  }
}

TEST_F(GrpcRelayTest, WhenItGetsFullTheLongestIdleConnectionMakesRoom) {
  Start();
  const SocketHandle busy = Connect();
  Send(busy, std::string(kH2Preface) + H2Frame(FrameType::kHeaders, kEndHeaders, 1, "headers"));
  const SocketHandle grpc_of_busy = WaitForTaken();
  EXPECT_EQ(Receive(grpc_of_busy, 40).size(), 40u);  // its call is open
  std::vector<SocketHandle> idle;
  std::vector<SocketHandle> grpc;
  for (int i = 0; i < 3; ++i) {
    idle.push_back(Connect());
    Send(idle.back(), kH2Preface);
    grpc.push_back(WaitForTaken());
  }
  EXPECT_TRUE(WaitUntilClosed(idle[0]));
  Send(grpc_of_busy, "x");
  EXPECT_EQ(Receive(busy, 1), "x");
  Send(grpc[2], "y");
  EXPECT_EQ(Receive(idle[2], 1), "y");
}

TEST_F(GrpcRelayTest, StopLetsAClientHaveWhatGrpcSentLast) {
  Start();
  const SocketHandle client = Connect();
  Send(client, kH2Preface);
  {
    const SocketHandle grpc = WaitForTaken();
    Send(grpc, std::string(100000, 'z'));
  }
  std::string got;
  std::thread reader([&] { got = Receive(client, 200000); });
  relay_->Stop();
  reader.join();
  EXPECT_EQ(got.size(), 100000u);
}

TEST_F(GrpcRelayTest, CloseEndsConnectionsThatGrpcDoesNotHave) {
  Start();
  const SocketHandle begun = Connect();
  Send(begun, kH2Preface);
  const SocketHandle grpc = WaitForTaken();
  const SocketHandle silent = Connect();
  relay_->Close();
  EXPECT_TRUE(WaitUntilClosed(silent));
  Send(grpc, "x");
  EXPECT_EQ(Receive(begun, 1), "x");
  relay_->Stop();
  relay_->Close();  // has nothing to do any more, and returns
}

}  // namespace
}  // namespace sinkd
