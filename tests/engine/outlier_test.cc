// Tokens of which few entries of the MLP's input dwarf the rest, against transformers and by hand.
#include <cmath>
#include <fstream>
#include <limits>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/engine/model.h"
#include "server/engine/taps/trace_builder.h"
#include "tests/engine/oracle_files.h"

namespace sinkd::testing {
namespace {

TEST(Outliers, OfSmolLm2AreThoseOfTransformers) {
  const auto oracle =
      nlohmann::json::parse(std::ifstream(OracleFolder() / "outliers" / "outliers.json"));
  const auto model = Model::Load(OracleFolder() / "smollm2/smollm2-135m-instruct",
                                 {.compute_type = ComputeType::kFloat32});
  ASSERT_TRUE(model.ok()) << model.status();
  const TokenIds batch[] = {oracle["ids"].get<TokenIds>()};
  const auto traces = (*model)->Run(batch, {.attention = false});
  ASSERT_TRUE(traces.ok()) << traces.status();
  const std::vector<float>& found = traces->front().outlier_ratio;
  const auto exact = oracle["exact"].get<std::vector<double>>();
  const auto theirs = oracle["float32"].get<std::vector<double>>();
  ASSERT_EQ(found.size(), exact.size());
  double error = 0;
  for (size_t t = 0; t < exact.size(); ++t) {
    error = std::max(error, std::abs(theirs[t] / exact[t] - 1));
  }
  size_t outliers = 0;
  for (size_t t = 0; t < exact.size(); ++t) {
    const double limit = kOutlierRatio;
    if (std::abs(exact[t] / limit - 1) <= Allowed(error)) continue;  // either way
    const bool is_outlier = exact[t] >= limit;
    EXPECT_EQ(found[t] > 0, is_outlier) << t;
    if (!is_outlier) continue;
    ++outliers;
    EXPECT_NEAR(found[t] / exact[t], 1, Allowed(error)) << t;
  }
  EXPECT_GE(outliers, 1);
  EXPECT_LT(outliers, exact.size() / 2);
}

// One block of 5 channels, and what it is shown.
std::vector<float> RatiosOf(const at::Tensor& rows, std::vector<int64_t> offsets) {
  DecoderSpec spec;
  spec.blocks = 1;
  spec.hidden = 5;
  TraceBuilder builder(spec, {.attention = false}, offsets, at::kCPU);
  EXPECT_TRUE(builder.Wants(Site::kMlpIn, 0));
  builder.OnRows(Site::kMlpIn, 0, 0, rows.narrow(0, 0, 2));
  builder.OnRows(Site::kMlpIn, 0, 2, rows.narrow(0, 2, rows.size(0) - 2));
  std::vector<float> ratios;
  for (const Trace& trace : builder.Finish()) {
    ratios.insert(ratios.end(), trace.outlier_ratio.begin(), trace.outlier_ratio.end());
  }
  return ratios;
}

TEST(Outliers, AreTokensAtTheLimitAndNotBelow) {
  const std::vector<float> values = {1,   -64,   1,   -1, 1,  // the largest is 64 medians
                                     1,   63.9F, 1,   1,  1,  // not quite
                                     0,   0,     0,   2,  0,  // infinitely many
                                     0,   0,     0,   0,  0,  // nothing
                                     200, -1,    200, 2,  1};
  const at::Tensor rows = at::tensor(values).view({5, 5});
  EXPECT_EQ(RatiosOf(rows, {0, 3, 5}),
            (std::vector<float>{64, 0, std::numeric_limits<float>::max(), 0, 100}));
}

}  // namespace
}  // namespace sinkd::testing
