// `sinkctl plan`: what it asks, what it writes, how it ends.
#include <algorithm>

#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>
#include <nlohmann/json.hpp>

#include "client/model_client.h"
#include "tests/client/sinkctl_fixture.h"

namespace sinkd::testing {
namespace {

using google::protobuf::util::MessageDifferencer;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int64_t kTwoGiB = int64_t{2} << 30;

TEST_F(SinkctlTest, PlansWithTheParametersThatAreGiven) {
  EXPECT_EQ(Run({"plan", "alpha", "--device", "cuda:0=0-1,cpu=2-2", "--compute-type", "bfloat16",
                 "--residency", "streamed", "--length", "4096", "-o", "json"})
                .exit_code,
            0);
  EXPECT_EQ(Run({"plan", "models/alpha", "-o", "json"}).exit_code, 0);
  ASSERT_EQ(server_.plan_requests().size(), 2u);
  EXPECT_EQ(server_.plan_requests()[0].ShortDebugString(),
            "name: \"models/alpha\" device: \"cuda:0=0-1,cpu=2-2\" "
            "compute_type: COMPUTE_TYPE_BFLOAT16 residency: RESIDENCY_STREAMED positions: 4096 "
            "page_size: 1");
  EXPECT_EQ(server_.plan_requests()[1].ShortDebugString(), "name: \"models/alpha\" page_size: 1");
}

TEST_F(SinkctlTest, ShowsAPlanThatFits) {
  const ProcessResult result = Run({"plan", "alpha"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, IsEmpty());
  EXPECT_THAT(result.out, HasSubstr("llama, 3 blocks, 536,870,912 parameters"));
  EXPECT_THAT(result.out, HasSubstr("1.0 GiB to load, 8 tensors"));
  EXPECT_THAT(result.out, HasSubstr("sample         2,048 tokens"));
  EXPECT_THAT(result.out,
              HasSubstr("device  blocks  weights  activations      free    budget       held     "
                        "pinned  fits\n"
                        "  cpu        0-2  2.0 GiB      1.0 GiB  22.0 GiB  22.0 GiB  300.0 MiB  "
                        "100.0 MiB  yes\n"));
  EXPECT_THAT(result.out, HasSubstr("\n  fits\n"));
  EXPECT_THAT(result.out, HasSubstr("warning: 1 tensor is not used: \\x1b[31mextra"));
  EXPECT_EQ(server_.plan_requests().size(), 2u) << "its tensors take two pages";
}

TEST_F(SinkctlTest, GroupsTensorsByPatternUnlessEachIsAskedFor) {
  const std::string grouped = Run({"plan", "alpha"}).out;
  EXPECT_THAT(grouped, HasSubstr("model.layers.{block}.mlp.experts.{expert}.w1.weight      3  "
                                 "[64, 16]  BF16  6.0 KiB  loaded\n"));
  EXPECT_THAT(grouped, HasSubstr("head\n"));
  EXPECT_THAT(grouped, Not(HasSubstr("layers.1.")));
  const std::string each = Run({"plan", "alpha", "--tensors"}).out;
  for (const char* name :
       {"lm_head.weight", "model.layers.0.norm.weight", "model.layers.2.mlp.experts.7.w1.weight"}) {
    EXPECT_THAT(each, HasSubstr(name));
  }
  EXPECT_THAT(each, Not(HasSubstr("{block}")));
}

TEST_F(SinkctlTest, NamesTheModelsThatAPlanUnloads) {
  server_.evicted = {"models/idle", "models/old"};
  const ProcessResult result = Run({"plan", "alpha"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("\n  fits; unloads models/idle, models/old (200.0 MiB)\n"));
}

TEST_F(SinkctlTest, WarnsOfASampleThatDoesNotFitBesideAModelThatDoes) {
  server_.free_bytes = kTwoGiB;
  const ProcessResult result = Run({"plan", "alpha"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("\n  fits; no room for the 1.0 GiB of activations on cpu: try "
                                    "a shorter --length\n"));
}

TEST_F(SinkctlTest, ExitsWith6AndTheWayOutWhenAModelDoesNotFit) {
  server_.free_bytes = kTwoGiB - 1;
  const ProcessResult result = Run({"plan", "alpha"});
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_THAT(result.out, HasSubstr("100.0 MiB  NO"));
  EXPECT_THAT(result.out,
              HasSubstr("\n  does not fit: the model takes too much of \\x1b[31mcpu; unload "
                        "another; try --residency streamed (2 blocks at a time: 256.0 MiB)\n"));
  EXPECT_EQ(server_.plan_requests().back().residency(), sinks::v1::RESIDENCY_STREAMED);
  for (const char* format : {"json", "jsonl", "csv"}) {
    EXPECT_EQ(Run({"plan", "alpha", "-o", format}).exit_code, 6) << format;
  }
}

TEST_F(SinkctlTest, BreaksTheVerdictBetweenClausesOnANarrowTerminal) {
  server_.free_bytes = kTwoGiB - 1;
  EXPECT_THAT(RunOnTerminal(Command({"--no-color", "plan", "alpha"})).out,
              HasSubstr("unload another\r\n  try --residency"));
}

TEST_F(SinkctlTest, SaysWhenStreamingDoesNotFitEither) {
  server_.free_bytes = 1000;
  EXPECT_THAT(
      Run({"plan", "alpha"}).out,
      HasSubstr("--residency streamed does not fit either (2 blocks at a time: 256.0 MiB)\n"));
  const ProcessResult streamed = Run({"plan", "alpha", "--residency", "streamed"});
  EXPECT_EQ(streamed.exit_code, 6);
  EXPECT_THAT(streamed.out, HasSubstr("cpu; unload another\n"));
}

TEST_F(SinkctlTest, WritesAPlanThatReadsBackAsTheMessage) {
  const auto parse = [](const std::string& text, google::protobuf::Message* message) {
    const auto status = google::protobuf::util::JsonStringToMessage(text, message);
    EXPECT_TRUE(status.ok()) << status.ToString();
  };
  sinks::v1::PlanModelRequest request;
  request.set_name("alpha");
  const auto whole = client::ModelClient(server_.MakeChannel()).Plan(request, true, {});
  ASSERT_TRUE(whole.ok()) << whole.status();
  ASSERT_EQ(whole->tensors_size(), 8);
  EXPECT_FALSE(whole->has_next_page_token());
  sinks::v1::PlanModelResponse read;
  parse(Run({"plan", "alpha", "--tensors", "-o", "json"}).out, &read);
  EXPECT_TRUE(MessageDifferencer::Equals(read, *whole));

  const std::string lines = Run({"plan", "alpha", "--tensors", "-o", "jsonl"}).out;
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 9);
  const json first = json::parse(lines.substr(0, lines.find('\n')));
  EXPECT_EQ(first["type"], "plan");
  EXPECT_EQ(first["plan"]["parameters"], "536870912");
  EXPECT_FALSE(json::parse(Run({"plan", "alpha", "-o", "json"}).out).contains("tensors"));
}

TEST_F(SinkctlTest, WritesDevicesOrTensorsAsCsv) {
  const auto devices = ParseCsv(Run({"plan", "alpha", "-o", "csv"}).out);
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0][12], "free_bytes");
  EXPECT_THAT(devices[1],
              ElementsAre("models/alpha", "llama", "float32", "resident", "536870912", "1073741824",
                          "2048", "cpu", "0", "3", "2147483648", "1073741824", "23622320128",
                          "true", "23622320128", "314572800", "104857600", "0", "true"));
  const auto tensors = ParseCsv(Run({"plan", "alpha", "--tensors", "-o", "csv"}).out);
  ASSERT_EQ(tensors.size(), 9u);
  EXPECT_THAT(tensors[1], ElementsAre("lm_head.weight", "BF16", "32 32", "2048", "head"));
}

TEST_F(SinkctlTest, ReportsAPlanThatTheServerRefuses) {
  const ProcessResult result = Run({"plan", "nothing"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, HasSubstr("MODEL_NOT_FOUND"));
  EXPECT_THAT(result.out, IsEmpty());
}

}  // namespace
}  // namespace sinkd::testing
