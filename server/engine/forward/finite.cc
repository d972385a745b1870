#include "server/engine/forward/finite.h"

namespace sinkd {
namespace {

// A value is NaN or infinite when all bits of its exponent are set; in E4M3, which has no infinity,
// those of its mantissa too.
template <typename Bits>
bool NoneHas(Bits mask, const void* values, int64_t bytes) {
  const auto* bits = static_cast<const Bits*>(values);
  const int64_t count = bytes / static_cast<int64_t>(sizeof(Bits));
  bool found = false;
  for (int64_t i = 0; i < count; ++i) found |= (bits[i] & mask) == mask;
  return !found;
}

}  // namespace

bool AllFinite(at::ScalarType type, const void* values, int64_t bytes) {
  switch (type) {
    case at::kFloat:
      return NoneHas<uint32_t>(0x7f800000, values, bytes);
    case at::kDouble:
      return NoneHas<uint64_t>(0x7ff0000000000000, values, bytes);
    case at::kBFloat16:
      return NoneHas<uint16_t>(0x7f80, values, bytes);
    case at::kHalf:
      return NoneHas<uint16_t>(0x7c00, values, bytes);
    case at::kFloat8_e5m2:
      return NoneHas<uint8_t>(0x7c, values, bytes);
    case at::kFloat8_e4m3fn:
      return NoneHas<uint8_t>(0x7f, values, bytes);
    default:
      return false;
  }
}

}  // namespace sinkd
