// A whole safetensors file: length, header, data.
#include <algorithm>
#include <vector>

#include "server/engine/checkpoint/safetensors.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/require.h"

using sinkd::fuzz::Require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const sinkd::fuzz::MemoryFile bytes(data, size);
  const auto file = sinkd::SafetensorsFile::Open(bytes.path());
  if (!file.ok()) {
    sinkd::fuzz::RequireToldError(file.status());
    return 0;
  }
  int64_t covered = 0;
  std::vector<char> out(size);
  for (const auto& [name, entry] : file->tensors()) {
    Require(entry.bytes >= 0 && entry.bytes <= static_cast<int64_t>(size), "a tensor's size", name);
    Require(file->Read(name, 0, entry.bytes, out.data()).ok(), "a tensor cannot be read", name);
    Require(!file->Read(name, 1, entry.bytes, out.data()).ok(), "a read went past the end", name);
    covered += entry.bytes;
  }
  uint64_t header = 0;
  std::copy_n(data, 8, reinterpret_cast<uint8_t*>(&header));
  Require(static_cast<uint64_t>(covered) + header + 8 == size, "the tensors are not the data");
  return 0;
}
