#include "server/base/trace_context.h"

#include <algorithm>

namespace sinkd {
namespace {

// 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
constexpr size_t kTraceId = 3;
constexpr size_t kTraceIdSize = 32;
constexpr size_t kParentId = kTraceId + kTraceIdSize + 1;
constexpr size_t kParentIdSize = 16;
constexpr size_t kFlags = kParentId + kParentIdSize + 1;
constexpr size_t kSize = kFlags + 2;

bool IsHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool IsZero(std::string_view text) {
  return text.find_first_not_of('0') == std::string_view::npos;
}

}  // namespace

std::optional<TraceContext> ParseTraceparent(std::string_view value) {
  if (value.size() < kSize) return std::nullopt;
  const std::string_view version = value.substr(0, 2);
  const std::string_view trace_id = value.substr(kTraceId, kTraceIdSize);
  const std::string_view parent_id = value.substr(kParentId, kParentIdSize);
  const bool dashes =
      value[kTraceId - 1] == '-' && value[kParentId - 1] == '-' && value[kFlags - 1] == '-';
  const bool hex =
      IsHex(version) && IsHex(trace_id) && IsHex(parent_id) && IsHex(value.substr(kFlags, 2));
  if (!dashes || !hex || version == "ff") return std::nullopt;
  // Later versions may have more to say, after another dash.
  if (value.size() > kSize && (version == "00" || value[kSize] != '-')) return std::nullopt;
  if (IsZero(trace_id) || IsZero(parent_id)) return std::nullopt;
  return TraceContext{.trace_id = std::string(trace_id), .parent_id = std::string(parent_id)};
}

}  // namespace sinkd
