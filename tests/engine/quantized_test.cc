// Quantized checkpoints against the plain ones that their formats' own packages make of them.
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/engine/checkpoint/checkpoint.h"
#include "server/engine/model.h"
#include "server/engine/model_plan.h"
#include "tests/engine/oracle_files.h"

namespace sinkd::testing {
namespace {

using ::testing::HasSubstr;

std::filesystem::path Folder() {
  return OracleFolder() / "quantized";
}

nlohmann::json ReadJson(const std::string& name) {
  std::ifstream file(Folder() / name);
  return nlohmann::json::parse(file);
}

std::vector<char> Bytes(const Checkpoint::Location& location, const std::string& name) {
  std::vector<char> bytes(static_cast<size_t>(location.entry->bytes));
  const absl::Status status = location.file->Read(name, 0, location.entry->bytes, bytes.data());
  EXPECT_TRUE(status.ok()) << status;
  return bytes;
}

TEST(Quantized, WeightsAreThoseOfTheFormatsOwnPackageToTheLastBit) {
  for (const std::string name : ReadJson("cases.json")) {
    SCOPED_TRACE(name);
    const auto packed = Checkpoint::Open(Folder() / name / "packed");
    const auto plain = Checkpoint::Open(Folder() / name / "plain");
    ASSERT_TRUE(packed.ok()) << packed.status();
    ASSERT_TRUE(plain.ok()) << plain.status();
    EXPECT_NE(packed->quantization(), "");
    EXPECT_EQ(packed->tensors().size(), plain->tensors().size());
    for (const auto& [tensor, expected] : plain->tensors()) {
      const Checkpoint::Location* found = packed->Find(tensor);
      ASSERT_NE(found, nullptr) << tensor;
      EXPECT_EQ(found->entry->shape, expected.entry->shape) << tensor;
      EXPECT_EQ(Bytes(*found, tensor), Bytes(expected, tensor)) << tensor;
    }
  }
}

// Reads that begin and end within rows give what a whole read gives.
TEST(Quantized, WeightsAreReadInAnyPieces) {
  constexpr char kTensor[] = "model.layers.1.mlp.down_proj.weight";
  const auto packed = Checkpoint::Open(Folder() / "gptq_4bit" / "packed");
  ASSERT_TRUE(packed.ok()) << packed.status();
  const Checkpoint::Location& location = *packed->Find(kTensor);
  const std::vector<char> whole = Bytes(location, kTensor);
  std::vector<char> pieces(whole.size());
  const auto size = static_cast<int64_t>(whole.size());
  for (int64_t offset = 0, piece = 4; offset < size; offset += piece, piece = piece * 3 % 4004) {
    piece = std::min(piece, size - offset);
    ASSERT_TRUE(location.file->Read(kTensor, offset, piece, pieces.data() + offset).ok());
  }
  EXPECT_EQ(pieces, whole);
  EXPECT_FALSE(location.file->Read(kTensor, size - 4, 8, pieces.data()).ok());
}

TEST(Quantized, AModelComputesWhatThePlainOneDoesAndSaysHowItIsStored) {
  TokenIds ids(64);
  for (size_t t = 0; t < ids.size(); ++t) ids[t] = static_cast<int32_t>((1 + 37 * t) % 300);
  const std::vector<TokenIds> batch = {ids};
  for (const std::string name : ReadJson("cases.json")) {
    SCOPED_TRACE(name);
    std::vector<Trace> traces;
    for (const char* form : {"packed", "plain"}) {
      const auto model =
          Model::Load(Folder() / name / form, {.compute_type = ComputeType::kFloat32});
      ASSERT_TRUE(model.ok()) << model.status();
      const ModelInfo& info = (*model)->info();
      EXPECT_EQ(info.quantization.empty(), std::string(form) == "plain");
      EXPECT_THAT(info.warnings, ::testing::IsEmpty());
      if (!info.quantization.empty()) {
        EXPECT_THAT(ArithmeticOf(info), HasSubstr("weights of " + info.quantization));
      }
      auto run = (*model)->Run(batch, {});
      ASSERT_TRUE(run.ok()) << run.status();
      traces.push_back(std::move(run->at(0)));
    }
    EXPECT_EQ(traces[0].attention_sum, traces[1].attention_sum);
    EXPECT_EQ(traces[0].state_norm, traces[1].state_norm);
    EXPECT_EQ(traces[0].mlp_norm, traces[1].mlp_norm);
  }
}

TEST(Quantized, APlanCountsWhatIsStoredAndWhatWouldBeHeld) {
  const auto packed = PlanModel(Folder() / "gptq_4bit" / "packed", {}, 64);
  const auto plain = PlanModel(Folder() / "gptq_4bit" / "plain", {}, 64);
  ASSERT_TRUE(packed.ok()) << packed.status();
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_THAT(packed->quantization,
              ::testing::MatchesRegex("gptq 4 bits, [0-9.]+ bits per weight"));
  EXPECT_EQ(plain->quantization, "");
  EXPECT_EQ(packed->parameters, plain->parameters);
  EXPECT_EQ(packed->weight_bytes, plain->weight_bytes);
  EXPECT_LT(packed->stored_bytes, plain->stored_bytes);
  for (const PlannedTensor& tensor : packed->tensors) {
    if (tensor.name != "model.layers.1.mlp.down_proj.weight") continue;
    EXPECT_EQ(tensor.stored_type, "gptq 4 bits");
    // [16, 64] words, [4, 8] of zero points, [4, 64] halves, [128] of the order.
    EXPECT_EQ(tensor.stored_bytes, 4 * 16 * 64 + 4 * 4 * 8 + 2 * 4 * 64 + 4 * 128);
  }
}

// 32 values of four bits and a scale of eight.
TEST(Quantized, ExpertsInBlocksAreNamedToo) {
  const auto plan = PlanModel(OracleFolder() / "families/gpt_oss_mxfp4", {}, 64);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->quantization, "mxfp4, 4.25 bits per weight");
  const auto model = Model::Load(OracleFolder() / "families/gpt_oss_mxfp4", {});
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(ArithmeticOf((*model)->info()), ::testing::StartsWith("weights of mxfp4; "));
}

TEST(Quantized, FilesThatCannotBeRightAreRefusedByName) {
  const nlohmann::json broken = ReadJson("broken.json");
  EXPECT_GE(broken.size(), 40u);
  for (const auto& [name, words] : broken.items()) {
    SCOPED_TRACE(name);
    const auto model = Model::Load(Folder() / "broken" / name, {});
    ASSERT_FALSE(model.ok());
    EXPECT_EQ(model.status().code(), absl::StatusCode::kFailedPrecondition) << model.status();
    for (const std::string word : words) {
      EXPECT_THAT(std::string(model.status().message()), HasSubstr(word));
    }
  }
}

}  // namespace
}  // namespace sinkd::testing
