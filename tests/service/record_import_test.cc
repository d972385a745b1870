#include "server/service/runs/record_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error_details.h"
#include "run_store_fixture.h"

namespace sinkd {
namespace {

namespace v1 = ::sinks::v1;
using testing::DetailsOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TextSample;

// Two rows of one sample_index, as files joined from several runs have them.
constexpr const char* kRows[] = {
    R"({"candidate_sinks": {"0": {"layer": [1, 2, 3, 4], "token_id": 5, "sink_type": "bos_sink"}, "7": {"layer": [2, 3], "token_id": 6, "sink_type": "secondary"}},)",
    R"( "sample_index": 3, "prompt_len": 4, "response_len": 6, "full_text_len": 10})"};

std::string Row() {
  return std::string(kRows[0]) + kRows[1];
}

class RecordImportTest : public testing::KeptRuns {
 protected:
  v1::ImportRecordsResponse Import(const std::vector<v1::ImportRecordsRequest>& requests) {
    grpc::ClientContext context;
    v1::ImportRecordsResponse response;
    const auto stream = runs_.ImportRecords(&context, &response);
    for (const v1::ImportRecordsRequest& request : requests) {
      if (!stream->Write(request)) break;
    }
    stream->WritesDone();
    status_ = stream->Finish();
    return response;
  }

  // What `run` exports, headed for `to`.
  std::vector<v1::ImportRecordsRequest> Exported(const std::string& run, const std::string& to) {
    std::vector<v1::ImportRecordsRequest> requests(1);
    requests[0].mutable_header()->set_run_id(to);
    *requests[0].mutable_header()->mutable_spec() = RunSpec("");
    grpc::ClientContext context;
    v1::StreamRecordsRequest request;
    request.set_name("runs/" + run);
    request.set_include_token_ids(true);
    const auto stream = runs_.StreamRecords(&context, request);
    v1::StreamRecordsResponse response;
    while (stream->Read(&response)) {
      *requests.emplace_back().mutable_records() = response.records();
    }
    EXPECT_TRUE(stream->Finish().ok());
    return requests;
  }

  static v1::ImportRecordsRequest PublishedHeader(const std::string& run) {
    v1::ImportRecordsRequest request;
    v1::ImportHeader* header = request.mutable_header();
    header->set_run_id(run);
    header->mutable_spec()->set_model("models/elsewhere");
    header->mutable_spec()->mutable_levels();
    header->set_format(v1::IMPORT_FORMAT_PUBLISHED_ROWS);
    header->set_layers(6);
    return request;
  }

  std::string Reason() const { return DetailsOf(status_).info->reason(); }

