// Published detection rows: the published histograms come back, and the kind rules label every row
// as published. The files are read where they are present; a small table of our own stands in
// otherwise.
#include "server/analysis/published_rows.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <ostream>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/analysis/summary.h"
#include "server/base/status.h"
#include "tests/analysis/spec_text.h"

namespace sinkd {
namespace {

using testing::HasSubstr;
using Histogram = std::map<std::tuple<int32_t, int32_t, v1::SinkKind>, int64_t>;

constexpr v1::SinkKind kPrimary = v1::SINK_KIND_PRIMARY, kSecondary = v1::SINK_KIND_SECONDARY,
                       kNoise = v1::SINK_KIND_NOISE;

std::filesystem::path Fixture(const std::string& name) {
  const char* folder = std::getenv("SINKD_FIXTURES");
  const std::filesystem::path fallback =
      std::filesystem::path(SINKD_SOURCE_DIR) / ".." / "shared" / "fixtures";
  return (folder != nullptr ? std::filesystem::path(folder) : fallback) / name;
}

// What the rows of a file come to.
struct Reading {
  Histogram histogram;
  int64_t labelled = 0;  // sinks whose kind is the published one
  int64_t labels = 0;
  v1::LevelReport levels;
};

Reading Read(std::istream& lines, const PublishedRowFormat& format) {
  Summary summary(SpecFrom("levels { include_primary_position: true }"));
  Reading reading;
  std::string line;
  for (int64_t number = 1; std::getline(lines, line); ++number) {
    const auto row = ParsePublishedRow(line, number, format);
    EXPECT_TRUE(row.ok()) << row.status();
    if (!row.ok()) continue;
    EXPECT_TRUE(summary.Add(row->record).ok());
    std::vector<v1::Sink> sinks(row->record.sinks().begin(), row->record.sinks().end());
    sinks.push_back(row->record.primary());
    EXPECT_EQ(sinks.size(), row->labels.size());
    for (const v1::Sink& sink : sinks) {
      const auto kind = KindOfPublishedLabel(row->labels.at(sink.position()));
      EXPECT_TRUE(kind.ok()) << kind.status();
      ++reading.labels;
      if (kind.ok() && *kind == sink.kind()) ++reading.labelled;
    }
  }
  reading.levels = summary.Report().levels();
  for (const v1::LevelCount& c : reading.levels.counts()) {
    reading.histogram[{c.l_start(), c.lifetime(), c.kind()}] = c.count();
  }
  return reading;
}

struct PublishedFile {
  const char* name;
  int64_t layers;
  Histogram histogram;
};
void PrintTo(const PublishedFile& file, std::ostream* out) {
  *out << file.name;
}

class PublishedFiles : public testing::TestWithParam<PublishedFile> {};

TEST_P(PublishedFiles, GiveThePublishedHistogramAndLabels) {
  const std::filesystem::path path = Fixture(GetParam().name);
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no fixture " << GetParam().name;
  for (const v1::KindRule rule : {v1::KIND_RULE_WINDOW, v1::KIND_RULE_PUBLISHED}) {
    std::ifstream file(path);
    const Reading reading = Read(file, {GetParam().layers, rule});
    EXPECT_EQ(reading.histogram, GetParam().histogram);
    EXPECT_EQ(reading.labelled, reading.labels);
    std::cout << GetParam().name << (rule == v1::KIND_RULE_WINDOW ? ", window" : ", published")
              << " rule: " << reading.labelled << " of " << reading.labels
              << " labels as published\n";
  }
}

INSTANTIATE_TEST_SUITE_P(PublishedRows, PublishedFiles,
                         testing::Values(PublishedFile{"deepseek-14b_aime24_n10.jsonl",
                                                       48,
                                                       {{{4, 43, kPrimary}, 900},
                                                        {{22, 23, kSecondary}, 114},
                                                        {{22, 22, kSecondary}, 98},
                                                        {{22, 24, kSecondary}, 45},
                                                        {{22, 21, kSecondary}, 3},
                                                        {{22, 18, kSecondary}, 1},
                                                        {{22, 16, kSecondary}, 1},
                                                        {{22, 3, kNoise}, 5},
                                                        {{22, 4, kNoise}, 2},
                                                        {{22, 2, kNoise}, 1}}},
                                         PublishedFile{"qwen3-4b-base_aime24.jsonl",
                                                       36,
                                                       {{{6, 29, kPrimary}, 30},
                                                        {{16, 18, kSecondary}, 21}}}));

TEST(PublishedRows, OfTheThirdFileAreLabelledAsPublished) {
  const std::filesystem::path path = Fixture("deepseek-14b_aime24_n1.jsonl");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no fixture";
  for (const v1::KindRule rule : {v1::KIND_RULE_WINDOW, v1::KIND_RULE_PUBLISHED}) {
    std::ifstream file(path);
    const Reading reading = Read(file, {48, rule});
    EXPECT_EQ(reading.labelled, reading.labels);
    EXPECT_EQ(reading.labels, 131);
  }
}

std::vector<int32_t> Layers(int32_t first, int32_t count) {
  std::vector<int32_t> layers;
  for (int32_t i = 0; i < count; ++i) layers.push_back(first + i);
  return layers;
}

// Two rows of a 40-layer model whose primary sink lives at layers 3 to 37, in the form of the
// published files.
std::string OwnTable() {
  nlohmann::json first, second;
  const auto sink = [](int32_t start, int32_t lifetime, int32_t token, const char* type) {
    return nlohmann::json{
        {"layer", Layers(start, lifetime)}, {"token_id", token}, {"sink_type", type}};
  };
  first["candidate_sinks"] = {{"0", sink(3, 35, 1, "bos_sink")},
                              {"1", sink(3, 34, 2, "bos_sink")},
                              {"20", sink(18, 17, 220, "cliff")},
                              {"100", sink(18, 4, 220, "noise")},
                              {"9", sink(18, 5, 13, "secondary")}};
  second["candidate_sinks"] = {{"0", sink(3, 35, 1, "bos_sink")}};
  for (nlohmann::json* row : {&first, &second}) {
    row->update(
        {{"sample_index", 4}, {"prompt_len", 50}, {"response_len", 70}, {"full_text_len", 120}});
  }
  return first.dump() + "\n" + second.dump() + "\n";
}

TEST(PublishedRows, OfASmallTableGiveItsHistogramAndLabels) {
  for (const v1::KindRule rule : {v1::KIND_RULE_WINDOW, v1::KIND_RULE_PUBLISHED}) {
    std::istringstream table(OwnTable());
    const Reading reading = Read(table, {40, rule});
    EXPECT_EQ(reading.histogram, (Histogram{{{3, 35, kPrimary}, 2},
                                            {{3, 34, kPrimary}, 1},
                                            {{18, 17, kSecondary}, 1},
                                            {{18, 5, kSecondary}, 1},
                                            {{18, 4, kNoise}, 1}}));
    EXPECT_EQ(reading.labelled, 6);
    EXPECT_EQ(reading.levels.positions(), 240);
    EXPECT_EQ(reading.levels.samples_with_secondary(), 1);
  }
}

TEST(PublishedRows, BecomeRecordsWithSinksInOrder) {
  const std::string table = OwnTable();
  const auto row = ParsePublishedRow(table.substr(0, table.find('\n')), 1, {.layers = 40});
  ASSERT_TRUE(row.ok()) << row.status();
  const v1::SampleRecord& record = row->record;
  EXPECT_EQ(record.sample_index(), 4);
  EXPECT_EQ(record.positions(), 120);
  EXPECT_EQ(record.prompt_tokens(), 50);
  EXPECT_EQ(record.window_start(), 3);
  EXPECT_EQ(record.window_end(), 38);
  ASSERT_EQ(record.sinks_size(), 4);
  EXPECT_EQ(record.sinks(1).position(), 9);  // not in the order of text, where 100 precedes 9
  EXPECT_EQ(record.sinks(3).position(), 100);
  EXPECT_EQ(record.sinks(3).token_id(), 220);
  EXPECT_EQ(row->labels.at(20), "cliff");
}

struct BadRow {
  const char* line;
  const char* message;
};
void PrintTo(const BadRow& row, std::ostream* out) {
  *out << row.message;
}

class BadPublishedRow : public testing::TestWithParam<BadRow> {};

TEST_P(BadPublishedRow, IsNamedWithItsLine) {
  const auto row = ParsePublishedRow(GetParam().line, 17, {.layers = 8});
  ASSERT_EQ(row.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(row.status().message()), HasSubstr("line 17: "));
  EXPECT_THAT(std::string(row.status().message()), HasSubstr(GetParam().message));
  EXPECT_EQ(GetErrorDetail(row.status())->reason, "BAD_PUBLISHED_ROW");
}

#define ROW(candidates)                                                          \
  "{\"sample_index\":0,\"prompt_len\":1,\"response_len\":1,\"full_text_len\":9," \
  "\"candidate_sinks\":" candidates "}"
#define SINK(layers) "{\"layer\":" layers ",\"token_id\":1,\"sink_type\":\"noise\"}"

INSTANTIATE_TEST_SUITE_P(
    PublishedRows, BadPublishedRow,
    testing::Values(
        BadRow{"", "is not valid JSON at line 1, column 1"},
        BadRow{"{\"a\":NaN", "column 6: JSON has no NaN"}, BadRow{"[1]", "must be a JSON object"},
        BadRow{"{}", "sample_index must be an integer"},
        BadRow{"{\"sample_index\":-1}", "sample_index must be an integer"},
        BadRow{"{\"sample_index\":99999999999}", "sample_index must be an integer"},
        BadRow{"{\"sample_index\":1.5}", "sample_index must be an integer"},
        BadRow{"{\"sample_index\":\"1\"}", "sample_index must be an integer"},
        BadRow{ROW("[]"), "candidate_sinks must be an object"},
        BadRow{ROW("{}"), "has no position 0"},
        BadRow{ROW("{\"3\":" SINK("[1]") "}"), "has no position 0"},
        BadRow{ROW("{\"9\":" SINK("[1]") "}"), "candidate_sinks.9 is no position"},
        BadRow{ROW("{\"-1\":" SINK("[1]") "}"), "candidate_sinks.-1 is no position"},
        BadRow{ROW("{\"x\":" SINK("[1]") "}"), "candidate_sinks.x is no position"},
        BadRow{ROW("{\"0\":" SINK("[1]") ",\"00\":" SINK("[1]") "}"), "names a position twice"},
        BadRow{ROW("{\"0\":4}"), "candidate_sinks.0 must be an object"},
        BadRow{ROW("{\"0\":" SINK("[]") "}"), "candidate_sinks.0.layer must be layers"},
        BadRow{ROW("{\"0\":" SINK("[8]") "}"), "from 0 to 7"},
        BadRow{ROW("{\"0\":" SINK("[-1]") "}"), "from 0 to 7"},
        BadRow{ROW("{\"0\":" SINK("[2,2]") "}"), "ascending"},
        BadRow{ROW("{\"0\":" SINK("[3,2]") "}"), "ascending"},
        BadRow{ROW("{\"0\":" SINK("[1.0]") "}"), "must be layers"},
        BadRow{ROW("{\"0\":" SINK("3") "}"), "must be layers"},
        BadRow{ROW("{\"0\":{\"layer\":[1],\"sink_type\":\"noise\"}}"), "token_id must be"},
        BadRow{ROW("{\"0\":{\"layer\":[1],\"token_id\":1}}"), "sink_type must be a string"}));

TEST(PublishedRows, NeedTheModelsDepth) {
  EXPECT_EQ(ParsePublishedRow("{}", 1, {}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(PublishedRows, RefuseAnUnknownLabel) {
  EXPECT_THAT(std::string(KindOfPublishedLabel("sink").status().message()), HasSubstr("got sink"));
}

}  // namespace
}  // namespace sinkd
