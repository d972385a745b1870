// compressed-tensors, pack-quantized: weight_packed I32 [N, ceil(K b / 32)], weight_shape [2],
// weight_scale [N, G] or [N, 1]; where zero points are not 0, weight_zero_point I32
// [ceil(N b / 32), G], packed along the rows; where inputs are grouped in another order,
// weight_g_idx [K].
//
// W[n, k] = (u - 2^(b-1) - z[n, g]) scale[n, g]; zero points are stored with 2^(b-1) added, as u
// is.
#include <algorithm>
#include <memory>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/checkpoint/quantized/bit_stream.h"
#include "server/engine/checkpoint/quantized/group_order.h"
#include "server/engine/checkpoint/quantized/packed_matrix.h"

namespace sinkd {
namespace {

struct PackedIntegers {
  int64_t rows = 0, columns = 0, bits = 0, groups = 0;
  std::vector<uint32_t> weight, zeros;  // zeros: empty where all are 0
  std::vector<float> scales;
  std::vector<int64_t> group_of;

  void Unpack(int64_t first, int64_t count, float* out) const {
    const int32_t offset = 1 << (bits - 1);
    std::vector<int32_t> zero(static_cast<size_t>(groups), offset);
    std::vector<int32_t> values(static_cast<size_t>(columns) + kMostPerWord);
    for (int64_t n = first; n < first + count; ++n) {
      for (int64_t g = 0; g < groups && !zeros.empty(); ++g) {
        zero[static_cast<size_t>(g)] =
            static_cast<int32_t>(BitsAt(zeros.data() + g, groups, n, bits));
      }
      const uint32_t* row = weight.data() + n * WordsOf(columns, bits);
      const float* scale = scales.data() + n * groups;
      UnpackBits(row, columns, bits, values.data());
      for (int64_t k = 0; k < columns; ++k) {
        const auto group = static_cast<size_t>(group_of[static_cast<size_t>(k)]);
        *out++ = static_cast<float>(values[static_cast<size_t>(k)] - zero[group]) * scale[group];
      }
    }
  }
};

// The scheme whose values fill the words of a row; of several, one that has zero points or has
// none, as this weight does.
const WeightScheme* SchemeOf(const QuantizationConfig& config, int64_t columns, int64_t words,
                             bool has_zeros) {
  const WeightScheme* found = nullptr;
  for (const WeightScheme& scheme : config.schemes) {
    if (scheme.bits < 1 || scheme.bits > 8 || WordsOf(columns, scheme.bits) != words) continue;
    if (found == nullptr || scheme.symmetric != has_zeros) found = &scheme;
  }
  return found;
}

}  // namespace

absl::StatusOr<PackedMatrix> DescribePackedIntegers(const ModuleTensors& module,
                                                    const QuantizationConfig& config) {
  constexpr int64_t kAny = ModuleTensors::kAny;
  SINKD_ASSIGN_OR_RETURN(const StoredPart weight,
                         module.Part("weight_packed", {"I32"}, {kAny, kAny}));
  SINKD_ASSIGN_OR_RETURN(const StoredPart shape, module.Part("weight_shape", {"I64", "I32"}, {2}));
  SINKD_ASSIGN_OR_RETURN(const std::vector<int64_t> extents, shape.Integers());
  const int64_t rows = extents[0], columns = extents[1];
  const int64_t words = weight.shape()[1];
  if (rows != weight.shape()[0] || columns < 1 || columns > 32 * words) {
    return shape.Error(StrCat("says [", rows, ", ", columns, "], and ", weight.name, " has ",
                              weight.shape()[0], " rows of ", words, " words"));
  }
  const WeightScheme* scheme = SchemeOf(config, columns, words, module.Has("weight_zero_point"));
  if (scheme == nullptr) {
    return weight.Error(StrCat("has rows of ", words, " words, which ", columns,
                               " values of no scheme in quantization_config take"));
  }
  const int64_t bits = scheme->bits;
  SINKD_ASSIGN_OR_RETURN(const StoredPart scales,
                         module.Part("weight_scale", {"F16", "BF16", "F32"}, {rows, kAny}));
  const int64_t groups = scales.shape()[1];
  if (columns % groups != 0) {
    return scales.Error(
        StrCat("has ", groups, " groups, which do not divide ", columns, " inputs"));
  }
  SINKD_ASSIGN_OR_RETURN(const GroupOrder order,
                         GroupOrder::Of(module, "weight_g_idx", columns, groups, columns / groups));
  std::optional<StoredPart> zeros;
  if (!scheme->symmetric || module.Has("weight_zero_point")) {
    SINKD_ASSIGN_OR_RETURN(
        zeros, module.Part("weight_zero_point", {"I32"}, {WordsOf(rows, bits), groups}));
  }
  return PackedMatrix{.rows = rows,
                      .columns = columns,
                      .format = StrCat("compressed-tensors ", bits, " bits"),
                      .open = [=]() -> absl::StatusOr<RowUnpacker> {
                        auto opened = std::make_shared<PackedIntegers>();
                        opened->rows = rows;
                        opened->columns = columns;
                        opened->bits = bits;
                        opened->groups = groups;
                        SINKD_ASSIGN_OR_RETURN(opened->weight, weight.Words());
                        SINKD_ASSIGN_OR_RETURN(opened->scales, scales.Floats());
                        SINKD_ASSIGN_OR_RETURN(opened->group_of, order.Read());
                        if (zeros) {
                          SINKD_ASSIGN_OR_RETURN(opened->zeros, zeros->Words());
                        }
                        return [opened](int64_t first, int64_t count, float* out) {
                          opened->Unpack(first, count, out);
                        };
                      }};
}

}  // namespace sinkd
