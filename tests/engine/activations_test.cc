// Activations rounded as a checkpoint's config.json says, against compressed-tensors and
// transformers in float64.
#include <cmath>
#include <fstream>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/base/status.h"
#include "server/engine/forward/round_activations.h"
#include "server/engine/model.h"
#include "tests/engine/oracle_files.h"

namespace sinkd::testing {
namespace {

std::filesystem::path Folder() {
  return OracleFolder() / "activations";
}

nlohmann::json ReadJson(const std::string& name) {
  return nlohmann::json::parse(std::ifstream(Folder() / name));
}

TEST(RoundActivations, IsThatOfCompressedTensorsToTheLastBit) {
  for (const nlohmann::json& each : ReadJson("rounded.json")) {
    const ActivationScheme scheme = {
        .rounding = each["type"] == "int" ? ActivationRounding::kInt8 : ActivationRounding::kFp8,
        .group = each["group"]};
    SCOPED_TRACE(ActivationText(scheme));
    const auto of = [&](const char* key) {
      return at::tensor(each[key].get<std::vector<float>>())
          .view({-1, each["width"].get<int64_t>()});
    };
    EXPECT_TRUE(at::equal(RoundActivations(scheme, of("rows")), of("rounded")));
  }
}

TEST(RoundActivations, GivesTheLastGroupAScaleOfItsOwn) {
  const std::vector<float> values = {127.5F, 3, 0.2F, -100, 25.5F};
  const at::Tensor rows = at::tensor(values).view({1, 5});
  const at::Tensor rounded =
      RoundActivations({.rounding = ActivationRounding::kInt8, .group = 4}, rows);
  // Scales of 1 and 0.2; 127.5 is past the largest int8.
  const std::vector<float> expected = {127, 3, 0, -100, 127 * 0.2F};
  EXPECT_TRUE(at::allclose(rounded, at::tensor(expected).view({1, 5}), 1e-6)) << rounded;
}

double Distance(const std::vector<float>& found, const std::vector<double>& expected) {
  EXPECT_EQ(found.size(), expected.size());
  double sum = 0;
  for (size_t i = 0; i < found.size(); ++i) sum += std::abs(found[i] / expected[i] - 1);
  return sum / static_cast<double>(found.size());
}

std::vector<double> Flat(const nlohmann::json& layers) {
  std::vector<double> values;
  for (const auto& layer : layers) {
    for (const double value : layer) values.push_back(value);
  }
  return values;
}

TEST(Activations, OfAModelAreRoundedAsTheReleaseSays) {
  const nlohmann::json expected = ReadJson("expected.json");
  const TokenIds batch[] = {expected["ids"].get<TokenIds>()};
  for (const auto& [name, norms] : expected["norms"].items()) {
    for (const Residency residency : {Residency::kResident, Residency::kStreamed}) {
      SCOPED_TRACE(name);
      const auto model = Model::Load(
          Folder() / name, {.compute_type = ComputeType::kFloat32,
                            .residency = residency,
                            .activation_quantization = ActivationQuantization::kAsStored});
      ASSERT_TRUE(model.ok()) << model.status();
      EXPECT_THAT(ArithmeticOf((*model)->info()),
                  ::testing::HasSubstr("; activations of " +
                                       (*model)->info().activation_quantization + "; "));
      const auto traces = (*model)->Run(batch, {.attention = false});
      ASSERT_TRUE(traces.ok()) << traces.status();
      const std::vector<double> rounded = Flat(norms["rounded"]);
      const std::vector<double> plain = Flat(norms["plain"]);
      const std::vector<float> other(plain.begin(), plain.end());
      const double effect = Distance(other, rounded);
      EXPECT_GT(effect, 1e-5);
      const double error = Distance(traces->front().state_norm, rounded);
      // Rounding is a step: with a scale of 1/127.5 of the largest value, that value lies between
      // two steps if it is negative, and a last digit decides. Float32 is told by its own error.
      const std::vector<double> theirs = Flat(norms["float32"]);
      const double limit =
          Allowed(Distance(std::vector<float>(theirs.begin(), theirs.end()), rounded));
      EXPECT_LE(error, limit);
      printf("%s: %.2e of %.2e; rounding changes %.2e\n", name.c_str(), error, limit, effect);
    }
  }
}

TEST(Activations, AreNotRoundedUnlessAskedFor) {
  const nlohmann::json expected = ReadJson("expected.json");
  const TokenIds batch[] = {expected["ids"].get<TokenIds>()};
  const auto model = Model::Load(Folder() / "int8_token", {.compute_type = ComputeType::kFloat32});
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->info().activation_quantization, "");
  const auto traces = (*model)->Run(batch, {.attention = false});
  ASSERT_TRUE(traces.ok()) << traces.status();
  EXPECT_LE(Distance(traces->front().state_norm, Flat(expected["norms"]["int8_token"]["plain"])),
            2e-5);
}

TEST(Activations, OfWeightsWithoutASchemeStayAsTheyAre) {
  const auto model = Model::Load(OracleFolder() / "quantized/gptq_4bit/packed",
                                 {.activation_quantization = ActivationQuantization::kAsStored});
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->info().activation_quantization, "");
}

TEST(Activations, OfASchemeThatCannotBeAppliedAreRefused) {
  for (const std::string name : ReadJson("refused.json")) {
    SCOPED_TRACE(name);
    const auto model = Model::Load(Folder() / "refused" / name,
                                   {.activation_quantization = ActivationQuantization::kAsStored});
    ASSERT_FALSE(model.ok());
    EXPECT_EQ(GetErrorDetail(model.status())->reason, "QUANTIZED_ACTIVATIONS");
    EXPECT_TRUE(Model::Load(Folder() / "refused" / name, {}).ok());
  }
}

}  // namespace
}  // namespace sinkd::testing
