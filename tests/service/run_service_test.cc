#include "server/service/runs/run_service.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error_details.h"
#include "run_store_fixture.h"

namespace sinkd {
namespace {

namespace v1 = ::sinks::v1;
using testing::BytesOf;
using testing::DetailsOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using testing::RunningServer;
using ::testing::SizeIs;
using testing::TextSample;

class RunServiceTest : public testing::KeptRuns {
 protected:
  // A run of `count` samples of which sample i has i secondary sinks.
  void Fill(const std::string& id, int count, const std::string& branch = "") {
    std::vector<v1::Sample> samples;
    for (int i = 0; i < count; ++i) {
      samples.push_back(
          TextSample("a" + std::string(static_cast<size_t>(i), '!'), id + "-" + std::to_string(i)));
    }
    v1::AnalysisSpec spec = RunSpec(id);
    if (!branch.empty()) (*spec.mutable_run_labels())["branch"] = branch;
    ASSERT_TRUE(Analyze(spec, samples).status.ok());
  }

  v1::Run Get(const std::string& name) {
    grpc::ClientContext context;
    v1::GetRunRequest request;
    request.set_name(name);
    v1::GetRunResponse response;
    status_ = runs_.GetRun(&context, request, &response);
    return response.run();
  }

  v1::ListRunsResponse List(const v1::ListRunsRequest& request) {
    grpc::ClientContext context;
    v1::ListRunsResponse response;
    status_ = runs_.ListRuns(&context, request, &response);
    return response;
  }

  std::vector<v1::StreamRecordsResponse> Records(const v1::StreamRecordsRequest& request) {
    grpc::ClientContext context;
    const auto stream = runs_.StreamRecords(&context, request);
    return ReadAll<v1::StreamRecordsResponse>(*stream);
  }

  std::vector<v1::SummarizeRunsResponse> Summarize(const v1::SummarizeRunsRequest& request) {
    grpc::ClientContext context;
    const auto stream = runs_.SummarizeRuns(&context, request);
    return ReadAll<v1::SummarizeRunsResponse>(*stream);
  }

  template <typename Message>
  std::vector<Message> ReadAll(grpc::ClientReader<Message>& stream) {
    std::vector<Message> all;
    Message message;
    while (stream.Read(&message)) all.push_back(message);
    status_ = stream.Finish();
    return all;
  }

  std::string Reason() const { return DetailsOf(status_).info->reason(); }

