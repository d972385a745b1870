// Plans of real checkpoints, from their published config.json alone, against what transformers
// makes of it on the meta device.
#include <algorithm>
#include <fstream>
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/engine/model_plan.h"
#include "tests/engine/full_size_models.h"
#include "tests/engine/oracle_files.h"

namespace sinkd::testing {
namespace {

using Shapes = std::map<std::string, std::vector<int64_t>>;

// As tests/oracle/full_size.py writes them.
struct ExpectedWeights {
  int64_t parameters = 0;
  int64_t others = 0;  // of the vision half
  int64_t held = 0;    // without the vision half and an untied head
  std::string dtype;
  std::string head;
  Shapes tensors;
};

ExpectedWeights ReadExpectedWeights(const std::string& name) {
  const auto json =
      nlohmann::json::parse(std::ifstream(OracleFolder() / "full_size" / (name + ".json")));
  return {.parameters = json.at("parameters"),
          .others = json.at("others"),
          .held = json.at("held"),
          .dtype = json.at("dtype"),
          .head = json.at("head"),
          .tensors = json.at("tensors").get<Shapes>()};
}

int64_t Elements(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

int64_t BytesOf(const std::string& stored_type) {
  static const std::map<std::string, int64_t> bytes = {
      {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"U8", 1}};
  return bytes.at(stored_type);
}

// In bfloat16, but for learned sinks: logits of a softmax, which is float32 throughout.
int64_t HeldBytes(const ExpectedWeights& expected) {
  int64_t bytes = 2 * expected.held;
  for (const auto& [name, shape] : expected.tensors) {
    if (name.ends_with(".self_attn.sinks")) bytes += 2 * Elements(shape);
  }
  return bytes;
}

class FullSize : public ::testing::TestWithParam<FullSizeModel> {
 protected:
  void SetUp() override {
    const auto plan = PlanModel(GetParam().folder, {.compute_type = ComputeType::kBfloat16}, 2048);
    ASSERT_TRUE(plan.ok()) << plan.status();
    plan_ = *plan;
    expected_ = ReadExpectedWeights(GetParam().name);
  }

  ModelPlan plan_;
  ExpectedWeights expected_;
};

TEST_P(FullSize, HasTheTensorsThatTransformersMakes) {
  Shapes planned;
  for (const PlannedTensor& tensor : plan_.tensors) planned[tensor.name] = tensor.shape;
  EXPECT_EQ(planned.size(), plan_.tensors.size()) << "a tensor is named twice";
  for (const auto& [name, shape] : expected_.tensors) {
    const auto found = planned.find(name);
    if (found == planned.end()) {
      ADD_FAILURE() << name << " is missing";
    } else {
      EXPECT_EQ(found->second, shape) << name;
    }
  }
  for (const auto& [name, shape] : planned) {
    EXPECT_TRUE(expected_.tensors.contains(name)) << name << " is not of the model";
  }
}

TEST_P(FullSize, HasThePublishedNumberOfParameters) {
  EXPECT_EQ(expected_.parameters, GetParam().parameters);
  EXPECT_EQ(plan_.parameters + expected_.others, GetParam().parameters);
}

TEST_P(FullSize, StoresEachTensorInTheTypeOfTheFile) {
  static const std::map<std::string, std::string> types = {
      {"bfloat16", "BF16"}, {"float16", "F16"}, {"float32", "F32"}};
  for (const PlannedTensor& tensor : plan_.tensors) {
    EXPECT_EQ(tensor.stored_bytes, Elements(tensor.shape) * BytesOf(tensor.stored_type))
        << tensor.name;
    if (tensor.stored_type != "U8" && !expected_.dtype.empty()) {
      EXPECT_EQ(tensor.stored_type, types.at(expected_.dtype)) << tensor.name;
    }
  }
}

TEST_P(FullSize, LeavesOutTheUntiedHeadAndNothingElse) {
  for (const PlannedTensor& tensor : plan_.tensors) {
    EXPECT_EQ(tensor.use, tensor.name == expected_.head ? TensorUse::kHead : TensorUse::kLoaded)
        << tensor.name;
  }
}

TEST_P(FullSize, AddsItsTensorsUp) {
  int64_t all = 0, left_out = 0;
  for (const PlannedTensor& tensor : plan_.tensors) {
    all += tensor.stored_bytes;
    if (tensor.use != TensorUse::kLoaded) left_out += tensor.stored_bytes;
  }
  EXPECT_EQ(all, plan_.stored_bytes + left_out);
  EXPECT_EQ(plan_.weight_bytes, HeldBytes(expected_));
}

TEST_P(FullSize, KnowsThatItsWeightsAreNotThere) {
  EXPECT_FALSE(plan_.has_weights);
  EXPECT_EQ(plan_.compute_type, "bfloat16");
  ASSERT_EQ(plan_.devices.size(), 1U);
  EXPECT_EQ(plan_.devices[0].blocks, plan_.spec.blocks);
  EXPECT_EQ(plan_.devices[0].weight_bytes, HeldBytes(expected_));
}

std::string CaseName(const ::testing::TestParamInfo<FullSizeModel>& info) {
  std::string name = info.param.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Models, FullSize, ::testing::ValuesIn(FullSizeModels()), CaseName);

}  // namespace
}  // namespace sinkd::testing
