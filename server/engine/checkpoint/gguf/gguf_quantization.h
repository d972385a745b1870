// How GGUF stores a tensor's values: plain floats, or blocks of small integers with scales.
//
// A row is a whole number of blocks. Everything is little-endian.
// Thread-safety: pure functions. Source of the layouts: ggml's block_q* structs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sinkd {

// The number a GGUF file writes for a tensor's type.
enum class GgufType : uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ4_1 = 3,
  kQ5_0 = 6,
  kQ5_1 = 7,
  kQ8_0 = 8,
  kQ2_K = 10,
  kQ3_K = 11,
  kQ4_K = 12,
  kQ5_K = 13,
  kQ6_K = 14,
  kIQ4_NL = 20,
  kIQ4_XS = 23,
  kBF16 = 30,
  kMXFP4 = 39,
};

struct GgufTypeInfo {
  GgufType type;
  std::string_view name;
  int64_t block_values;
  int64_t block_bytes;
  void (*dequantize)(const uint8_t* block, float* values);  // one block
};

// nullptr for a type that cannot be read.
const GgufTypeInfo* FindGgufType(uint32_t type);

// The types that can be read, for messages: "F32, F16, ...".
std::string GgufTypeList();

// What ggml calls `type`; "type 99" where it has no name for it either.
std::string GgufTypeName(uint32_t type);

// Writes `count` float32 values; `count` is a whole number of blocks.
void Dequantize(const GgufTypeInfo& type, const uint8_t* blocks, int64_t count, float* values);

}  // namespace sinkd