  grpc::Status status_;  // of the last call
};

std::vector<std::string> NamesOf(const v1::ListRunsResponse& response) {
  std::vector<std::string> names;
  for (const v1::Run& run : response.runs()) names.push_back(run.name());
  return names;
}

TEST_F(RunServiceTest, ARunIsMadeAndComesBackWithItsSpec) {
  v1::CreateRunRequest request;
  request.set_run_id("made");
  *request.mutable_spec() = RunSpec("");
  (*request.mutable_labels())["branch"] = "main";
  grpc::ClientContext context;
  v1::CreateRunResponse response;
  ASSERT_TRUE(runs_.CreateRun(&context, request, &response).ok());
  const v1::Run run = Get("runs/made");
  EXPECT_EQ(BytesOf(run), BytesOf(response.run()));
  EXPECT_EQ(run.model(), "models/fake");
  EXPECT_EQ(run.labels().at("branch"), "main");
  EXPECT_EQ(run.spec().levels().min_share(), 0.02);
  EXPECT_EQ(run.state(), v1::RUN_STATE_OPEN);
  EXPECT_GT(run.create_time().seconds(), 0);
  EXPECT_EQ(run.samples(), 0);

  grpc::ClientContext again, allowed;
  EXPECT_EQ(runs_.CreateRun(&again, request, &response).error_code(),
            grpc::StatusCode::ALREADY_EXISTS);
  request.set_allow_existing(true);
  EXPECT_TRUE(runs_.CreateRun(&allowed, request, &response).ok());
}

TEST_F(RunServiceTest, AnOpenRunOfAnalyzeGoesOnAsOneThatWasMade) {
  v1::CreateRunRequest request;
  request.set_run_id("run");
  *request.mutable_spec() = RunSpec("");
  grpc::ClientContext context;
  v1::CreateRunResponse response;
  ASSERT_TRUE(runs_.CreateRun(&context, request, &response).ok());
  Fill("run", 3);
  EXPECT_EQ(Get("runs/run").samples(), 3);
}

TEST_F(RunServiceTest, RunsAreListedNewestFirstByPageAndFilter) {
  for (const char* id : {"a", "b", "c"}) Fill(id, 1, id == std::string("b") ? "main" : "");
  v1::ListRunsRequest request;
  request.set_page_size(2);
  v1::ListRunsResponse page = List(request);
  EXPECT_THAT(NamesOf(page), ElementsAre("runs/c", "runs/b"));
  request.set_page_token(page.next_page_token());
  page = List(request);
  EXPECT_THAT(NamesOf(page), ElementsAre("runs/a"));
  EXPECT_EQ(page.next_page_token(), "");

  v1::ListRunsRequest filtered;
  (*filtered.mutable_filter()->mutable_labels())["branch"] = "main";
  EXPECT_THAT(NamesOf(List(filtered)), ElementsAre("runs/b"));
  filtered.mutable_filter()->clear_labels();
  *filtered.mutable_filter()->mutable_created_before() = Get("runs/b").create_time();
  EXPECT_THAT(NamesOf(List(filtered)), ElementsAre("runs/a"));
  filtered.mutable_filter()->clear_created_before();
  *filtered.mutable_filter()->mutable_created_from() = Get("runs/b").create_time();
  EXPECT_THAT(NamesOf(List(filtered)), ElementsAre("runs/c", "runs/b"));
  filtered.mutable_filter()->set_model("models/other");
  EXPECT_THAT(NamesOf(List(filtered)), IsEmpty());
}

TEST_F(RunServiceTest, AnUnknownRunModelOrLabelIsAnsweredWithTheNearest) {
  Fill("nightly", 1, "main");
  Get("runs/nigthly");
  EXPECT_EQ(Reason(), "RUN_NOT_FOUND");
  EXPECT_THAT(status_.error_message(),
              HasSubstr("use runs/nightly, or another that ListRuns returns"));
  Get("runs/other");
  EXPECT_THAT(status_.error_message(), HasSubstr("use an id that ListRuns returns"));

  v1::ListRunsRequest filtered;
  filtered.mutable_filter()->set_model("models/fkae");
  EXPECT_EQ(List(filtered).did_you_mean(), "models/fake");
  filtered.mutable_filter()->set_model("models/fake");
  (*filtered.mutable_filter()->mutable_labels())["brnach"] = "main";
  EXPECT_EQ(List(filtered).did_you_mean(), "the label branch=main");
  filtered.mutable_filter()->clear_labels();
  EXPECT_FALSE(List(filtered).has_did_you_mean());
}

TEST_F(RunServiceTest, ARunIsCompletedOpenedAndDeleted) {
  Fill("run", 1);
  for (const v1::RunState state : {v1::RUN_STATE_OPEN, v1::RUN_STATE_COMPLETE}) {
    grpc::ClientContext context;
    v1::UpdateRunRequest request;
    request.set_name("runs/run");
    request.set_state(state);
    v1::UpdateRunResponse response;
    ASSERT_TRUE(runs_.UpdateRun(&context, request, &response).ok());
    EXPECT_EQ(response.run().state(), state);
  }
  grpc::ClientContext context;
  v1::DeleteRunRequest request;
  request.set_name("runs/run");
  v1::DeleteRunResponse response;
  ASSERT_TRUE(runs_.DeleteRun(&context, request, &response).ok());
  Get("runs/run");
  EXPECT_EQ(status_.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(Reason(), "RUN_NOT_FOUND");
}

TEST_F(RunServiceTest, KeysComeByPageInTheOrderOfStoring) {
  Fill("run", 5);
  v1::ListSampleKeysRequest request;
  request.set_name("runs/run");
  request.set_page_size(2);
  std::vector<std::string> keys;
  int pages = 0;
  do {
    grpc::ClientContext context;
    v1::ListSampleKeysResponse response;
    ASSERT_TRUE(runs_.ListSampleKeys(&context, request, &response).ok());
    keys.insert(keys.end(), response.sample_keys().begin(), response.sample_keys().end());
    request.set_page_token(response.next_page_token());
    ++pages;
  } while (!request.page_token().empty());
  EXPECT_THAT(keys, ElementsAre("run-0", "run-1", "run-2", "run-3", "run-4"));
  EXPECT_EQ(pages, 3);
}

TEST_F(RunServiceTest, RecordsComeInTheOrderOfStoringFromWhereOneAsks) {
  Fill("run", 5);
  v1::StreamRecordsRequest request;
  request.set_name("runs/run");
  request.set_after_sequence(1);
  request.set_limit(3);
  request.set_include_token_ids(true);
  const auto responses = Records(request);
  ASSERT_THAT(responses, SizeIs(1));
  ASSERT_EQ(responses[0].records_size(), 3);
  EXPECT_EQ(responses[0].records(0).sequence(), 2);
  EXPECT_EQ(responses[0].records(2).sample_key(), "run-3");
  EXPECT_EQ(responses[0].records(2).record().sinks_size(), 3);
  EXPECT_EQ(responses[0].records(2).token_ids().ids_size(), 4);
  request.set_include_token_ids(false);
  EXPECT_FALSE(Records(request)[0].records(0).has_token_ids());
}

TEST_F(RunServiceTest, NoMessageOfRecordsIsLargerThanAMebibyteButForASingleRecord) {
  // Each '!' is a sink, about 50 bytes: samples of 100 KB, and one of 200 KB.
  std::vector<v1::Sample> samples;
  for (int i = 0; i < 24; ++i) {
    samples.push_back(TextSample(std::string(i == 9 ? 4900 : 2000, '!'), std::to_string(i)));
  }
  ASSERT_TRUE(Analyze(RunSpec("run"), samples).status.ok());
  v1::StreamRecordsRequest request;
  request.set_name("runs/run");
  int64_t next = 1;
  for (const v1::StreamRecordsResponse& response : Records(request)) {
    EXPECT_LE(response.ByteSizeLong(), size_t{1} << 20);
    for (const v1::StoredRecord& record : response.records()) {
      EXPECT_EQ(record.sequence(), next++);
    }
  }
  EXPECT_EQ(next, 25);
}

TEST_F(RunServiceTest, ASummaryFoldsTheRecordsOfManyRuns) {
  Fill("a", 3, "main");  // 0 + 1 + 2 sinks
  Fill("b", 4, "main");  // 0 + 1 + 2 + 3
  Fill("c", 5);
  v1::SummarizeRunsRequest request;
  request.mutable_filter();
  std::vector<v1::SummarizeRunsResponse> all = Summarize(request);
  ASSERT_THAT(all, SizeIs(1)) << status_.error_message();
  EXPECT_EQ(all[0].run_count(), 3);
  EXPECT_THAT(all[0].runs(), ElementsAre("runs/a", "runs/b", "runs/c"));
  EXPECT_EQ(all[0].summary().samples(), 12);
  EXPECT_EQ(all[0].summary().levels().secondary(), 3 + 6 + 10);

  request.set_grouping(v1::SUMMARY_GROUPING_LABEL);
  request.set_label("branch");
  all = Summarize(request);
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].group(), "");
  EXPECT_EQ(all[0].summary().levels().secondary(), 10);
  EXPECT_EQ(all[1].group(), "main");
  EXPECT_EQ(all[1].summary().levels().secondary(), 9);

