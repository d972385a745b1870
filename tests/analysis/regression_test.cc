// Regression and correlations against the formulas in 60 digits, which scipy has checked.
#include "server/analysis/regression.h"

#include <iostream>
#include <map>

#include "server/analysis/distributions.h"
#include "tests/analysis/oracle_file.h"

namespace sinkd {
namespace {

constexpr double kTolerance = 1e-9;

// Largest relative difference seen, by quantity.
class Differences {
 public:
  // `unit` is the size of what the sample leaves open, a standard error: a number far under it is
  // what is left when larger ones cancel, and its digits are those of the processor's logarithm.
  void Compare(const std::string& what, double ours, const Json& expected, double unit,
               const std::string& where) {
    const double wanted = expected.get<double>();
    const double scale = std::max({std::fabs(ours), std::fabs(wanted), unit});
    const double difference = ours == wanted ? 0 : std::fabs(ours - wanted) / scale;
    EXPECT_LE(difference, kTolerance) << where << ": " << what << " " << ours << " vs " << wanted;
    double& largest = largest_[what];
    largest = std::max(largest, difference);
  }
  ~Differences() {
    for (const auto& [what, largest] : largest_) {
      std::cout << "largest relative difference, " << what << ": " << largest << "\n";
    }
  }

 private:
  std::map<std::string, double> largest_;
};

void CompareCoefficient(const v1::Coefficient& c, const Json& e, const std::string& where,
                        Differences& differences) {
  ASSERT_EQ(c.has_standard_error(), e.contains("standard_error")) << where;
  if (!c.has_standard_error()) return;
  const double unit = c.standard_error();
  differences.Compare("coefficient", c.value(), e["value"], unit, where);
  differences.Compare("standard error", c.standard_error(), e["standard_error"], 0, where);
  differences.Compare("t", c.t(), e["t"], 1, where);
  differences.Compare("p", c.p(), e["p"], 1e-300, where);
  differences.Compare("interval", c.lower(), e["lower"], unit, where);
  differences.Compare("interval", c.upper(), e["upper"], unit, where);
}

void CompareFit(const v1::Fit& fit, const v1::Fit& naive, const Json& e, const std::string& where,
                Differences& differences) {
  EXPECT_EQ(fit.n(), e["n"]) << where;
  EXPECT_EQ(fit.left_out(), e["left_out"]) << where;
  ASSERT_EQ(fit.undefined(), e["undefined"]) << where;
  if (!fit.undefined().empty()) return;
  CompareCoefficient(naive.intercept(), e["intercept"], where + " intercept", differences);
  CompareCoefficient(naive.slope(), e["slope"], where + " slope", differences);
  const Json& by_sample = e["by_sample"];
  CompareCoefficient(fit.intercept(), by_sample["intercept"], where + " intercept by sample",
                     differences);
  CompareCoefficient(fit.slope(), by_sample["slope"], where + " slope by sample", differences);
  differences.Compare("R2", fit.r_squared(), e["r_squared"], 1 / static_cast<double>(fit.n()),
                      where);
  differences.Compare("residual deviation", fit.residual_deviation(), e["residual_deviation"], 0,
                      where);
  ASSERT_TRUE(fit.has_aic()) << where;
  differences.Compare("AIC", fit.aic(), e["aic"], 1, where);
}

void CompareCorrelation(const v1::Correlation& c, const v1::Correlation& naive, const Json& e,
                        const std::string& where, Differences& differences) {
  EXPECT_EQ(c.n(), e["n"]) << where;
  ASSERT_EQ(c.undefined(), e["undefined"]) << where;
  if (!c.undefined().empty()) return;
  differences.Compare(where.ends_with("pearson") ? "Pearson" : "Spearman", c.value(), e["value"],
                      1 / std::sqrt(static_cast<double>(c.n())), where);
  differences.Compare("p of a correlation", naive.p(), e["p"], 1e-300, where);
  ASSERT_EQ(c.has_p(), !e["p_by_sample"].is_null()) << where;
  if (c.has_p()) {
    differences.Compare("p of a correlation by sample", c.p(), e["p_by_sample"], 1e-300, where);
  }
}

TEST(Regression, EqualsTheFormulasOnRandomAndHardData) {
  const Json oracle = ReadOracle("regression.json");
  ASSERT_TRUE(oracle.is_object());
  Differences differences;
  for (const Json& data : oracle["cases"]) {
    const auto x = data["x"].get<std::vector<double>>(), y = data["y"].get<std::vector<double>>();
    std::vector<RegressionPoint> points;
    for (size_t i = 0; i < x.size(); ++i) points.push_back({x[i], y[i], data["samples"][i]});
    const v1::RegressionResult result = Regress(points, Errors::kBySample);
    const v1::RegressionResult naive = Regress(points, Errors::kNaive);
    const std::string name = data["name"];
    ASSERT_EQ(result.fits_size(), 4);
    for (int form = 0; form < 4; ++form) {
      EXPECT_EQ(result.fits(form).form(), form + v1::REGRESSION_FORM_LINEAR_LOG);
      const Json& expected = data["fits"][static_cast<size_t>(form)];
      CompareFit(result.fits(form), naive.fits(form), expected,
                 name + ", " + expected["form"].get<std::string>(), differences);
    }
    CompareCorrelation(result.pearson(), naive.pearson(), data["pearson"], name + ", pearson",
                       differences);
    CompareCorrelation(result.spearman(), naive.spearman(), data["spearman"], name + ", spearman",
                       differences);
  }
  std::cout << oracle["cases"].size() << " data sets, 4 fits and 2 correlations each\n";
  EXPECT_GE(oracle["cases"].size(), 90u);
}

TEST(Regression, TakesTheIntervalsWidthFromStudent) {
  const Json oracle = ReadOracle("regression.json");
  for (const Json& quantile : oracle["quantiles"]) {
    EXPECT_LE(RelativeDifference(StudentQuantile975(quantile["df"]), quantile["value"]), 1e-14);
  }
}

TEST(Regression, KnowsAPerfectFit) {
  std::vector<RegressionPoint> points;
  for (const double x : {1.0, 2.0, 3.0, 5.0, 8.0}) {
    points.push_back({x, 0.1 + x / 3, std::ssize(points)});
  }
  const v1::Fit fit = FitForm(v1::REGRESSION_FORM_LINEAR, points, Errors::kBySample);
  EXPECT_EQ(fit.undefined(), "");
  EXPECT_NEAR(fit.slope().value(), 1.0 / 3, 1e-15);
  EXPECT_EQ(fit.slope().standard_error(), 0);
  EXPECT_TRUE(std::isinf(fit.slope().t()) && fit.slope().t() > 0);
  EXPECT_EQ(fit.slope().p(), 0);
  EXPECT_EQ(fit.slope().lower(), fit.slope().upper());
  EXPECT_EQ(fit.r_squared(), 1);
  EXPECT_EQ(fit.residual_deviation(), 0);
  EXPECT_FALSE(fit.has_aic());
}

TEST(Regression, CallsAPerfectCorrelationOne) {
  const std::vector<double> x = {1, 2, 4, 8}, down = {0.7, 0.4, -0.2, -1.4}, convex = {1, 3, 9, 99};
  EXPECT_EQ(Pearson(x, down).value(), -1);
  EXPECT_EQ(Pearson(x, down).p(), 0);
  EXPECT_EQ(Spearman(x, convex).value(), 1);
  EXPECT_EQ(Spearman(x, convex).p(), 0);
}

TEST(Regression, DoesNotTakeDataThatDifferByRoundingsForALine) {
  const double next = std::nextafter(1e8, 2e8);
  const std::vector<double> x = {1, 2, 3, 4, 5}, y = {1e8, next, 1e8, 1e8, next};
  EXPECT_LT(std::fabs(Pearson(x, y).value()), 0.9);
}

TEST(Regression, SaysWhyItIsUndefinedInsteadOfNan) {
  const std::vector<double> three = {1, 2, 3}, two = {1, 2}, bad = {1, 2, std::nan("")};
  EXPECT_EQ(Pearson(two, two).undefined(), "fewer than 3 points");
  EXPECT_EQ(Pearson(three, two).undefined(), "x and y differ in length");
  EXPECT_EQ(Spearman(three, bad).undefined(), "a value is not finite");
  EXPECT_EQ(Pearson(bad, three).undefined(), "a value is not finite");
  const v1::Correlation none = Pearson(two, two);
  EXPECT_FALSE(none.has_value() || none.has_p());
  const v1::Fit fit =
      FitForm(v1::REGRESSION_FORM_LOG_LOG, std::vector<RegressionPoint>{{0, 1}}, Errors::kBySample);
  EXPECT_EQ(fit.undefined(), "fewer than 3 points");
  EXPECT_EQ(fit.left_out(), 1);
  EXPECT_FALSE(fit.has_intercept() || fit.has_slope() || fit.has_r_squared() || fit.has_aic());
}

}  // namespace
}  // namespace sinkd
