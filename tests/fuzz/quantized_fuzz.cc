// A config.json, a zero byte, and a safetensors file: the quantized weights in it are unpacked, or
// said to be wrong.
#include <algorithm>
#include <string_view>
#include <vector>

#include "server/engine/checkpoint/quantized/quantization_config.h"
#include "server/engine/checkpoint/quantized/quantized_source.h"
#include "server/engine/checkpoint/safetensors.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/require.h"

using sinkd::fuzz::Require;
using sinkd::fuzz::RequireToldError;

namespace {

constexpr int64_t kMostBytes = int64_t{1} << 22;  // a few bytes may stand for any number of values

void ReadAll(const sinkd::QuantizedSource& source) {
  for (const auto& [name, entry] : source.tensors()) {
    Require(entry.bytes > 0 && !entry.stored_as.empty(), "a weight of no size or format", name);
    if (entry.bytes > kMostBytes) continue;
    std::vector<char> whole(static_cast<size_t>(entry.bytes));
    const absl::Status read = source.Read(name, 0, entry.bytes, whole.data());
    if (!read.ok()) {
      RequireToldError(read);
      continue;
    }
    const int64_t half = entry.bytes / 8 * 4;
    std::vector<char> rest(static_cast<size_t>(entry.bytes - half));
    Require(source.Read(name, half, entry.bytes - half, rest.data()).ok(), "half a weight", name);
    Require(std::equal(rest.begin(), rest.end(), whole.begin() + half), "another half", name);
    Require(!source.Read(name, half, entry.bytes - half + 1, rest.data()).ok(), "past the end",
            name);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const uint8_t* const end = std::find(data, data + size, 0);
  if (end == data + size) return 0;
  const auto config = sinkd::ConfigReader::FromText(
      "config.json", {reinterpret_cast<const char*>(data), static_cast<size_t>(end - data)});
  if (!config.ok()) return 0;
  const auto quantization = sinkd::ReadQuantization(*config, "llama");
  if (!quantization.ok()) {
    RequireToldError(quantization.status());
    return 0;
  }
  const sinkd::fuzz::MemoryFile bytes(end + 1, static_cast<size_t>(data + size - end - 1));
  const auto file = sinkd::SafetensorsFile::Open(bytes.path());
  if (!file.ok()) return 0;
  sinkd::TensorIndex tensors;
  for (const auto& [name, entry] : file->tensors()) {
    tensors.emplace(name, sinkd::TensorLocation{&*file, &entry});
  }
  const auto source = sinkd::QuantizedSource::Open(tensors, *quantization, {});
  if (!source.ok()) {
    RequireToldError(source.status());
  } else if (*source != nullptr) {
    ReadAll(**source);
  }
  return 0;
}
