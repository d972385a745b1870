// PackedMatrix: a weight [rows, columns] as stored by a quantized checkpoint. It is described from
// headers alone and unpacked on demand. Each format is one file of this folder with a function that
// describes a module's weight:
//
//   absl::StatusOr<PackedMatrix> DescribeGptq(const ModuleTensors&, const QuantizationConfig&);
//
// Values are those of the format's reference dequantization in float32.
// Thread-safety: plain value; Open may be called from several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "server/engine/checkpoint/quantized/module_tensors.h"
#include "server/engine/checkpoint/quantized/quantization_config.h"

namespace sinkd {

// Writes rows [first, first + count), [count, columns], to `out`. One thread at a time.
using RowUnpacker = std::function<void(int64_t first, int64_t count, float* out)>;

struct PackedMatrix {
  int64_t rows = 0;     // outputs
  int64_t columns = 0;  // inputs
  std::string format;   // "gptq 4 bits", for people
  // Reads the packed values, scales and the other parts, and checks them. FAILED_PRECONDITION
  // naming file and tensor.
  std::function<absl::StatusOr<RowUnpacker>()> open;
};

absl::StatusOr<PackedMatrix> DescribeGptq(const ModuleTensors& module,
                                          const QuantizationConfig& config);
absl::StatusOr<PackedMatrix> DescribeAwq(const ModuleTensors& module,
                                         const QuantizationConfig& config);
// compressed-tensors' integers of 1 to 8 bits in 32-bit words.
absl::StatusOr<PackedMatrix> DescribePackedIntegers(const ModuleTensors& module,
                                                    const QuantizationConfig& config);
// NVFP4 and MXFP4 of compressed-tensors, NVFP4 of ModelOpt.
absl::StatusOr<PackedMatrix> DescribeFp4(const ModuleTensors& module,
                                         const QuantizationConfig& config);
// One FP8 number or int8 per entry, times the scale of its tensor, row, group or block.
absl::StatusOr<PackedMatrix> DescribeScaledBytes(const ModuleTensors& module,
                                                 const QuantizationConfig& config);
// nf4, fp4 and int8 of bitsandbytes.
absl::StatusOr<PackedMatrix> DescribeBitsAndBytes4(const ModuleTensors& module,
                                                   const QuantizationConfig& config);
absl::StatusOr<PackedMatrix> DescribeBitsAndBytes8(const ModuleTensors& module,
                                                   const QuantizationConfig& config);

}  // namespace sinkd
