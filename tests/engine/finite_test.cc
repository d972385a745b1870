#include "server/engine/forward/finite.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace sinkd::testing {
namespace {

// Every pattern of the top 16 bits of a value (all of them where it has no more), alone.
void ExpectAgreesWithTorch(at::ScalarType type) {
  const auto size = static_cast<int64_t>(c10::elementSize(type));
  const int64_t patterns = size == 1 ? 256 : 65536;
  for (int64_t pattern = 0; pattern < patterns; ++pattern) {
    const uint64_t bits = static_cast<uint64_t>(pattern) << (size > 2 ? 8 * (size - 2) : 0);
    const at::Tensor value = at::empty({1}, at::TensorOptions().dtype(type));
    std::memcpy(value.data_ptr(), &bits, static_cast<size_t>(size));
    const at::Tensor wide = type == at::kDouble ? value : value.to(at::kFloat);
    ASSERT_EQ(AllFinite(type, value.data_ptr(), size), at::isfinite(wide).item<bool>())
        << type << " " << pattern;
  }
}

TEST(Finite, AgreesWithTorchOnEveryBitPattern) {
  for (const at::ScalarType type :
       {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf, at::kFloat8_e4m3fn, at::kFloat8_e5m2}) {
    ExpectAgreesWithTorch(type);
  }
}

TEST(Finite, FindsOneAmongMany) {
  at::Tensor values = at::ones({1001});
  EXPECT_TRUE(AllFinite(at::kFloat, values.data_ptr(), 4 * 1001));
  for (const int64_t place : {0, 500, 1000}) {
    at::Tensor spoiled = values.clone();
    spoiled[place] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_FALSE(AllFinite(at::kFloat, spoiled.data_ptr(), 4 * 1001)) << place;
  }
}

TEST(Finite, KnowsNoOtherType) {
  const int32_t one = 1;
  EXPECT_FALSE(AllFinite(at::kInt, &one, 4));
}

}  // namespace
}  // namespace sinkd::testing
