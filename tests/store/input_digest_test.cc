// A key names a sample, and the digest of its input tells whether it is the same one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/store/schema.h"
#include "tests/store/backend.h"

namespace sinkd {
namespace {

using ::testing::ElementsAre;
using testing::ReadAll;
using testing::ReasonOf;

constexpr char kRun[] = "run";

Record Sample(const std::string& key, const std::string& digest, const std::string& payload,
              int64_t tokens = 1) {
  return {.sample_key = key,
          .tokens = tokens,
          .sinks = {.primary = 0, .secondary = tokens, .noise = 0},
          .payload = payload,
          .input_digest = digest,
          .input = "input of " + payload};
}

class InputDigestTest : public testing::StoreTest {
 protected:
  void SetUp() override {
    store_ = Open();
    ASSERT_TRUE(store_->Create({.id = kRun, .model_id = "m"}, IfExists::kFail).ok());
  }

  std::vector<Kept> Append(const std::vector<Record>& records, const AppendOptions& options = {}) {
    auto kept = store_->Append(kRun, records, options);
    EXPECT_TRUE(kept.ok()) << kept.status();
    return kept.value_or(std::vector<Kept>());
  }

  std::vector<std::string> Payloads() {
    std::vector<std::string> payloads;
    int64_t sequence = 0;
    for (const Record& record : ReadAll(*store_, kRun)) {
      EXPECT_EQ(record.sequence, ++sequence);
      payloads.push_back(record.payload);
    }
    return payloads;
  }

  // The counts are those of the records.
  void CheckCounts() {
    RunCounts expected;
    for (const Record& record : ReadAll(*store_, kRun)) {
      ++expected.samples;
      expected.failed_samples += record.failed ? 1 : 0;
      expected.tokens += record.tokens;
      expected.sinks.secondary += record.sinks.secondary;
      expected.bytes += static_cast<int64_t>(record.sample_key.size() + record.payload.size() +
                                             record.input.value_or("").size());
      expected.samples_without_digest += record.input_digest.empty() ? 1 : 0;
    }
    EXPECT_EQ(store_->Get(kRun)->counts, expected);
  }

  std::unique_ptr<RunStore> store_;
};

TEST_P(InputDigestTest, AnotherInputOfTheSameKeyIsNotKept) {
  EXPECT_THAT(Append({Sample("a", "d1", "first"), Sample("b", "d2", "second")}),
              ElementsAre(Kept::kAdded, Kept::kAdded));
  EXPECT_THAT(
      Append({Sample("a", "d1", "again"), Sample("b", "d3", "other"), Sample("c", "d3", "third")}),
      ElementsAre(Kept::kHeld, Kept::kDiffers, Kept::kAdded));
  EXPECT_THAT(Payloads(), ElementsAre("first", "second", "third"));
  CheckCounts();
}

TEST_P(InputDigestTest, AKeyThatComesTwiceInOneCallIsComparedToo) {
  EXPECT_THAT(
      Append({Sample("a", "d1", "first"), Sample("a", "d1", "again"), Sample("a", "d2", "other")}),
      ElementsAre(Kept::kAdded, Kept::kHeld, Kept::kDiffers));
  EXPECT_THAT(Payloads(), ElementsAre("first"));
  CheckCounts();
}

TEST_P(InputDigestTest, AnotherInputTakesThePlaceOfTheFirstWhereItIsAskedFor) {
  Append({Sample("a", "d1", "first", 5), Sample("b", "d2", "second", 7)});
  Record failed = Sample("b", "d4", "failed", 0);
  failed.failed = true;
  EXPECT_THAT(Append({Sample("a", "d3", "third", 11), failed, Sample("c", "d5", "fifth")},
                     {.replace = true}),
              ElementsAre(Kept::kReplaced, Kept::kReplaced, Kept::kAdded));
  EXPECT_THAT(Payloads(), ElementsAre("third", "failed", "fifth"));
  CheckCounts();
  // The same one does not: what it was found to be stays.
  EXPECT_THAT(Append({Sample("a", "d3", "computed again")}, {.replace = true}),
              ElementsAre(Kept::kHeld));
  EXPECT_THAT(Append({Sample("d", "d6", "sixth"), Sample("d", "d7", "seventh")}, {.replace = true}),
              ElementsAre(Kept::kAdded, Kept::kReplaced));
  EXPECT_THAT(Payloads(), ElementsAre("third", "failed", "fifth", "seventh"));
  CheckCounts();
}

TEST_P(InputDigestTest, AnInputThatIsNotKnownIsTakenForTheSame) {
  Append({Sample("a", "", "unknown"), Sample("b", "d1", "known")});
  EXPECT_EQ(store_->Get(kRun)->counts.samples_without_digest, 1);
  EXPECT_THAT(Append({Sample("a", "d2", "x"), Sample("b", "", "y")}),
              ElementsAre(Kept::kHeld, Kept::kHeld));
  EXPECT_THAT(Payloads(), ElementsAre("unknown", "known"));
  // Whoever replaces wants what is not known to be the same to go.
  EXPECT_THAT(Append({Sample("a", "d2", "x"), Sample("b", "", "y")}, {.replace = true}),
              ElementsAre(Kept::kReplaced, Kept::kReplaced));
  EXPECT_THAT(Payloads(), ElementsAre("x", "y"));
  CheckCounts();
}

TEST_P(InputDigestTest, PayloadsAreComparedWhereInputsAreNotKnownAndItIsAskedFor) {
  const AppendOptions compare{.replace = false, .compare_payloads = true};
  Append({Sample("a", "", "first"), Sample("b", "d1", "second")});
  EXPECT_THAT(Append({Sample("a", "", "first"), Sample("a", "d2", "other"),
                      Sample("b", "d1", "of another machine"), Sample("b", "", "other")},
                     compare),
              ElementsAre(Kept::kHeld, Kept::kDiffers, Kept::kHeld, Kept::kDiffers));
  EXPECT_THAT(Append({Sample("a", "", "first"), Sample("b", "", "other")},
                     {.replace = true, .compare_payloads = true}),
              ElementsAre(Kept::kHeld, Kept::kReplaced));
  CheckCounts();
}

TEST_P(InputDigestTest, ADigestIsShort) {
  const std::vector<Record> records = {Sample("a", std::string(256, 'd'), "p")};
  EXPECT_EQ(ReasonOf(store_->Append(kRun, records).status()), "OUT_OF_RANGE");
}

SINKD_OVER_BOTH_BACKENDS(InputDigestTest);

// A store as the versions before digests wrote it.
class OldStoreTest : public testing::StoreTest {
 protected:
  static constexpr size_t kVersionsBefore = 2;

