// The vocabulary in a GGUF file's metadata (tokenizer.ggml.*), checked.
//
// Thread-safety: plain values. Errors: FAILED_PRECONDITION naming file and key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <absl/status/statusor.h>

#include "server/engine/checkpoint/gguf/gguf_metadata.h"

namespace sinkd {

enum class GgufTokenType : int64_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6,
};

struct GgufVocabulary {
  using Merge = std::pair<std::string, std::string>;

  std::vector<std::string> tokens;   // by id, no two alike
  std::vector<GgufTokenType> types;  // by id; all kNormal where the file does not say
  std::vector<Merge> merges;         // first the one to make first; each makes a token of two
  std::optional<int64_t> bos, eos, unknown, padding;  // ids
};

// Byte-level BPE: the merges are the file's.
absl::StatusOr<GgufVocabulary> ReadByteLevelVocabulary(const GgufMetadata& metadata);

// SentencePiece's BPE: the merges are made from the scores, in the order transformers makes them.
absl::StatusOr<GgufVocabulary> ReadScoredVocabulary(const GgufMetadata& metadata);

}  // namespace sinkd