  request.set_grouping(v1::SUMMARY_GROUPING_RUN);
  request.add_names("runs/b");
  all = Summarize(request);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].group(), "runs/b");
  request.set_grouping(v1::SUMMARY_GROUPING_MODEL);
  EXPECT_EQ(Summarize(request)[0].group(), "models/fake");
}

v1::SummarizeRunsRequest NumericOrder() {
  v1::SummarizeRunsRequest request;
  request.mutable_filter();
  request.set_grouping(v1::SUMMARY_GROUPING_LABEL);
  request.set_label("branch");
  request.set_order(v1::SUMMARY_ORDER_NUMERIC);
  return request;
}

TEST_F(RunServiceTest, SummariesInNumericOrderAreASeriesWithAChangePoint) {
  // No sinks up to 4, then two of three samples with sinks; 1e2 and 100.0 are one value.
  Fill("f", 3, "1e2");
  Fill("g", 3, "100.0");
  for (const auto& [id, count, step] :
       {std::tuple{"a", 1, "1"}, {"c", 1, "4"}, {"b", 1, "2"}, {"e", 3, "16"}, {"d", 3, "8"}}) {
    Fill(id, count, step);
  }
  const std::vector<v1::SummarizeRunsResponse> all = Summarize(NumericOrder());
  ASSERT_THAT(all, SizeIs(6)) << status_.error_message();
  std::vector<std::string> groups;
  for (const auto& each : all) groups.push_back(each.group());
  EXPECT_THAT(groups, ElementsAre("1", "2", "4", "8", "16", "1e2"));
  EXPECT_THAT(all[5].runs(), ElementsAre("runs/f", "runs/g"));
  EXPECT_EQ(all[5].label_value(), 100);
  EXPECT_THAT(all[4].series(), IsEmpty());
  std::map<std::string, v1::SummarySeries> series;
  for (const auto& each : all[5].series()) series[each.name()] = each;
  const v1::SummarySeries& share = series["share_of_samples_with_secondary"];
  EXPECT_THAT(share.label_values(), ElementsAre(1, 2, 4, 8, 16, 100));
  EXPECT_THAT(share.values(), ElementsAre(0, 0, 0, 2 / 3.0, 2 / 3.0, 2 / 3.0));
  const v1::ChangePoint& change = share.change_point();
  EXPECT_FALSE(change.has_undefined()) << change.undefined();
  EXPECT_EQ(change.last_before(), 4);
  EXPECT_EQ(change.first_after(), 8);
  EXPECT_EQ(change.interval().lower(), 4);
  EXPECT_EQ(change.interval().upper(), 8);
  EXPECT_EQ(change.mean_before(), 0);
  EXPECT_NEAR(change.mean_after(), 2 / 3.0, 1e-15);
  // Entropy and the score of secondary sinks exist where there are such sinks.
  EXPECT_THAT(series["entropy"].label_values(), ElementsAre(8, 16, 100));
  EXPECT_EQ(series["entropy"].change_point().undefined(), "needs at least 5 values; there are 3");
  EXPECT_EQ(series.count("sink_rate"), 0u) << "nothing asked for it";
}

