#include "tests/testing/large_checkpoint.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sinkd::testing {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kPiece = int64_t{1} << 20;  // values written at once

}  // namespace

int64_t StoredTensor::count() const {
  int64_t product = 1;
  for (const int axis : shape) product *= axis;
  return product;
}

LargeCheckpoint::LargeCheckpoint(const fs::path& folder, const LargeShape& shape)
    : folder_(folder), shape_(shape) {
  fs::create_directories(folder);
  std::ofstream(folder / "config.json") << fmt::format(
      R"({{"model_type": "llama", "num_hidden_layers": {}, "hidden_size": {},
            "intermediate_size": {}, "num_attention_heads": {}, "num_key_value_heads": {},
            "vocab_size": {}, "max_position_embeddings": {}, "tie_word_embeddings": true}})",
      shape.blocks, shape.width, shape.units, shape.heads, shape.kv_heads, shape.vocabulary,
      shape.max_positions);
  Add("model.embed_tokens", {shape.vocabulary, shape.width});
  for (int l = 0; l < shape.blocks; ++l) AddBlock(fmt::format("model.layers.{}.", l));
  Add("model.norm", {shape.width});
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
  const int width = shape_.width;
  const int kv_width = width / shape_.heads * shape_.kv_heads;
  Add(block + "input_layernorm", {width});
  Add(block + "self_attn.q_proj", {width, width});
  Add(block + "self_attn.k_proj", {kv_width, width});
  Add(block + "self_attn.v_proj", {kv_width, width});
  Add(block + "self_attn.o_proj", {width, width});
  Add(block + "post_attention_layernorm", {width});
  Add(block + "mlp.gate_proj", {shape_.units, width});
  Add(block + "mlp.up_proj", {shape_.units, width});
  Add(block + "mlp.down_proj", {width, shape_.units});
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
  const std::vector<float> values(kPiece, 0.01f);
  for (int64_t left = data_bytes_ / 4; left > 0; left -= kPiece) {
    stream.write(reinterpret_cast<const char*>(values.data()), 4 * std::min(left, kPiece));
  }
  for (StoredTensor& tensor : tensors_) tensor.offset += static_cast<int64_t>(8 + length);
}

}  // namespace sinkd::testing
