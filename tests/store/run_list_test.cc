#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/store/run_store.h"
#include "tests/store/backend.h"

namespace sinkd {
namespace {

using ::testing::ElementsAre;
using testing::ReasonOf;

class RunListTest : public testing::StoreTest {
 protected:
  // Twelve runs r00 to r11: two at a time, of two models, with a label of three values.
  void SetUp() override {
    store_ = Open();
    for (int i = 0; i < 12; ++i) {
      const std::string id = (i < 10 ? "r0" : "r") + std::to_string(i);
      const NewRun run = {.id = id,
                          .model_id = i % 2 == 0 ? "even" : "odd",
                          .labels = {{"third", std::to_string(i % 3)}, {"all", "yes"}}};
      ASSERT_TRUE(store_->Create(run, IfExists::kFail).ok());
      if (i % 2 == 1) now_ += std::chrono::hours(1);
    }
  }

  std::vector<std::string> Ids(const ListOptions& options) {
    const auto page = store_->List(options);
    EXPECT_TRUE(page.ok()) << page.status();
    std::vector<std::string> ids;
    for (const sinkd::Run& run : page->runs) ids.push_back(run.id);
    return ids;
  }

  const StoreTime start_ = now_;
  std::unique_ptr<RunStore> store_;
};

TEST_P(RunListTest, NewestFirstAndOfOneTimeTheLastOneFirst) {
  EXPECT_THAT(Ids({}), ElementsAre("r11", "r10", "r09", "r08", "r07", "r06", "r05", "r04", "r03",
                                   "r02", "r01", "r00"));
}

TEST_P(RunListTest, FiltersByModelLabelAndTime) {
  EXPECT_THAT(Ids({.model_id = "odd"}), ElementsAre("r11", "r09", "r07", "r05", "r03", "r01"));
  EXPECT_THAT(Ids({.labels = {{"third", "1"}}}), ElementsAre("r10", "r07", "r04", "r01"));
  EXPECT_THAT(Ids({.model_id = "odd", .labels = {{"third", "1"}, {"all", "yes"}}}),
              ElementsAre("r07", "r01"));
  EXPECT_THAT(Ids({.labels = {{"all", "no"}}}), ElementsAre());
  EXPECT_THAT(Ids({.created_from = start_ + std::chrono::hours(1),
                   .created_before = start_ + std::chrono::hours(3)}),
              ElementsAre("r05", "r04", "r03", "r02"));
}

TEST_P(RunListTest, PagesTogetherAreTheListWhileRunsComeAndGo) {
  ListOptions options = {.labels = {{"all", "yes"}}, .page_size = 5};
  std::vector<std::string> ids;
  for (int page_number = 0; page_number < 3; ++page_number) {
    const auto page = store_->List(options);
    ASSERT_TRUE(page.ok()) << page.status();
    for (const sinkd::Run& run : page->runs) ids.push_back(run.id);
    options.page_token = page->next_page_token;
    const NewRun run = {
        .id = "new" + std::to_string(page_number), .model_id = "even", .labels = {{"all", "yes"}}};
    ASSERT_TRUE(store_->Create(run, IfExists::kFail).ok());
    ASSERT_TRUE(store_->Delete(ids.back()).ok());
  }
  EXPECT_EQ(options.page_token, "");
  EXPECT_THAT(ids, ElementsAre("r11", "r10", "r09", "r08", "r07", "r06", "r05", "r04", "r03", "r02",
                               "r01", "r00"));
}

TEST_P(RunListTest, AFullLastPageNamesNoNextOne) {
  const auto page = store_->List({.page_size = 12});
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(page->runs.size(), 12u);
  EXPECT_EQ(page->next_page_token, "");
}

TEST_P(RunListTest, ATokenOfAnotherListOrOfNoneIsRefused) {
  const std::string token = store_->List({.page_size = 2})->next_page_token;
  EXPECT_EQ(ReasonOf(store_->List({.model_id = "odd", .page_token = token}).status()),
            "PAGE_TOKEN_INVALID");
  EXPECT_EQ(ReasonOf(store_->List({.page_token = "nonsense"}).status()), "PAGE_TOKEN_INVALID");
  EXPECT_TRUE(store_->List({.page_size = 7, .page_token = token}).ok());
}

SINKD_OVER_BOTH_BACKENDS(RunListTest);

}  // namespace
}  // namespace sinkd