TEST_F(RunServiceTest, ANumericOrderNeedsALabelWhoseValuesAreNumbers) {
  Fill("a", 1, "1");
  Fill("b", 1, "main");
  v1::SummarizeRunsRequest request = NumericOrder();
  EXPECT_THAT(Summarize(request), IsEmpty());
  EXPECT_EQ(Reason(), "LABEL_NOT_NUMERIC");
  EXPECT_THAT(status_.error_message(), HasSubstr("runs/b"));
  for (const auto& [id, value] :
       {std::pair{"not-a-number", "nan"}, {"endless", "inf"}, {"comma", "1,5"}, {"unit", "5k"}}) {
    Fill(id, 1, value);
    request.clear_names();
    request.add_names(std::string("runs/") + id);
    EXPECT_THAT(Summarize(request), IsEmpty()) << value;
    EXPECT_EQ(Reason(), "LABEL_NOT_NUMERIC") << value;
  }
  Fill("c", 1);
  request.clear_names();
  request.add_names("runs/a");
  request.add_names("runs/c");
  EXPECT_THAT(Summarize(request), IsEmpty());
  EXPECT_EQ(Reason(), "LABEL_MISSING");
  EXPECT_THAT(status_.error_message(), HasSubstr("runs/c has no label branch"));
  request.set_grouping(v1::SUMMARY_GROUPING_RUN);
  Summarize(request);
  EXPECT_EQ(Reason(), "ORDER_NEEDS_LABEL");
  request.set_order(static_cast<v1::SummaryOrder>(9));
  Summarize(request);
  EXPECT_EQ(Reason(), "UNKNOWN_ENUM_VALUE");
}

TEST_F(RunServiceTest, ASummaryOfOneRunIsThatOfItsStreamToTheLastByte) {
  v1::AnalysisSpec spec = RunSpec("run");
  spec.mutable_regression();
  spec.mutable_compensation();
  const testing::Heard heard = Analyze(spec, {TextSample("a!b!c"), TextSample("d!e")});
  v1::SummarizeRunsRequest request;
  request.add_names("runs/run");
  EXPECT_EQ(BytesOf(Summarize(request)[0].summary()), BytesOf(heard.summary));
}

TEST_F(RunServiceTest, PointsOfTheRegressionComeUpToTheNumberAskedFor) {
  v1::AnalysisSpec spec = RunSpec("run");
  spec.mutable_regression();
  const testing::Heard heard = Analyze(spec, {TextSample("a!b!c"), TextSample("d!e")});
  const auto sinks = static_cast<int32_t>(heard.summary.levels().secondary());
  ASSERT_GT(sinks, 1);
  v1::SummarizeRunsRequest request;
  request.add_names("runs/run");
  for (const int32_t most : {0, sinks - 1}) {
    request.set_regression_points(most);
    EXPECT_EQ(Summarize(request)[0].summary().regression().lifetime_points_size(), 0) << most;
  }
  request.set_regression_points(sinks);
  const v1::RegressionReport regression = Summarize(request)[0].summary().regression();
  EXPECT_EQ(regression.lifetime_points_size(), sinks);
  EXPECT_EQ(regression.score_points_size() + regression.without_score(), sinks);
  request.set_regression_points(100001);
  Summarize(request);
  EXPECT_EQ(Reason(), "OUT_OF_RANGE");
}

