#include "tests/models/failed_load.h"

#include <algorithm>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "tests/testing/process_memory.h"

namespace sinkd::testing {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kSlackBytes = 8 * kMebibyte;
constexpr int kWidth = 512, kUnits = 1536, kVocabulary = 8192, kBlocks = 4;

// Memory that the process holds now, without the code it has touched.
int64_t ResidentBytes() {
  return static_cast<int64_t>(StatusBytes("RssAnon"));
}

}  // namespace

int64_t StoredTensor::count() const {
  int64_t product = 1;
  for (const int axis : shape) product *= axis;
  return product;
}

LargeCheckpoint::LargeCheckpoint(const fs::path& folder) : folder_(folder) {
  fs::create_directories(folder);
  std::ofstream(folder / "config.json") << fmt::format(
      R"({{"model_type": "llama", "num_hidden_layers": {}, "hidden_size": {},
            "intermediate_size": {}, "num_attention_heads": 8, "vocab_size": {},
            "tie_word_embeddings": true}})",
      kBlocks, kWidth, kUnits, kVocabulary);
  Add("model.embed_tokens", {kVocabulary, kWidth});
  for (int l = 0; l < kBlocks; ++l) AddBlock(fmt::format("model.layers.{}.", l));
  Add("model.norm", {kWidth});
  WriteFile();
}

void LargeCheckpoint::Poke(const StoredTensor& tensor, float value) const {
  std::fstream stream(file(), std::ios::binary | std::ios::in | std::ios::out);
  stream.seekp(tensor.offset + 4 * tensor.count() - 4);
  stream.write(reinterpret_cast<const char*>(&value), 4);
}

void LargeCheckpoint::Add(const std::string& module, std::vector<int> shape) {
  tensors_.push_back({module + ".weight", std::move(shape)});
}

void LargeCheckpoint::AddBlock(const std::string& block) {
  Add(block + "input_layernorm", {kWidth});
  for (const char* name : {"q", "k", "v", "o"}) {
    Add(block + "self_attn." + name + "_proj", {kWidth, kWidth});
  }
  Add(block + "post_attention_layernorm", {kWidth});
  Add(block + "mlp.gate_proj", {kUnits, kWidth});
  Add(block + "mlp.up_proj", {kUnits, kWidth});
  Add(block + "mlp.down_proj", {kWidth, kUnits});
}

void LargeCheckpoint::WriteFile() {
  std::string header = "{";
  for (StoredTensor& tensor : tensors_) {
    tensor.offset = data_bytes_;
    data_bytes_ += 4 * tensor.count();
    header += fmt::format(R"({}"{}":{{"dtype":"F32","shape":[{}],"data_offsets":[{},{}]}})",
                          header.size() > 1 ? "," : "", tensor.name, fmt::join(tensor.shape, ","),
                          tensor.offset, data_bytes_);
  }
  header += "}";
  const uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  std::ofstream stream(file(), std::ios::binary);
  stream << bytes << header;
  const std::vector<float> values(kMebibyte, 0.01f);
  for (int64_t left = data_bytes_ / 4; left > 0; left -= kMebibyte) {
    stream.write(reinterpret_cast<const char*>(values.data()), 4 * std::min(left, kMebibyte));
  }
  for (StoredTensor& tensor : tensors_) tensor.offset += static_cast<int64_t>(8 + length);
}

FailedLoad::FailedLoad()
    : root_(fs::path(::testing::TempDir()) / fmt::format("failed_load_{}", getpid())),
      checkpoint_(root_ / "large"),
      registry_(root_, {}, {},
                [this](std::string_view, ModelState state, int64_t bytes) {
                  if (state == ModelState::kReady) held_bytes_ = bytes;
                  if (state == ModelState::kAvailable || state == ModelState::kFailed)
                    held_bytes_ = 0;
                }),
      bare_(ResidentBytes()) {}

FailedLoad::~FailedLoad() {
  fs::remove_all(root_);
}

absl::Status FailedLoad::Load(const Registry::Progress& progress, std::stop_token stop) {
  return registry_.Load("large", {}, progress, std::move(stop)).status();
}

void FailedLoad::ExpectNothingLeft(ModelState state, const std::function<void(int)>& fail) {
  for (int i = 0; i < 2; ++i) fail(i);  // what torch and the allocator keep for good
  const int64_t before = ResidentBytes();
  for (int i = 0; i < kLoads; ++i) {
    fail(i);
    EXPECT_EQ(registry_.Get("large")->state, state);
    EXPECT_FALSE(registry_.Get("large")->info.has_value());
    EXPECT_TRUE(absl::IsFailedPrecondition(registry_.Acquire("large").status()));
    EXPECT_EQ(held_bytes_, 0);
  }
  EXPECT_LT(ResidentBytes(), before + kSlackBytes);
  EXPECT_LT(ResidentBytes(), bare_ + kSlackBytes) << "more than before the first load";
  printf("resident: %.1f MiB before any load, %.1f after two, %.1f at the end\n",
         static_cast<double>(bare_) / kMebibyte, static_cast<double>(before) / kMebibyte,
         static_cast<double>(ResidentBytes()) / kMebibyte);
}

void FailedLoad::ExpectLoads() {
  const auto entry = registry_.Load("large", {}, {}, {});
  ASSERT_TRUE(entry.ok()) << entry.status();
  EXPECT_EQ(entry->info->weight_bytes, checkpoint_.weight_bytes());
  EXPECT_EQ(held_bytes_, checkpoint_.weight_bytes());
  EXPECT_GT(ResidentBytes(), bare_ + checkpoint_.weight_bytes() / 2);
  ASSERT_TRUE(registry_.Unload("large").ok());
  EXPECT_EQ(held_bytes_, 0);
  EXPECT_LT(ResidentBytes(), bare_ + kSlackBytes) << "after unloading";
}

}  // namespace sinkd::testing
