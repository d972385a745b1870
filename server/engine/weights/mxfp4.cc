#include "server/engine/weights/mxfp4.h"

#include <ATen/ATen.h>

namespace sinkd {

at::Tensor UnpackMxfp4(const at::Tensor& blocks, const at::Tensor& scales, at::ScalarType dtype) {
  if (blocks.is_meta()) {
    std::vector<int64_t> shape = blocks.sizes().vec();
    shape.resize(shape.size() - 1);
    shape.back() *= 2 * blocks.size(-1);
    return at::empty(shape, blocks.options().dtype(dtype));
  }
  // Sign, two bits of exponent, one of mantissa.
  static constexpr float kValues[] = {0.0f,  0.5f,  1.0f,  1.5f,  2.0f,  3.0f,  4.0f,  6.0f,
                                      -0.0f, -0.5f, -1.0f, -1.5f, -2.0f, -3.0f, -4.0f, -6.0f};
  const at::Tensor table = at::tensor(at::ArrayRef<float>(kValues), at::kFloat).to(blocks.device());
  const at::Tensor low = table.index({blocks.bitwise_and(15).to(at::kLong)});
  const at::Tensor high = table.index({blocks.bitwise_right_shift(4).to(at::kLong)});
  const at::Tensor values = at::stack({low, high}, -1).flatten(-2);  // [..., groups, 32]
  const at::Tensor exponents = scales.to(at::kInt) - 127;
  return at::ldexp(values, exponents.unsqueeze(-1)).flatten(-2).to(dtype);
}

}  // namespace sinkd
