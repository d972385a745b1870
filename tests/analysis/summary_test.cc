// Summaries against scipy and numpy on the oracle's records, and their merge property.
#include "server/analysis/summary.h"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <map>
#include <random>

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>

#include "server/analysis/record_builder.h"
#include "tests/analysis/oracle_file.h"

namespace sinkd {
namespace {

using google::protobuf::util::MessageDifferencer;

double g_largest = 0;

void ExpectClose(double ours, const Json& expected, double tolerance = 1e-12) {
  const double wanted = expected.get<double>();
  const double difference =
      ours == wanted
          ? 0
          : std::fabs(ours - wanted) / std::max({std::fabs(ours), std::fabs(wanted), 1e-2});
  EXPECT_LE(difference, tolerance) << ours << " vs " << wanted;
  g_largest = std::max(g_largest, difference);
}

void ExpectClose(bool has_value, double ours, const Json& expected) {
  ASSERT_EQ(has_value, !expected.is_null());
  if (has_value) ExpectClose(ours, expected);
}

void Assign(const Json& from, google::protobuf::RepeatedField<float>* to) {
  const auto values = from.get<std::vector<float>>();
  to->Assign(values.begin(), values.end());
}

// The records of a group. Compensation curves and masses of learned sinks are the oracle's, so that
// the last bit of a float32 does not decide how exactly the reports can be compared.
std::vector<v1::SampleRecord> RecordsOf(const v1::AnalysisSpec& spec, const Json& group) {
  std::vector<v1::SampleRecord> records;
  for (const Json& sample : group["samples"]) {
    auto record = RecordOf(spec, sample);
    EXPECT_TRUE(record.ok()) << record.status();
    const Json& curves = sample["record"]["compensation"];
    v1::CompensationCurves& compensation = *record->mutable_compensation();
    Assign(curves["primary"], compensation.mutable_primary());
    Assign(curves["secondary"], compensation.mutable_secondary());
    Assign(curves["rest"], compensation.mutable_rest());
    Assign(curves["primary_norm"], compensation.mutable_primary_norm());
    Assign(sample["record"]["learned_sink_mass"], record->mutable_learned_sink_mass());
    records.push_back(*std::move(record));
  }
  return records;
}

Summary Fold(const v1::AnalysisSpec& spec, const std::vector<v1::SampleRecord>& records) {
  Summary summary(spec);
  for (const v1::SampleRecord& record : records) {
    EXPECT_TRUE(summary.Add(record).ok());
  }
  return summary;
}

void CompareStatistics(const v1::ScoreStatistics& s, const Json& e) {
  EXPECT_EQ(s.count(), e["count"]);
  EXPECT_EQ(s.undefined(), e["undefined"]);
  ExpectClose(s.mean(), e["mean"]);
  ExpectClose(s.deviation(), e["deviation"]);
  ExpectClose(s.minimum(), e["minimum"]);
  ExpectClose(s.maximum(), e["maximum"]);
}

// Integers of a report.
template <typename Values>
Json ListOf(const Values& values) {
  Json list = Json::array();
  for (const auto value : values) list.push_back(value);
  return list;
}

// As the oracle writes a map by block.
Json MapOf(const google::protobuf::Map<int32_t, int64_t>& map) {
  return std::map<int32_t, int64_t>(map.begin(), map.end());
}

Json CountsOf(const v1::LevelReport& levels) {
  Json counts = Json::array();
  for (const v1::LevelCount& c : levels.counts()) {
    counts.push_back({c.l_start(), c.lifetime(), NameOf(c.kind()), c.count()});
  }
  return counts;
}

void CompareLevels(const v1::LevelReport& levels, const Json& e) {
  EXPECT_EQ(CountsOf(levels), e["counts"]);
  EXPECT_EQ(levels.primary(), e["primary"]);
  EXPECT_EQ(levels.secondary(), e["secondary"]);
  EXPECT_EQ(levels.noise(), e["noise"]);
  EXPECT_EQ(levels.positions(), e["positions"]);
  EXPECT_EQ(levels.samples_with_secondary(), e["samples_with_secondary"]);
  EXPECT_EQ(levels.distinct_levels(), e["distinct_levels"]);
  ExpectClose(levels.secondary_per_1000_tokens(), e["secondary_per_1000_tokens"]);
  ExpectClose(levels.share_of_samples_with_secondary(), e["share"]);
  ExpectClose(levels.has_entropy(), levels.entropy(), e["entropy"]);
  ExpectClose(levels.has_normalized_entropy(), levels.normalized_entropy(),
              e["normalized_entropy"]);
  Json tokens = Json::array();
  for (const v1::TokenCount& t : levels.top_tokens()) {
    tokens.push_back({t.token_id(), t.count()});
    EXPECT_EQ(t.text(), "token " + std::to_string(t.token_id()));
  }
  EXPECT_EQ(tokens, e["top_tokens"]);
  EXPECT_EQ(ListOf(levels.position_bins()), e["position_bins"]);
}

void CompareSinkRate(const v1::SinkRateReport& rate, const Json& e) {
  EXPECT_EQ(rate.samples(), e["samples"]);
  EXPECT_EQ(rate.left_out(), e["left_out"]);
  EXPECT_EQ(ListOf(rate.hits()), e["hits"]);
  EXPECT_EQ(ListOf(rate.cells()), e["cells"]);
  EXPECT_EQ(ListOf(rate.rates()), e["rates"]);
}

void ComparePoints(const google::protobuf::RepeatedPtrField<v1::RegressionPoint>& points,
                   const Json& e) {
  ASSERT_EQ(points.size(), std::ssize(e));
  for (int i = 0; i < points.size(); ++i) {
    ExpectClose(points[i].x(), e[static_cast<size_t>(i)][0]);
    ExpectClose(points[i].y(), e[static_cast<size_t>(i)][1]);
  }
}

void CompareRegression(const v1::RegressionReport& regression, const Json& e) {
  ComparePoints(regression.score_points(), e["score_points"]);
  ComparePoints(regression.lifetime_points(), e["lifetime_points"]);
  EXPECT_EQ(regression.without_score(), e["without_score"]);
  if (e["headline"].empty()) return;
  const v1::Fit& fit = regression.score().fits(0);
  ExpectClose(fit.slope().value(), e["headline"]["slope"], 1e-10);
  ExpectClose(fit.intercept().value(), e["headline"]["intercept"], 1e-10);
  ASSERT_EQ(fit.slope().has_p(), !e["headline"]["p"].is_null());
  if (fit.slope().has_p()) ExpectClose(fit.slope().p(), e["headline"]["p"], 1e-10);
}

void CompareInterval(bool has_interval, const v1::Interval& interval, const Json& e) {
  ASSERT_TRUE(has_interval);
  ExpectClose(interval.lower(), e[0], 1e-10);
  ExpectClose(interval.upper(), e[1], 1e-10);
}

void CompareCompensation(const v1::CompensationReport& report, const Json& e) {
  EXPECT_EQ(report.samples(), e["samples"]);
  EXPECT_EQ(MapOf(report.weakest_block()), e["weakest_block"]);
  EXPECT_EQ(MapOf(report.start_minus_weakest()), e["start_minus_weakest"]);
  for (int i = 0; i < report.blocks_size(); ++i) {
    const v1::BlockCompensation& block = report.blocks(i);
    const auto l = static_cast<size_t>(i);
    ExpectClose(block.has_primary(), block.primary(), e["means"]["primary"][l]);
    ExpectClose(block.has_secondary(), block.secondary(), e["means"]["secondary"][l]);
    ExpectClose(block.has_rest(), block.rest(), e["means"]["rest"][l]);
    ExpectClose(block.primary_norm(), e["means"]["primary_norm"][l]);
    CompareInterval(block.has_primary_interval(), block.primary_interval(),
                    e["primary_intervals"][l]);
    CompareInterval(block.has_secondary_interval(), block.secondary_interval(),
                    e["secondary_intervals"][l]);
  }
  ASSERT_EQ(!report.pearson().has_undefined(), e.contains("pearson"));
  if (!e.contains("pearson")) return;
  ExpectClose(report.pearson().value(), e["pearson"][0], 1e-10);
  ExpectClose(report.pearson().p(), e["pearson"][1], 1e-9);
  ExpectClose(report.spearman().value(), e["spearman"][0], 1e-10);
  ExpectClose(report.spearman().p(), e["spearman"][1], 1e-9);
  CompareInterval(report.has_pearson_interval(), report.pearson_interval(), e["pearson_interval"]);
  CompareInterval(report.has_spearman_interval(), report.spearman_interval(),
                  e["spearman_interval"]);
}

void CompareLearnedSinks(const v1::Summary& report, const Json& e) {
  ASSERT_EQ(report.has_learned_sinks(), !e.is_null());
  if (!report.has_learned_sinks()) return;
  EXPECT_EQ(report.learned_sinks().samples(), e["samples"]);
  ASSERT_EQ(report.learned_sinks().mass_size(), std::ssize(e["mass"]));
  for (int l = 0; l < report.learned_sinks().mass_size(); ++l) {
    ExpectClose(report.learned_sinks().mass(l), e["mass"][static_cast<size_t>(l)]);
  }
}

Json PlacesOf(const google::protobuf::RepeatedPtrField<v1::HeadPlace>& places) {
  Json list = Json::array();
  for (const v1::HeadPlace& place : places) list.push_back({place.block(), place.head()});
  return list;
}

void CompareHeads(const v1::HeadReport& heads, const Json& e) {
  constexpr double kFloat32 = 2e-6;  // of records' values
  EXPECT_EQ(heads.samples(), e["samples"]);
  EXPECT_EQ(heads.left_out(), e["left_out"]);
  EXPECT_EQ(heads.samples_with_secondary(), e["samples_with_secondary"]);
  const auto means = HeadMeansOf<double>(heads);
  ASSERT_EQ(means.size(), e["means"].size());
  for (const auto& [name, values] : means) {
    ASSERT_EQ(values.size(), e["means"][name].size()) << name;
    for (size_t i = 0; i < values.size(); ++i) {
      ExpectClose(values[i], e["means"][name][i], kFloat32);
    }
  }
  for (int i = 0; i < heads.primary_value_share_size(); ++i) {
    ExpectClose(heads.primary_value_share(i), e["primary_value_share"][static_cast<size_t>(i)],
                kFloat32);
  }
  EXPECT_EQ(PlacesOf(heads.dormant()), e["dormant"]);
  EXPECT_EQ(PlacesOf(heads.collapsed()), e["collapsed"]);
  EXPECT_EQ(PlacesOf(heads.focused()), e["focused"]);
}

TEST(Summary, EqualsNumpyAndScipyOnTheSameRecords) {
  const Json oracle = ReadOracle("traces.json");
  for (const Json& group : oracle["groups"]) {
    SCOPED_TRACE(group["name"].get<std::string>());
    const v1::AnalysisSpec spec = SpecOf(group["spec"]);
    const v1::Summary report = Fold(spec, RecordsOf(spec, group)).Report();
    const Json& e = group["summary"];
    EXPECT_EQ(report.samples(), e["samples"]);
    EXPECT_EQ(report.positions(), e["positions"]);
    EXPECT_EQ(report.undecided_samples(), e["undecided"]);
    ASSERT_EQ(report.has_scores(), spec.has_scores());
    if (report.has_scores()) {
      CompareStatistics(report.scores().primary_position(), e["scores"]["primary_position"]);
      for (int i = 0; i < 3; ++i) {
        CompareStatistics(report.scores().by_kind(i),
                          e["scores"]["by_kind"][static_cast<size_t>(i)]);
      }
    }
    CompareSinkRate(report.sink_rate(), e["sink_rate"]);
    CompareLevels(report.levels(), e["levels"]);
    CompareRegression(report.regression(), e["regression"]);
    CompareCompensation(report.compensation(), e["compensation"]);
    CompareLearnedSinks(report, e["learned_sinks"]);
    CompareHeads(report.heads(), e["heads"]);
  }
  std::cout << oracle["groups"].size() << " summaries, largest difference " << g_largest << "\n";
}

// The records in a random order, split over shards, the shards merged in a random order.
Summary MergedAtRandom(const v1::AnalysisSpec& spec, std::vector<v1::SampleRecord> records,
                       std::mt19937_64& random) {
  std::shuffle(records.begin(), records.end(), random);
  std::vector<Summary> shards(1 + random() % 5, Summary(spec));
  for (const v1::SampleRecord& record : records) {
    EXPECT_TRUE(shards[random() % shards.size()].Add(record).ok());
  }
  std::shuffle(shards.begin(), shards.end(), random);
  Summary whole(spec);
  for (const Summary& shard : shards) EXPECT_TRUE(whole.Merge(shard).ok());
  return whole;
}

TEST(Summary, OfAUnionIsTheMergeOfSummaries) {
  std::mt19937_64 random(5);
  int splits = 0;
  const Json oracle = ReadOracle("traces.json");
  for (const Json& group : oracle["groups"]) {
    SCOPED_TRACE(group["name"].get<std::string>());
    const v1::AnalysisSpec spec = SpecOf(group["spec"]);
    const std::vector<v1::SampleRecord> records = RecordsOf(spec, group);
    const v1::Summary whole = Fold(spec, records).Report();
    for (int i = 0; i < 20; ++i, ++splits) {
      const v1::Summary merged = MergedAtRandom(spec, records, random).Report();
      std::string difference;
      MessageDifferencer differ;  // to the last bit
      differ.ReportDifferencesToString(&difference);
      EXPECT_TRUE(differ.Compare(merged, whole)) << difference;
    }
  }
  EXPECT_GE(splits, 240);
  std::cout << splits << " random splits\n";
}

TEST(Summary, SaysWhenRecordsWereComputedDifferently) {
  const Json oracle = ReadOracle("traces.json");
  const v1::AnalysisSpec spec = SpecOf(oracle["groups"][0]["spec"]);
  std::vector<v1::SampleRecord> records = RecordsOf(spec, oracle["groups"][0]);
  ASSERT_GE(records.size(), 2u);
  for (v1::SampleRecord& record : records) record.set_arithmetic("float32 by MKL (AVX512)");
  const auto notes_of = [](const Summary& summary) {
    const v1::Summary report = summary.Report();
    return std::vector<std::string>(report.notes().begin(), report.notes().end());
  };
  const std::vector<std::string> notes = notes_of(Fold(spec, records));
  records.back().set_arithmetic("float32 by oneDNN (AVX2)");
  Summary merged = Fold(spec, {records.begin(), records.end() - 1});
  EXPECT_EQ(notes_of(merged), notes);
  ASSERT_TRUE(merged.Merge(Fold(spec, {records.back()})).ok());
  const std::vector<std::string> more = notes_of(merged);
  ASSERT_EQ(more.size(), notes.size() + 1);
  const std::string rest = std::to_string(records.size() - 1);
  EXPECT_THAT(more, ::testing::Contains(
                        "the samples were computed in different arithmetic, so last "
                        "digits may differ: " +
                        rest + " in float32 by MKL (AVX512); 1 in float32 by oneDNN (AVX2)"));
}

}  // namespace
}  // namespace sinkd
