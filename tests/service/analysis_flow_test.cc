// Analyze when all goes well: what comes, in which order, and when.
#include <numeric>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyze_call.h"
#include "running_server.h"

namespace sinkd {
namespace {

using testing::AnalyzeCall;
using testing::Gate;
using testing::IdsSample;
using testing::kHeads;
using testing::kLayers;
using testing::RunningServer;
using testing::SpecFor;
using testing::TextSample;

TEST(AnalyzeFlow, AnswersTheSpecWithEverythingTheResultsDependOn) {
  RunningServer running({.limits = {.template_date = "2025-03-04", .version = "1.2.3"}});
  AnalyzeCall call(running.channel);
  call.context.AddMetadata("x-request-id", "request-7");
  call.Open(SpecFor());
  const auto response = call.ReadAnswer();
  ASSERT_TRUE(response && response->has_started());
  const sinks::v1::AnalyzeStarted& started = response->started();
  EXPECT_EQ(started.spec().model(), "models/fake");
  EXPECT_EQ(started.spec().template_date(), "2025-03-04");
  EXPECT_EQ(started.spec().detection().cosine_threshold(), 0.9);
  EXPECT_EQ(started.blocks(), kLayers);
  EXPECT_EQ(started.heads(), kHeads);
  EXPECT_EQ(started.device(), "cpu");
  EXPECT_EQ(started.compute_type(), "float32");
  EXPECT_EQ(started.server_version(), "1.2.3");
  EXPECT_EQ(started.request_id(), "request-7");
  EXPECT_EQ(call.context.GetServerInitialMetadata().find("x-request-id")->second, "request-7");
  call.Close();
  EXPECT_TRUE(call.Drain().ok());
}

TEST(AnalyzeFlow, ReplacesARequestIdThatCouldSpoilALog) {
  RunningServer running;
  AnalyzeCall call(running.channel);
  call.context.AddMetadata("x-request-id", "a b");
  call.Open(SpecFor());
  EXPECT_THAT(call.ReadAnswer()->started().request_id(), ::testing::MatchesRegex("[0-9a-f]{16}"));
  call.Close();
  EXPECT_TRUE(call.Drain().ok());
}

TEST(AnalyzeFlow, FindsTheSinksOfASample) {
  RunningServer running;
  AnalyzeCall call(running.channel);
  sinks::v1::AnalysisSpec spec = SpecFor();
  spec.mutable_scores();
  call.Open(spec);
  call.Send(TextSample("ab!d", "first"));
  call.Close();
  ASSERT_TRUE(call.ReadAnswer()->has_started());
  const auto response = call.ReadAnswer();
  ASSERT_TRUE(response && response->has_record());
  const sinks::v1::SampleRecord& record = response->record();
  EXPECT_EQ(record.sample_index(), 0);
  EXPECT_EQ(record.sample_id(), "first");
  EXPECT_EQ(record.positions(), 4);
  EXPECT_EQ(record.prompt_tokens(), 4);
  EXPECT_EQ(record.window_start(), 1);
  EXPECT_EQ(record.window_end(), 5);
  EXPECT_EQ(record.primary().position(), 0);
  ASSERT_EQ(record.sinks_size(), 1);
  const sinks::v1::Sink& sink = record.sinks(0);
  EXPECT_EQ(sink.position(), 2);
  EXPECT_EQ(sink.token_text(), "!");
  EXPECT_EQ(sink.l_start(), 2);
  EXPECT_EQ(sink.lifetime(), 2);
  EXPECT_EQ(sink.kind(), sinks::v1::SINK_KIND_SECONDARY);
  EXPECT_EQ(sink.mlp_norm(), 5);  // l + t + 1
  // Even attention: (1/3 + 1/4) / (T - k) in every block and head.
  EXPECT_NEAR(sink.score(), (1.0 / 3 + 1.0 / 4) / 2, 1e-7);
  const auto summary = call.ReadAnswer();
  ASSERT_TRUE(summary && summary->has_summary());
  EXPECT_EQ(summary->summary().samples(), 1);
  EXPECT_EQ(summary->summary().positions(), 4);
  EXPECT_FALSE(call.Read());
  EXPECT_TRUE(call.Finish().ok());
}

TEST(AnalyzeFlow, TheFirstRecordArrivesBeforeTheLastSampleIsSent) {
  RunningServer running;
  AnalyzeCall call(running.channel);
  call.Open(SpecFor());
  ASSERT_TRUE(call.ReadAnswer()->has_started());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(call.Send(TextSample("hello")));
    const auto record = call.ReadAnswer();
    ASSERT_TRUE(record && record->has_record());
    EXPECT_EQ(record->record().sample_index(), i);
  }
  call.Close();
  EXPECT_EQ(call.ReadAnswer()->summary().samples(), 3);
  EXPECT_TRUE(call.Drain().ok());
}

TEST(AnalyzeFlow, AnswersComeInTheOrderSentThoughEncodingFinishesInAnother) {
  RunningServer running({.cpu_threads = 4, .limits = {.read_ahead = 16}});
  AnalyzeCall call(running.channel);
  call.Open(SpecFor());
  constexpr int kSamples = 200;
  std::thread writer([&call] {
    for (int i = 0; i < kSamples; ++i) {
      const std::string id = std::to_string(i);
      call.Send(i % 5 == 4
                    ? TextSample("", id)
                    : TextSample(std::string(static_cast<size_t>(i * 37 % 400 + 1), 'a'), id));
    }
    call.Close();
  });
  EXPECT_TRUE(call.ReadAnswer()->has_started());
  for (int i = 0; i < kSamples; ++i) {
    const auto response = call.ReadAnswer();
    ASSERT_TRUE(response);
    const bool bad = i % 5 == 4;
    ASSERT_EQ(response->has_sample_error(), bad) << response->ShortDebugString();
    EXPECT_EQ(bad ? response->sample_error().sample_index() : response->record().sample_index(), i);
    EXPECT_EQ(bad ? response->sample_error().sample_id() : response->record().sample_id(),
              std::to_string(i));
  }
  EXPECT_EQ(call.ReadAnswer()->summary().samples(), kSamples * 4 / 5);
  writer.join();
  EXPECT_TRUE(call.Drain().ok());
}

TEST(AnalyzeFlow, AStreamWithoutSamplesGivesAnEmptySummary) {
  RunningServer running;
  AnalyzeCall call(running.channel);
  sinks::v1::AnalysisSpec spec = SpecFor();
  spec.mutable_scores();
  spec.mutable_sink_rate();
  spec.mutable_levels();
  spec.mutable_regression();
  spec.mutable_compensation();
  call.Open(spec);
  call.Close();
  const std::vector<sinks::v1::AnalyzeResponse> all = call.ReadAll();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_TRUE(all[0].has_started());
  EXPECT_EQ(all[1].summary().samples(), 0);
  EXPECT_EQ(all[1].summary().levels().secondary(), 0);
  EXPECT_TRUE(call.Finish().ok());
}

TEST(AnalyzeFlow, SummaryOnlySendsNoRecords) {
  RunningServer running;
  AnalyzeCall call(running.channel);
  sinks::v1::AnalysisSpec spec = SpecFor();
  spec.set_summary_only(true);
  spec.mutable_scores()->set_all_positions(true);
  call.Open(spec);
  for (const char* text : {"ab!", "", "!!"}) call.Send(TextSample(text));
  call.Close();
  const std::vector<sinks::v1::AnalyzeResponse> all = call.ReadAll();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1].sample_error().sample_index(), 1);
  EXPECT_EQ(all[2].summary().samples(), 2);
  EXPECT_TRUE(call.Finish().ok());
}