TEST_F(RunServiceTest, ASummaryOfOneLevelHoldsNoOther) {
  Fill("run", 4);  // its secondary sinks are all (2, 2)
  v1::SummarizeRunsRequest request;
  request.add_names("runs/run");
  request.set_l_start(2);
  EXPECT_EQ(Summarize(request)[0].summary().levels().secondary(), 6);
  request.set_lifetime(3);
  const v1::Summary none = Summarize(request)[0].summary();
  EXPECT_EQ(none.levels().secondary(), 0);
  EXPECT_EQ(none.samples(), 4);
  EXPECT_THAT(none.notes(), SizeIs(1));
}

TEST_F(RunServiceTest, RunsOfDifferentParametersShareNoSummaryUnlessASpecFitsBoth) {
  Fill("a", 3);
  v1::AnalysisSpec spec = RunSpec("b");
  spec.mutable_levels()->set_top_tokens(3);
  ASSERT_TRUE(Analyze(spec, {TextSample("a!")}).status.ok());
  v1::SummarizeRunsRequest request;
  request.mutable_filter();
  EXPECT_THAT(Summarize(request), IsEmpty());
  EXPECT_EQ(Reason(), "RUNS_DIFFER");
  request.mutable_spec()->mutable_levels()->set_top_tokens(0);
  const auto both = Summarize(request);
  ASSERT_THAT(both, SizeIs(1)) << status_.error_message();
  EXPECT_EQ(both[0].summary().samples(), 4);
  EXPECT_FALSE(both[0].summary().has_scores());
  EXPECT_EQ(both[0].spec().levels().top_tokens(), 0);
  request.mutable_spec()->mutable_compensation();
  EXPECT_THAT(Summarize(request), IsEmpty());
  EXPECT_EQ(Reason(), "RUN_LACKS_ANALYSIS");
}

// Values as text, each with the number of runs that have it.
std::map<std::string, int64_t> ValuesOf(const v1::SpecDifference& difference) {
  std::map<std::string, int64_t> values;
  for (const v1::SpecValue& value : difference.values()) values[value.value()] = value.run_count();
  return values;
}

TEST_F(RunServiceTest, WhatRunsHaveInCommonIsSummedUpAndTheRestIsNamed) {
  Fill("a", 3);
  Fill("b", 2);
  v1::AnalysisSpec spec = RunSpec("c");
  spec.mutable_levels()->set_top_tokens(3);
  spec.clear_scores();
  spec.mutable_sink_rate();
  ASSERT_TRUE(Analyze(spec, {TextSample("a!!")}).status.ok());
  v1::SummarizeRunsRequest request;
  request.mutable_filter();
  request.set_common(true);
  const auto all = Summarize(request);
  ASSERT_THAT(all, SizeIs(1)) << status_.error_message();
  EXPECT_EQ(all[0].summary().samples(), 6);
  EXPECT_EQ(all[0].summary().levels().secondary(), 0 + 1 + 2 + 0 + 1 + 2);
  EXPECT_FALSE(all[0].summary().has_scores());
  EXPECT_FALSE(all[0].summary().has_sink_rate());
  EXPECT_EQ(all[0].spec().levels().top_tokens(), 10) << "the oldest run's";
  std::map<std::string, std::map<std::string, int64_t>> differences;
  for (const auto& each : all[0].differences()) differences[each.field()] = ValuesOf(each);
  using Counts = std::map<std::string, int64_t>;
  EXPECT_THAT(differences,
              ElementsAre(Pair("levels.top_tokens", Counts{{"10", 2}, {"3", 1}}),
                          Pair("scores", Counts{{"asked for", 2}, {"not asked for", 1}}),
                          Pair("sink_rate", Counts{{"asked for", 1}, {"not asked for", 2}})));
  request.set_grouping(v1::SUMMARY_GROUPING_RUN);
  for (const auto& each : Summarize(request)) EXPECT_THAT(each.differences(), IsEmpty());
}

