#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/store/run_store.h"
#include "tests/store/backend.h"

namespace sinkd {
namespace {

using testing::MakeRecords;
using testing::ReasonOf;

class KeptStudiesTest : public testing::StoreTest {
 protected:
  void SetUp() override {
    store_ = Open();
    ASSERT_TRUE(store_->Create({.id = "a", .model_id = "m"}, IfExists::kFail).ok());
    ASSERT_TRUE(store_->Create({.id = "b", .model_id = "m"}, IfExists::kFail).ok());
  }

  // Reports of the run's studies, in the order of keeping.
  std::vector<std::string> Reports(const std::string& run) {
    std::vector<std::string> reports;
    int64_t after = 0;
    while (true) {
      const auto study = store_->NextStudy(run, after);
      EXPECT_TRUE(study.ok()) << study.status();
      if (!study.ok() || !*study) return reports;
      after = (*study)->number;
      reports.push_back((*study)->report);
    }
  }

  std::unique_ptr<RunStore> store_;
};

TEST_P(KeptStudiesTest, AStudyComesBackWithTheTimeOfKeeping) {
  const std::string bytes("\0\xff request", 10);
  ASSERT_TRUE(store_->AddStudy("a", {.request = bytes, .report = "report"}).ok());
  const auto study = store_->NextStudy("a", 0);
  ASSERT_TRUE(study.ok() && *study) << study.status();
  EXPECT_EQ((*study)->request, bytes);
  EXPECT_EQ((*study)->report, "report");
  EXPECT_EQ((*study)->created, now_);
}

TEST_P(KeptStudiesTest, StudiesStayWithTheirRunInTheOrderOfKeeping) {
  for (const char* report : {"1", "2", "3"}) {
    ASSERT_TRUE(store_->AddStudy("a", {.report = report}).ok());
    ASSERT_TRUE(store_->AddStudy("b", {.report = std::string("b") + report}).ok());
  }
  EXPECT_THAT(Reports("a"), ::testing::ElementsAre("1", "2", "3"));
  EXPECT_THAT(Reports("b"), ::testing::ElementsAre("b1", "b2", "b3"));
}

TEST_P(KeptStudiesTest, ACompleteRunTakesStudiesAndTheyCountTowardsItsSize) {
  ASSERT_TRUE(store_->SetState("a", RunState::kComplete).ok());
  ASSERT_TRUE(
      store_->AddStudy("a", {.request = std::string(10, 'q'), .report = std::string(90, 'r')})
          .ok());
  EXPECT_EQ(store_->Get("a")->counts.bytes, 100);
}

TEST_P(KeptStudiesTest, StudiesGoWithTheirRun) {
  ASSERT_TRUE(store_->AddStudy("a", {.report = "old"}).ok());
  ASSERT_TRUE(store_->Delete("a").ok());
  EXPECT_EQ(ReasonOf(store_->NextStudy("a", 0).status()), "RUN_NOT_FOUND");
  ASSERT_TRUE(store_->Create({.id = "a", .model_id = "m"}, IfExists::kFail).ok());
  EXPECT_THAT(Reports("a"), ::testing::IsEmpty());
}

TEST_P(KeptStudiesTest, NoRunNoStudy) {
  EXPECT_EQ(ReasonOf(store_->AddStudy("c", {.report = "r"})), "RUN_NOT_FOUND");
}

TEST_P(KeptStudiesTest, ARecordIsFoundByItsKeyInItsRunAlone) {
  ASSERT_TRUE(store_->Append("a", MakeRecords("k", 3)).ok());
  const auto found = store_->Find("a", "k1");
  ASSERT_TRUE(found.ok() && *found) << found.status();
  EXPECT_EQ((*found)->sequence, 2);
  EXPECT_EQ((*found)->payload, MakeRecords("k", 3)[1].payload);
  EXPECT_FALSE((*found)->input);
  EXPECT_FALSE(store_->Find("a", "k3")->has_value());
  EXPECT_FALSE(store_->Find("b", "k1")->has_value());
  EXPECT_EQ(ReasonOf(store_->Find("c", "k1").status()), "RUN_NOT_FOUND");
}

SINKD_OVER_BOTH_BACKENDS(KeptStudiesTest);

}  // namespace
}  // namespace sinkd
