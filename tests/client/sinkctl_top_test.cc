// `sinkctl top`, against a server that answers with one status after another.
#include <signal.h>

#include <deque>
#include <mutex>

#include <google/protobuf/util/time_util.h>
#include "sinks/v1/server.grpc.pb.h"
#include "tests/client/local_server.h"
#include "tests/client/sinkctl_fixture.h"

namespace sinkd::testing {
namespace {

namespace v1 = sinks::v1;
using google::protobuf::util::TimeUtil;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class StatusServer : public v1::ServerService::Service {
 public:
  // At second n of its life it has done 40 n samples of 100 tokens.
  grpc::Status GetServerStatus(grpc::ServerContext*, const v1::GetServerStatusRequest*,
                               v1::GetServerStatusResponse* response) override {
    const std::lock_guard lock(mutex_);
    seconds_ += 10;
    v1::ServerStatus& status = *response->mutable_status();
    status.set_version("1.2.3");
    *status.mutable_start_time() = TimeUtil::SecondsToTimestamp(1'700'000'000);
    *status.mutable_time() = TimeUtil::SecondsToTimestamp(1'700'000'000 + seconds_);
    status.set_serving(true);
    status.set_streams(3);
    status.set_max_streams(64);
    status.mutable_counts()->set_samples_ok(4 * seconds_ * seconds_);
    status.mutable_counts()->set_samples_failed(2);
    status.mutable_counts()->set_tokens(400 * seconds_ * seconds_);
    v1::DeviceStatus& device = *status.add_devices();
    device.set_name("cuda:0");
    device.set_busy_seconds(static_cast<double>(seconds_) / 2);
    device.set_budget_bytes(int64_t{60} << 30);
    device.set_weight_bytes(int64_t{15} << 30);
    device.set_longest_wait_seconds(1.5);
    v1::RunningWork& work = *device.add_running();
    work.set_caller("nightly\x1b[31m");
    work.set_lane(v1::LANE_BATCH);
    work.set_seconds(0.7);
    for (const auto& [name, streams] : {std::pair("ann", 1), {"nightly", 2}, {"gone", 0}}) {
      v1::CallerShare& caller = *device.add_callers();
      caller.set_caller(name);
      caller.set_lane(v1::LANE_INTERACTIVE);
      caller.set_streams(streams);
      caller.set_device_seconds(65);
    }
    v1::Model& model = *status.add_models();
    model.set_name("models/llama");
    model.set_state(v1::MODEL_STATE_READY);
    model.set_pinned(true);
    return grpc::Status::OK;
  }

  const std::string& address() const { return server_.address(); }

 private:
  std::mutex mutex_;
  int64_t seconds_ = 0;        // guarded by mutex_
  LocalServer server_{*this};  // last: it calls the rest
};

std::vector<std::string> Top(const StatusServer& server, std::vector<std::string> flags) {
  std::vector<std::string> command = {SINKCTL_PATH, "--server", server.address(), "top"};
  command.insert(command.end(), flags.begin(), flags.end());
  return command;
}

TEST(SinkctlTop, ShowsTheServerOnceWhereOutputIsNoTerminal) {
  const StatusServer server;
  const ProcessResult result = RunProcess(Top(server, {}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("sinkd 1.2.3  up 10s, serving"), HasSubstr("streams 3 of 64"),
                    HasSubstr("40.0 samples/s, 4000 tokens/s since the start"),
                    HasSubstr("402 samples so far"), HasSubstr("15.0 GiB of 60.0 GiB"),
                    HasSubstr("50%"), HasSubstr("ann"), HasSubstr("1:05"), HasSubstr("PINNED"),
                    HasSubstr("yes"), Not(HasSubstr("gone")), Not(HasSubstr("\x1b"))));
}

TEST(SinkctlTop, TellsRatesOfTheTimeBetweenTwoLooks) {
  const StatusServer server;
  ProcessOptions options;
  options.signal = SIGINT;
  options.signal_when = "120.0 samples/s, 12000 tokens/s in 10s";  // (4 * 20^2 - 4 * 10^2) / 10
  const ProcessResult result = RunOnTerminal(Top(server, {"--interval", "10ms"}), options);
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_THAT(result.out, HasSubstr(options.signal_when));
  // Of as long as a pass may take: (4 * 40^2 - 4 * 10^2) / 30.
  options.signal_when = "200.0 samples/s, 20000 tokens/s in 30s";
  const StatusServer other;
  EXPECT_EQ(RunOnTerminal(Top(other, {"--interval", "10ms"}), options).exit_code, 0);
  // The screen is given back, and a sentence stays on it.
  EXPECT_THAT(result.out.substr(result.out.find("\x1b[?1049l")),
              AllOf(HasSubstr("the server analysed "), Not(HasSubstr("interrupted"))));
}

TEST(SinkctlTop, WritesForPrograms) {
  const StatusServer server;
  EXPECT_THAT(RunProcess(Top(server, {"-o", "json"})).out, HasSubstr("\"maxStreams\":\"64\""));
  const auto rows = ParseCsv(RunProcess(Top(server, {"-o", "csv", "--once"})).out);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].size(), rows[1].size());
  EXPECT_EQ(rows[1][1], "cuda:0");
}

TEST(SinkctlTop, RefusesAnIntervalThatIsNone) {
  const StatusServer server;
  const ProcessResult result = RunProcess(Top(server, {"--interval", "soon"}));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("is not a duration"));
}

}  // namespace
}  // namespace sinkd::testing
