// FP4, two values (E2M1) a byte, the lower nibble first:
//   NVFP4 of compressed-tensors  weight_packed U8 [N, K/2], weight_scale F8_E4M3 [N, K/16],
//                                weight_global_scale F32: W = value (scale / global)
//   NVFP4 of ModelOpt            weight U8, weight_scale, weight_scale_2: W = value (scale scale_2)
//   MXFP4                        weight_packed U8, weight_scale U8 [N, K/32]: W = value 2^(scale -
//   127)
#include <array>
#include <cmath>
#include <memory>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/checkpoint/quantized/packed_matrix.h"

namespace sinkd {
namespace {

constexpr std::array<float, 16> kValues = {0,    0.5F,  1,  1.5F,  2,  3,  4,  6,
                                           -0.F, -0.5F, -1, -1.5F, -2, -3, -4, -6};

struct Fp4 {
  int64_t columns = 0, group_size = 0;
  std::vector<uint8_t> weight;
  std::vector<float> scales;  // [N, K / group size], the global one in them

  void Unpack(int64_t first, int64_t count, float* out) const {
    for (int64_t n = first; n < first + count; ++n) {
      const uint8_t* row = weight.data() + n * columns / 2;
      const float* scale = scales.data() + n * (columns / group_size);
      for (int64_t g = 0; g < columns / group_size; ++g) {
        for (int64_t i = 0; i < group_size / 2; ++i) {
          const uint8_t byte = *row++;
          *out++ = kValues[byte & 15U] * scale[g];
          *out++ = kValues[byte >> 4U] * scale[g];
        }
      }
    }
  }
};

// The scales of all groups in float32.
using ReadScales = std::function<absl::StatusOr<std::vector<float>>()>;

PackedMatrix Matrix(const StoredPart& weight, std::string format, int64_t group_size,
                    ReadScales read_scales) {
  const int64_t rows = weight.shape()[0], columns = 2 * weight.shape()[1];
  return {.rows = rows,
          .columns = columns,
          .format = std::move(format),
          .open = [=]() -> absl::StatusOr<RowUnpacker> {
            auto opened = std::make_shared<Fp4>();
            opened->columns = columns;
            opened->group_size = group_size;
            SINKD_ASSIGN_OR_RETURN(opened->weight, weight.Bytes());
            SINKD_ASSIGN_OR_RETURN(opened->scales, read_scales());
            return [opened](int64_t first, int64_t count, float* out) {
              opened->Unpack(first, count, out);
            };
          }};
}

absl::StatusOr<PackedMatrix> DescribeMxfp4(const ModuleTensors& module, const StoredPart& weight) {
  constexpr int64_t kGroup = 32;
  const int64_t columns = 2 * weight.shape()[1];
  if (columns % kGroup != 0) return weight.Error("does not hold groups of 32 inputs");
  SINKD_ASSIGN_OR_RETURN(
      const StoredPart scales,
      module.Part("weight_scale", {"U8", "F8_E8M0"}, {weight.shape()[0], columns / kGroup}));
  const auto read = [scales]() -> absl::StatusOr<std::vector<float>> {
    SINKD_ASSIGN_OR_RETURN(const std::vector<uint8_t> exponents, scales.Bytes());
    std::vector<float> values;
    for (const uint8_t exponent : exponents) values.push_back(std::ldexp(1.0F, exponent - 127));
    return values;
  };
  return Matrix(weight, "mxfp4", kGroup, read);
}

}  // namespace

absl::StatusOr<PackedMatrix> DescribeFp4(const ModuleTensors& module, const QuantizationConfig&) {
  constexpr int64_t kGroup = 16;
  const bool by_modelopt = !module.Has("weight_packed");
  SINKD_ASSIGN_OR_RETURN(const StoredPart weight,
                         module.Part(by_modelopt ? "weight" : "weight_packed", {"U8"},
                                     {ModuleTensors::kAny, ModuleTensors::kAny}));
  if (!by_modelopt && module.Dtype("weight_scale") != "F8_E4M3") {
    return DescribeMxfp4(module, weight);
  }
  const int64_t columns = 2 * weight.shape()[1];
  if (columns % kGroup != 0) return weight.Error("does not hold groups of 16 inputs");
  SINKD_ASSIGN_OR_RETURN(
      const StoredPart scales,
      module.Part("weight_scale", {"F8_E4M3"}, {weight.shape()[0], columns / kGroup}));
  SINKD_ASSIGN_OR_RETURN(
      const StoredPart global,
      module.Part(by_modelopt ? "weight_scale_2" : "weight_global_scale", {"F32"}));
  if (global.size() != 1) return global.Error(StrCat("has ", global.size(), " values, not one"));
  const auto read = [=]() -> absl::StatusOr<std::vector<float>> {
    SINKD_ASSIGN_OR_RETURN(std::vector<float> values, scales.Floats());
    SINKD_ASSIGN_OR_RETURN(const std::vector<float> one, global.Floats());
    if (one[0] == 0 && !by_modelopt) return global.Error("is 0");
    for (float& value : values) value = by_modelopt ? value * one[0] : value / one[0];
    return values;
  };
  return Matrix(weight, "nvfp4", kGroup, read);
}

}  // namespace sinkd
