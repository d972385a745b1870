// `sinkctl health`, against a server of the standard health protocol.
#include <signal.h>

#include <deque>
#include <mutex>

#include "grpc/health/v1/health.grpc.pb.h"
#include "tests/client/local_server.h"
#include "tests/client/sinkctl_fixture.h"

namespace sinkd::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Status = grpc::health::v1::HealthCheckResponse;

// Answers each check with the next of `answers`, and with the last one for ever.
class HealthServer : public grpc::health::v1::Health::Service {
 public:
  explicit HealthServer(std::deque<Status::ServingStatus> answers) : answers_(std::move(answers)) {}

  const std::string& address() const { return server_.address(); }
  size_t checks() const {
    const std::lock_guard lock(mutex_);
    return checks_;
  }

  grpc::Status Check(grpc::ServerContext*, const grpc::health::v1::HealthCheckRequest* request,
                     Status* response) override {
    const std::lock_guard lock(mutex_);
    ++checks_;
    if (!request->service().empty()) return {grpc::StatusCode::NOT_FOUND, "no such service"};
    response->set_status(answers_.front());
    if (answers_.size() > 1) answers_.pop_front();
    return grpc::Status::OK;
  }

 private:
  mutable std::mutex mutex_;
  std::deque<Status::ServingStatus> answers_;  // guarded by mutex_
  size_t checks_ = 0;                          // guarded by mutex_
  LocalServer server_{*this};                  // last: it calls the rest
};

ProcessResult Health(const std::string& address, std::vector<std::string> flags = {},
                     const ProcessOptions& options = {}) {
  std::vector<std::string> command = {SINKCTL_PATH, "--server", address, "health"};
  command.insert(command.end(), flags.begin(), flags.end());
  return RunProcess(command, options);
}

constexpr char kNobody[] = "unix:/nonexistent/sinkd.sock";

TEST(SinkctlHealth, ExitsWith0WhereTheServerServes) {
  const HealthServer server({Status::SERVING});
  const ProcessResult result = Health(server.address());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "SERVING\n");
  EXPECT_THAT(result.err, IsEmpty());
}

TEST(SinkctlHealth, ExitsWith4WhereTheServerTakesNoWork) {
  const HealthServer server({Status::NOT_SERVING});
  const ProcessResult result = Health(server.address());
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(result.out, "NOT_SERVING\n");
  EXPECT_THAT(result.err, HasSubstr("answers and takes no work"));
  EXPECT_EQ(server.checks(), 1u);
}

TEST(SinkctlHealth, ExitsWith3WhereNoneAnswers) {
  const ProcessResult result = Health(kNobody);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, HasSubstr("cannot reach"));
}

TEST_F(SinkctlTest, ExitsWith4WhereTheServerKnowsNoHealth) {
  const ProcessResult result = Run({"health"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, HasSubstr("UNIMPLEMENTED"));
  EXPECT_EQ(Run({"health", "--wait"}).exit_code, 4);
}

TEST(SinkctlHealth, WritesEveryFormat) {
  const HealthServer server({Status::SERVING});
  EXPECT_EQ(Health(server.address(), {"-o", "json"}).out, "{\"status\":\"SERVING\"}\n");
  EXPECT_EQ(Health(server.address(), {"-o", "jsonl"}).out, "{\"status\":\"SERVING\"}\n");
  const auto rows = ParseCsv(Health(server.address(), {"-o", "csv"}).out);
  EXPECT_EQ(rows, (std::vector<std::vector<std::string>>{{"status"}, {"SERVING"}}));
}

TEST(SinkctlHealth, WaitsUntilTheServerServes) {
  const HealthServer server({Status::NOT_SERVING, Status::NOT_SERVING, Status::SERVING});
  const ProcessResult result = Health(server.address(), {"--wait", "--timeout", "60s"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "SERVING\n");
  EXPECT_EQ(server.checks(), 3u);
}

TEST(SinkctlHealth, TellsWhatItSawLastWhenTheTimeIsOver) {
  const HealthServer server({Status::NOT_SERVING});
  const ProcessResult loading = Health(server.address(), {"--wait", "--timeout", "3s"});
  EXPECT_EQ(loading.exit_code, 4) << loading.err;
  EXPECT_GT(server.checks(), 1u);
  EXPECT_EQ(Health(kNobody, {"--wait", "--timeout", "1s"}).exit_code, 3);
}

TEST(SinkctlHealth, StopsWaitingWhenInterrupted) {
  const HealthServer server({Status::NOT_SERVING});
  ProcessOptions options;
  options.signal = SIGINT;
  options.signal_when = "waiting";
  EXPECT_EQ(Health(server.address(), {"--wait"}, options).exit_code, 130);
}

}  // namespace
}  // namespace sinkd::testing
