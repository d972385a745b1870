// Has a test binary multiply by the library that SINKD_FLOAT32_PRODUCTS names, as sinkd does.
#include <cstdlib>
#include <string_view>

#include "server/engine/model.h"

namespace {

[[maybe_unused]] const bool kChosen = [] {
  const char* const value = std::getenv("SINKD_FLOAT32_PRODUCTS");
  const std::string_view name = value == nullptr ? "auto" : value;
  return sinkd::ChooseFloat32Products(name == "mkl"      ? sinkd::Float32Products::kMkl
                                      : name == "onednn" ? sinkd::Float32Products::kOneDnn
                                                         : sinkd::Float32Products::kAuto)
      .ok();
}();

}  // namespace
