// Weights streamed from disk, or spread over devices, give what resident ones give, bit by bit.
#include <filesystem>
#include <fstream>
#include <random>

#include <gtest/gtest.h>

#include "server/base/status.h"
#include "server/engine/model.h"
#include "server/engine/model_plan.h"
#include "server/engine/placement.h"
#include "tests/engine/oracle_files.h"

namespace sinkd::testing {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Model> LoadOrDie(const fs::path& folder, const LoadOptions& options) {
  auto model = Model::Load(folder, options);
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *std::move(model) : nullptr;
}

// Samples of mixed lengths, more rows than run through a block at once.
std::vector<TokenIds> MixedBatch(const DecoderSpec& spec) {
  std::mt19937 random(7);
  std::vector<TokenIds> batch;
  for (const int64_t wanted : {900, 1, 700, 64, 2, 800, 300}) {
    TokenIds& ids = batch.emplace_back();
    for (int64_t t = 0; t < std::min(wanted, spec.max_positions); ++t) {
      ids.push_back(static_cast<int32_t>(random() % static_cast<uint32_t>(spec.vocabulary)));
    }
  }
  return batch;
}

void ExpectSame(const std::vector<Trace>& got, const std::vector<Trace>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t s = 0; s < got.size(); ++s) {
    EXPECT_EQ(got[s].positions, want[s].positions);
    EXPECT_EQ(got[s].state_norm, want[s].state_norm) << "sample " << s;
    EXPECT_EQ(got[s].candidate_cosine, want[s].candidate_cosine) << "sample " << s;
    EXPECT_EQ(got[s].mlp_norm, want[s].mlp_norm) << "sample " << s;
    EXPECT_EQ(got[s].attention_sum, want[s].attention_sum) << "sample " << s;
    EXPECT_EQ(got[s].attention_self, want[s].attention_self) << "sample " << s;
    EXPECT_EQ(got[s].gates, want[s].gates) << "sample " << s;
    EXPECT_EQ(got[s].learned_sink_mass, want[s].learned_sink_mass) << "sample " << s;
  }
}

class Streamed : public ::testing::TestWithParam<const char*> {};

TEST_P(Streamed, GivesWhatResidentWeightsGive) {
  const fs::path folder = OracleFolder() / GetParam();
  const auto resident = LoadOrDie(folder, {});
  const auto streamed = LoadOrDie(folder, {.residency = Residency::kStreamed});
  ASSERT_TRUE(resident && streamed);
  EXPECT_EQ(streamed->info().residency, Residency::kStreamed);
  const std::vector<TokenIds> batch = MixedBatch(resident->info().spec);
  const auto want = resident->Run(batch, {});
  ASSERT_TRUE(want.ok()) << want.status();
  // Twice: a pass leaves the source as it found it.
  for (int pass = 0; pass < 2; ++pass) {
    const auto got = streamed->Run(batch, {});
    ASSERT_TRUE(got.ok()) << got.status();
    ExpectSame(*got, *want);
  }
}

TEST_P(Streamed, GivesWhatOneDeviceGivesWhenBlocksAreSpread) {
  const fs::path folder = OracleFolder() / GetParam();
  const auto whole = LoadOrDie(folder, {});
  ASSERT_TRUE(whole);
  const int64_t last = whole->info().spec.blocks - 1;
  const std::string map = "cpu=0-0,cpu=1-" + std::to_string(last);
  const std::vector<TokenIds> batch = MixedBatch(whole->info().spec);
  const auto want = whole->Run(batch, {});
  ASSERT_TRUE(want.ok()) << want.status();
  for (const Residency residency : {Residency::kResident, Residency::kStreamed}) {
    const auto spread = LoadOrDie(folder, {.device = map, .residency = residency});
    ASSERT_TRUE(spread);
    EXPECT_EQ(spread->info().device, map);
    EXPECT_EQ(HomeDevice(spread->info().device), "cpu");
    const auto got = spread->Run(batch, {});
    ASSERT_TRUE(got.ok()) << got.status();
    ExpectSame(*got, *want);
  }
}

