// Has a test binary compute as SINKD_FLOAT32_PRODUCTS and SINKD_ATTENTION say, as sinkd does.
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

[[maybe_unused]] const bool kAttentionChosen = [] {
  const char* const value = std::getenv("SINKD_ATTENTION");
  const std::string_view name = value == nullptr ? "auto" : value;
  sinkd::ChooseAttention(name == "strips"        ? sinkd::AttentionChoice::kStrips
                         : name == "fused-calls" ? sinkd::AttentionChoice::kFusedCalls
                                                 : sinkd::AttentionChoice::kAuto);
  return true;
}();

}  // namespace
