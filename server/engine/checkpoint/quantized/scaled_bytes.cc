// One byte an entry, times a scale: weight F8_E4M3 or I8 [N, K], and
//   fp8 by block                    weight_scale_inv [ceil(N / bn), ceil(K / bk)] (multiplied,
//   despite
//                                   its name) or one value
//   compressed-tensors, ModelOpt,   weight_scale: one value, [N], [N, 1], [N, groups], or by block;
//   fbgemm                          of integers that are not symmetric, weight_zero_point I8 like
//   it
#include <algorithm>
#include <array>
#include <memory>

#include <c10/util/Float8_e4m3fn.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/checkpoint/quantized/packed_matrix.h"

namespace sinkd {
namespace {

// How scales lie over the matrix.
struct Grid {
  int64_t rows_each = 1, columns_each = 1;  // that share a scale
  int64_t columns = 1;                      // scales a row of them

  size_t At(int64_t n, int64_t k) const {
    return static_cast<size_t>(n / rows_each * columns + k / columns_each);
  }
};

struct ScaledBytes {
  int64_t columns = 0;
  const std::array<float, 256>* values = nullptr;  // what each byte stands for
  Grid grid;
  std::vector<uint8_t> weight, zeros;  // zeros: empty where all are 0
  std::vector<float> scales;

  void Unpack(int64_t first, int64_t count, float* out) const {
    for (int64_t n = first; n < first + count; ++n) {
      const uint8_t* row = weight.data() + n * columns;
      for (int64_t k = 0; k < columns; k += grid.columns_each) {
        const size_t at = grid.At(n, k);
        const float zero = zeros.empty() ? 0 : static_cast<float>(static_cast<int8_t>(zeros[at]));
        const int64_t end = std::min(columns, k + grid.columns_each);
        for (int64_t i = k; i < end; ++i) *out++ = ((*values)[row[i]] - zero) * scales[at];
      }
    }
  }
};

using ValuesOfBytes = std::array<float, 256>;

const ValuesOfBytes& Fp8Values() {
  static const ValuesOfBytes values = [] {
    ValuesOfBytes all{};
    for (int i = 0; i < 256; ++i) {
      all[static_cast<size_t>(i)] = static_cast<float>(
          c10::Float8_e4m3fn(static_cast<uint8_t>(i), c10::Float8_e4m3fn::from_bits()));
    }
    return all;
  }();
  return values;
}

const ValuesOfBytes& Int8Values() {
  static const ValuesOfBytes values = [] {
    ValuesOfBytes all{};
    for (int i = 0; i < 256; ++i)
      all[static_cast<size_t>(i)] = static_cast<float>(i < 128 ? i : i - 256);
    return all;
  }();
  return values;
}

int64_t Parts(int64_t whole, int64_t each) {
  return (whole + each - 1) / each;
}

// The block of the scales where they are by block: of fp8, or of the scheme that says so.
std::vector<double> BlockOf(const QuantizationConfig& config) {
  for (const WeightScheme& scheme : config.schemes) {
    if (scheme.strategy == "block") return scheme.block;
  }
  return config.block;
}

absl::StatusOr<Grid> GridOf(const StoredPart& scales, int64_t rows, int64_t columns,
                            const QuantizationConfig& config) {
  const std::vector<int64_t>& shape = scales.shape();
  if (scales.size() == 1) return Grid{.rows_each = rows, .columns_each = columns};
  const std::vector<double> block = BlockOf(config);
  if (block.size() == 2 && block[0] >= 1 && block[1] >= 1 && shape.size() == 2) {
    const auto rows_each = static_cast<int64_t>(block[0]);
    const auto columns_each = static_cast<int64_t>(block[1]);
    if (shape[0] == Parts(rows, rows_each) && shape[1] == Parts(columns, columns_each)) {
      return Grid{rows_each, columns_each, shape[1]};
    }
  } else if (!shape.empty() && shape[0] == rows) {
    const int64_t groups = shape.size() == 1 ? 1 : shape[1];
    if (shape.size() <= 2 && groups > 0 && columns % groups == 0) {
      return Grid{.rows_each = 1, .columns_each = columns / groups, .columns = groups};
    }
  }
  return scales.Error(StrCat("does not fit a weight of ", rows, " x ", columns,
                             " and the blocks or groups in quantization_config"));
}

}  // namespace

absl::StatusOr<PackedMatrix> DescribeScaledBytes(const ModuleTensors& module,
                                                 const QuantizationConfig& config) {
  SINKD_ASSIGN_OR_RETURN(
      const StoredPart weight,
      module.Part("weight", {"F8_E4M3", "I8"}, {ModuleTensors::kAny, ModuleTensors::kAny}));
  const int64_t rows = weight.shape()[0], columns = weight.shape()[1];
  const bool is_float = weight.location.entry->dtype == "F8_E4M3";
  const bool inverse = module.Has("weight_scale_inv");
  SINKD_ASSIGN_OR_RETURN(const StoredPart scales,
                         module.Part(inverse ? "weight_scale_inv" : "weight_scale",
                                     {"F32", "BF16", "F16", "F8_E8M0"}));
  SINKD_ASSIGN_OR_RETURN(const Grid grid, GridOf(scales, rows, columns, config));
  std::optional<StoredPart> zeros;
  if (!is_float && module.Has("weight_zero_point")) {
    SINKD_ASSIGN_OR_RETURN(zeros, module.Part("weight_zero_point", {"I8"}, scales.shape()));
  }
  return PackedMatrix{.rows = rows,
                      .columns = columns,
                      .format = is_float ? "fp8" : "int8",
                      .open = [=]() -> absl::StatusOr<RowUnpacker> {
                        auto opened = std::make_shared<ScaledBytes>();
                        opened->columns = columns;
                        opened->values = is_float ? &Fp8Values() : &Int8Values();
                        opened->grid = grid;
                        SINKD_ASSIGN_OR_RETURN(opened->weight, weight.Bytes());
                        SINKD_ASSIGN_OR_RETURN(opened->scales, scales.Floats());
                        if (zeros) {
                          SINKD_ASSIGN_OR_RETURN(opened->zeros, zeros->Bytes());
                        }
                        return [opened](int64_t first, int64_t count, float* out) {
                          opened->Unpack(first, count, out);
                        };
                      }};
}

}  // namespace sinkd
