// Decompositions against scikit-learn and numpy.
#include "server/engine/decomposition.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/engine/oracle_files.h"

namespace sinkd::testing {
namespace {

using Json = nlohmann::json;

const Json& Oracle(const char* part) {
  static const Json* const json = new Json(
      Json::parse(std::ifstream(OracleFolder() / "decompositions" / "decompositions.json")));
  return json->at(part);
}

Matrix MatrixOf(const Json& json) {
  return {.rows = json["rows"], .columns = json["columns"], .values = json["values"]};
}

// Takes all turns; how many it took goes to `turns`.
template <typename Result>
absl::StatusOr<Result> TakeAllTurns(absl::StatusOr<std::unique_ptr<InTurns<Result>>> started,
                                    std::stop_token stop = {}, int64_t* turns = nullptr) {
  if (!started.ok()) return started.status();
  while (!(*started)->done()) {
    if (absl::Status status = (*started)->Step(stop); !status.ok()) return status;
    if (turns != nullptr) ++*turns;
  }
  return (*started)->Take();
}

absl::StatusOr<KMeansResult> RunKMeans(const Matrix& rows, int64_t clusters, int64_t starts,
                                       uint64_t seed, const std::string& device,
                                       int64_t* turns = nullptr) {
  return TakeAllTurns(StartKMeans(rows, clusters, starts, seed, device), {}, turns);
}

absl::StatusOr<TsneResult> RunTsne(const Matrix& rows, const TsneParameters& parameters,
                                   const std::string& device, std::stop_token stop,
                                   int64_t* turns = nullptr) {
  return TakeAllTurns(StartTsne(rows, parameters, device), stop, turns);
}

// [rows, columns] of numbers that repeat nowhere.
Matrix Spread(int64_t rows, int64_t columns) {
  Matrix matrix{.rows = rows, .columns = columns, .values = {}};
  for (int64_t i = 0; i < rows * columns; ++i) {
    matrix.values.push_back(static_cast<float>(std::sin(static_cast<double>(i * i))));
  }
  return matrix;
}

double RelativeDifference(double got, double want) {
  return std::fabs(got - want) / std::fabs(want);
}

double Dot(std::span<const float> a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += double{a[i]} * b[i];
  return sum;
}

TEST(PrincipalComponents, EqualScikitLearn) {
  double values = 0, directions = 0;
  for (const Json& data : Oracle("components")) {
    SCOPED_TRACE(data["name"]);
    const auto found = FindComponents(MatrixOf(data["matrix"]), data["count"], "cpu");
    ASSERT_TRUE(found.ok()) << found.status();
    ASSERT_EQ(found->singular_values.size(), data["singular_values"].size());
    ASSERT_EQ(found->explained.size(), data["explained"].size());
    ASSERT_EQ(found->directions.rows, static_cast<int64_t>(data["directions"].size()));
    for (size_t i = 0; i < found->singular_values.size(); ++i) {
      values = std::max({values,
                         RelativeDifference(found->singular_values[i], data["singular_values"][i]),
                         RelativeDifference(found->explained[i], data["explained"][i])});
      const double dot = Dot(found->directions.Row(static_cast<int64_t>(i)), data["directions"][i]);
      directions = std::max(directions, 1 - std::fabs(dot));
    }
    EXPECT_LE(values, 1e-6);
    EXPECT_LE(directions, 1e-6);
  }
  printf("largest differences to scikit-learn: values %.1e (relative), 1 - |dot| %.1e\n", values,
         directions);
}

TEST(PrincipalComponents, PointTheWayOfTheirLargestEntry) {
  for (const Json& data : Oracle("components")) {
    const auto found = FindComponents(MatrixOf(data["matrix"]), data["count"], "cpu");
    ASSERT_TRUE(found.ok()) << found.status();
    for (int64_t i = 0; i < found->directions.rows; ++i) {
      const auto row = found->directions.Row(i);
      const auto by_size = [](float a, float b) { return std::fabs(a) < std::fabs(b); };
      EXPECT_GT(*std::max_element(row.begin(), row.end(), by_size), 0) << data["name"];
    }
  }
}

// Whether two labellings are the same but for the names of the labels.
bool SameSplit(const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
  std::map<int32_t, int32_t> there, back;
  for (size_t i = 0; i < a.size(); ++i) {
    if (there.try_emplace(a[i], b[i]).first->second != b[i]) return false;
    if (back.try_emplace(b[i], a[i]).first->second != a[i]) return false;
  }
  return a.size() == b.size();
}

TEST(KMeans, IsAsGoodAsScikitLearn) {
  for (const Json& data : Oracle("k_means")) {
    SCOPED_TRACE(data["name"]);
    const auto found = RunKMeans(MatrixOf(data["matrix"]), data["clusters"], 10, 7, "cpu");
    ASSERT_TRUE(found.ok()) << found.status();
    const double inertia = data["inertia"];
    EXPECT_LE(found->inertia, 1.01 * inertia);
    printf("%-20s inertia %.6g, scikit-learn %.6g\n", data["name"].get<std::string>().c_str(),
           found->inertia, inertia);
    EXPECT_TRUE(!data["separated"] || SameSplit(found->labels, data["labels"]));
  }
}

TEST(KMeans, GivesTheInertiaOfItsLabels) {
  const Json& data = Oracle("k_means").at(3);
  const Matrix rows = MatrixOf(data["matrix"]);
  const auto found = RunKMeans(rows, 2, 3, 0, "cpu");
  ASSERT_TRUE(found.ok()) << found.status();
  double inertia = 0;
  for (const int32_t label : {0, 1}) {
    for (int64_t c = 0; c < rows.columns; ++c) {
      double sum = 0, squares = 0, n = 0;
      for (int64_t r = 0; r < rows.rows; ++r) {
        if (found->labels[static_cast<size_t>(r)] != label) continue;
        const double value = rows.Row(r)[static_cast<size_t>(c)];
        sum += value;
        squares += value * value;
        ++n;
      }
      inertia += squares - sum * sum / n;
    }
  }
  EXPECT_NEAR(found->inertia, inertia, 1e-9 * inertia);
}

TEST(KMeans, SplitsRowsThatAreAlikeIntoAnything) {
  const Matrix rows{.rows = 4, .columns = 2, .values = std::vector<float>(8, 3.0f)};
  const auto found = RunKMeans(rows, 3, 2, 0, "cpu");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->inertia, 0);
  EXPECT_EQ(found->labels.size(), 4u);
}

class Tsne : public ::testing::TestWithParam<size_t> {};

TEST_P(Tsne, GetsAsLowAsScikitLearn) {
  const Json& data = Oracle("tsne").at(GetParam());
  SCOPED_TRACE(data["name"]);
  const auto found =
      RunTsne(MatrixOf(data["matrix"]), {.perplexity = data["perplexity"]}, "cpu", {});
  ASSERT_TRUE(found.ok()) << found.status();
  const double want = data["divergence"];
  printf("%-30s KL %.5f, scikit-learn %.5f (%+.2f%%)\n", data["name"].get<std::string>().c_str(),
         found->divergence, want, 100 * (found->divergence / want - 1));
  EXPECT_LE(found->divergence, 1.03 * want);
}

INSTANTIATE_TEST_SUITE_P(EveryCase, Tsne, ::testing::Range<size_t>(0, 7));

// KL(P || Q) of a map, by the definition, in plain double.
double DivergenceOf(const Matrix& rows, const Matrix& map, double perplexity) {
  const auto n = static_cast<size_t>(rows.rows);
  const auto square = [](const Matrix& of, size_t i, size_t j) {
    double sum = 0;
    for (size_t c = 0; c < static_cast<size_t>(of.columns); ++c) {
      const double apart =
          double{of.Row(static_cast<int64_t>(i))[c]} - double{of.Row(static_cast<int64_t>(j))[c]};
      sum += apart * apart;
    }
    return sum;
  };
  std::vector<double> p(n * n, 0);
  for (size_t i = 0; i < n; ++i) {
    double low = -100, high = 100, sum = 0;  // of the logarithm of the precision
    for (int step = 0; step < 200; ++step) {
      const double precision = std::exp((low + high) / 2);
      double weighted = 0;
      sum = 0;
      for (size_t j = 0; j < n; ++j) {
        if (j == i) continue;
        p[i * n + j] = std::exp(-precision * square(rows, i, j));
        sum += p[i * n + j];
        weighted += p[i * n + j] * square(rows, i, j);
      }
      const double entropy = std::log(sum) + precision * weighted / sum;
      // A precision at which all weights vanish is too high.
      (sum > 0 && entropy > std::log(perplexity) ? low : high) = (low + high) / 2;
    }
    for (size_t j = 0; j < n; ++j) p[i * n + j] /= sum;
  }
  double total = 0, divergence = 0;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) total += i == j ? 0 : 1 / (1 + square(map, i, j));
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      const double joint = (p[i * n + j] + p[j * n + i]) / (2 * static_cast<double>(n));
      if (i != j && joint > 0) {
        divergence += joint * std::log(joint * total * (1 + square(map, i, j)));
      }
    }
  }
  return divergence;
}