TEST_F(RunServiceTest, SinksFoundDifferentlyAreNotSummedUpTogether) {
  Fill("a", 3);
  v1::AnalysisSpec spec = RunSpec("b");
  spec.mutable_detection()->set_cosine_threshold(0.5);
  spec.mutable_sink_rate();
  ASSERT_TRUE(Analyze(spec, {TextSample("a!")}).status.ok());
  v1::SummarizeRunsRequest request;
  request.mutable_filter();
  request.set_common(true);
  const auto all = Summarize(request);
  ASSERT_THAT(all, SizeIs(1)) << status_.error_message();
  EXPECT_EQ(all[0].summary().samples(), 4);
  EXPECT_FALSE(all[0].summary().has_levels());
  EXPECT_FALSE(all[0].spec().has_detection());
  ASSERT_GE(all[0].differences_size(), 1);
  EXPECT_EQ(all[0].differences(0).field(), "detection.cosine_threshold");
  EXPECT_EQ(all[0].differences(0).values(0).value(), "0.5");
  EXPECT_EQ(all[0].differences(0).values(0).run(), "runs/b");
}

TEST_F(RunServiceTest, StudiesComeBackOldestFirst) {
  Fill("run", 1);
  v1::RunStudyRequest asked;
  asked.mutable_norms();
  for (const bool partial : {false, true}) {
    v1::StudyReport report;
    report.set_partial(partial);
    ASSERT_TRUE(store_
                    .AddStudy("run", {.request = asked.SerializeAsString(),
                                      .report = report.SerializeAsString()})
                    .ok());
  }
  grpc::ClientContext context;
  v1::ListStudiesRequest request;
  request.set_name("runs/run");
  const auto stream = runs_.ListStudies(&context, request);
  const auto studies = ReadAll<v1::ListStudiesResponse>(*stream);
  ASSERT_THAT(studies, SizeIs(2));
  EXPECT_TRUE(studies[0].request().has_norms());
  EXPECT_GT(studies[0].create_time().seconds(), 0);
  EXPECT_FALSE(studies[0].report().partial());
  EXPECT_TRUE(studies[1].report().partial());
}

TEST_F(RunServiceTest, BadRequestsAreToldByField) {
  Get("models/a");
  EXPECT_EQ(Reason(), "INVALID_RUN_NAME");
  v1::ListRunsRequest list;
  list.set_page_size(1001);
  List(list);
  EXPECT_EQ(status_.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  list.set_page_size(10);
  list.set_page_token("?");
  List(list);
  EXPECT_EQ(Reason(), "PAGE_TOKEN_INVALID");
  list.clear_page_token();
  list.mutable_filter()->mutable_created_from()->set_nanos(-1);
  List(list);
  EXPECT_EQ(Reason(), "INVALID_TIME");
  Summarize({});
  EXPECT_EQ(Reason(), "NO_RUNS_CHOSEN");
  v1::StreamRecordsRequest records;
  records.set_name("runs/none");
  Records(records);
  EXPECT_EQ(Reason(), "RUN_NOT_FOUND");
  records.set_after_sequence(-1);
  Records(records);
  EXPECT_EQ(Reason(), "OUT_OF_RANGE");
}

TEST(RunServiceWithoutAStore, SaysSoInEveryMethod) {
  RunningServer running;
  v1::RunService::Stub runs(running.channel);
  const auto is_off = [](const grpc::Status& status) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
    return DetailsOf(status).info->reason() == "STORE_OFF";
  };
  grpc::ClientContext contexts[6];
  v1::CreateRunResponse created;
  EXPECT_TRUE(is_off(runs.CreateRun(&contexts[0], {}, &created)));
  v1::GetRunResponse got;
  EXPECT_TRUE(is_off(runs.GetRun(&contexts[1], {}, &got)));
  v1::ListRunsResponse listed;
  EXPECT_TRUE(is_off(runs.ListRuns(&contexts[2], {}, &listed)));
  EXPECT_TRUE(is_off(runs.StreamRecords(&contexts[3], {})->Finish()));
  EXPECT_TRUE(is_off(runs.SummarizeRuns(&contexts[4], {})->Finish()));
  v1::ImportRecordsResponse imported;
  EXPECT_TRUE(is_off(runs.ImportRecords(&contexts[5], &imported)->Finish()));
}

}  // namespace
}  // namespace sinkd