  grpc::Status status_;
};

TEST_F(RecordImportTest, WhatWasExportedComesInAgainAsItWas) {
  ASSERT_TRUE(Analyze(RunSpec("a"),
                      {TextSample("a!b", "one"), TextSample("", "bad"), TextSample("c!d!", "two")})
                  .status.ok());
  const v1::ImportRecordsResponse response = Import(Exported("a", "b"));
  ASSERT_TRUE(status_.ok()) << status_.error_message();
  EXPECT_EQ(response.imported(), 3);
  EXPECT_EQ(response.run().state(), v1::RUN_STATE_COMPLETE);
  const std::vector<Record> before = Stored("a"), after = Stored("b");
  ASSERT_EQ(after.size(), 3u);
  for (size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(after[i].sample_key, before[i].sample_key);
    EXPECT_EQ(after[i].payload, before[i].payload);
    EXPECT_EQ(after[i].failed, before[i].failed);
  }
  EXPECT_EQ(store_.Get("b")->counts, store_.Get("a")->counts);
}

TEST_F(RecordImportTest, SendingAllAgainAddsNothing) {
  ASSERT_TRUE(Analyze(RunSpec("a"), {TextSample("a!b"), TextSample("c")}).status.ok());
  Import(Exported("a", "b"));
  const v1::ImportRecordsResponse again = Import(Exported("a", "b"));
  ASSERT_TRUE(status_.ok()) << status_.error_message();
  EXPECT_EQ(again.imported(), 0);
  EXPECT_EQ(again.already_there(), 2);
  EXPECT_EQ(again.run().samples(), 2);
}

TEST_F(RecordImportTest, OfModelsOfDifferentDepthSamplesAndTokensAreSummedUp) {
  v1::SummarizeRunsRequest request;
  request.mutable_filter();
  for (const int layers : {6, 7}) {
    v1::ImportRecordsRequest header = PublishedHeader("of-" + std::to_string(layers)), lines;
    header.mutable_header()->set_layers(layers);
    lines.add_lines(Row());
    Import({header, lines});
    ASSERT_TRUE(status_.ok()) << status_.error_message();
  }
  for (const bool common : {false, true}) {
    request.set_common(common);
    grpc::ClientContext context;
    const auto stream = runs_.SummarizeRuns(&context, request);
    v1::SummarizeRunsResponse response;
    EXPECT_EQ(stream->Read(&response), common);
    status_ = stream->Finish();
    EXPECT_EQ(status_.ok(), common) << status_.error_message();
    EXPECT_EQ(response.summary().samples(), common ? 2 : 0);
    EXPECT_EQ(response.summary().positions(), common ? 20 : 0);
    EXPECT_EQ(response.summary().notes_size(), common ? 1 : 0);
    EXPECT_FALSE(response.summary().has_levels());
  }
}

TEST_F(RecordImportTest, PublishedRowsBecomeRecordsUnderTheNumberOfTheirSample) {
  v1::ImportRecordsRequest lines;
  for (int i = 0; i < 2; ++i) lines.add_lines(Row());
  lines.add_lines(" ");
  const v1::ImportRecordsResponse response = Import({PublishedHeader("rows"), lines});
  ASSERT_TRUE(status_.ok()) << status_.error_message();
  EXPECT_EQ(response.run().samples(), 2);
  EXPECT_EQ(response.run().tokens(), 20);
  EXPECT_EQ(response.run().secondary_sinks(), 2);
  std::vector<std::string> keys;
  for (const Record& record : Stored("rows")) keys.push_back(record.sample_key);
  EXPECT_THAT(keys, ElementsAre("row-3", "row-3-2"));
  EXPECT_EQ(Import({PublishedHeader("rows"), lines}).already_there(), 2);
}

TEST_F(RecordImportTest, ABadLineIsNamedAndWhatCameBeforeStays) {
  v1::ImportRecordsRequest good, bad;
  good.add_lines(Row());
  bad.add_lines(Row());
  bad.add_lines("{}");
  Import({PublishedHeader("rows"), good, bad});
  EXPECT_EQ(Reason(), "BAD_PUBLISHED_ROW");
  EXPECT_THAT(status_.error_message(), HasSubstr("line 3"));
  EXPECT_EQ(store_.Get("rows")->counts.samples, 1);
  EXPECT_EQ(store_.Get("rows")->state, RunState::kOpen);
}

TEST_F(RecordImportTest, RowsAreNotAskedForWhatTheyDoNotTell) {
  v1::ImportRecordsRequest header = PublishedHeader("rows");
  header.mutable_header()->mutable_spec()->mutable_regression();
  Import({header});
  EXPECT_EQ(Reason(), "BAD_IMPORT_HEADER");
  header = PublishedHeader("rows");
  header.mutable_header()->clear_layers();
  Import({header});
  EXPECT_EQ(Reason(), "BAD_IMPORT_HEADER");
}

TEST_F(RecordImportTest, RecordsOfAnotherDepthGoIntoNoRunOfThisOne) {
  ASSERT_TRUE(Analyze(RunSpec("a"), {TextSample("a!b", "one")}).status.ok());
  std::vector<v1::ImportRecordsRequest> requests = Exported("a", "a");
  v1::StoredRecord& record = *requests[1].mutable_records(0);
  record.set_sample_key("other");
  record.mutable_record()->set_layers(7);
  Import(requests);
  EXPECT_EQ(Reason(), "LAYERS_DIFFER");
}

TEST_F(RecordImportTest, AnotherRecordUnderAKeyThatIsThereIsAnErrorOrTakesItsPlace) {
  ASSERT_TRUE(
      Analyze(RunSpec("a"), {TextSample("a!b", "one"), TextSample("c", "two")}).status.ok());
  std::vector<v1::ImportRecordsRequest> requests = Exported("a", "b");
  Import(requests);
  ASSERT_TRUE(status_.ok()) << status_.error_message();
  requests[1].mutable_records(0)->set_input_digest(std::string(32, 'd'));
  Import(requests);
  EXPECT_EQ(status_.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(Reason(), "SAMPLE_DIFFERS");
  EXPECT_THAT(status_.error_message(), HasSubstr("one"));
  requests[0].mutable_header()->set_replace(true);
  const v1::ImportRecordsResponse response = Import(requests);
  ASSERT_TRUE(status_.ok()) << status_.error_message();
  EXPECT_EQ(response.replaced(), 1);
  EXPECT_EQ(response.already_there(), 1);
  EXPECT_EQ(response.run().samples(), 2);
  EXPECT_EQ(response.run().samples_without_digest(), 0);
}

TEST_F(RecordImportTest, AnotherRowUnderANumberThatIsThereIsAnError) {
  v1::ImportRecordsRequest lines;
  lines.add_lines(Row());
  Import({PublishedHeader("rows"), lines});
  ASSERT_TRUE(status_.ok()) << status_.error_message();
  std::string other = Row();
  other.replace(other.find("\"token_id\": 6"), 13, "\"token_id\": 7");
  lines.set_lines(0, other);
  Import({PublishedHeader("rows"), lines});
  EXPECT_EQ(Reason(), "SAMPLE_DIFFERS");
}

TEST_F(RecordImportTest, ARecordThatContradictsItselfIsRefused) {
  ASSERT_TRUE(Analyze(RunSpec("a"), {TextSample("a!b", "one")}).status.ok());
  std::vector<v1::ImportRecordsRequest> requests = Exported("a", "b");
  requests[1].mutable_records(0)->mutable_record()->mutable_sinks(0)->set_position(-1);
  Import(requests);
  EXPECT_EQ(Reason(), "INCONSISTENT_RECORD");
  requests = Exported("a", "b");
  requests[1].mutable_records(0)->clear_outcome();
  Import(requests);
  EXPECT_EQ(Reason(), "BAD_STORED_RECORD");
  requests = Exported("a", "b");
  requests[1].mutable_records(0)->mutable_token_ids()->add_ids(1);
  Import(requests);
  EXPECT_EQ(Reason(), "BAD_STORED_RECORD");
  requests = Exported("a", "b");
  requests[1].mutable_records(0)->mutable_token_ids()->set_ids(0, -1);
  Import(requests);
  EXPECT_EQ(Reason(), "BAD_STORED_RECORD");
  EXPECT_THAT(status_.error_message(), HasSubstr("-1"));
  requests = Exported("a", "b");
  requests[1].mutable_records(0)->set_input_digest("short");
  Import(requests);
  EXPECT_EQ(Reason(), "BAD_STORED_RECORD");
  requests = Exported("a", "b");
  requests[1].mutable_records(0)->clear_token_ids();
  requests[1].mutable_records(0)->mutable_error()->set_sample_index(-1);
  Import(requests);
  EXPECT_EQ(Reason(), "BAD_STORED_RECORD");
  requests[1].mutable_records(0)->mutable_error()->set_sample_index(1);
  Import(requests);
  EXPECT_EQ(Reason(), "BAD_STORED_RECORD");  // an error whose code is OK
}

TEST_F(RecordImportTest, TheHeaderComesFirstAndOnce) {
  v1::ImportRecordsRequest lines;
  lines.add_lines(Row());
  Import({lines});
  EXPECT_EQ(Reason(), "IMPORT_MESSAGE_OUT_OF_PLACE");
  Import({});
  EXPECT_EQ(Reason(), "IMPORT_MESSAGE_OUT_OF_PLACE");
  Import({PublishedHeader("rows"), PublishedHeader("rows")});
  EXPECT_EQ(Reason(), "IMPORT_MESSAGE_OUT_OF_PLACE");
  v1::ImportRecordsRequest records;
  records.add_records()->set_sample_key("k");
  Import({PublishedHeader("rows"), records});
  EXPECT_EQ(Reason(), "IMPORT_MESSAGE_OUT_OF_PLACE");
}

}  // namespace
}  // namespace sinkd