TEST(Tsne, TellsTheDivergenceOfItsMap) {
  const Json& data = Oracle("tsne").at(5);
  const Matrix rows = MatrixOf(data["matrix"]);
  const auto found = RunTsne(rows, {.perplexity = data["perplexity"], .iterations = 60}, "cpu", {});
  ASSERT_TRUE(found.ok()) << found.status();
  const double want = DivergenceOf(rows, found->coordinates, data["perplexity"]);
  EXPECT_NEAR(found->divergence, want, 1e-4 * want);
}

TEST(Tsne, MapsRowsOnALineToAPlane) {
  Matrix rows{.rows = 40, .columns = 1, .values = {}};
  for (int i = 0; i < 40; ++i) rows.values.push_back(static_cast<float>(i % 20) * 3);
  const TsneParameters parameters{.perplexity = 5, .seed = 4};
  const auto found = RunTsne(rows, parameters, "cpu", {});
  const auto again = RunTsne(rows, parameters, "cpu", {});
  ASSERT_TRUE(found.ok() && again.ok()) << found.status();
  double largest = 0;
  for (int64_t i = 0; i < 40; ++i) {
    for (const float value : found->coordinates.Row(i)) EXPECT_TRUE(std::isfinite(value));
    largest = std::max(largest, std::fabs(double{found->coordinates.Row(i)[1]}));
  }
  EXPECT_GT(largest, 0.1);
  EXPECT_EQ(found->coordinates.values, again->coordinates.values);
}

