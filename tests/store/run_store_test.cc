#include "server/store/run_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/store/backend.h"

namespace sinkd {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::MakeRecords;
using testing::ReadAll;
using testing::ReasonOf;
using ::testing::SizeIs;

using RunStoreTest = testing::StoreTest;

const NewRun kRun = {.id = "run-1",
                     .model_id = "planted",
                     .labels = {{"branch", "main"}, {"empty", ""}},
                     .spec = std::string("\0spec\xff", 6)};

TEST_P(RunStoreTest, ARunComesBackAsItWasCreated) {
  const auto store = Open();
  const auto created = store->Create(kRun, IfExists::kFail);
  ASSERT_TRUE(created.ok()) << created.status();
  const auto run = store->Get("run-1");
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->id, "run-1");
  EXPECT_EQ(run->model_id, "planted");
  EXPECT_EQ(run->labels, kRun.labels);
  EXPECT_EQ(run->spec, kRun.spec);
  EXPECT_EQ(run->state, RunState::kOpen);
  EXPECT_EQ(run->created, now_);
  EXPECT_EQ(run->updated, now_);
  EXPECT_EQ(run->counts, RunCounts());
  EXPECT_EQ(created->labels, kRun.labels);
}

TEST_P(RunStoreTest, AnIdIsGivenOnceAndTheErrorNamesTheWayOut) {
  const auto store = Open();
  ASSERT_TRUE(store->Create(kRun, IfExists::kFail).ok());
  const absl::Status again = store->Create(kRun, IfExists::kFail).status();
  EXPECT_EQ(again.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(ReasonOf(again), "RUN_EXISTS");
  EXPECT_THAT(std::string(again.message()), ::testing::HasSubstr("continue this run"));
}

TEST_P(RunStoreTest, TheSameSpecContinuesARunAndAnotherDoesNot) {
  const auto store = Open();
  ASSERT_TRUE(store->Create(kRun, IfExists::kContinue).ok());
  ASSERT_TRUE(store->Append("run-1", MakeRecords("a", 3)).ok());
  const auto continued = store->Create(kRun, IfExists::kContinue);
  ASSERT_TRUE(continued.ok()) << continued.status();
  EXPECT_EQ(continued->counts.samples, 3);
  NewRun other = kRun;
  other.spec = "another";
  EXPECT_EQ(ReasonOf(store->Create(other, IfExists::kContinue).status()), "RUN_SPEC_DIFFERS");
  other = kRun;
  other.model_id = "another";
  EXPECT_EQ(ReasonOf(store->Create(other, IfExists::kContinue).status()), "RUN_SPEC_DIFFERS");
}

TEST_P(RunStoreTest, WhatCannotBeIsRefused) {
  const auto store = Open();
  for (const std::string id : {"", ".hidden", "Upper", "a/b", "-a", "a b"}) {
    NewRun run = kRun;
    run.id = id;
    EXPECT_EQ(ReasonOf(store->Create(run, IfExists::kFail).status()), "RUN_ID_INVALID") << id;
    EXPECT_EQ(ReasonOf(store->Get(id).status()), "RUN_ID_INVALID") << id;
    EXPECT_EQ(ReasonOf(store->Delete(id)), "RUN_ID_INVALID") << id;
  }
  NewRun run = kRun;
  run.id = std::string(65, 'a');
  EXPECT_FALSE(store->Create(run, IfExists::kFail).ok());
  run.id = std::string(64, 'a');
  EXPECT_TRUE(store->Create(run, IfExists::kFail).ok());
  run = kRun;
  run.labels = {{"name", std::string("a\0b", 3)}};
  EXPECT_EQ(ReasonOf(store->Create(run, IfExists::kFail).status()), "TEXT_INVALID");
  run.labels = {{"", "value"}};
  EXPECT_EQ(ReasonOf(store->Create(run, IfExists::kFail).status()), "TEXT_INVALID");
  ASSERT_TRUE(store->Create(kRun, IfExists::kFail).ok());
  for (const std::string& key : {std::string(), std::string("\xff"), std::string(256, 'k')}) {
    const std::vector<Record> records = {{.sample_key = key}};
    EXPECT_EQ(ReasonOf(store->Append("run-1", records).status()), "TEXT_INVALID");
  }
  EXPECT_EQ(ReasonOf(store->ReadRecords("run-1", {.limit = 0}).status()), "OUT_OF_RANGE");
  EXPECT_EQ(ReasonOf(store->List({.page_size = 1001}).status()), "OUT_OF_RANGE");
}

TEST_P(RunStoreTest, WhatIsNotThereIsNotFound) {
  const auto store = Open();
  EXPECT_EQ(ReasonOf(store->Get("none").status()), "RUN_NOT_FOUND");
  EXPECT_EQ(ReasonOf(store->Delete("none")), "RUN_NOT_FOUND");
  EXPECT_EQ(ReasonOf(store->SetState("none", RunState::kComplete)), "RUN_NOT_FOUND");
  EXPECT_EQ(ReasonOf(store->Append("none", MakeRecords("a", 1)).status()), "RUN_NOT_FOUND");
  EXPECT_EQ(ReasonOf(store->ReadRecords("none", {}).status()), "RUN_NOT_FOUND");
  EXPECT_EQ(ReasonOf(store->ListKeys("none", 0, 10).status()), "RUN_NOT_FOUND");
}

TEST_P(RunStoreTest, RecordsComeBackInTheOrderOfStoring) {
  const auto store = Open();
  ASSERT_TRUE(store->Create(kRun, IfExists::kFail).ok());
  std::vector<Record> records = MakeRecords("key", 25);
  records[3].input = std::string("\0ids", 4);
  records[4].input = "";
  records[5].payload = "";
  records[6].input_digest = "";
  ASSERT_TRUE(store->Append("run-1", std::span(records).first(10)).ok());
  ASSERT_TRUE(store->Append("run-1", std::span(records).subspan(10)).ok());
  const std::vector<Record> read = ReadAll(*store, "run-1", /*page=*/7);
  ASSERT_EQ(read.size(), records.size());
  for (size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].sequence, static_cast<int64_t>(i) + 1);
    EXPECT_EQ(read[i].sample_key, records[i].sample_key);
    EXPECT_EQ(read[i].sample_index, records[i].sample_index);
    EXPECT_EQ(read[i].failed, records[i].failed);
    EXPECT_EQ(read[i].tokens, records[i].tokens);
    EXPECT_EQ(read[i].sinks, records[i].sinks);
    EXPECT_EQ(read[i].payload, records[i].payload);
    EXPECT_EQ(read[i].input_digest, records[i].input_digest);
    EXPECT_EQ(read[i].input, records[i].input);
  }
}

