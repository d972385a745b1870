// Analyze with a run id on a server that keeps runs.
#include <numeric>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error_details.h"
#include "run_store_fixture.h"
#include "server/base/status.h"
#include "server/store/store_errors.h"

namespace sinkd {
namespace {

using testing::AnalyzeCall;
using testing::BytesOf;
using testing::DetailsOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Heard;
using testing::IdsSample;
using ::testing::IsEmpty;
using testing::RunningServer;
using ::testing::SizeIs;
using testing::SpecFor;
using testing::TextSample;

using KeptRunsTest = testing::KeptRuns;

std::vector<sinks::v1::Sample> NamedSamples() {
  return {TextSample("a!b", "one"), TextSample("c!!d", "two"), TextSample("efg", "three"),
          TextSample("h!i!j", "four")};
}

std::vector<std::string> Keys(const std::vector<Record>& records) {
  std::vector<std::string> keys;
  for (const Record& record : records) keys.push_back(record.sample_key);
  return keys;
}

TEST_F(KeptRunsTest, ARecordIsStoredBeforeItIsSent) {
  AnalyzeCall call(running_.channel);
  call.Open(RunSpec("run"));
  for (const sinks::v1::Sample& sample : NamedSamples()) {
    ASSERT_TRUE(call.Send(sample));
    std::optional<sinks::v1::AnalyzeResponse> response = call.ReadAnswer();
    if (response->has_started()) response = call.ReadAnswer();
    ASSERT_TRUE(response && response->has_record());
    EXPECT_EQ(Stored("run").back().sample_key, response->record().sample_id());
    EXPECT_EQ(Stored("run").back().payload, response->record().SerializeAsString());
  }
  call.Close();
  EXPECT_TRUE(call.Drain().ok());
  EXPECT_THAT(Keys(Stored("run")), ElementsAre("one", "two", "three", "four"));
}

TEST_F(KeptRunsTest, TheRunCountsWhatItHoldsAndKeepsTheTokens) {
  sinks::v1::AnalysisSpec spec = RunSpec("run");
  (*spec.mutable_run_labels())["branch"] = "main";
  const Heard heard = Analyze(spec, NamedSamples());
  ASSERT_TRUE(heard.status.ok()) << heard.status.error_message();
  EXPECT_EQ(heard.started.stored_samples(), 0);
  const sinkd::Run run = *store_.Get("run");
  EXPECT_EQ(run.model_id, "fake");
  EXPECT_EQ(run.labels, Labels({{"branch", "main"}}));
  EXPECT_EQ(run.state, RunState::kComplete);
  EXPECT_EQ(run.counts.samples, 4);
  EXPECT_EQ(run.counts.tokens, 15);
  EXPECT_EQ(run.counts.sinks.secondary, 5);
  const auto records = store_.ReadRecords("run", {.limit = 1, .with_input = true});
  sinks::v1::TokenIdsInput input;
  ASSERT_TRUE(input.ParseFromString(*records->front().input));
  EXPECT_THAT(input.ids(), ElementsAre('a', '!', 'b'));
}

TEST_F(KeptRunsTest, TheSummaryOfAResumedRunIsThatOfAnUnbrokenOneToTheLastByte) {
  const std::vector<sinks::v1::Sample> samples = NamedSamples();
  const Heard unbroken = Analyze(RunSpec("unbroken"), samples);
  Analyze(RunSpec("resumed"), {samples.begin(), samples.begin() + 2});
  const Heard resumed = Analyze(RunSpec("resumed"), {samples.begin() + 2, samples.end()});
  ASSERT_TRUE(resumed.status.ok()) << resumed.status.error_message();
  EXPECT_EQ(resumed.started.stored_samples(), 2);
  EXPECT_EQ(resumed.summary.samples(), 4);
  EXPECT_EQ(BytesOf(resumed.summary), BytesOf(unbroken.summary));
}

TEST_F(KeptRunsTest, TheSummaryIsThatOfAStreamThatKeepsNothing) {
  sinks::v1::AnalysisSpec spec = RunSpec("run");
  spec.mutable_regression();
  spec.mutable_compensation();
  spec.mutable_sink_rate();
  const Heard kept = Analyze(spec, NamedSamples());
  spec.clear_run_id();
  const Heard other = Analyze(spec, NamedSamples());
  EXPECT_EQ(BytesOf(kept.summary), BytesOf(other.summary));
}

TEST_F(KeptRunsTest, WhatTheRunHoldsIsAnsweredWithoutRunningIt) {
  const Heard first = Analyze(RunSpec("run"), NamedSamples());
  const int runs = running_.catalog.runner->runs();
  std::vector<sinks::v1::Sample> again = NamedSamples();
  std::swap(again.front(), again.back());
  const Heard second = Analyze(RunSpec("run"), again);
  ASSERT_TRUE(second.status.ok()) << second.status.error_message();
  EXPECT_EQ(running_.catalog.runner->runs(), runs);
  ASSERT_THAT(second.records, SizeIs(4));
  sinks::v1::SampleRecord expected = first.records.front();
  expected.set_sample_index(3);
  EXPECT_EQ(second.records.back().SerializeAsString(), expected.SerializeAsString());
  EXPECT_EQ(BytesOf(second.summary), BytesOf(first.summary));
}

TEST_F(KeptRunsTest, TheSameSampleSentTwiceCountsOnceAndIsAnsweredTwice) {
  const Heard heard = Analyze(RunSpec("run"), {TextSample("a!b"), TextSample("a!b"),
                                               IdsSample({'a', '!', 'b'}), TextSample("a!c")});
  ASSERT_TRUE(heard.status.ok()) << heard.status.error_message();
  EXPECT_THAT(heard.records, SizeIs(4));
  EXPECT_EQ(heard.summary.samples(), 2);
  EXPECT_THAT(Keys(Stored("run")), ElementsAre(HasSubstr("sha256:"), HasSubstr("sha256:")));
}

TEST_F(KeptRunsTest, ASampleThatWouldFailAgainIsKeptAsFailed) {
  const auto bad = IdsSample({1, 2, testing::kVocabulary}, "bad");
  const Heard first = Analyze(RunSpec("run"), {TextSample("a!b", "good"), bad});
  ASSERT_THAT(first.errors, SizeIs(1));
  EXPECT_EQ(store_.Get("run")->counts.failed_samples, 1);
  EXPECT_EQ(first.summary.samples(), 1);
  const Heard second = Analyze(RunSpec("run"), {bad});
  ASSERT_THAT(second.errors, SizeIs(1));
  EXPECT_EQ(second.errors[0].sample_index(), 0);
  EXPECT_THAT(second.errors[0].status().message(), HasSubstr("sample 0 (bad): token ids"));
  EXPECT_EQ(DetailsOf(second.errors[0].status()).info->reason(), "TOKEN_ID_OUT_OF_RANGE");
  EXPECT_EQ(BytesOf(*DetailsOf(second.errors[0].status()).info),
            BytesOf(*DetailsOf(first.errors[0].status()).info));
}

TEST_F(KeptRunsTest, RecordsSayHowTheyWereComputedAndAResumeWhatTheRunHolds) {
  const Heard first = Analyze(RunSpec("run"), {TextSample("a!b", "one")});
  const std::string arithmetic = first.started.arithmetic();
  EXPECT_THAT(arithmetic, HasSubstr("float32 by "));
  EXPECT_EQ(first.started.stored_arithmetics_size(), 0);
  EXPECT_EQ(first.records[0].arithmetic(), arithmetic);

  // As another machine would have computed them.
  std::vector<Record> others = Stored("run");
  for (Record& record : others) record.arithmetic = "float32 by hand";
  NewRun run{.id = "other", .model_id = "fake", .spec = store_.Get("run")->spec};
  ASSERT_TRUE(store_.Create(run, IfExists::kFail).ok());
  ASSERT_TRUE(store_.Append("other", others).ok());
  const Heard resumed = Analyze(RunSpec("other"), {TextSample("c", "two")});
  EXPECT_THAT(resumed.started.stored_arithmetics(), ElementsAre("float32 by hand"));
  EXPECT_THAT(store_.Get("other")->counts.arithmetics,
              ::testing::UnorderedElementsAre("float32 by hand", arithmetic));
}

TEST_F(KeptRunsTest, TheSameIdWithAnotherTextIsAnErrorOfThatSample) {
  const Heard first = Analyze(
      RunSpec("run"), {TextSample("a!b", "one"), IdsSample({1, 2, testing::kVocabulary}, "bad")});
  // In a stream of its own, among samples that are not there yet, and twice in one stream; a text,
  // ids, and what failed.
  const Heard second = Analyze(
      RunSpec("run"), {TextSample("a!c", "one"), TextSample("d", "two"), IdsSample({'e'}, "two"),
                       TextSample("f", "bad"), TextSample("a!b", "one")});
  ASSERT_TRUE(second.status.ok()) << second.status.error_message();
  ASSERT_THAT(second.errors, SizeIs(3));
  EXPECT_EQ(second.errors[0].sample_index(), 0);
  EXPECT_EQ(second.errors[1].sample_index(), 2);
  EXPECT_EQ(second.errors[2].sample_index(), 3);
  for (const sinks::v1::SampleError& error : second.errors) {
    EXPECT_EQ(error.status().code(), static_cast<int>(grpc::StatusCode::ALREADY_EXISTS));
    EXPECT_EQ(DetailsOf(error.status()).info->reason(), "SAMPLE_DIFFERS");
  }
  // sha256sum of \x02\x0a\x03a!b and \x02\x0a\x03a!c.
  EXPECT_THAT(
      second.errors[0].status().message(),
      ::testing::AllOf(HasSubstr("begins with 239dc42ebfb157d3"),
                       HasSubstr("this one with fb34e24dd5cb87cd"), HasSubstr("--replace")));
  EXPECT_THAT(second.records, SizeIs(2));
  EXPECT_EQ(BytesOf(second.records[1]), [&] {
    sinks::v1::SampleRecord expected = first.records[0];
    expected.set_sample_index(4);
    return BytesOf(expected);
  }());
  EXPECT_EQ(second.summary.samples(), 2);
}

TEST_F(KeptRunsTest, AnotherTextTakesThePlaceOfTheFirstWhereItIsAskedFor) {
  Analyze(RunSpec("run"), {TextSample("a!b", "one"), TextSample("c!!d", "two"),
                           IdsSample({1, 2, testing::kVocabulary}, "bad")});
  sinks::v1::AnalysisSpec spec = RunSpec("run");
  spec.set_replace(true);
  const int runs = running_.catalog.runner->runs();
  const std::vector<sinks::v1::Sample> samples = {
      TextSample("a!b!", "one"), TextSample("c!!d", "two"), TextSample("efg", "bad")};
  const Heard replaced = Analyze(spec, samples);
  ASSERT_TRUE(replaced.status.ok()) << replaced.status.error_message();
  EXPECT_TRUE(replaced.started.spec().replace());
  EXPECT_THAT(replaced.errors, IsEmpty());
  EXPECT_EQ(running_.catalog.runner->runs(),
            runs + 2);  // the one that is the same is not run again
  EXPECT_THAT(Keys(Stored("run")), ElementsAre("one", "two", "bad"));
  EXPECT_EQ(store_.Get("run")->counts.failed_samples, 0);
  EXPECT_EQ(BytesOf(replaced.summary), BytesOf(Analyze(RunSpec("new"), samples).summary));
}

TEST_F(KeptRunsTest, SamplesOfWhichTheRunDoesNotKnowTheTextAreAcceptedAndTold) {
  Analyze(RunSpec("run"), NamedSamples());
  std::vector<Record> old = Stored("run");
  for (Record& record : old) record.input_digest.clear();
  NewRun run{.id = "old", .model_id = "fake", .spec = store_.Get("run")->spec};
  ASSERT_TRUE(store_.Create(run, IfExists::kFail).ok());
  ASSERT_TRUE(store_.Append("old", old).ok());
  const Heard heard = Analyze(RunSpec("old"), {TextSample("another", "one"), TextSample("x", "y")});
  EXPECT_EQ(heard.started.stored_samples(), 4);
  EXPECT_EQ(heard.started.stored_without_digest(), 4);
  EXPECT_THAT(heard.errors, IsEmpty());
  EXPECT_EQ(heard.records[0].positions(), 3);
  sinks::v1::AnalysisSpec spec = RunSpec("old");
  spec.set_replace(true);
  EXPECT_EQ(Analyze(spec, {TextSample("another", "one")}).records[0].positions(), 7);
  EXPECT_EQ(store_.Get("old")->counts.samples_without_digest, 3);
}

TEST_F(KeptRunsTest, AFaultOfTheServerIsNotKept) {
  running_.catalog.runner->before_run = [](const TokenIds& ids, std::stop_token) {
    return ids.size() == 4 ? Internal("a fault") : absl::OkStatus();
  };
  const Heard heard = Analyze(RunSpec("run"), NamedSamples());
  EXPECT_THAT(heard.errors, SizeIs(1));
  EXPECT_THAT(Keys(Stored("run")), ElementsAre("one", "three", "four"));
}

TEST_F(KeptRunsTest, WhoStopsAtTheFirstBadSampleMaySendItAgainMended) {
  sinks::v1::AnalysisSpec spec = RunSpec("run");
  spec.set_fail_fast(true);
  const Heard broken = Analyze(spec, {TextSample("a!b", "good"), TextSample("", "bad")});
  EXPECT_EQ(broken.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(store_.Get("run")->state, RunState::kOpen);
  const Heard mended = Analyze(spec, {TextSample("a!b", "good"), TextSample("c", "bad")});
  EXPECT_TRUE(mended.status.ok()) << mended.status.error_message();
  EXPECT_EQ(mended.summary.samples(), 2);
}

TEST_F(KeptRunsTest, ARunStaysOpenWhenItIsToOrWhenItsStreamBreaks) {
  sinks::v1::AnalysisSpec spec = RunSpec("asked");
  spec.set_keep_run_open(true);
  EXPECT_TRUE(Analyze(spec, NamedSamples()).status.ok());
  EXPECT_EQ(store_.Get("asked")->state, RunState::kOpen);

  AnalyzeCall call(running_.channel);
  call.Open(RunSpec("broken"));
  call.Send(TextSample("a!b", "one"));
  while (!call.ReadAnswer()->has_record()) {
  }
  call.context.TryCancel();
  EXPECT_FALSE(call.Drain().ok());
  EXPECT_EQ(store_.Get("broken")->state, RunState::kOpen);
  EXPECT_THAT(Keys(Stored("broken")), ElementsAre("one"));
}

TEST_F(KeptRunsTest, WhoWantsNoSummaryReadsNothingOfTheRunAndLeavesItAsItShallBe) {
  sinks::v1::AnalysisSpec spec = RunSpec("run");
  spec.set_no_summary(true);
  spec.set_summary_only(true);
  spec.set_keep_run_open(true);
  store_.before_read = [] { ADD_FAILURE() << "the run was read"; };
  const Heard shard = Analyze(spec, NamedSamples());
  EXPECT_TRUE(shard.status.ok()) << shard.status.error_message();
  EXPECT_THAT(shard.records, IsEmpty());
  EXPECT_FALSE(shard.summary.has_samples());
  EXPECT_EQ(store_.Get("run")->state, RunState::kOpen);

  spec.clear_keep_run_open();
  spec.clear_summary_only();
  const Heard last = Analyze(spec, {TextSample("d", "five")});
  EXPECT_THAT(last.records, SizeIs(1));
  EXPECT_FALSE(last.summary.has_samples());
  EXPECT_EQ(store_.Get("run")->state, RunState::kComplete);
  store_.before_read = nullptr;
  const Heard whole = Analyze(RunSpec("run"), {});
  EXPECT_EQ(whole.summary.samples(), 5);
}

TEST_F(KeptRunsTest, AStreamThatNobodyWouldHearOfIsRefused) {
  sinks::v1::AnalysisSpec spec = SpecFor();
  spec.set_no_summary(true);
  EXPECT_FALSE(Analyze(spec, NamedSamples()).summary.has_samples());
  spec.set_summary_only(true);
  const Heard heard = Analyze(spec, NamedSamples());
  EXPECT_EQ(heard.status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(DetailsOf(heard.status).info->reason(), "NOTHING_TO_ANSWER");
}

TEST_F(KeptRunsTest, AnotherQuestionIsAnotherRun) {
  EXPECT_TRUE(Analyze(RunSpec("run"), NamedSamples()).status.ok());
  sinks::v1::AnalysisSpec spec = RunSpec("run");
  spec.mutable_detection()->set_cosine_threshold(0.95);
  const Heard other = Analyze(spec, NamedSamples());
  EXPECT_EQ(other.status.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(DetailsOf(other.status).info->reason(), "RUN_SPEC_DIFFERS");
}

TEST_F(KeptRunsTest, HowAStreamAnswersIsNoOtherQuestion) {
  sinks::v1::AnalysisSpec spec = RunSpec("run");
  spec.mutable_regression();
  EXPECT_TRUE(Analyze(spec, NamedSamples()).status.ok());
  spec.set_summary_only(true);
  spec.set_fail_fast(true);
  spec.mutable_regression()->set_points(true);
  spec.mutable_scores()->set_all_positions(true);
  (*spec.mutable_run_labels())["another"] = "label";
  const Heard other = Analyze(spec, NamedSamples());
  EXPECT_TRUE(other.status.ok()) << other.status.error_message();
  EXPECT_THAT(other.records, IsEmpty());
  EXPECT_EQ(other.summary.regression().lifetime_points_size(), 5);
}

TEST_F(KeptRunsTest, AFullStoreEndsThisStreamAndNoOther) {
  store_.before_append = [](std::span<const Record>) { return StoreFull("disk I/O error"); };
  const Heard kept = Analyze(RunSpec("run"), NamedSamples());
  EXPECT_EQ(kept.status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(DetailsOf(kept.status).info->reason(), "STORE_FULL");
  EXPECT_THAT(kept.records, IsEmpty());
  EXPECT_TRUE(Analyze(SpecFor(), NamedSamples()).status.ok());
}

TEST_F(KeptRunsTest, WhatIsReadyTogetherIsStoredTogether) {
  testing::Gate gate;
  std::vector<size_t> sizes;
  store_.before_append = [&](std::span<const Record> records) {
    sizes.push_back(records.size());
    if (sizes.size() == 1) gate.Pass({});
    return absl::OkStatus();
  };
  AnalyzeCall call(running_.channel);
  call.Open(RunSpec("run"));
  for (const sinks::v1::Sample& sample : NamedSamples()) call.Send(sample);
  call.Close();
  gate.WaitForArrivals(1);
  // While the first append waits, the others get ready.
  while (running_.catalog.runner->runs() < 4) std::this_thread::yield();
  gate.Open();
  EXPECT_TRUE(call.Drain().ok());
  EXPECT_LE(sizes.size(), 3u);
  EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), size_t{0}), 4u);
}

TEST_F(KeptRunsTest, AnIdThatIsNoneIsRefused) {
  const Heard heard = Analyze(RunSpec("No Run"), {});
  EXPECT_EQ(DetailsOf(heard.status).info->reason(), "INVALID_RUN_ID");
}

TEST(UnkeptRuns, WithoutAStoreARunIdIsEchoed) {
  RunningServer running;
  AnalyzeCall call(running.channel);
  sinks::v1::AnalysisSpec spec = SpecFor();
  spec.set_run_id("run");
  call.Open(spec);
  const auto response = call.ReadAnswer();
  ASSERT_TRUE(response && response->has_started());
  EXPECT_EQ(response->started().spec().run_id(), "run");
  EXPECT_FALSE(response->started().has_stored_samples());
  call.Close();
  EXPECT_TRUE(call.Drain().ok());
}

}  // namespace
}  // namespace sinkd