TEST_P(Streamed, HoldsTheBytesThatThePlanSays) {
  const fs::path folder = OracleFolder() / GetParam();
  for (const Residency residency : {Residency::kResident, Residency::kStreamed}) {
    const auto plan = PlanModel(folder, {.residency = residency}, 64);
    ASSERT_TRUE(plan.ok()) << plan.status();
    const auto model = LoadOrDie(folder, {.residency = residency});
    ASSERT_TRUE(model);
    ASSERT_EQ(plan->devices.size(), 1u);
    EXPECT_EQ(model->info().weight_bytes, plan->devices.front().weight_bytes);
    if (residency == Residency::kResident) {
      EXPECT_EQ(model->info().weight_bytes, plan->weight_bytes);
    } else {
      EXPECT_LE(model->info().weight_bytes, plan->weight_bytes);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Families, Streamed,
    ::testing::Values(
        "blocks/falcon_h1_multipliers", "blocks/nemotron_h_latents", "blocks/gemma4_sharing",
        "blocks/gemma4_experts", "families/gemma3_pattern", "families/gpt2_plain",
        "families/gpt_neox_parallel", "families/gpt_oss_mxfp4", "families/gpt_oss_sinks",
        "families/llama_float8", "families/mixtral_window", "families/opt_post_norm",
        "families/phi3_longrope", "families/smollm3_no_rope", "decoders/apertus_plain",
        "decoders/codegen_plain", "decoders/deepseek_v3_groups", "decoders/falcon_groups",
        "decoders/llama4_chunks", "decoders/mimo_v2_flash_windows", "decoders/bloom_bias",
        "decoders/granitemoehybrid_dense", "decoders/granitemoeshared_experts",
        "decoders/lfm2_moe_experts", "decoders/mistral3_ministral3", "decoders/olmo_clipped",
        "decoders/qwen2_moe_experts", "decoders/qwen3_next_experts", "decoders/stablelm_parallel",
        "tiny/qwen2_plain"),
    CheckpointName);

// A copy of a checkpoint that a test may spoil.
class SpoiledFiles : public ::testing::Test {
 protected:
  SpoiledFiles() {
    fs::remove_all(folder_);
    fs::copy(OracleFolder() / "families/mistral_window", folder_, fs::copy_options::recursive);
  }
  ~SpoiledFiles() override { fs::remove_all(folder_); }

  const fs::path folder_ = fs::path(::testing::TempDir()) / "streaming_test_spoiled";
};

TEST_F(SpoiledFiles, AreToldByTheSampleThatNeedsThemAndNoOther) {
  const auto model = LoadOrDie(folder_, {.residency = Residency::kStreamed});
  ASSERT_TRUE(model);
  const TokenIds sample[] = {{1, 2, 3, 4}};
  ASSERT_TRUE(model->Run(sample, {}).ok());
  const fs::path weights = folder_ / "model.safetensors";
  const auto bytes = fs::file_size(weights);
  const fs::path copy = folder_ / "copy";
  fs::copy_file(weights, copy);
  fs::resize_file(weights, bytes / 2);
  const auto spoiled = model->Run(sample, {});
  EXPECT_EQ(spoiled.status().code(), absl::StatusCode::kFailedPrecondition) << spoiled.status();
  {
    // The same file, whole again.
    std::ifstream from(copy, std::ios::binary);
    std::ofstream to(weights, std::ios::binary | std::ios::in);
    to << from.rdbuf();
  }
  EXPECT_TRUE(model->Run(sample, {}).ok());
}

TEST(StreamedModel, StopsBeforeABlock) {
  const auto model =
      LoadOrDie(OracleFolder() / "families/mistral_window", {.residency = Residency::kStreamed});
  ASSERT_TRUE(model);
  std::stop_source stop;
  stop.request_stop();
  const TokenIds sample[] = {{1, 2, 3, 4}};
  EXPECT_EQ(model->Run(sample, {}, stop.get_token()).status().code(), absl::StatusCode::kCancelled);
}

TEST(StreamedModel, RefusesAPlacementThatIsNone) {
  for (const char* device : {"cpu=0-1", "gpu", "cuda:99", "cpu=0-0,nowhere=1-99"}) {
    const auto model = Model::Load(OracleFolder() / "families/mistral_window", {.device = device});
    EXPECT_EQ(model.status().code(), absl::StatusCode::kInvalidArgument) << device;
  }
}

TEST(StreamedModel, PlacesOnTheHostWhereThereIsNoGpu) {
  const auto model = LoadOrDie(OracleFolder() / "families/mistral_window", {.device = "auto"});
  ASSERT_TRUE(model);
  EXPECT_FALSE(model->info().device.empty());
  const TokenIds sample[] = {{1, 2, 3, 4}};
  EXPECT_TRUE(model->Run(sample, {}).ok());
}

}  // namespace
}  // namespace sinkd::testing