TEST_P(RunStoreTest, InputsAreReadOnlyWhenAskedFor) {
  const auto store = Open();
  ASSERT_TRUE(store->Create(kRun, IfExists::kFail).ok());
  ASSERT_TRUE(store->Append("run-1", std::vector<Record>{{.sample_key = "a", .input = "x"}}).ok());
  EXPECT_FALSE(store->ReadRecords("run-1", {})->front().input.has_value());
  EXPECT_EQ(store->ReadRecords("run-1", {.with_input = true})->front().input, "x");
}

TEST_P(RunStoreTest, APageEndsWhenItHoldsEnoughBytes) {
  const auto store = Open();
  ASSERT_TRUE(store->Create(kRun, IfExists::kFail).ok());
  std::vector<Record> records = MakeRecords("large", 40);
  for (Record& record : records) record.payload = std::string(100'000, 'p');
  ASSERT_TRUE(store->Append("run-1", records).ok());
  const auto page = store->ReadRecords("run-1", {.limit = 40, .max_bytes = 250'000});
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(page->size(), 3u);
  const auto tiny = store->ReadRecords("run-1", {.after = 3, .max_bytes = 1});
  ASSERT_TRUE(tiny.ok()) << tiny.status();
  ASSERT_EQ(tiny->size(), 1u);
  EXPECT_EQ(tiny->front().sequence, 4);
  EXPECT_EQ(ReadAll(*store, "run-1", 1000).size(), 40u);
}

TEST_P(RunStoreTest, TheSameKeyCountsOnceAndTheFirstStays) {
  const auto store = Open();
  ASSERT_TRUE(store->Create(kRun, IfExists::kFail).ok());
  const auto first = store->Append(
      "run-1", std::vector<Record>{{.sample_key = "a", .tokens = 1, .payload = "first"},
                                   {.sample_key = "a", .tokens = 2, .payload = "second"},
                                   {.sample_key = "b", .tokens = 4}});
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_THAT(*first, ElementsAre(Kept::kAdded, Kept::kHeld, Kept::kAdded));
  const auto second = store->Append(
      "run-1", std::vector<Record>{{.sample_key = "c", .tokens = 8},
                                   {.sample_key = "a", .tokens = 16, .payload = "third"}});
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_THAT(*second, ElementsAre(Kept::kAdded, Kept::kHeld));
  EXPECT_EQ(store->Get("run-1")->counts.samples, 3);
  EXPECT_EQ(store->Get("run-1")->counts.tokens, 13);
  const std::vector<Record> read = ReadAll(*store, "run-1");
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(read[0].payload, "first");
  EXPECT_EQ(read[2].sequence, 3);
}

TEST_P(RunStoreTest, CountsAreTheSumsOverTheRecords) {
  const auto store = Open();
  ASSERT_TRUE(store->Create(kRun, IfExists::kFail).ok());
  // More than a pipeline's worth in one call.
  const std::vector<Record> records = MakeRecords("key", 700);
  ASSERT_TRUE(store->Append("run-1", std::span(records).first(600)).ok());
  ASSERT_TRUE(store->Append("run-1", std::span(records).subspan(550)).ok());
  RunCounts expected;
  for (const Record& record : records) {
    ++expected.samples;
    expected.failed_samples += record.failed;
    expected.tokens += record.tokens;
    expected.sinks.primary += record.sinks.primary;
    expected.sinks.secondary += record.sinks.secondary;
    expected.sinks.noise += record.sinks.noise;
    expected.bytes += static_cast<int64_t>(record.sample_key.size() + record.payload.size());
  }
  EXPECT_EQ(store->Get("run-1")->counts, expected);
}

TEST_P(RunStoreTest, TheRunKnowsHowItsRecordsWereComputed) {
  const auto record = [](const std::string& key, const std::string& arithmetic) {
    return Record{.sample_key = key, .arithmetic = arithmetic, .payload = "p"};
  };
  const auto store = Open();
  ASSERT_TRUE(store->Create({.id = "run", .model_id = "m"}, IfExists::kFail).ok());
  const std::vector<Record> first = {record("a", "AVX512"), record("b", ""), record("c", "AVX2")};
  ASSERT_TRUE(store->Append("run", first).ok());
  EXPECT_THAT(store->Get("run")->counts.arithmetics, ElementsAre("AVX2", "AVX512"));
  // What is not kept does not count.
  const std::vector<Record> second = {record("a", "AMX"), record("d", "AVX2")};
  ASSERT_TRUE(store->Append("run", second).ok());
  EXPECT_THAT(store->Get("run")->counts.arithmetics, ElementsAre("AVX2", "AVX512"));
  std::vector<Record> many;
  for (const std::string name :
       {"e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"}) {
    many.push_back(record(name, "arithmetic " + name));
  }
  ASSERT_TRUE(store->Append("run", many).ok());
  EXPECT_EQ(store->Get("run")->counts.arithmetics.size(), kMostArithmetics);
}

TEST_P(RunStoreTest, AddingRecordsIsAChangeAndAddingNoneIsNot) {
  const auto store = Open();
  ASSERT_TRUE(store->Create(kRun, IfExists::kFail).ok());
  const StoreTime created = now_;
  now_ += std::chrono::seconds(5);
  const StoreTime appended = now_;
  ASSERT_TRUE(store->Append("run-1", MakeRecords("a", 1)).ok());
  now_ += std::chrono::seconds(5);
  ASSERT_TRUE(store->Append("run-1", MakeRecords("a", 1)).ok());
  EXPECT_EQ(store->Get("run-1")->created, created);
  EXPECT_EQ(store->Get("run-1")->updated, appended);
}

TEST_P(RunStoreTest, ListedKeysAreWhatAResumeNeeds) {
  const auto store = Open();
  ASSERT_TRUE(store->Create(kRun, IfExists::kFail).ok());
  ASSERT_TRUE(store->Append("run-1", MakeRecords("k", 5)).ok());
  const auto page = store->ListKeys("run-1", 0, 3);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_THAT(page->keys, ElementsAre("k0", "k1", "k2"));
  ASSERT_THAT(page->input_digests, SizeIs(3));
  EXPECT_EQ(page->input_digests[2], MakeRecords("k", 1, 2).front().input_digest);
  const auto rest = store->ListKeys("run-1", page->next_after, 3);
  EXPECT_THAT(rest->keys, ElementsAre("k3", "k4"));
  EXPECT_THAT(store->ListKeys("run-1", rest->next_after, 3)->keys, IsEmpty());
}

TEST_P(RunStoreTest, ACompleteRunTakesNoRecordsUntilItIsOpenedAgain) {
  const auto store = Open();
  ASSERT_TRUE(store->Create(kRun, IfExists::kFail).ok());
  ASSERT_TRUE(store->SetState("run-1", RunState::kComplete).ok());
  EXPECT_EQ(store->Get("run-1")->state, RunState::kComplete);
  EXPECT_EQ(ReasonOf(store->Append("run-1", MakeRecords("a", 1)).status()), "RUN_COMPLETE");
  ASSERT_TRUE(store->SetState("run-1", RunState::kOpen).ok());
  EXPECT_TRUE(store->Append("run-1", MakeRecords("a", 1)).ok());
}

TEST_P(RunStoreTest, ADeletedRunIsGoneAndItsIdIsFree) {
  const auto store = Open();
  ASSERT_TRUE(store->Create(kRun, IfExists::kFail).ok());
  // More than one step of the removal.
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(store->Append("run-1", MakeRecords("a", 1000, i * 1000)).ok());
  }
  ASSERT_TRUE(store->Delete("run-1").ok());
  EXPECT_EQ(ReasonOf(store->Get("run-1").status()), "RUN_NOT_FOUND");
  EXPECT_THAT(store->List({})->runs, IsEmpty());
  ASSERT_TRUE(store->Create(kRun, IfExists::kFail).ok());
  EXPECT_THAT(ReadAll(*store, "run-1"), IsEmpty());
  const auto connection = backend().connect()();
  ASSERT_TRUE(connection.ok()) << connection.status();
  EXPECT_EQ((*connection)->Execute("SELECT sequence FROM records").value(), 0);
  EXPECT_EQ((*connection)->Execute("SELECT number FROM runs").value(), 1);
}

TEST_P(RunStoreTest, WhatIsStoredIsThereAfterReopening) {
  {
    const auto store = Open();
    ASSERT_TRUE(store->Create(kRun, IfExists::kFail).ok());
    ASSERT_TRUE(store->Append("run-1", MakeRecords("a", 10)).ok());
  }
  const auto store = Open();
  EXPECT_EQ(store->Get("run-1")->counts.samples, 10);
  EXPECT_EQ(ReadAll(*store, "run-1").size(), 10u);
}

TEST_P(RunStoreTest, SizeOnDiskIsAtLeastThatOfTheRecords) {
  const auto store = Open();
  ASSERT_TRUE(store->Create(kRun, IfExists::kFail).ok());
  std::vector<Record> records = MakeRecords("a", 10);
  // Random enough that no database presses it together.
  uint32_t state = 1;
  for (Record& record : records) {
    for (int i = 0; i < 100'000; ++i) {
      state = state * 1664525 + 1013904223;
      record.payload += static_cast<char>(state >> 24);
    }
  }
  ASSERT_TRUE(store->Append("run-1", records).ok());
  EXPECT_GE(store->SizeOnDisk().value(), 1'000'000);
}

SINKD_OVER_BOTH_BACKENDS(RunStoreTest);

}  // namespace
}  // namespace sinkd