TEST(Tsne, MapsTwoRowsAndRowsThatAreAlike) {
  for (const auto& [count, perplexity] : {std::pair{2, 1.0}, {6, 2.0}}) {
    const Matrix alike{.rows = count,
                       .columns = 3,
                       .values = std::vector<float>(static_cast<size_t>(3 * count), 1.5f)};
    const auto found = RunTsne(alike, {.perplexity = perplexity}, "cpu", {});
    ASSERT_TRUE(found.ok()) << found.status();
    for (const float value : found->coordinates.values) EXPECT_TRUE(std::isfinite(value));
    EXPECT_TRUE(std::isfinite(found->divergence));
  }
}

TEST(Tsne, StopsWhenAsked) {
  std::stop_source source;
  source.request_stop();
  const Json& data = Oracle("tsne").at(0);
  const auto found = RunTsne(MatrixOf(data["matrix"]), {}, "cpu", source.get_token());
  EXPECT_EQ(found.status().code(), absl::StatusCode::kCancelled);
}

TEST(Tsne, TakesTurnsOfMuchTheSameWork) {
  int64_t few = 0, many = 0;
  ASSERT_TRUE(RunTsne(Spread(800, 8), {.iterations = 50}, "cpu", {}, &few).ok());
  ASSERT_TRUE(RunTsne(Spread(800, 8), {.iterations = 1050}, "cpu", {}, &many).ok());
  // 1000 iterations over 800^2 pairs. Turns that wait for the principal axes come on top of both.
  const int64_t turns = 1000 * 800 * 800 / kValuesOfATurn;
  EXPECT_GE(many - few, turns / 2);
  EXPECT_LE(many - few, 2 * turns);
}

TEST(Tsne, TakesTurnsOfASmallMapToo) {
  int64_t turns = 0;
  ASSERT_TRUE(RunTsne(Spread(20, 3), {.perplexity = 5}, "cpu", {}, &turns).ok());
  EXPECT_GE(turns, 20);  // 8 starts of 1000 iterations, of some 50 microseconds each
}

