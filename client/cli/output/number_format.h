// Numbers as tables show them.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace sinkd::cli {

inline constexpr char kAbsent[] = "-";

// `digits` after the point.
std::string Fixed(double value, int digits);

// Four significant decimals where that is readable, scientific where it is not.
std::string Compact(double value);

// "0.0312", "3.1e-09", "<1e-300".
std::string PValue(double p);

// "[lower, upper]".
std::string Range(double lower, double upper);

// "1,234,567".
std::string Grouped(int64_t value);

// Bytes as "1.5 GiB".
std::string Bytes(int64_t bytes);

// Ascending numbers as "9-12,14".
std::string Runs(std::span<const int32_t> ascending);

// Seconds as "7s", "3:05", "1:02:05".
std::string Duration(double seconds);

}  // namespace sinkd::cli
