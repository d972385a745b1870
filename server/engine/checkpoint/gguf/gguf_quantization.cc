#include "server/engine/checkpoint/gguf/gguf_quantization.h"

#include <array>
#include <bit>
#include <map>

#include "server/base/str_cat.h"

namespace sinkd {
namespace {

constexpr int kBlock = 32;        // values of a plain block
constexpr int kSuperBlock = 256;  // values of a K block

uint16_t Load16(const uint8_t* bytes) {
  return static_cast<uint16_t>(bytes[0] | bytes[1] << 8);
}

uint32_t Load32(const uint8_t* bytes) {
  return Load16(bytes) | static_cast<uint32_t>(Load16(bytes + 2)) << 16;
}

float HalfToFloat(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t exponent = (half >> 10) & 0x1f;
  const uint32_t mantissa = half & 0x3ff;
  if (exponent == 0) {  // zero or subnormal: mantissa x 2^-24, exact in float32
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  const uint32_t wide = exponent == 0x1f ? 0xff : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | mantissa << 13);
}

float LoadHalf(const uint8_t* bytes) {
  return HalfToFloat(Load16(bytes));
}

void DequantizeF32(const uint8_t* block, float* y) {
  *y = std::bit_cast<float>(Load32(block));
}

void DequantizeF16(const uint8_t* block, float* y) {
  *y = LoadHalf(block);
}

void DequantizeBF16(const uint8_t* block, float* y) {
  *y = std::bit_cast<float>(static_cast<uint32_t>(Load16(block)) << 16);
}

// d, then 16 bytes: value j in the low, value j + 16 in the high half.
void DequantizeQ4_0(const uint8_t* block, float* y) {
  const float d = LoadHalf(block);
  const uint8_t* q = block + 2;
  for (int j = 0; j < kBlock / 2; ++j) {
    y[j] = d * static_cast<float>((q[j] & 0xf) - 8);
    y[j + kBlock / 2] = d * static_cast<float>((q[j] >> 4) - 8);
  }
}

// d, m, then as Q4_0.
void DequantizeQ4_1(const uint8_t* block, float* y) {
  const float d = LoadHalf(block);
  const float m = LoadHalf(block + 2);
  const uint8_t* q = block + 4;
  for (int j = 0; j < kBlock / 2; ++j) {
    y[j] = d * static_cast<float>(q[j] & 0xf) + m;
    y[j + kBlock / 2] = d * static_cast<float>(q[j] >> 4) + m;
  }
}

// Value j of a block whose low four bits lie as in Q4_0 and whose fifth is bit j of `high`.
int FiveBits(const uint8_t* low, uint32_t high, int j) {
  const int half = kBlock / 2;
  const int four = j < half ? low[j] & 0xf : low[j - half] >> 4;
  return four | static_cast<int>(high >> j & 1) << 4;
}

// d, 32 high bits, then as Q4_0.
void DequantizeQ5_0(const uint8_t* block, float* y) {
  const float d = LoadHalf(block);
  const uint32_t high = Load32(block + 2);
  for (int j = 0; j < kBlock; ++j) {
    y[j] = d * static_cast<float>(FiveBits(block + 6, high, j) - 16);
  }
}

// d, m, 32 high bits, then as Q4_0.
void DequantizeQ5_1(const uint8_t* block, float* y) {
  const float d = LoadHalf(block);
  const float m = LoadHalf(block + 2);
  const uint32_t high = Load32(block + 4);
  for (int j = 0; j < kBlock; ++j) {
    y[j] = d * static_cast<float>(FiveBits(block + 8, high, j)) + m;
  }
}

// d, then 32 signed bytes.
void DequantizeQ8_0(const uint8_t* block, float* y) {
  const float d = LoadHalf(block);
  for (int j = 0; j < kBlock; ++j) {
    y[j] = static_cast<float>(static_cast<int8_t>(block[2 + j])) * d;
  }
}

// The scale and minimum of each 32 values of a K block, six bits each, packed in 12 bytes: 0-3 and
// 4-7 hold scales and minima 0-3, and in their top two bits the high bits of 4-7, whose low four
// bits lie in 8-11.
struct Scale {
  float scale;
  float minimum;
};

Scale SixBitScale(const uint8_t* packed, int i) {
  if (i < 4) {
    return {static_cast<float>(packed[i] & 63), static_cast<float>(packed[i + 4] & 63)};
  }
  const int low = packed[i + 4];
  return {static_cast<float>((low & 0xf) | (packed[i - 4] >> 6) << 4),
          static_cast<float>((low >> 4) | (packed[i] >> 6) << 4)};
}

// d, dmin, 12 bytes of scales, then 128 bytes: of each 32 bytes the low halves are one group of 32
// values, the high halves the next.
void DequantizeQ4_K(const uint8_t* block, float* y) {
  const float d = LoadHalf(block);
  const float minimum = LoadHalf(block + 2);
  const uint8_t* q = block + 16;
  for (int group = 0; group < kSuperBlock / kBlock; ++group) {
    const Scale packed = SixBitScale(block + 4, group);
    const float scale = d * packed.scale;
    const float offset = minimum * packed.minimum;
    const uint8_t* bytes = q + group / 2 * kBlock;
    const int shift = group % 2 * 4;
    for (int j = 0; j < kBlock; ++j) {
      *y++ = scale * static_cast<float>(bytes[j] >> shift & 0xf) - offset;
    }
  }
}

// As Q4_K, with 32 bytes of fifth bits before the 128: bit g of byte j is that of value j of group
// g.
void DequantizeQ5_K(const uint8_t* block, float* y) {
  const float d = LoadHalf(block);
  const float minimum = LoadHalf(block + 2);
  const uint8_t* high = block + 16;
  const uint8_t* q = block + 48;
  for (int group = 0; group < kSuperBlock / kBlock; ++group) {
    const Scale packed = SixBitScale(block + 4, group);
    const float scale = d * packed.scale;
    const float offset = minimum * packed.minimum;
    const uint8_t* bytes = q + group / 2 * kBlock;
    const int shift = group % 2 * 4;
    for (int j = 0; j < kBlock; ++j) {
      const int value = (bytes[j] >> shift & 0xf) | (high[j] >> group & 1) << 4;
      *y++ = scale * static_cast<float>(value) - offset;
    }
  }
}

// 128 bytes of low halves, 64 bytes of two high bits, 16 signed scales, d. Each half of the block
// takes 64 and 32 of those bytes: value j of its quarter k has its low bits in byte
// j + 32 (k mod 2), the high half for k > 1, and its high bits at 2 k in byte j.
void DequantizeQ6_K(const uint8_t* block, float* y) {
  const float d = LoadHalf(block + 208);
  const uint8_t* scales = block + 192;
  for (int half = 0; half < 2; ++half) {
    const uint8_t* low = block + half * 64;
    const uint8_t* high = block + 128 + half * 32;
    for (int i = 0; i < kSuperBlock / 2; ++i) {
      const int j = i % 32;
      const int quarter = i / 32;
      const int four = low[j + 32 * (quarter % 2)] >> (quarter / 2 * 4) & 0xf;
      const int value = (four | (high[j] >> (2 * quarter) & 3) << 4) - 32;
      const auto scale = static_cast<int8_t>(scales[half * 8 + i / 16]);
      *y++ = d * static_cast<float>(scale) * static_cast<float>(value);
    }
  }
}

// Value j of group g of 32 in a K block whose values lie two bits each in 64 bytes: of each 32
// bytes the lowest bits of all are one group, the next ones the next, four groups.
int TwoBits(const uint8_t* q, int group, int j) {
  return q[group / 4 * 32 + j] >> (group % 4 * 2) & 3;
}

// 16 bytes of scales, each the scale of 16 values and their minimum, four bits each; 64 bytes of
// values; d, dmin.
void DequantizeQ2_K(const uint8_t* block, float* y) {
  const float d = LoadHalf(block + 80);
  const float minimum = LoadHalf(block + 82);
  for (int i = 0; i < kSuperBlock; ++i) {
    const uint8_t packed = block[i / 16];
    const float scale = d * static_cast<float>(packed & 0xf);
    const float offset = minimum * static_cast<float>(packed >> 4);
    *y++ = scale * static_cast<float>(TwoBits(block + 16, i / 32, i % 32)) - offset;
  }
}

// The scale of 16 values of a Q3_K block, six bits less 32, packed in 12 bytes: 0-7 hold the low
// four bits of scales 0-7 and 8-15, 8-11 the two high bits of all.
int SixBits(const uint8_t* packed, int i) {
  const int low = packed[i % 8] >> (i / 8 * 4) & 0xf;
  const int high = packed[8 + i % 4] >> (i / 4 * 2) & 3;
  return (low | high << 4) - 32;
}

// 32 bytes of third bits, bit g of byte j that of value j of group g, 0 where 4 is taken off; 64
// bytes of values, 12 of scales, d.
void DequantizeQ3_K(const uint8_t* block, float* y) {
  const float d = LoadHalf(block + 108);
  for (int i = 0; i < kSuperBlock; ++i) {
    const int group = i / 32, j = i % 32;
    const float scale = d * static_cast<float>(SixBits(block + 96, i / 16));
    const int value = TwoBits(block + 32, group, j) - ((block[j] >> group & 1) != 0 ? 0 : 4);
    *y++ = scale * static_cast<float>(value);
  }
}

// What the four bits of IQ4 types stand for.
constexpr int kUneven[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                             1,    13,   25,  38,  53,  69,  89,  113};

void Uneven32(const uint8_t* q, float scale, float* y) {
  for (int j = 0; j < kBlock / 2; ++j) {
    y[j] = scale * static_cast<float>(kUneven[q[j] & 0xf]);
    y[j + kBlock / 2] = scale * static_cast<float>(kUneven[q[j] >> 4]);
  }
}

// d, then 16 bytes as in Q4_0.
void DequantizeIQ4_NL(const uint8_t* block, float* y) {
  Uneven32(block + 2, LoadHalf(block), y);
}

// d, 16 bits and 4 bytes of scales of 32 values, six bits less 32 each, two high and four low ones;
// 128 bytes of values.
void DequantizeIQ4_XS(const uint8_t* block, float* y) {
  const float d = LoadHalf(block);
  for (int group = 0; group < kSuperBlock / kBlock; ++group) {
    const int low = block[4 + group / 2] >> (group % 2 * 4) & 0xf;
    const int high = Load16(block + 2) >> (2 * group) & 3;
    const float scale = d * static_cast<float>((low | high << 4) - 32);
    Uneven32(block + 8 + group * 16, scale, y + group * kBlock);
  }
}

// A byte e, then 16 bytes as in Q4_0, each half a value of E2M1 (OCP Microscaling Formats 1.0); the
// scale is 2^(e - 127). With twice the values, half the scale is a float32 for every e.
void DequantizeMXFP4(const uint8_t* block, float* y) {
  constexpr float kTwice[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  const uint32_t e = block[0];
  const float half = std::bit_cast<float>(e < 2 ? 0x200000U << e : (e - 1) << 23);
  for (int j = 0; j < kBlock / 2; ++j) {
    y[j] = half * kTwice[block[1 + j] & 0xf];
    y[j + kBlock / 2] = half * kTwice[block[1 + j] >> 4];
  }
}

constexpr std::array kTypes = {
    GgufTypeInfo{GgufType::kF32, "F32", 1, 4, DequantizeF32},
    GgufTypeInfo{GgufType::kF16, "F16", 1, 2, DequantizeF16},
    GgufTypeInfo{GgufType::kBF16, "BF16", 1, 2, DequantizeBF16},
    GgufTypeInfo{GgufType::kQ4_0, "Q4_0", kBlock, 18, DequantizeQ4_0},
    GgufTypeInfo{GgufType::kQ4_1, "Q4_1", kBlock, 20, DequantizeQ4_1},
    GgufTypeInfo{GgufType::kQ5_0, "Q5_0", kBlock, 22, DequantizeQ5_0},
    GgufTypeInfo{GgufType::kQ5_1, "Q5_1", kBlock, 24, DequantizeQ5_1},
    GgufTypeInfo{GgufType::kQ8_0, "Q8_0", kBlock, 34, DequantizeQ8_0},
    GgufTypeInfo{GgufType::kQ2_K, "Q2_K", kSuperBlock, 84, DequantizeQ2_K},
    GgufTypeInfo{GgufType::kQ3_K, "Q3_K", kSuperBlock, 110, DequantizeQ3_K},
    GgufTypeInfo{GgufType::kQ4_K, "Q4_K", kSuperBlock, 144, DequantizeQ4_K},
    GgufTypeInfo{GgufType::kQ5_K, "Q5_K", kSuperBlock, 176, DequantizeQ5_K},
    GgufTypeInfo{GgufType::kQ6_K, "Q6_K", kSuperBlock, 210, DequantizeQ6_K},
    GgufTypeInfo{GgufType::kIQ4_NL, "IQ4_NL", kBlock, 18, DequantizeIQ4_NL},
    GgufTypeInfo{GgufType::kIQ4_XS, "IQ4_XS", kSuperBlock, 136, DequantizeIQ4_XS},
    GgufTypeInfo{GgufType::kMXFP4, "MXFP4", kBlock, 17, DequantizeMXFP4},
};

}  // namespace

const GgufTypeInfo* FindGgufType(uint32_t type) {
  for (const GgufTypeInfo& info : kTypes) {
    if (static_cast<uint32_t>(info.type) == type) return &info;
  }
  return nullptr;
}

std::string GgufTypeList() {
  std::string list;
  for (const GgufTypeInfo& info : kTypes) {
    list += StrCat(list.empty() ? "" : ", ", info.name);
  }
  return list;
}

std::string GgufTypeName(uint32_t type) {
  static const std::map<uint32_t, std::string_view> kOthers = {
      {9, "Q8_1"},   {15, "Q8_K"},  {16, "IQ2_XXS"}, {17, "IQ2_XS"}, {18, "IQ3_XXS"}, {19, "IQ1_S"},
      {21, "IQ3_S"}, {22, "IQ2_S"}, {24, "I8"},      {25, "I16"},    {26, "I32"},     {27, "I64"},
      {28, "F64"},   {29, "IQ1_M"}, {34, "TQ1_0"},   {35, "TQ2_0"}};
  if (const GgufTypeInfo* info = FindGgufType(type)) return std::string(info->name);
  const auto found = kOthers.find(type);
  return found == kOthers.end() ? StrCat("type ", type) : std::string(found->second);
}

void Dequantize(const GgufTypeInfo& type, const uint8_t* blocks, int64_t count, float* values) {
  for (int64_t done = 0; done < count; done += type.block_values) {
    type.dequantize(blocks, values + done);
    blocks += type.block_bytes;
  }
}

}  // namespace sinkd
