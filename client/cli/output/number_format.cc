#include "client/cli/output/number_format.h"

#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace sinkd::cli {

std::string Fixed(double value, int digits) {
  return fmt::format("{:.{}f}", value, digits);
}

std::string Compact(double value) {
  const double size = std::abs(value);
  if (value == 0.0) return "0";
  if (size >= 1e6 || size < 1e-3) return fmt::format("{:.3e}", value);
  return Fixed(value, size >= 1000 ? 1 : size >= 10 ? 3 : 4);
}

std::string PValue(double p) {
  if (p == 0.0) return "<1e-300";
  return p < 1e-3 ? fmt::format("{:.1e}", p) : Fixed(p, 4);
}

std::string Range(double lower, double upper) {
  return fmt::format("[{}, {}]", Compact(lower), Compact(upper));
}

std::string Grouped(int64_t value) {
  const std::string digits = std::to_string(value);
  const size_t first = value < 0 ? 1 : 0;
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > first && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string Bytes(int64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string Runs(std::span<const int32_t> ascending) {
  std::string text;
  for (size_t i = 0; i < ascending.size();) {
    size_t end = i;
    while (end + 1 < ascending.size() && ascending[end + 1] == ascending[end] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(ascending[i]);
    if (end > i) text += fmt::format("-{}", ascending[end]);
    i = end + 1;
  }
  return text;
}

std::string Duration(double seconds) {
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace sinkd::cli
