// Plans of real checkpoints, from their published config.json alone, against what transformers
// makes of it on the meta device.
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
    if (name.ends_with(".sinks") || name.ends_with(".attention_sink_bias"))
      bytes += 2 * Elements(shape);
  }
  return bytes;
}

struct Planned {
  FullSizeModel model;
  ModelPlan plan;
  ExpectedWeights expected;
};

// Each test goes over all models: starting a process takes longer than planning them.
std::vector<Planned> PlanEveryModel() {
  std::vector<Planned> all;
  for (const FullSizeModel& model : FullSizeModels()) {
    auto plan = PlanModel(model.folder, {.compute_type = ComputeType::kBfloat16}, 2048);
    EXPECT_TRUE(plan.ok()) << model.repository << ": " << plan.status();
    if (plan.ok()) all.push_back({model, *std::move(plan), ReadExpectedWeights(model.name)});
  }
  EXPECT_FALSE(all.empty());
  return all;
}

TEST(FullSize, HasTheTensorsThatTransformersMakes) {
  for (const auto& [model, plan, expected] : PlanEveryModel()) {
    SCOPED_TRACE(model.repository);
    Shapes planned;
    for (const PlannedTensor& tensor : plan.tensors) planned[tensor.name] = tensor.shape;
    EXPECT_EQ(planned.size(), plan.tensors.size()) << "a tensor is named twice";
    for (const auto& [name, shape] : expected.tensors) {
      const auto found = planned.find(name);
      if (found == planned.end()) {
        ADD_FAILURE() << name << " is missing";
      } else {
        EXPECT_EQ(found->second, shape) << name;
      }
    }
    for (const auto& [name, shape] : planned) {
      EXPECT_TRUE(expected.tensors.contains(name)) << name << " is not of the model";
    }
  }
}

TEST(FullSize, HasThePublishedNumberOfParameters) {
  for (const auto& [model, plan, expected] : PlanEveryModel()) {
    SCOPED_TRACE(model.repository);
    EXPECT_EQ(expected.parameters, model.parameters);
    EXPECT_EQ(plan.parameters + expected.others, model.parameters);
  }
}

TEST(FullSize, StoresEachTensorInTheTypeOfTheFile) {
  const std::map<std::string, std::string> types = {
      {"bfloat16", "BF16"}, {"float16", "F16"}, {"float32", "F32"}};
  for (const auto& [model, plan, expected] : PlanEveryModel()) {
    SCOPED_TRACE(model.repository);
    for (const PlannedTensor& tensor : plan.tensors) {
      EXPECT_EQ(tensor.stored_bytes, Elements(tensor.shape) * BytesOf(tensor.stored_type))
          << tensor.name;
      if (tensor.stored_type != "U8" && !expected.dtype.empty()) {
        EXPECT_EQ(tensor.stored_type, types.at(expected.dtype)) << tensor.name;
      }
    }
  }
}

TEST(FullSize, LeavesOutTheUntiedHeadAndNothingElse) {
  for (const auto& [model, plan, expected] : PlanEveryModel()) {
    SCOPED_TRACE(model.repository);
    for (const PlannedTensor& tensor : plan.tensors) {
      const bool of_head = tensor.name.substr(0, tensor.name.rfind('.')) == expected.head;
      EXPECT_EQ(tensor.use, of_head ? TensorUse::kHead : TensorUse::kLoaded) << tensor.name;
    }
  }
}

TEST(FullSize, AddsItsTensorsUp) {
  for (const auto& [model, plan, expected] : PlanEveryModel()) {
    SCOPED_TRACE(model.repository);
    int64_t all = 0, left_out = 0;
    for (const PlannedTensor& tensor : plan.tensors) {
      all += tensor.stored_bytes;
      if (tensor.use != TensorUse::kLoaded) left_out += tensor.stored_bytes;
    }
    EXPECT_EQ(all, plan.stored_bytes + left_out);
    EXPECT_EQ(plan.weight_bytes, HeldBytes(expected));
  }
}

TEST(FullSize, KnowsThatItsWeightsAreNotThere) {
  for (const auto& [model, plan, expected] : PlanEveryModel()) {
    SCOPED_TRACE(model.repository);
    EXPECT_FALSE(plan.has_weights);
    EXPECT_EQ(plan.compute_type, "bfloat16");
    ASSERT_EQ(plan.devices.size(), 1U);
    EXPECT_EQ(plan.devices[0].blocks, plan.spec.blocks);
    EXPECT_EQ(plan.devices[0].weight_bytes, HeldBytes(expected));
  }
}

}  // namespace
}  // namespace sinkd::testing
