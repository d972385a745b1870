// Each key of config.json, changed one at a time (tests/oracle/config_keys.py): the numbers of
// transformers 5, or a refusal that names the key, never other numbers.
#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/base/status.h"
#include "server/engine/checkpoint/safetensors.h"
#include "tests/engine/oracle_files.h"
#include "tests/engine/state_recorder.h"

namespace sinkd {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kLargestDifference = 2e-5;  // of a position, relative

fs::path Keys() {
  return testing::OracleFolder() / "config_keys";
}

const Json& Cases() {
  static const Json kCases = [] {
    std::ifstream file(Keys() / "cases.json");
    return Json::parse(file, nullptr, /*allow_exceptions=*/false);
  }();
  return kCases;
}

template <typename T>
std::vector<T> Values(const SafetensorsFile& file, const std::string& name) {
  const TensorEntry& entry = file.tensors().at(name);
  std::vector<T> values(static_cast<size_t>(entry.bytes) / sizeof(T));
  EXPECT_TRUE(file.Read(name, 0, entry.bytes, values.data()).ok());
  return values;
}

// The largest difference of a row, relative to the row's norm.
double Difference(const at::Tensor& mine, const std::vector<float>& theirs) {
  const auto count = static_cast<size_t>(mine.numel());
  if (count != theirs.size()) return INFINITY;
  const at::Tensor expected =
      at::from_blob(const_cast<float*>(theirs.data()), mine.sizes(), at::kFloat).to(at::kDouble);
  const at::Tensor away = (mine.to(at::kDouble) - expected).norm(2, {1}) / expected.norm(2, {1});
  return away.max().item<double>();
}

class ConfigKeys : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto opened = SafetensorsFile::Open(Keys() / (std::string(GetParam()) + ".safetensors"));
    ASSERT_TRUE(opened.ok()) << opened.status();
    states_.emplace(*std::move(opened));
    for (const int64_t id : Values<int64_t>(*states_, "ids")) {
      ids_.push_back(static_cast<int32_t>(id));
    }
  }

  // What is wrong with how `tested` is taken; empty when nothing is.
  std::string Fault(const Json& tested) {
    const fs::path folder = Keys() / tested["folder"].get<std::string>();
    const auto model = Model::Load(folder, {.compute_type = ComputeType::kFloat32});
    if (!model.ok()) {
      ++refused_;
      const std::string message(model.status().message());
      if (model.status().code() != absl::StatusCode::kFailedPrecondition) return message;
      // Other sizes may be wrong for a key that is right.
      bool named = tested["reshaped"].get<bool>() || !tested["runs"].get<bool>();
      for (const std::string key : tested["changed"]) {
        named = named || message.find(key) != std::string::npos;
      }
      return named ? "" : "refused without naming the key: " + message;
    }
    if (!tested["fits"].get<bool>()) return "loaded weights of other sizes";
    if (!tested["runs"].get<bool>()) return "";  // transformers is the stricter one
    ++compared_;
    const auto recorded = testing::RecordStates((*model)->internals(), ids_);
    const double away =
        Difference(recorded.states().back(), Values<float>(*states_, folder.filename().string()));
    return away <= kLargestDifference ? "" : "differs by " + std::to_string(away);
  }

  std::optional<SafetensorsFile> states_;
  TokenIds ids_;
  int refused_ = 0;
  int compared_ = 0;
};

TEST_P(ConfigKeys, GiveTheNumbersOfTransformersOrARefusal) {
  for (const Json& tested : Cases()) {
    if (tested["family"] != GetParam()) continue;
    const std::string fault = Fault(tested);
    EXPECT_THAT(fault, IsEmpty()) << tested["folder"] << " " << tested["config"];
  }
  // Among the cases are many that are wrong in themselves.
  EXPECT_GT(compared_, refused_ / 2);
  RecordProperty("compared", compared_);
  RecordProperty("refused", refused_);
}

// What transformers writes is known to the last key.
TEST_P(ConfigKeys, WarnOfNoneThatTransformersWrites) {
  const fs::path base = Keys() / GetParam() / "000_base";
  const auto model = Model::Load(base, {});
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT((*model)->info().warnings, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Families, ConfigKeys,
    ::testing::Values("apertus", "arcee", "bloom", "codegen", "cohere", "cohere2", "deepseek_v2",
                      "deepseek_v3", "dots1", "ernie4_5", "ernie4_5_moe", "exaone4", "falcon",
                      "falcon_h1", "flex_olmo", "gemma", "gemma2", "gemma3_text", "gemma4_text",
                      "glm", "glm4", "glm4_moe", "glm4_moe_lite", "gpt2", "gpt_bigcode", "gpt_neo",
                      "gpt_neox", "gpt_oss", "gptj", "granite", "granite_swa", "granitemoe",
                      "granitemoe_swa", "granitemoehybrid", "granitemoeshared", "helium",
                      "hunyuan_v1_dense", "hunyuan_v1_moe", "lfm2", "lfm2_moe", "llama",
                      "llama4_text", "mimo_v2_flash", "minimax_m2", "ministral", "ministral3",
                      "mistral", "mixtral", "mpt", "nemotron", "nemotron_h", "olmo", "olmo2",
                      "olmo3", "olmoe", "opt", "persimmon", "phi", "phi3", "phimoe", "qwen2",
                      "qwen2_moe", "qwen3", "qwen3_5_moe_text", "qwen3_5_text", "qwen3_moe",
                      "qwen3_next", "seed_oss", "smollm3", "solar_open", "stablelm", "starcoder2",
                      "vaultgemma", "youtu"),
    [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace sinkd
