// Summaries against scipy and numpy on the oracle's records, and their merge property.
#include "server/analysis/summary.h"

#include <algorithm>
#include <iostream>
#include <random>

#include <gmock/gmock.h>

#include "server/analysis/record_builder.h"
#include "tests/analysis/oracle_file.h"

namespace sinkd {
namespace {

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

void ExpectClose(const std::optional<double>& ours, const Json& expected) {
  ASSERT_EQ(ours.has_value(), !expected.is_null());
  if (ours) ExpectClose(*ours, expected);
}

// The records of a group. Compensation curves and masses of learned sinks are the oracle's, so that
// the last bit of a float32 does not decide how exactly the reports can be compared.
std::vector<SampleRecord> RecordsOf(const v1::AnalysisSpec& spec, const Json& group) {
  std::vector<SampleRecord> records;
  for (const Json& sample : group["samples"]) {
    auto record = RecordOf(spec, sample);
    EXPECT_TRUE(record.ok()) << record.status();
    const Json& curves = sample["record"]["compensation"];
    record->compensation = {
        curves["primary"].get<std::vector<float>>(), curves["secondary"].get<std::vector<float>>(),
        curves["rest"].get<std::vector<float>>(), curves["primary_norm"].get<std::vector<float>>()};
    record->learned_sink_mass = sample["record"]["learned_sink_mass"].get<std::vector<float>>();
    records.push_back(*std::move(record));
  }
  return records;
}

Summary Fold(const v1::AnalysisSpec& spec, const std::vector<SampleRecord>& records) {
  Summary summary(spec);
  for (const SampleRecord& record : records) {
    EXPECT_TRUE(summary.Add(record).ok());
  }
  return summary;
}

void CompareStatistics(const ScoreStatistics& s, const Json& e) {
  EXPECT_EQ(s.count, e["count"]);
  EXPECT_EQ(s.undefined, e["undefined"]);
  ExpectClose(s.mean, e["mean"]);
  ExpectClose(s.deviation, e["deviation"]);
  ExpectClose(s.minimum, e["minimum"]);
  ExpectClose(s.maximum, e["maximum"]);
}

void CompareLevels(const LevelReport& levels, const Json& e) {
  Json counts = Json::array();
  for (const LevelCount& c : levels.counts) {
    counts.push_back({c.level.l_start, c.level.lifetime, NameOf(c.kind), c.count});
  }
  EXPECT_EQ(counts, e["counts"]);
  EXPECT_EQ(levels.primary, e["primary"]);
  EXPECT_EQ(levels.secondary, e["secondary"]);
  EXPECT_EQ(levels.noise, e["noise"]);
  EXPECT_EQ(levels.positions, e["positions"]);
  EXPECT_EQ(levels.samples_with_secondary, e["samples_with_secondary"]);
  EXPECT_EQ(levels.distinct_levels, e["distinct_levels"]);
  ExpectClose(levels.secondary_per_1000_tokens, e["secondary_per_1000_tokens"]);
  ExpectClose(levels.share_of_samples_with_secondary, e["share"]);
  ExpectClose(levels.entropy, e["entropy"]);
  ExpectClose(levels.normalized_entropy, e["normalized_entropy"]);
  Json tokens = Json::array();
  for (const TokenCount& t : levels.top_tokens) {
    tokens.push_back({t.token_id, t.count});
    EXPECT_EQ(t.text, "token " + std::to_string(t.token_id));
  }
  EXPECT_EQ(tokens, e["top_tokens"]);
  EXPECT_EQ(Json(levels.position_bins), e["position_bins"]);
}

void CompareSinkRate(const SinkRateReport& rate, const Json& e) {
  EXPECT_EQ(rate.samples, e["samples"]);
  EXPECT_EQ(rate.left_out, e["left_out"]);
  EXPECT_EQ(Json(rate.hits), e["hits"]);
  EXPECT_EQ(Json(rate.cells), e["cells"]);
  EXPECT_EQ(Json(rate.rates), e["rates"]);
}

void ComparePoints(const std::vector<RegressionPoint>& points, const Json& e) {
  ASSERT_EQ(points.size(), e.size());
  for (size_t i = 0; i < points.size(); ++i) {
    ExpectClose(points[i].x, e[i][0]);
    ExpectClose(points[i].y, e[i][1]);
  }
}

void CompareRegression(const RegressionReport& regression, const Json& e) {
  ComparePoints(regression.score_points, e["score_points"]);
  ComparePoints(regression.lifetime_points, e["lifetime_points"]);
  EXPECT_EQ(regression.without_score, e["without_score"]);
  if (e["headline"].empty()) return;
  const Fit& fit = regression.score.fits[0];
  ExpectClose(fit.slope.value, e["headline"]["slope"], 1e-10);
  ExpectClose(fit.intercept.value, e["headline"]["intercept"], 1e-10);
  ExpectClose(fit.slope.p, e["headline"]["p"], 1e-10);
}

void CompareInterval(const std::optional<Interval>& interval, const Json& e) {
  ASSERT_TRUE(interval);
  ExpectClose(interval->lower, e[0], 1e-10);
  ExpectClose(interval->upper, e[1], 1e-10);
}

void CompareCompensation(const CompensationReport& report, const Json& e) {
  EXPECT_EQ(report.samples, e["samples"]);
  EXPECT_EQ(Json(report.weakest_block), e["weakest_block"]);
  EXPECT_EQ(Json(report.start_minus_weakest), e["start_minus_weakest"]);
  for (size_t l = 0; l < report.blocks.size(); ++l) {
    const BlockCompensation& block = report.blocks[l];
    ExpectClose(block.primary, e["means"]["primary"][l]);
    ExpectClose(block.secondary, e["means"]["secondary"][l]);
    ExpectClose(block.rest, e["means"]["rest"][l]);
    ExpectClose(block.primary_norm, e["means"]["primary_norm"][l]);
    CompareInterval(block.primary_interval, e["primary_intervals"][l]);
    CompareInterval(block.secondary_interval, e["secondary_intervals"][l]);
  }
  ASSERT_EQ(report.pearson.undefined.empty(), e.contains("pearson"));
  if (!e.contains("pearson")) return;
  ExpectClose(report.pearson.value, e["pearson"][0], 1e-10);
  ExpectClose(report.pearson.p, e["pearson"][1], 1e-9);
  ExpectClose(report.spearman.value, e["spearman"][0], 1e-10);
  ExpectClose(report.spearman.p, e["spearman"][1], 1e-9);
  CompareInterval(report.pearson_interval, e["pearson_interval"]);
  CompareInterval(report.spearman_interval, e["spearman_interval"]);
}

void CompareLearnedSinks(const std::optional<LearnedSinkReport>& report, const Json& e) {
  ASSERT_EQ(report.has_value(), !e.is_null());
  if (!report) return;
  EXPECT_EQ(report->samples, e["samples"]);
  ASSERT_EQ(report->mass.size(), e["mass"].size());
  for (size_t l = 0; l < report->mass.size(); ++l) ExpectClose(report->mass[l], e["mass"][l]);
}

TEST(Summary, EqualsNumpyAndScipyOnTheSameRecords) {
  const Json oracle = ReadOracle("traces.json");
  for (const Json& group : oracle["groups"]) {
    SCOPED_TRACE(group["name"].get<std::string>());
    const v1::AnalysisSpec spec = SpecOf(group["spec"]);
    const SummaryReport report = Fold(spec, RecordsOf(spec, group)).Report();
    const Json& e = group["summary"];
    EXPECT_EQ(report.samples, e["samples"]);
    EXPECT_EQ(report.positions, e["positions"]);
    EXPECT_EQ(report.undecided_samples, e["undecided"]);
    ASSERT_EQ(report.scores.has_value(), spec.has_scores());
    if (report.scores) {
      CompareStatistics(report.scores->primary_position, e["scores"]["primary_position"]);
      for (size_t i = 0; i < 3; ++i) {
        CompareStatistics(report.scores->by_kind[i], e["scores"]["by_kind"][i]);
      }
    }
    CompareSinkRate(*report.sink_rate, e["sink_rate"]);
    CompareLevels(*report.levels, e["levels"]);
    CompareRegression(*report.regression, e["regression"]);
    CompareCompensation(*report.compensation, e["compensation"]);
    CompareLearnedSinks(report.learned_sinks, e["learned_sinks"]);
  }
  std::cout << oracle["groups"].size() << " summaries, largest difference " << g_largest << "\n";
}

// Every real number of a report, for comparing two of them.
void AddFit(const Fit& fit, std::vector<double>& reals) {
  for (const Coefficient& c : {fit.intercept, fit.slope}) {
    reals.insert(reals.end(), {c.value, c.standard_error, c.t, c.p, c.lower, c.upper});
  }
  reals.insert(reals.end(), {fit.r_squared, fit.residual_deviation, fit.aic.value_or(0),
                             static_cast<double>(fit.n), static_cast<double>(fit.left_out)});
}

void AddInterval(const std::optional<Interval>& interval, std::vector<double>& reals) {
  reals.insert(reals.end(), {interval ? interval->lower : -1, interval ? interval->upper : -1});
}

std::vector<double> Reals(const SummaryReport& report) {
  std::vector<double> reals;
  if (report.scores) {
    for (const ScoreStatistics& s : report.scores->by_kind) {
      reals.insert(reals.end(), {s.mean, s.deviation, s.minimum, s.maximum});
    }
  }
  for (const RegressionResult* r : {&report.regression->score, &report.regression->lifetime}) {
    for (const Fit& fit : r->fits) AddFit(fit, reals);
    reals.insert(reals.end(), {r->pearson.value, r->pearson.p, r->spearman.value, r->spearman.p});
  }
  const CompensationReport& c = *report.compensation;
  for (const BlockCompensation& b : c.blocks) {
    reals.insert(reals.end(), {b.primary.value_or(-1), b.secondary.value_or(-1),
                               b.rest.value_or(-1), b.primary_norm});
    AddInterval(b.primary_interval, reals);
    AddInterval(b.secondary_interval, reals);
  }
  reals.insert(reals.end(), {c.pearson.value, c.pearson.p, c.spearman.value, c.spearman.p});
  AddInterval(c.pearson_interval, reals);
  AddInterval(c.spearman_interval, reals);
  if (report.learned_sinks) {
    const std::vector<double>& mass = report.learned_sinks->mass;
    reals.insert(reals.end(), mass.begin(), mass.end());
  }
  return reals;
}

// Every count of a report.
Json Counts(const SummaryReport& report) {
  Json counts = {report.samples,
                 report.positions,
                 report.undecided_samples,
                 report.sink_rate->samples,
                 report.sink_rate->left_out,
                 report.sink_rate->hits,
                 report.sink_rate->cells,
                 report.sink_rate->rates,
                 report.levels->primary,
                 report.levels->secondary,
                 report.levels->noise,
                 report.levels->position_bins,
                 report.levels->distinct_levels,
                 report.regression->without_score,
                 report.compensation->samples,
                 report.compensation->weakest_block,
                 report.compensation->start_minus_weakest,
                 report.learned_sinks ? report.learned_sinks->samples : 0};
  for (const LevelCount& c : report.levels->counts) {
    counts.push_back({c.level.l_start, c.level.lifetime, NameOf(c.kind), c.count});
  }
  for (const TokenCount& t : report.levels->top_tokens)
    counts.push_back({t.token_id, t.text, t.count});
  if (report.scores) {
    for (const ScoreStatistics& s : report.scores->by_kind)
      counts.push_back({s.count, s.undefined});
  }
  return counts;
}

double LargestDifference(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    largest = std::max(largest, RelativeDifference(a[i], b[i]));
  }
  return largest;
}

// The records in a random order, split over shards, the shards merged in a random order.
Summary MergedAtRandom(const v1::AnalysisSpec& spec, std::vector<SampleRecord> records,
                       std::mt19937_64& random) {
  std::shuffle(records.begin(), records.end(), random);
  std::vector<Summary> shards(1 + random() % 5, Summary(spec));
  for (const SampleRecord& record : records) {
    EXPECT_TRUE(shards[random() % shards.size()].Add(record).ok());
  }
  std::shuffle(shards.begin(), shards.end(), random);
  Summary whole(spec);
  for (const Summary& shard : shards) EXPECT_TRUE(whole.Merge(shard).ok());
  return whole;
}

TEST(Summary, OfAUnionIsTheMergeOfSummaries) {
  std::mt19937_64 random(5);
  double largest = 0;
  int splits = 0;
  const Json oracle = ReadOracle("traces.json");
  for (const Json& group : oracle["groups"]) {
    SCOPED_TRACE(group["name"].get<std::string>());
    const v1::AnalysisSpec spec = SpecOf(group["spec"]);
    const std::vector<SampleRecord> records = RecordsOf(spec, group);
    const SummaryReport whole = Fold(spec, records).Report();
    for (int i = 0; i < 20; ++i, ++splits) {
      const SummaryReport merged = MergedAtRandom(spec, records, random).Report();
      EXPECT_EQ(Counts(merged), Counts(whole));
      largest = std::max(largest, LargestDifference(Reals(merged), Reals(whole)));
    }
  }
  EXPECT_EQ(largest, 0);
  EXPECT_GE(splits, 240);
  std::cout << splits << " random splits, largest difference of a real number " << largest << "\n";
}

TEST(Summary, SaysWhenRecordsWereComputedDifferently) {
  const Json oracle = ReadOracle("traces.json");
  const v1::AnalysisSpec spec = SpecOf(oracle["groups"][0]["spec"]);
  std::vector<SampleRecord> records = RecordsOf(spec, oracle["groups"][0]);
  ASSERT_GE(records.size(), 2u);
  for (SampleRecord& record : records) record.arithmetic = "float32 by MKL (AVX512)";
  const std::vector<std::string> notes = Fold(spec, records).Report().notes;
  records.back().arithmetic = "float32 by oneDNN (AVX2)";
  Summary merged = Fold(spec, {records.begin(), records.end() - 1});
  EXPECT_EQ(merged.Report().notes, notes);
  ASSERT_TRUE(merged.Merge(Fold(spec, {records.back()})).ok());
  const std::vector<std::string> more = merged.Report().notes;
  ASSERT_EQ(more.size(), notes.size() + 1);
  const std::string rest = std::to_string(records.size() - 1);
  EXPECT_THAT(more, ::testing::Contains(
                        "the samples were computed in different arithmetic, so last "
                        "digits may differ: " +
                        rest + " in float32 by MKL (AVX512); 1 in float32 by oneDNN (AVX2)"));
}

}  // namespace
}  // namespace sinkd