  void SetUp() override {
    const Connect connect = backend().connect();
    auto database = Database::Open(connect, connect, 1);
    ASSERT_TRUE(database.ok()) << database.status();
    ASSERT_TRUE(Migrate(**database, StoreMigrations().first(kVersionsBefore), now_).ok());
    ASSERT_TRUE((*database)
                    ->Write([](Connection& connection) -> absl::Status { return Fill(connection); })
                    .ok());
  }

  static absl::Status Fill(Connection& connection) {
    const absl::Status run =
        connection
            .Execute(
                "INSERT INTO runs (id, model_id, labels, spec, state, created_us, updated_us, "
                "samples, tokens, bytes) VALUES ('old', 'm', $1, $1, 0, 5, 6, 2, 3, 14)",
                {Bytes{""}})
            .status();
    if (!run.ok()) return run;
    for (const std::string_view row :
         {"(1, 1, 'a', 0, 0, 1, 0, 0, 0, $1)", "(1, 2, 'b', 1, 0, 2, 0, 0, 0, $1)"}) {
      const std::string sql =
          "INSERT INTO records (run, sequence, sample_key, sample_index, failed, tokens, "
          "primary_sinks, secondary_sinks, noise_sinks, payload) VALUES " +
          std::string(row);
      if (absl::Status status = connection.Execute(sql, {Bytes{"before"}}).status(); !status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }
};

TEST_P(OldStoreTest, IsTakenOverAndItsRecordsAreAcceptedAsTheyAre) {
  const auto store = Open();
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(store->Get("old")->counts.samples_without_digest, 2);
  EXPECT_EQ(store->Get("old")->created, StoreTime(std::chrono::microseconds(5)));
  const std::vector<Record> read = ReadAll(*store, "old");
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[1].payload, "before");
  EXPECT_EQ(read[1].input_digest, "");
  EXPECT_THAT(store->ListKeys("old", 0, 10)->input_digests, ElementsAre("", ""));
  const std::vector<Record> more = {Sample("a", "d1", "x"), Sample("c", "d2", "y")};
  EXPECT_THAT(*store->Append("old", more), ElementsAre(Kept::kHeld, Kept::kAdded));
  EXPECT_EQ(store->Get("old")->counts.samples_without_digest, 2);
  EXPECT_THAT(*store->Append("old", more, {.replace = true}),
              ElementsAre(Kept::kReplaced, Kept::kHeld));
  EXPECT_EQ(store->Get("old")->counts.samples_without_digest, 1);
}

SINKD_OVER_BOTH_BACKENDS(OldStoreTest);

}  // namespace
}  // namespace sinkd
