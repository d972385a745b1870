// Analyze when samples or messages are bad: which error, with what details, and what goes on.
#include <functional>
#include <new>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyze_call.h"
#include "error_details.h"
#include "running_server.h"
#include "server/base/status.h"

namespace sinkd {
namespace {

using testing::AnalyzeCall;
using testing::DetailsOf;
using testing::ErrorDetails;
using testing::IdsSample;
using testing::RunningServer;
using testing::SpecFor;
using testing::TextSample;

struct BadSample {
  const char* name;
  sinks::v1::Sample sample;
  grpc::StatusCode code;
  const char* reason;
  const char* subject;
  const char* message;  // a part of it
};

sinks::v1::Sample ChatSample() {
  sinks::v1::Sample sample;
  sample.mutable_chat()->add_messages()->set_content("hi");
  return sample;
}

class AnalyzeSampleError : public ::testing::TestWithParam<BadSample> {};

TEST_P(AnalyzeSampleError, NamesTheSampleAndTheStreamGoesOn) {
  RunningServer running({.limits = {.max_sample_tokens = 1000}});
  AnalyzeCall call(running.channel);
  call.Open(SpecFor());
  call.Send(TextSample("fine"));
  call.Send(GetParam().sample);
  call.Send(TextSample("fine too"));
  call.Close();
  const std::vector<sinks::v1::AnalyzeResponse> all = call.ReadAll();
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[1].record().sample_index(), 0);
  ASSERT_TRUE(all[2].has_sample_error());
  EXPECT_EQ(all[3].record().sample_index(), 2);
  EXPECT_EQ(all[4].summary().samples(), 2);
  EXPECT_TRUE(call.Finish().ok());