TEST(KMeans, TakesTurns) {
  int64_t turns = 0;
  ASSERT_TRUE(RunKMeans(Spread(2000, 600), 2, 10, 7, "cpu", &turns).ok());
  EXPECT_GE(turns, 10);  // each start draws its centres and looks at all rows twice or more
}

TEST(MatrixEntropy, EqualsNumpy) {
  double largest = 0;
  for (const Json& data : Oracle("entropy")) {
    const Matrix rows = MatrixOf(data["matrix"]);
    for (const Json& expected : data["by_alpha"]) {
      SCOPED_TRACE(data["name"].get<std::string>() + ", alpha " + expected["alpha"].dump());
      const auto entropy = MatrixEntropy(rows, expected["alpha"], "cpu");
      ASSERT_TRUE(entropy.ok()) << entropy.status();
      // Of one row it is zero, which numpy misses by a rounding.
      const double want = expected["entropy"];
      EXPECT_NEAR(*entropy, want, 1e-9 * want + 1e-14);
      if (want > 1e-9) largest = std::max(largest, RelativeDifference(*entropy, want));
    }
  }
  printf("largest relative difference to numpy: %.1e\n", largest);
}

TEST(MatrixEntropy, IsNotANumberForZeros) {
  const Matrix zeros{.rows = 3, .columns = 4, .values = std::vector<float>(12, 0.0f)};
  for (const double alpha : {1.0, 0.5, 2.0}) {
    const auto entropy = MatrixEntropy(zeros, alpha, "cpu");
    ASSERT_TRUE(entropy.ok()) << entropy.status();
    EXPECT_TRUE(std::isnan(*entropy));
  }
}

TEST(Decompositions, RefuseWhatTheyCannotTake) {
  const Matrix good{.rows = 3, .columns = 2, .values = {1, 2, 3, 4, 5, 7}};
  Matrix infinite = good;
  infinite.values[3] = std::numeric_limits<float>::infinity();
  const Matrix short_of_values{.rows = 3, .columns = 2, .values = {1, 2}};
  const auto refused = [](const auto& result) {
    return result.status().code() == absl::StatusCode::kInvalidArgument;
  };
  for (const Matrix& bad : {infinite, short_of_values, Matrix{}, Matrix{.rows = 3}}) {
    EXPECT_TRUE(refused(FindComponents(bad, 1, "cpu")));
    EXPECT_TRUE(refused(RunKMeans(bad, 1, 1, 0, "cpu")));
    EXPECT_TRUE(refused(RunTsne(bad, {.perplexity = 1}, "cpu", {})));
    EXPECT_TRUE(refused(MatrixEntropy(bad, 1, "cpu")));
  }
  EXPECT_TRUE(refused(FindComponents(good, 0, "cpu")));
  EXPECT_TRUE(refused(FindComponents(good, 1, "abacus")));
  EXPECT_TRUE(refused(RunKMeans(good, 0, 1, 0, "cpu")));
  EXPECT_TRUE(refused(RunKMeans(good, 4, 1, 0, "cpu")));
  EXPECT_TRUE(refused(RunKMeans(good, 2, 0, 0, "cpu")));
  EXPECT_TRUE(refused(RunTsne(good, {.perplexity = 3}, "cpu", {})));
  EXPECT_TRUE(refused(RunTsne(good, {.perplexity = 0.9}, "cpu", {})));
  EXPECT_TRUE(refused(RunTsne(good, {.perplexity = std::nan("")}, "cpu", {})));
  EXPECT_TRUE(refused(RunTsne(good, {.perplexity = 1, .iterations = 0}, "cpu", {})));
  const Matrix many{.rows = kTsneRows + 1,
                    .columns = 1,
                    .values = std::vector<float>(static_cast<size_t>(kTsneRows + 1), 1.0f)};
  EXPECT_TRUE(refused(RunTsne(many, {}, "cpu", {})));
  EXPECT_TRUE(refused(MatrixEntropy(good, 0, "cpu")));
  EXPECT_TRUE(refused(MatrixEntropy(good, std::nan(""), "cpu")));
}

}  // namespace
}  // namespace sinkd::testing
