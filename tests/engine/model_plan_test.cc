// Plans of checkpoints that are there, against the files themselves. Plans from config.json alone
// are compared with transformers in full_size_test.cc.
#include "server/engine/model_plan.h"

#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/base/status.h"
#include "server/engine/checkpoint/checkpoint.h"
#include "tests/engine/checkpoint_folder.h"
#include "tests/engine/oracle_files.h"

namespace sinkd::testing {
namespace {

namespace fs = std::filesystem;

ModelPlan PlanOrDie(const fs::path& folder, const LoadOptions& options = {},
                    int64_t positions = 64) {
  absl::StatusOr<ModelPlan> plan = PlanModel(folder, options, positions);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *std::move(plan) : ModelPlan{};
}

std::set<std::string> Names(const ModelPlan& plan, TensorUse use) {
  std::set<std::string> names;
  for (const PlannedTensor& tensor : plan.tensors) {
    if (tensor.use == use) names.insert(tensor.name);
  }
  return names;
}

class PlanOfFiles : public ::testing::TestWithParam<const char*> {};

TEST_P(PlanOfFiles, ListsEveryTensorAsItIsStored) {
  const fs::path folder = OracleFolder() / GetParam();
  const ModelPlan plan = PlanOrDie(folder);
  const auto checkpoint = Checkpoint::Open(folder);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  ASSERT_EQ(plan.tensors.size(), checkpoint->tensors().size());
  EXPECT_TRUE(plan.has_weights);
  int64_t stored = 0;
  for (const PlannedTensor& tensor : plan.tensors) {
    const Checkpoint::Location* location = checkpoint->Find(tensor.name);
    ASSERT_NE(location, nullptr) << tensor.name;
    EXPECT_EQ(tensor.shape, location->entry->shape) << tensor.name;
    EXPECT_EQ(tensor.stored_type, StoredType(*location->entry)) << tensor.name;
    EXPECT_EQ(tensor.stored_bytes, location->entry->BytesInFile()) << tensor.name;
    if (tensor.use == TensorUse::kLoaded) stored += tensor.stored_bytes;
  }
  EXPECT_EQ(plan.stored_bytes, stored);
}

INSTANTIATE_TEST_SUITE_P(Families, PlanOfFiles,
                         ::testing::Values("families/gpt2_plain", "families/gpt_oss_mxfp4",
                                           "families/llama_extra_tensors",
                                           "families/gpt_neox_old_buffers", "decoders/phi_plain",
                                           "decoders/cohere_plain", "decoders/olmo_plain",
                                           "tiny/qwen2_plain"),
                         CheckpointName);

TEST(ModelPlan, TellsExtraTensorsFromThoseItLoads) {
  const ModelPlan plan = PlanOrDie(OracleFolder() / "families/llama_extra_tensors");
  const std::set<std::string> unused = Names(plan, TensorUse::kUnused);
  EXPECT_FALSE(unused.empty());
  for (const std::string& name : unused) {
    EXPECT_FALSE(Names(plan, TensorUse::kLoaded).contains(name));
  }
  EXPECT_FALSE(plan.warnings.empty());
}

TEST(ModelPlan, LeavesOutBuffersWithoutAWarning) {
  const ModelPlan plan = PlanOrDie(OracleFolder() / "families/gpt_neox_old_buffers");
  EXPECT_FALSE(Names(plan, TensorUse::kUnused).empty());
  EXPECT_TRUE(plan.warnings.empty()) << plan.warnings.front();
}

TEST(ModelPlan, WeighsInTheComputeType) {
  const fs::path folder = OracleFolder() / "tiny/qwen2_plain";
  const ModelPlan wide = PlanOrDie(folder, {.compute_type = ComputeType::kFloat32});
  const ModelPlan narrow = PlanOrDie(folder, {.compute_type = ComputeType::kBfloat16});
  EXPECT_EQ(wide.compute_type, "float32");
  EXPECT_EQ(wide.weight_bytes, 2 * narrow.weight_bytes);
  EXPECT_EQ(wide.stored_bytes, narrow.stored_bytes);
}

TEST(ModelPlan, NeedsLessWhenWeightsAreStreamed) {
  const fs::path folder = OracleFolder() / "tiny/qwen2_plain";
  const ModelPlan whole = PlanOrDie(folder);
  const ModelPlan streamed = PlanOrDie(folder, {.residency = Residency::kStreamed});
  EXPECT_EQ(streamed.devices.front().weight_bytes,
            whole.weight_bytes - (whole.spec.blocks - 2) * whole.largest_block_bytes);
}

TEST(ModelPlan, GrowsWithTheLengthOfTheSample) {
  const fs::path folder = OracleFolder() / "tiny/qwen2_plain";
  const auto activations = [&](int64_t positions) {
    return PlanOrDie(folder, {}, positions).devices.front().activation_bytes;
  };
  EXPECT_LT(activations(64), activations(128));
  EXPECT_EQ(activations(int64_t{1} << 40), activations(PlanOrDie(folder).spec.max_positions));
}

TEST(ModelPlan, PlansAConfigAlone) {
  const fs::path folder = fs::path(::testing::TempDir()) / "plan_of_a_config";
  fs::create_directories(folder);
  fs::copy_file(OracleFolder() / "tiny/qwen2_plain/config.json", folder / "config.json",
                fs::copy_options::overwrite_existing);
  const ModelPlan alone = PlanOrDie(folder);
  const ModelPlan whole = PlanOrDie(OracleFolder() / "tiny/qwen2_plain");
  EXPECT_FALSE(alone.has_weights);
  EXPECT_EQ(Names(alone, TensorUse::kLoaded), Names(whole, TensorUse::kLoaded));
  EXPECT_EQ(alone.weight_bytes, whole.weight_bytes);
  // What cannot be planned around cannot be loaded either.
  const auto model = Model::Load(folder, {});
  EXPECT_EQ(GetErrorDetail(model.status())->reason, "NO_WEIGHTS");
  fs::remove_all(folder);
}

TEST(ModelPlan, NamesAMissingTensorBeforeAnythingIsRead) {
  const fs::path folder = fs::path(::testing::TempDir()) / "plan_of_a_wrong_config";
  fs::remove_all(folder);
  fs::create_directories(folder);
  fs::copy(OracleFolder() / "tiny/qwen2_plain", folder, fs::copy_options::recursive);
  std::string config;
  {
    std::ifstream in(folder / "config.json");
    config.assign(std::istreambuf_iterator<char>(in), {});
  }
  const ModelPlan plan = PlanOrDie(folder);
  const std::string key = "\"num_hidden_layers\": ";
  const size_t at = config.find(key);
  ASSERT_NE(at, std::string::npos);
  const std::string more = std::to_string(plan.spec.blocks + 1);
  config.replace(at + key.size(), config.find_first_of(",\n", at) - at - key.size(), more);
  std::ofstream(folder / "config.json") << config;
  bool read = false;
  for (const auto& status :
       {PlanModel(folder, {}, 64).status(),
        Model::Load(folder, {}, [&read](const LoadProgress&) { read = true; }).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  }
  EXPECT_FALSE(read);
  fs::remove_all(folder);
}

TEST(ModelPlan, WarnsOfATiedHeadThatDiffersAndCallsItNoHead) {
  const fs::path folder = OracleFolder() / "families/qwen2_other_head";
  const ModelPlan plan = PlanOrDie(folder);
  const std::string warning =
      "tie_word_embeddings is true, but lm_head.weight differs from model.embed_tokens.weight, "
      "which is taken for both";
  EXPECT_THAT(plan.warnings, ::testing::Contains(warning));
  EXPECT_TRUE(Names(plan, TensorUse::kHead).empty());
  EXPECT_TRUE(Names(plan, TensorUse::kUnused).contains("lm_head.weight"));
  const auto model = Model::Load(folder, {});
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->info().warnings, plan.warnings);
}

constexpr char kLlama[] =
    R"({"model_type":"llama","hidden_size":8,"num_hidden_layers":2,"num_attention_heads":2,)"
    R"("intermediate_size":8,"vocab_size":4})";

TEST(ModelPlan, AMissingTensorNamesTheOneThatIsCalledOtherwise) {
  struct Called {
    std::string name, message;
  };
  const std::string embedding = "model.embed_tokens.weight";
  for (const Called& called :
       {Called{"_orig_mod." + embedding, "its names begin with _orig_mod."},
        {"module." + embedding, "its names begin with module."},
        {"base_model.model." + embedding, "its names begin with base_model.model."},
        {"model._fsdp_wrapped_module.embed_tokens.weight",
         "there is model._fsdp_wrapped_module.embed_tokens.weight"},
        {"model.embed_tokens.base_layer.weight", "there is model.embed_tokens.base_layer.weight"},
        {"backbone.embed_tokens.weight", "there is backbone.embed_tokens.weight"}}) {
    const CheckpointFolder folder;
    folder.Write("config.json", kLlama);
    folder.Write("model.safetensors", OneTensor(called.name));
    const std::string message(PlanModel(folder.path(), {}, 1).status().message());
    EXPECT_THAT(message, ::testing::HasSubstr("tensor " + embedding + " is missing; there is "));
    EXPECT_THAT(message, ::testing::HasSubstr(called.message));
  }
  const CheckpointFolder folder;
  folder.Write("config.json", kLlama);
  folder.Write("model.safetensors", OneTensor("w"));
  EXPECT_THAT(std::string(PlanModel(folder.path(), {}, 1).status().message()),
              ::testing::HasSubstr("is missing; copy the complete checkpoint"));
}

// 4,096 experts in each of 1,024 blocks are twelve million tensors, asked for by 300 bytes.
TEST(ModelPlan, AConfigThatAsksForMoreTensorsThanModelsHaveIsRefused) {
  const CheckpointFolder folder;
  folder.Write("config.json",
               R"({"model_type":"qwen3_moe","hidden_size":8,"num_hidden_layers":1024,)"
               R"("num_attention_heads":4,"intermediate_size":8,"moe_intermediate_size":8,)"
               R"("vocab_size":4,"num_local_experts":4096,"num_experts_per_tok":2})");
  EXPECT_THAT(std::string(PlanModel(folder.path(), {}, 1).status().message()),
              ::testing::HasSubstr("is one of over 300000 that config.json asks for"));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(absl::IsCancelled(PlanModel(folder.path(), {}, 1, stop.get_token()).status()));
}

TEST(ModelPlan, RefusesALengthThatIsNone) {
  const auto plan = PlanModel(OracleFolder() / "tiny/qwen2_plain", {}, 0);
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(GetErrorDetail(plan.status())->subject, "positions");
}

}  // namespace
}  // namespace sinkd::testing
