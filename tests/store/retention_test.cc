#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/store/run_store.h"
#include "tests/store/backend.h"

namespace sinkd {
namespace {

using std::chrono::hours;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Three complete runs of 1,000 bytes, a day between them, and an open one from the first day.
class RetentionTest : public testing::StoreTest {
 protected:
  void SetUp() override {
    store_ = Open();
    AddRun("open");
    for (const char* id : {"first", "second", "third"}) {
      AddRun(id);
      ASSERT_TRUE(store_->SetState(id, RunState::kComplete).ok());
      now_ += hours(24);
    }
  }

  void AddRun(const std::string& id) {
    ASSERT_TRUE(store_->Create({.id = id, .model_id = "m"}, IfExists::kFail).ok());
    const std::vector<Record> records = {{.sample_key = "k", .payload = std::string(999, 'p')}};
    ASSERT_TRUE(store_->Append(id, records).ok());
  }

  std::vector<std::string> Ids() {
    std::vector<std::string> ids;
    const auto page = store_->List({});
    EXPECT_TRUE(page.ok()) << page.status();
    for (const sinkd::Run& run : page->runs) ids.push_back(run.id);
    return ids;
  }

  std::unique_ptr<RunStore> store_;
};

TEST_P(RetentionTest, RemovesWhatIsOldAndSaysSo) {
  const auto pruned = store_->Prune({.max_age = hours(36)});
  ASSERT_TRUE(pruned.ok()) << pruned.status();
  EXPECT_THAT(pruned->run_ids, ElementsAre("first", "second"));
  EXPECT_EQ(pruned->bytes, 2000);
  EXPECT_EQ(pruned->bytes_left, 2000);
  EXPECT_THAT(Ids(), ElementsAre("third", "open"));
}

TEST_P(RetentionTest, RemovesTheLongestUntouchedUntilTheRestFits) {
  const auto pruned = store_->Prune({.max_bytes = 3500});
  ASSERT_TRUE(pruned.ok()) << pruned.status();
  EXPECT_THAT(pruned->run_ids, ElementsAre("first"));
  EXPECT_EQ(pruned->bytes_left, 3000);
}

TEST_P(RetentionTest, AChangeMakesARunYoung) {
  ASSERT_TRUE(store_->SetState("first", RunState::kComplete).ok());
  EXPECT_THAT(store_->Prune({.max_age = hours(36)})->run_ids, ElementsAre("second"));
}

TEST_P(RetentionTest, AnOpenRunIsNeverRemoved) {
  const auto pruned = store_->Prune({.max_age = hours(0), .max_bytes = 0});
  ASSERT_TRUE(pruned.ok()) << pruned.status();
  EXPECT_THAT(pruned->run_ids, ElementsAre("first", "second", "third"));
  EXPECT_EQ(pruned->bytes_left, 1000);
  EXPECT_THAT(Ids(), ElementsAre("open"));
  EXPECT_EQ(testing::ReadAll(*store_, "open").size(), 1u);
}

TEST_P(RetentionTest, WithoutALimitNothingIsRemoved) {
  EXPECT_THAT(store_->Prune({})->run_ids, IsEmpty());
  EXPECT_EQ(store_->Prune({})->bytes_left, 4000);
}

TEST_P(RetentionTest, ARemovalThatWasBrokenOffIsEndedAtTheNextStart) {
  {
    const auto connection = backend().connect()();
    ASSERT_TRUE(connection.ok()) << connection.status();
    EXPECT_EQ((*connection)
                  ->Execute("UPDATE runs SET id = '.removed.' || number, state = 2 "
                            "WHERE id = 'second'")
                  .value(),
              1);
  }
  EXPECT_THAT(Ids(), ElementsAre("third", "first", "open"));
  store_ = nullptr;
  store_ = Open();
  const auto connection = backend().connect()();
  EXPECT_EQ((*connection)->Execute("SELECT sequence FROM records").value(), 3);
  EXPECT_EQ((*connection)->Execute("SELECT number FROM runs").value(), 3);
}

SINKD_OVER_BOTH_BACKENDS(RetentionTest);

}  // namespace
}  // namespace sinkd