TEST(AnalyzeFlow, AlphaOfEveryPositionComesInChunksBeforeTheRecord) {
  RunningServer running;
  AnalyzeCall call(running.channel);
  sinks::v1::AnalysisSpec spec = SpecFor();
  spec.mutable_scores()->set_all_positions(true);
  call.Open(spec);
  call.Send(IdsSample({1, 2, 3, 4}));
  call.Close();
  const std::vector<sinks::v1::AnalyzeResponse> all = call.ReadAll();
  ASSERT_EQ(all.size(), static_cast<size_t>(kLayers) + 3);
  for (int l = 0; l < kLayers; ++l) {
    const sinks::v1::AlphaChunk& chunk = all[static_cast<size_t>(l) + 1].alpha();
    EXPECT_EQ(chunk.block(), l);
    EXPECT_EQ(chunk.heads(), kHeads);
    ASSERT_EQ(chunk.values_size(), kHeads * 4);
    EXPECT_NEAR(chunk.values(0), (1 + 1.0 / 2 + 1.0 / 3 + 1.0 / 4) / 4, 1e-6);
    EXPECT_NEAR(chunk.values(7), 1.0 / 4, 1e-6);
  }
  EXPECT_TRUE(all[kLayers + 1].has_record());
  EXPECT_TRUE(call.Finish().ok());
}

