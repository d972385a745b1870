#include "server/net/accept_loop.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <vector>

#include "server/telemetry/log.h"
#include "tests/net/client_socket.h"

namespace sinkd {
namespace {

class AcceptLoopTest : public testing::Test {
 protected:
  ~AcceptLoopTest() override {
    loop_.reset();
    SetLogWriter({});
  }

  void Start(ConnectionLimits limits = {}) {
    SetLogWriter([this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      log_.emplace_back(line);
    });
    absl::StatusOr<Listener> listener = Listener::Open("127.0.0.1:0");
    ASSERT_TRUE(listener.ok()) << listener.status();
    port_ = listener->port();
    absl::StatusOr<std::unique_ptr<AcceptLoop>> loop =
        AcceptLoop::Start(*std::move(listener),
                          {.name = "grpc",
                           .limits = limits,
                           .refused =
                               [this](ConnectionRefusal why) {
                                 const std::lock_guard lock(mutex_);
                                 refused_.push_back(why);
                                 changed_.notify_all();
                               },
                           .open =
                               [this](int64_t open) {
                                 const std::lock_guard lock(mutex_);
                                 open_ = open;
                                 changed_.notify_all();
                               }},
                          [this](int, int socket) {
                            const std::lock_guard lock(mutex_);
                            taken_.emplace_back(socket);
                            changed_.notify_all();
                            return true;
                          });
    ASSERT_TRUE(loop.ok()) << loop.status();
    loop_ = *std::move(loop);
  }

  SocketHandle Connect() const { return ConnectTo("127.0.0.1", port_); }

  SocketHandle WaitForTaken() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !taken_.empty(); });
    SocketHandle socket = std::move(taken_.front());
    taken_.pop_front();
    return socket;
  }
  // Once there are descriptors again. The loop may have seen the last of the want of them when
  // they came back, and then one more is refused.
  SocketHandle ConnectUntilTaken() {
    while (true) {
      const size_t refused = Refused().size();
      SocketHandle client = Connect();
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !taken_.empty() || refused_.size() > refused; });
      if (!taken_.empty()) return client;
    }
  }
  void WaitForOpen(int64_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return open_ == count; });
  }
  std::vector<ConnectionRefusal> Refused() {
    const std::lock_guard lock(mutex_);
    return refused_;
  }
  std::vector<std::string> LogLines() {
    const std::lock_guard lock(mutex_);
    return log_;
  }

  std::unique_ptr<AcceptLoop> loop_;
  int port_ = 0;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<SocketHandle> taken_;
  std::vector<ConnectionRefusal> refused_;
  std::vector<std::string> log_;
  int64_t open_ = -1;
};

TEST_F(AcceptLoopTest, GivesConnectionsAwayReadyForUse) {
  Start();
  const SocketHandle client = Connect();
  const SocketHandle server = WaitForTaken();
  EXPECT_NE(fcntl(server.get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(fcntl(server.get(), F_GETFD) & FD_CLOEXEC, 0);
  ASSERT_EQ(send(client.get(), "x", 1, 0), 1);
  fcntl(server.get(), F_SETFL, 0);
  char byte = 0;
  ASSERT_EQ(recv(server.get(), &byte, 1, 0), 1);
  EXPECT_EQ(byte, 'x');
}

TEST_F(AcceptLoopTest, ClosesWhatIsAboveALimitAndServesAgainWhenThereIsRoom) {
  Start({.in_all = 9, .by_address = 2});
  const SocketHandle a = Connect();
  const SocketHandle b = Connect();
  SocketHandle a_taken = WaitForTaken();
  const SocketHandle b_taken = WaitForTaken();
  EXPECT_TRUE(WaitUntilClosed(Connect()));
  EXPECT_THAT(Refused(), testing::ElementsAre(ConnectionRefusal::kAddress));
  WaitForOpen(2);
  a_taken.Close();
  WaitForOpen(1);
  const SocketHandle c = Connect();
  EXPECT_TRUE(WaitForTaken().valid());
}

TEST_F(AcceptLoopTest, LogsRefusalsOnceInAWhile) {
  Start({.in_all = 1, .by_address = 1});
  const SocketHandle a = Connect();
  const SocketHandle taken = WaitForTaken();
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(WaitUntilClosed(Connect()));
  EXPECT_EQ(Refused().size(), 20u);
  const std::vector<std::string> lines = LogLines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], testing::HasSubstr("connections refused"));
  EXPECT_THAT(lines[0], testing::HasSubstr("--max-connections"));
  EXPECT_THAT(lines[0], testing::HasSubstr("127.0.0.1"));
}

TEST_F(AcceptLoopTest, StopsAcceptingAndLeavesConnectionsAlone) {
  Start();
  const SocketHandle client = Connect();
  const SocketHandle server = WaitForTaken();
  loop_->Stop();
  EXPECT_FALSE(Connect().valid());
  ASSERT_EQ(send(server.get(), "x", 1, 0), 1);
  EXPECT_FALSE(WaitUntilClosed(client));
}

// Holds all descriptors of this process.
class Exhaustion {
 public:
  Exhaustion() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{.rlim_cur = 256, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    while (true) {
      SocketHandle one(open("/dev/null", O_RDONLY | O_CLOEXEC));
      if (!one.valid()) return;
      held_.push_back(std::move(one));
    }
  }
  ~Exhaustion() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
  std::vector<SocketHandle> held_;
};

TEST_F(AcceptLoopTest, WithoutDescriptorsItClosesConnectionsAtOnceAndRecovers) {
  Start();
  std::vector<SocketHandle> clients(3);
  for (SocketHandle& client : clients) {
    client = SocketHandle(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  }
  {
    const Exhaustion exhaustion;
    for (size_t i = 0; i < clients.size(); ++i) {
      ASSERT_TRUE(ConnectSocket(clients[i], port_));
      EXPECT_TRUE(WaitUntilClosed(clients[i]));
      EXPECT_THAT(Refused(), testing::SizeIs(i + 1));
      EXPECT_THAT(Refused(), testing::Each(ConnectionRefusal::kDescriptors));
      EXPECT_THAT(LogLines(), testing::ElementsAre(testing::HasSubstr("ulimit")));
    }
  }
  const SocketHandle client = ConnectUntilTaken();
  EXPECT_TRUE(WaitForTaken().valid());
}

}  // namespace
}  // namespace sinkd
