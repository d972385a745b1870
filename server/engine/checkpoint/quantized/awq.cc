// AWQ, its GEMM form: qweight I32 [K, N/8], qzeros I32 [G, N/8], scales F16 [G, N].
//
// W[n, k] = scales[g, n] (q[k, n] - z[g, n]), g = k / group size. A word holds eight columns,
// nibble by nibble from the lowest on, in the order 0 2 4 6 1 3 5 7.
#include <memory>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/checkpoint/quantized/packed_matrix.h"

namespace sinkd {
namespace {

constexpr int64_t kPerWord = 8;
constexpr int kNibbleOf[kPerWord] = {0, 4, 1, 5, 2, 6, 3, 7};

struct Awq {
  int64_t rows = 0, columns = 0, group_size = 0;
  std::vector<uint32_t> weight, zeros;
  std::vector<float> scales;

  static int64_t Nibble(const uint32_t* words, int64_t n) {
    return words[n / kPerWord] >> (4 * kNibbleOf[n % kPerWord]) & 15U;
  }

  void Unpack(int64_t first, int64_t count, float* out) const {
    const int64_t words = rows / kPerWord;
    for (int64_t k = 0; k < columns; ++k) {
      const int64_t group = k / group_size;
      const uint32_t* values = weight.data() + k * words;
      const uint32_t* zero = zeros.data() + group * words;
      const float* scale = scales.data() + group * rows;
      for (int64_t i = 0; i < count; ++i) {
        const int64_t n = first + i;
        out[i * columns + k] = scale[n] * static_cast<float>(Nibble(values, n) - Nibble(zero, n));
      }
    }
  }
};

}  // namespace

absl::StatusOr<PackedMatrix> DescribeAwq(const ModuleTensors& module,
                                         const QuantizationConfig& config) {
  SINKD_ASSIGN_OR_RETURN(
      const StoredPart weight,
      module.Part("qweight", {"I32"}, {ModuleTensors::kAny, ModuleTensors::kAny}));
  const int64_t columns = weight.shape()[0];
  const int64_t words = weight.shape()[1];
  const int64_t rows = words * kPerWord;
  const int64_t group_size = config.group_size > 0 ? config.group_size : columns;
  const int64_t groups = (columns + group_size - 1) / group_size;
  SINKD_ASSIGN_OR_RETURN(const StoredPart zeros, module.Part("qzeros", {"I32"}, {groups, words}));
  SINKD_ASSIGN_OR_RETURN(const StoredPart scales,
                         module.Part("scales", {"F16", "BF16", "F32"}, {groups, rows}));
  return PackedMatrix{.rows = rows,
                      .columns = columns,
                      .format = "awq 4 bits",
                      .open = [=]() -> absl::StatusOr<RowUnpacker> {
                        auto opened = std::make_shared<Awq>();
                        opened->rows = rows;
                        opened->columns = columns;
                        opened->group_size = group_size;
                        SINKD_ASSIGN_OR_RETURN(opened->weight, weight.Words());
                        SINKD_ASSIGN_OR_RETURN(opened->zeros, zeros.Words());
                        SINKD_ASSIGN_OR_RETURN(opened->scales, scales.Floats());
                        return [opened](int64_t first, int64_t count, float* out) {
                          opened->Unpack(first, count, out);
                        };
                      }};
}

}  // namespace sinkd
