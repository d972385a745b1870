// What is told about families: one entry each, and figures that hold.
#include "server/engine/family_facts.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "server/engine/families/family.h"
#include "server/engine/model_plan.h"
#include "tests/engine/full_size_models.h"

namespace sinkd::testing {
namespace {

TEST(FamilyFacts, CoverEveryFamilyInOrder) {
  ASSERT_EQ(AllFamilyFacts().size(), Families().size());
  for (size_t f = 0; f < Families().size(); ++f) {
    EXPECT_EQ(AllFamilyFacts()[f].model_type, Families()[f].model_type);
  }
}

TEST(FamilyFacts, SayWhatPeopleAskFor) {
  for (const FamilyFacts& facts : AllFamilyFacts()) {
    EXPECT_FALSE(facts.models.empty()) << facts.model_type;
    EXPECT_FALSE(facts.particular.empty()) << facts.model_type;
    EXPECT_TRUE(facts.reference == "transformers 4.57.1" ||
                facts.reference == "transformers 5.24.0")
        << facts.model_type;
    // Families without a published configuration that could be compared.
    const std::set<std::string_view> unknown = {
        "gemma4",           "gemma4_text",  "granite_swa", "granitemoe_swa", "granitemoeshared",
        "hunyuan_v1_moe",   "kimi_k25",     "llama4",      "llama4_text",    "ministral3",
        "qwen3_5_moe_text", "qwen3_5_text", "qwen3_vl_moe"};
    EXPECT_EQ(facts.known_models.empty(), unknown.contains(facts.model_type)) << facts.model_type;
  }
}

TEST(FamilyFacts, ToldOfKnownModelsAreWhatTheirPlansSay) {
  const std::vector<FullSizeModel> models = FullSizeModels();
  for (const FamilyFacts& facts : AllFamilyFacts()) {
    for (const KnownModel& known : facts.known_models) {
      const auto model = std::find_if(models.begin(), models.end(), [&](const FullSizeModel& m) {
        return m.repository == known.name;
      });
      ASSERT_NE(model, models.end()) << known.name;
      const auto plan = PlanModel(model->folder, {.compute_type = ComputeType::kBfloat16}, 1);
      ASSERT_TRUE(plan.ok()) << plan.status();
      EXPECT_EQ(plan->spec.architecture, facts.model_type) << known.name;
      EXPECT_EQ(model->parameters, known.parameters) << known.name;
      EXPECT_EQ(plan->weight_bytes, known.weight_bytes) << known.name;
    }
  }
}

}  // namespace
}  // namespace sinkd::testing
