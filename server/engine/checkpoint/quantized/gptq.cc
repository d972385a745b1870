// GPTQ: qweight I32 [K b / 32, N], qzeros I32 [G, N b / 32], scales F16 [G, N], g_idx I32 [K].
//
// W[n, k] = scales[g, n] (q[k, n] - z[g, n]), where g is g_idx[k] or, without it, k / group size.
// The first format stores z - 1.
#include <memory>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/checkpoint/quantized/bit_stream.h"
#include "server/engine/checkpoint/quantized/group_order.h"
#include "server/engine/checkpoint/quantized/packed_matrix.h"

namespace sinkd {
namespace {

struct Gptq {
  int64_t rows = 0, columns = 0, bits = 0;
  int64_t added = 0;  // to zero points
  std::vector<uint32_t> weight, zeros;
  std::vector<float> scales;
  std::vector<int64_t> group_of;  // [columns]

  void Unpack(int64_t first, int64_t count, float* out) const {
    for (int64_t k = 0; k < columns; ++k) {
      const int64_t group = group_of[static_cast<size_t>(k)];
      const uint32_t* zero_words = zeros.data() + group * WordsOf(rows, bits);
      const float* scale = scales.data() + group * rows;
      for (int64_t i = 0; i < count; ++i) {
        const int64_t n = first + i;
        const auto value = static_cast<int64_t>(BitsAt(weight.data() + n, rows, k, bits));
        const int64_t zero = int64_t{BitsAt(zero_words, 1, n, bits)} + added;
        out[i * columns + k] = scale[n] * static_cast<float>(value - zero);
      }
    }
  }
};

}  // namespace

absl::StatusOr<PackedMatrix> DescribeGptq(const ModuleTensors& module,
                                          const QuantizationConfig& config) {
  const int64_t bits = config.bits;
  SINKD_ASSIGN_OR_RETURN(
      const StoredPart weight,
      module.Part("qweight", {"I32"}, {ModuleTensors::kAny, ModuleTensors::kAny}));
  const int64_t rows = weight.shape()[1];
  if (weight.shape()[0] * 32 % bits != 0) {
    return weight.Error(StrCat("has ", weight.shape()[0], " rows, which hold no whole number of ",
                               bits, "-bit values"));
  }
  const int64_t columns = weight.shape()[0] * 32 / bits;
  const int64_t group_size = config.group_size > 0 ? config.group_size : columns;
  const int64_t groups = (columns + group_size - 1) / group_size;
  SINKD_ASSIGN_OR_RETURN(const StoredPart scales,
                         module.Part("scales", {"F16", "BF16", "F32"}, {groups, rows}));
  SINKD_ASSIGN_OR_RETURN(const StoredPart zeros,
                         module.Part("qzeros", {"I32"}, {groups, WordsOf(rows, bits)}));
  SINKD_ASSIGN_OR_RETURN(const GroupOrder order,
                         GroupOrder::Of(module, "g_idx", columns, groups, group_size));
  return PackedMatrix{
      .rows = rows,
      .columns = columns,
      .format = StrCat("gptq ", bits, " bits"),
      .open = [=, added = config.adds_one ? 1 : 0]() -> absl::StatusOr<RowUnpacker> {
        auto opened = std::make_shared<Gptq>();
        opened->rows = rows;
        opened->columns = columns;
        opened->bits = bits;
        opened->added = added;
        SINKD_ASSIGN_OR_RETURN(opened->weight, weight.Words());
        SINKD_ASSIGN_OR_RETURN(opened->zeros, zeros.Words());
        SINKD_ASSIGN_OR_RETURN(opened->scales, scales.Floats());
        SINKD_ASSIGN_OR_RETURN(opened->group_of, order.Read());
        return [opened](int64_t first, int64_t count, float* out) {
          opened->Unpack(first, count, out);
        };
      }};
}

}  // namespace sinkd
