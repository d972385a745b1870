// A whole GGUF file: its header, then all that is made of it - the config, the tokenizer's files,
// and the tensors as a Hugging Face checkpoint has them.
#include <algorithm>
#include <vector>

#include "server/engine/checkpoint/gguf/gguf_config.h"
#include "server/engine/checkpoint/gguf/gguf_source.h"
#include "server/engine/checkpoint/gguf/gguf_tokenizer.h"
#include "server/engine/families/hf_config.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/require.h"

using sinkd::fuzz::RequireToldError;

namespace {

constexpr int64_t kMostRead = 1 << 16;

void ReadConfig(const sinkd::GgufFile& file) {
  const auto text = sinkd::GgufConfig(file);
  if (!text.ok()) return RequireToldError(text.status());
  const auto config = sinkd::ConfigReader::FromText(file.name(), *text);
  sinkd::fuzz::Require(config.ok(), "a config of our own making", *text);
  const auto plan = sinkd::PlanFromConfig(*config);
  if (!plan.ok()) RequireToldError(plan.status());
}

void ReadTensors(const std::filesystem::path& path) {
  const auto source = sinkd::GgufSource::Open(path);
  if (!source.ok()) return RequireToldError(source.status());
  std::vector<char> out(kMostRead);
  for (const auto& [name, entry] : source->tensors()) {
    const int64_t bytes = std::min(entry.bytes, kMostRead);
    const auto read = source->Read(name, entry.bytes - bytes, bytes, out.data());
    if (!read.ok()) RequireToldError(read);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const sinkd::fuzz::MemoryFile bytes(data, size);
  const auto file = sinkd::GgufFile::Open(bytes.path());
  if (!file.ok()) {
    RequireToldError(file.status());
    return 0;
  }
  ReadConfig(*file);
  if (const auto files = sinkd::GgufTokenizer(*file); !files.ok()) RequireToldError(files.status());
  ReadTensors(bytes.path());
  return 0;
}
