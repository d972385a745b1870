// What all studies share, seen through the one that does nothing else: massive.
#include "server/mechanism/study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/mechanism/toy_model.h"
#include "tests/mechanism/toy_study.h"

namespace sinkd {
namespace {

using testing::ElementsAre;

StudySample SampleOfLength(int64_t index, size_t tokens) {
  StudySample sample{.index = index, .ids = TokenIds(tokens, 2)};
  sample.ids[0] = 0;
  return sample;
}

TEST(Study, DetectsSamplesInBatchesOfUpTo2048Tokens) {
  ToyModel model;
  auto study = NewStudy(Ask("massive {}"), model,
                        {SampleOfLength(0, 1000), SampleOfLength(1, 1048), SampleOfLength(2, 1),
                         SampleOfLength(3, 3000), SampleOfLength(4, 5)});
  EXPECT_EQ(study->progress().phase, "detect");
  EXPECT_EQ(study->progress().total, 4);
  while (study->progress().phase == "detect") ASSERT_TRUE(study->Step({}).ok());
  EXPECT_THAT(model.run_tokens, ElementsAre(2048, 1, 3000, 5));
}

TEST(Study, CountsItsStepsPhaseByPhase) {
  ToyModel model;
  auto study = NewStudy(Ask("massive {}"), model, ToySamples({{0, 1, 2}, {0, 2}}));
  ASSERT_TRUE(study->Step({}).ok());
  EXPECT_EQ(study->progress().phase, "measure");
  EXPECT_EQ(study->progress().done, 0);
  EXPECT_EQ(study->progress().total, 2);
  ASSERT_TRUE(study->Step({}).ok());
  EXPECT_EQ(study->progress().done, 1);
  EXPECT_FALSE(study->done());
  ASSERT_TRUE(study->Step({}).ok());
  EXPECT_TRUE(study->done());
  EXPECT_EQ(study->progress().done, 2);
}

TEST(Study, ReportsWhatItCovers) {
  ToyModel model;
  const v1::StudyReport report = RunToy("massive {}", model, {{0, 1, 2, 3}, {0, 1}});
  EXPECT_FALSE(report.partial());
  EXPECT_EQ(report.samples(), 2);
  EXPECT_EQ(report.tokens(), 6);
  EXPECT_EQ(report.sinks(), 3);
}

TEST(Study, CoversTheSamplesMeasuredWhenItIsEndedEarly) {
  ToyModel model;
  auto study = NewStudy(Ask("massive {}"), model, ToySamples({{0, 1, 2, 3}, {0, 1}, {0, 2}}));
  ASSERT_TRUE(study->Step({}).ok());
  ASSERT_TRUE(study->Step({}).ok());
  const v1::StudyReport report = study->Report("out of time");
  EXPECT_TRUE(report.partial());
  EXPECT_EQ(report.partial_reason(), "out of time");
  EXPECT_EQ(report.samples(), 1);
  EXPECT_EQ(report.tokens(), 4);
  EXPECT_EQ(report.sinks(), 2);
}

TEST(Study, GoesOnAfterACancelledStepWhereItStood) {
  ToyModel model;
  auto study = NewStudy(Ask("massive {}"), model, ToySamples({{0, 1, 2, 3}, {0, 1}}));
  ASSERT_TRUE(study->Step({}).ok());
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(study->Step(stop.get_token()).code(), absl::StatusCode::kCancelled);
  model.calls_left = 0;
  EXPECT_EQ(study->Step({}).code(), absl::StatusCode::kCancelled);
  model.calls_left = -1;
  while (!study->done()) ASSERT_TRUE(study->Step({}).ok());
  EXPECT_EQ(study->Report("").samples(), 2);
}

TEST(Study, NamesTheSampleThatCannotBeAnalysed) {
  ToyModel model;
  auto study = NewStudy(Ask("massive {}"), model, {{.index = 17, .ids = {0, 5}}});
  const absl::Status status = study->Step({});
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), testing::StartsWith("sample 17: "));
}

TEST(Study, EndedBeforeAllSamplesAreDetectedSaysSoInEveryKind) {
  for (const std::string name :
       {"align", "pca", "cluster", "swap", "steer", "entropy", "norms", "massive"}) {
    ToyModel model;
    auto study = NewStudy(Ask(name + " {}"), model, ToySamples({{0, 1, 2}}));
    const v1::StudyReport report = study->Report("out of time");
    EXPECT_TRUE(report.partial());
    EXPECT_EQ(report.samples(), 0);
    EXPECT_TRUE(report.positions().empty());
  }
}

}  // namespace
}  // namespace sinkd