TEST(AnalyzeFlow, ProgressCountsWhatIsDone) {
  RunningServer running({.limits = {.progress_interval = std::chrono::milliseconds(0)}});
  AnalyzeCall call(running.channel);
  call.Open(SpecFor());
  for (int i = 0; i < 3; ++i) call.Send(TextSample("abcd"));
  call.Close();
  std::vector<int64_t> done, tokens;
  for (const sinks::v1::AnalyzeResponse& response : call.ReadAll()) {
    if (!response.has_progress()) continue;
    done.push_back(response.progress().samples_done());
    tokens.push_back(response.progress().tokens_done());
    EXPECT_GE(response.progress().samples_received(), response.progress().samples_done());
  }
  EXPECT_THAT(done, ::testing::ElementsAre(1, 2, 3));
  EXPECT_THAT(tokens, ::testing::ElementsAre(4, 8, 12));
  EXPECT_TRUE(call.Finish().ok());
}

TEST(AnalyzeFlow, NoMoreThanReadAheadSamplesAreUnderWay) {
  RunningServer running({.limits = {.read_ahead = 3}});
  Gate gate;
  running.catalog.runner->before_run = [&gate](const TokenIds&, std::stop_token stop) {
    gate.Pass(stop);
    return absl::OkStatus();
  };
  AnalyzeCall call(running.channel);
  call.Open(SpecFor());
  std::thread writer([&call] {
    for (int i = 0; i < 50; ++i) call.Send(TextSample("hello"));
    call.Close();
  });
  gate.WaitForArrivals(1);
  gate.Open();
  EXPECT_TRUE(call.Drain().ok());
  writer.join();
  EXPECT_EQ(running.catalog.runner->runs(), 50);
  EXPECT_LE(running.catalog.runner->most_under_way(), 3);
}

TEST(AnalyzeFlow, AReaderThatReadsNothingStopsTheWork) {
  constexpr int kSamples = 400;
  RunningServer running({.limits = {.read_ahead = 2}});
  AnalyzeCall call(running.channel);
  sinks::v1::AnalysisSpec spec = SpecFor();
  spec.mutable_scores()->set_all_positions(true);
  call.Open(spec);
  std::thread writer([&call] {
    const sinks::v1::Sample sample = IdsSample(std::vector<int32_t>(4000, 1));
    for (int i = 0; i < kSamples && call.Send(sample); ++i) {
    }
    call.Close();
  });
  // Half of the answers, 37 MB, are read; the rest, as much again, fits no window of the transport,
  // so that the server must have stopped on the way.
  int records = 0;
  while (records < kSamples / 2) records += call.ReadAnswer()->has_record() ? 1 : 0;
  EXPECT_LT(running.catalog.runner->runs(), kSamples);
  call.context.TryCancel();
  EXPECT_EQ(call.Drain().error_code(), grpc::StatusCode::CANCELLED);
  writer.join();
  EXPECT_TRUE(running.server->WaitUntilIdle(std::chrono::minutes(1)));
  EXPECT_LT(running.catalog.runner->runs(), kSamples);
}

TEST(AnalyzeFlow, SixteenClientsAtOnceGetTheAnswersThatOneGets) {
  constexpr int kClients = 16;
  RunningServer running;
  const auto answers = [&running] {
    AnalyzeCall call(running.channel);
    sinks::v1::AnalysisSpec spec = SpecFor();
    spec.mutable_scores();
    spec.mutable_levels();
    call.Open(spec);
    for (int i = 0; i < 20; ++i) {
      call.Send(TextSample(std::string(static_cast<size_t>(i), 'a') + "!" +
                           std::string(static_cast<size_t>(20 - i), 'b')));
    }
    call.Close();
    std::string joined;
    for (const sinks::v1::AnalyzeResponse& response : call.ReadAll()) {
      if (!response.has_started() && !response.has_progress()) joined += response.DebugString();
    }
    EXPECT_TRUE(call.Finish().ok());
    return joined;
  };
  const std::string alone = answers();
  EXPECT_FALSE(alone.empty());
  std::vector<std::string> together(kClients);
  std::vector<std::thread> clients;
  for (std::string& joined : together) clients.emplace_back([&] { joined = answers(); });
  for (std::thread& client : clients) client.join();
  for (const std::string& joined : together) EXPECT_EQ(joined, alone);
}

TEST(AnalyzeFlow, CountsWhatItDid) {
  RunningServer running;
  AnalyzeCall call(running.channel);
  call.Open(SpecFor());
  for (const char* text : {"abc", "", "de"}) call.Send(TextSample(text));
  call.Close();
  EXPECT_TRUE(call.Drain().ok());
  EXPECT_TRUE(running.server->WaitUntilIdle(std::chrono::minutes(1)));
  const std::string page = running.metrics.Render();
  EXPECT_THAT(page, ::testing::HasSubstr("sinkd_samples_total{outcome=\"ok\"} 2"));
  EXPECT_THAT(page, ::testing::HasSubstr("sinkd_samples_total{outcome=\"failed\"} 1"));
  EXPECT_THAT(page, ::testing::HasSubstr("sinks.v1.AnalysisService/Analyze"));
}

}  // namespace
}  // namespace sinkd