  EXPECT_EQ(all[2].sample_error().sample_index(), 1);
  const ErrorDetails details = DetailsOf(all[2].sample_error().status());
  EXPECT_EQ(details.status.code(), GetParam().code);
  EXPECT_EQ(details.info->reason(), GetParam().reason);
  EXPECT_EQ(details.info->metadata().at("subject"), GetParam().subject);
  EXPECT_FALSE(details.info->metadata().at("fix").empty());
  EXPECT_THAT(details.status.message(), ::testing::StartsWith("sample 1"));
  EXPECT_THAT(details.status.message(), ::testing::HasSubstr(GetParam().message));
  EXPECT_EQ(details.bad_request.has_value(), GetParam().code == grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(details.precondition.has_value(),
            GetParam().code == grpc::StatusCode::FAILED_PRECONDITION);
}

constexpr auto kInvalid = grpc::StatusCode::INVALID_ARGUMENT;

INSTANTIATE_TEST_SUITE_P(
    Samples, AnalyzeSampleError,
    ::testing::Values(
        BadSample{"Empty", TextSample(""), kInvalid, "SAMPLE_EMPTY", "sample.input", "empty"},
        BadSample{"NoIds", IdsSample({}), kInvalid, "SAMPLE_EMPTY", "sample.input", "empty"},
        BadSample{"NoInput", {}, kInvalid, "SAMPLE_WITHOUT_INPUT", "sample.input", "no input"},
        BadSample{"IdTooLarge", IdsSample({1, 2, 128}, "x"), kInvalid, "TOKEN_ID_OUT_OF_RANGE",
                  "sample.token_ids.ids[2]", "[0, 128) (got 128)"},
        BadSample{"IdNegative", IdsSample({-1}), kInvalid, "TOKEN_ID_OUT_OF_RANGE",
                  "sample.token_ids.ids[0]", "got -1"},
        BadSample{"TooLong", TextSample(std::string(1001, 'a')), kInvalid, "SAMPLE_TOO_LONG",
                  "sample.input", "1001 tokens, the server takes at most 1000"},
        BadSample{"LongName", TextSample("a", std::string(300, 'n')), kInvalid,
                  "SAMPLE_ID_TOO_LONG", "sample.sample_id", "limit is 256"},
        BadSample{"NotUtf8", TextSample("ab\xff"), kInvalid, "TEXT_NOT_UTF8", "sample.text.text",
                  "byte 2 of 3"},
        BadSample{"NoTemplate", ChatSample(), grpc::StatusCode::FAILED_PRECONDITION,
                  "CHAT_TEMPLATE_MISSING", "models/fake", "no chat template"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(AnalyzeErrors, TheModelsOwnLimitHoldsBesideTheServers) {
  RunningServer running;
  running.catalog.runner->info_.spec.max_positions = 10;
  AnalyzeCall call(running.channel);
  call.Open(SpecFor());
  call.Send(TextSample("eleven long", "named"));
  call.Close();
  const std::vector<sinks::v1::AnalyzeResponse> all = call.ReadAll();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1].sample_error().sample_id(), "named");
  EXPECT_THAT(all[1].sample_error().status().message(),
              ::testing::HasSubstr("sample 0 (named): the sample has 11 tokens, the model takes at "
                                   "most 10"));
}

TEST(AnalyzeErrors, ADeviceOutOfMemoryIsOneSamplesError) {
  RunningServer running;
  running.catalog.runner->before_run = [](const TokenIds& ids, std::stop_token) {
    return ids.size() < 5
               ? absl::OkStatus()
               : ResourceExhausted("the device is out of memory", {.reason = "DEVICE_OUT_OF_MEMORY",
                                                                   .subject = "cpu",
                                                                   .fix = "send shorter samples"});
  };
  AnalyzeCall call(running.channel);
  call.Open(SpecFor());
  for (const char* text : {"abcde", "abc"}) call.Send(TextSample(text));
  call.Close();
  const std::vector<sinks::v1::AnalyzeResponse> all = call.ReadAll();
  ASSERT_EQ(all.size(), 4u);
  const ErrorDetails details = DetailsOf(all[1].sample_error().status());
  EXPECT_EQ(details.status.code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(details.quota);
  EXPECT_EQ(all[3].summary().samples(), 1);
  EXPECT_TRUE(call.Finish().ok());
}

TEST(AnalyzeErrors, AnExceptionIsOneSamplesError) {
  RunningServer running;
  running.catalog.runner->before_run = [](const TokenIds& ids, std::stop_token) -> absl::Status {
    if (ids.size() == 3) throw std::bad_alloc();
    if (ids.size() == 4) throw std::length_error("a vector of vast length");
    return absl::OkStatus();
  };
  AnalyzeCall call(running.channel);
  call.Open(SpecFor());
  for (const char* const text : {"first", "two", "four", "the last"}) call.Send(TextSample(text));
  call.Close();
  const std::vector<sinks::v1::AnalyzeResponse> all = call.ReadAll();
  EXPECT_TRUE(call.Finish().ok());
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all[1].record().sample_index(), 0);
  EXPECT_EQ(all[2].sample_error().status().code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(all[3].sample_error().status().code(), grpc::StatusCode::INTERNAL);
  EXPECT_EQ(all[4].record().sample_index(), 3);
}

TEST(AnalyzeErrors, FailFastEndsTheStreamWithTheFirstBadSamplesError) {
  RunningServer running;
  AnalyzeCall call(running.channel);
  sinks::v1::AnalysisSpec spec = SpecFor();
  spec.set_fail_fast(true);
  call.Open(spec);
  call.Send(TextSample("fine"));
  call.Send(TextSample("", "bad"));
  call.Send(TextSample("never"));
  const std::vector<sinks::v1::AnalyzeResponse> all = call.ReadAll();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_TRUE(all[1].has_record());
  const grpc::Status status = call.Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), ::testing::StartsWith("sample 1 (bad): "));
  EXPECT_EQ(DetailsOf(status).info->reason(), "SAMPLE_EMPTY");
  EXPECT_TRUE(DetailsOf(status).bad_request);
}

struct BadMessages {
  const char* name;
  const char* reason;
  std::function<void(AnalyzeCall&)> send;
};

class AnalyzeMessageOutOfPlace : public ::testing::TestWithParam<BadMessages> {};

TEST_P(AnalyzeMessageOutOfPlace, EndsTheStream) {
  RunningServer running;
  AnalyzeCall call(running.channel);
  GetParam().send(call);
  const grpc::Status status = call.Drain();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  const ErrorDetails details = DetailsOf(status);
  EXPECT_EQ(details.info->reason(), GetParam().reason);
  EXPECT_TRUE(details.bad_request);
}

INSTANTIATE_TEST_SUITE_P(Messages, AnalyzeMessageOutOfPlace,
                         ::testing::Values(BadMessages{"SampleFirst", "SPEC_MISSING",
                                                       [](AnalyzeCall& call) {
                                                         call.OpenWithout();
                                                         call.Send(TextSample("a"));
                                                       }},
                                           BadMessages{"Nothing", "SPEC_MISSING",
                                                       [](AnalyzeCall& call) {
                                                         call.OpenWithout();
                                                         call.Close();
                                                       }},
                                           BadMessages{"EmptyFirst", "EMPTY_MESSAGE",
                                                       [](AnalyzeCall& call) {
                                                         call.OpenWithout();
                                                         call.Send(sinks::v1::AnalyzeRequest());
                                                       }},
                                           BadMessages{"EmptyLater", "EMPTY_MESSAGE",
                                                       [](AnalyzeCall& call) {
                                                         call.Open(SpecFor());
                                                         call.Send(sinks::v1::AnalyzeRequest());
                                                       }},
                                           BadMessages{"SpecTwice", "SPEC_TWICE",
                                                       [](AnalyzeCall& call) {
                                                         call.Open(SpecFor());
                                                         sinks::v1::AnalyzeRequest again;
                                                         *again.mutable_spec() = SpecFor();
                                                         call.Send(again);
                                                       }},
                                           BadMessages{"SpecNotUtf8", "MALFORMED_MESSAGE",
                                                       [](AnalyzeCall& call) {
                                                         call.Open(SpecFor("models/\xff"));
                                                       }},
                                           BadMessages{"BadParameter", "UNKNOWN_ENUM_VALUE",
                                                       [](AnalyzeCall& call) {
                                                         sinks::v1::AnalysisSpec spec = SpecFor();
                                                         spec.mutable_detection()->set_kind_rule(
                                                             static_cast<sinks::v1::KindRule>(9));
                                                         call.Open(spec);
                                                       }}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(AnalyzeErrors, AModelThatIsNotThereIsNotFound) {
  RunningServer running;
  AnalyzeCall call(running.channel);
  call.Open(SpecFor("models/none"));
  const grpc::Status status = call.Drain();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(DetailsOf(status).resource->resource_name(), "models/none");
}

TEST(AnalyzeErrors, AModelThatIsNotLoadedIsAFailedPrecondition) {
  RunningServer running;
  AnalyzeCall call(running.channel);
  call.Open(SpecFor("models/disk"));
  const grpc::Status status = call.Drain();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(DetailsOf(status).precondition->violations(0).type(), "MODEL_NOT_LOADED");
}

TEST(AnalyzeErrors, AModelOfOneBlockIsRefused) {
  RunningServer running;
  running.catalog.runner->info_.spec.blocks = 1;
  AnalyzeCall call(running.channel);
  call.Open(SpecFor());
  EXPECT_EQ(DetailsOf(call.Drain()).info->reason(), "MODEL_TOO_SHALLOW");
}

TEST(AnalyzeErrors, AFullQueueRefusesTheNextStreamAndSaysWhenToRetry) {
  RunningServer running({.max_queue = 10, .limits = {.read_ahead = 8}});
  AnalyzeCall first(running.channel);
  first.Open(SpecFor());
  ASSERT_TRUE(first.ReadAnswer()->has_started());
  AnalyzeCall second(running.channel);
  second.Open(SpecFor());
  const grpc::Status status = second.Drain();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(DetailsOf(status).info->reason(), "QUEUE_FULL");
  EXPECT_TRUE(DetailsOf(status).quota);
  EXPECT_GE(DetailsOf(status).retry->retry_delay().seconds(), 1);
  first.Close();
  EXPECT_TRUE(first.Drain().ok());
}

TEST(AnalyzeErrors, TooManyStreamsAreRefused) {
  RunningServer running({.max_streams = 1});
  AnalyzeCall first(running.channel);
  first.Open(SpecFor());
  ASSERT_TRUE(first.ReadAnswer()->has_started());
  AnalyzeCall second(running.channel);
  second.Open(SpecFor());
  const grpc::Status status = second.Drain();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(DetailsOf(status).info->reason(), "TOO_MANY_STREAMS");
  EXPECT_TRUE(DetailsOf(status).quota && DetailsOf(status).retry);
  first.Close();
  EXPECT_TRUE(first.Drain().ok());
}

TEST(AnalyzeErrors, OneCallerCannotTakeAllStreams) {
  RunningServer running({.max_streams = 4, .max_caller_percent = 50});
  AnalyzeCall first(running.channel);
  AnalyzeCall second(running.channel);
  for (AnalyzeCall* call : {&first, &second}) {
    call->Open(SpecFor());
    ASSERT_TRUE(call->ReadAnswer()->has_started());
  }
  AnalyzeCall third(running.channel);
  third.Open(SpecFor());
  const grpc::Status status = third.Drain();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(DetailsOf(status).info->reason(), "CALLER_LIMIT");
  EXPECT_TRUE(DetailsOf(status).quota && DetailsOf(status).retry);
  for (AnalyzeCall* call : {&first, &second}) {
    call->Close();
    EXPECT_TRUE(call->Drain().ok());
  }
}

TEST(AnalyzeErrors, OneCallerCannotTakeTheWholeQueue) {
  RunningServer running({.max_queue = 24, .max_caller_percent = 50, .limits = {.read_ahead = 8}});
  AnalyzeCall first(running.channel);
  AnalyzeCall second(running.channel);  // begins below the bound, and goes over it
  for (AnalyzeCall* call : {&first, &second}) {
    call->Open(SpecFor());
    ASSERT_TRUE(call->ReadAnswer()->has_started());
  }
  AnalyzeCall third(running.channel);
  third.Open(SpecFor());
  EXPECT_EQ(DetailsOf(third.Drain()).info->reason(), "CALLER_LIMIT");
  for (AnalyzeCall* call : {&first, &second}) {
    call->Close();
    EXPECT_TRUE(call->Drain().ok());
  }
}

TEST(AnalyzeErrors, AMessageOverTheLimitEndsTheCallAndNotTheServer) {
  RunningServer running({.max_message_bytes = 1 << 16});
  AnalyzeCall call(running.channel);
  call.Open(SpecFor());
  call.Send(TextSample(std::string(1 << 17, 'a')));
  call.Close();
  EXPECT_EQ(call.Drain().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  AnalyzeCall next(running.channel);
  next.Open(SpecFor());
  next.Close();
  EXPECT_TRUE(next.Drain().ok());
}

}  // namespace
}  // namespace sinkd
