// GGUF files against what the gguf package and transformers read in them.
#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/engine/checkpoint/checkpoint.h"
#include "server/engine/checkpoint/gguf/gguf_file.h"
#include "server/engine/checkpoint/gguf/gguf_quantization.h"
#include "server/engine/checkpoint/gguf/gguf_source.h"
#include "server/engine/checkpoint/safetensors.h"
#include "server/engine/families/hf_config.h"
#include "tests/engine/oracle_files.h"

namespace sinkd {
namespace {

namespace fs = std::filesystem;
using testing::OracleFolder;

fs::path Gguf() {
  return OracleFolder() / "gguf";
}

nlohmann::json Index(const fs::path& folder = Gguf()) {
  std::ifstream file(folder / "index.json");
  EXPECT_TRUE(file) << "the oracle did not write " << folder / "index.json";
  return nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
}

// Folders that hold one model as gguf/ and as hf/.
std::vector<fs::path> Models() {
  std::vector<fs::path> models;
  for (const fs::path& folder : {Gguf(), OracleFolder() / "gguf_models"}) {
    const nlohmann::json index = Index(folder);
    for (const std::string name : index["models"]) models.push_back(folder / "models" / name);
  }
  return models;
}

// All values of a tensor as float32; empty when it cannot be read.
std::vector<float> Values(const TensorSource& source, const std::string& name) {
  const auto found = source.tensors().find(name);
  if (found == source.tensors().end()) return {};
  const TensorEntry& entry = found->second;
  std::vector<uint8_t> bytes(static_cast<size_t>(entry.bytes));
  const absl::Status read = source.Read(name, 0, entry.bytes, bytes.data());
  EXPECT_TRUE(read.ok()) << read;
  const uint32_t type = entry.dtype == "F32" ? 0 : entry.dtype == "F16" ? 1 : 30;
  const GgufTypeInfo& info = *FindGgufType(type);
  std::vector<float> values(bytes.size() / static_cast<size_t>(info.block_bytes));
  Dequantize(info, bytes.data(), static_cast<int64_t>(values.size()), values.data());
  return values;
}

std::vector<float> Values(const Checkpoint& checkpoint, const std::string& name) {
  const Checkpoint::Location* location = checkpoint.Find(name);
  return location == nullptr ? std::vector<float>() : Values(*location->file, name);
}

TEST(GgufParity, EveryStorableTypeUnpacksToTheSameBits) {
  const auto source = GgufSource::Open(Gguf() / "quantized" / "model.gguf");
  const auto expected = SafetensorsFile::Open(Gguf() / "quantized" / "expected.safetensors");
  ASSERT_TRUE(source.ok()) << source.status();
  ASSERT_TRUE(expected.ok()) << expected.status();
  EXPECT_EQ(expected->tensors().size(), 15u);
  for (const auto& [name, entry] : expected->tensors()) {
    ASSERT_EQ(source->tensors().count(name), 1u) << name;
    EXPECT_EQ(source->tensors().find(name)->second.shape, entry.shape) << name;
    const std::vector<float> mine = Values(*source, name);
    const std::vector<float> theirs = Values(*expected, name);
    ASSERT_EQ(mine.size(), theirs.size()) << name;
    EXPECT_EQ(std::memcmp(mine.data(), theirs.data(), mine.size() * sizeof(float)), 0) << name;
  }
}

// Compares every tensor of `expected` with the one of the same name; returns the largest
// difference.
float LargestDifference(const Checkpoint& checkpoint, const Checkpoint& expected) {
  float largest = 0;
  for (const auto& [name, location] : expected.tensors()) {
    const Checkpoint::Location* mine = checkpoint.Find(name);
    EXPECT_NE(mine, nullptr) << name;
    if (mine == nullptr) continue;
    EXPECT_EQ(mine->entry->shape, location.entry->shape) << name;
    const std::vector<float> a = Values(checkpoint, name);
    const std::vector<float> b = Values(expected, name);
    EXPECT_EQ(a.size(), b.size()) << name;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      largest = std::max(largest, std::abs(a[i] - b[i]));
    }
  }
  return largest;
}

TEST(GgufParity, AModelsTensorsEqualThoseOfItsSafetensorsForm) {
  for (const fs::path& model : Models()) {
    const std::string name = model.filename();
    const auto checkpoint = Checkpoint::Open(model / "gguf");
    const auto expected = Checkpoint::Open(model / "hf");
    ASSERT_TRUE(checkpoint.ok()) << name << ": " << checkpoint.status();
    ASSERT_TRUE(expected.ok()) << expected.status();
    EXPECT_EQ(checkpoint->tensors().size(), expected->tensors().size()) << name;
    const float difference = LargestDifference(*checkpoint, *expected);
    std::cout << name << ": " << difference << "\n";
    EXPECT_LE(difference, 1e-6F) << name;
  }
}

// The trace of one sample by the GGUF form and by the other.
TEST(GgufParity, AModelComputesWhatItsSafetensorsFormDoes) {
  // Long enough for every rotary scaling to tell.
  TokenIds ids(256);
  for (size_t t = 0; t < ids.size(); ++t) ids[t] = static_cast<int32_t>((1 + 37 * t) % 300);
  for (const fs::path& folder : Models()) {
    const std::string name = folder.filename();
    std::vector<Trace> traces;
    std::vector<ModelInfo> infos;
    for (const char* form : {"gguf", "hf"}) {
      const auto model = Model::Load(folder / form, {.compute_type = ComputeType::kFloat32});
      ASSERT_TRUE(model.ok()) << name << ": " << model.status();
      EXPECT_THAT((*model)->info().warnings, ::testing::IsEmpty()) << name << " " << form;
      infos.push_back((*model)->info());
      const auto limit = static_cast<size_t>((*model)->info().spec.max_positions);
      const auto end = ids.begin() + static_cast<int64_t>(std::min(ids.size(), limit));
      const std::vector<TokenIds> batch = {TokenIds(ids.begin(), end)};
      auto run = (*model)->Run(batch, {});
      ASSERT_TRUE(run.ok()) << run.status();
      traces.push_back(std::move(run->at(0)));
    }
    EXPECT_EQ(infos[0].spec.architecture, infos[1].spec.architecture) << name;
    EXPECT_EQ(infos[0].spec.tied_head, infos[1].spec.tied_head) << name;
    EXPECT_EQ(infos[0].spec.max_positions, infos[1].spec.max_positions) << name;
    ASSERT_EQ(traces[0].attention_sum.size(), traces[1].attention_sum.size()) << name;
    ASSERT_FALSE(traces[0].attention_sum.empty()) << name;
    float largest = 0;
    for (size_t i = 0; i < traces[0].attention_sum.size(); ++i) {
      largest =
          std::max(largest, std::abs(traces[0].attention_sum[i] - traces[1].attention_sum[i]));
    }
    std::cout << name << ": " << largest << "\n";
    EXPECT_LE(largest, 1e-5F) << name;
  }
}

TEST(GgufParity, SmolLM2sTensorsEqualThoseTransformersReads) {
  const std::string folder = Index()["smollm2"];
  const auto checkpoint = Checkpoint::Open(Gguf() / "smollm2");
  const auto expected = Checkpoint::Open(folder);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  ASSERT_TRUE(expected.ok()) << expected.status();
  EXPECT_EQ(checkpoint->tensors().size(), expected->tensors().size());
  const float difference = LargestDifference(*checkpoint, *expected);
  std::cout << "largest difference " << difference << "\n";
  EXPECT_LE(difference, 1e-5F);
}

TEST(GgufParity, SmolLM2sPlanIsThatOfTheConvertedFolder) {
  const auto plan = PlanFromFolder(Gguf() / "smollm2");
  const auto expected = PlanFromFolder(fs::path(Index()["smollm2"].get<std::string>()));
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_TRUE(expected.ok()) << expected.status();
  const DecoderSpec& mine = plan->spec;
  const DecoderSpec& theirs = expected->spec;
  EXPECT_EQ(mine.architecture, theirs.architecture);
  EXPECT_EQ(mine.blocks, theirs.blocks);
  EXPECT_EQ(mine.hidden, theirs.hidden);
  EXPECT_EQ(mine.intermediate, theirs.intermediate);
  EXPECT_EQ(mine.vocabulary, theirs.vocabulary);
  EXPECT_EQ(mine.heads, theirs.heads);
  EXPECT_EQ(mine.kv_heads, theirs.kv_heads);
  EXPECT_EQ(mine.head_size, theirs.head_size);
  EXPECT_EQ(mine.max_positions, theirs.max_positions);
  EXPECT_EQ(mine.norm_epsilon, theirs.norm_epsilon);
  EXPECT_EQ(mine.tied_head, theirs.tied_head);
}

}  // namespace
}  // namespace sinkd
