#include "server/config/config_values.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "server/base/calendar.h"
#include "server/base/nearest_word.h"
#include "server/base/status.h"

namespace sinkd {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";

struct Unit {
  std::string_view suffix;
  int64_t factor;
};
// A longer suffix stands before one that ends it.
constexpr std::array<Unit, 4> kByteUnits = {
    {{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"", 1}}};
constexpr std::array<Unit, 6> kTimeUnits = {
    {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}, {"", 1000}}};

std::optional<int64_t> WholeNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// A whole number with one of `units`; nullopt also when it does not fit.
std::optional<int64_t> Quantity(std::string_view text, std::span<const Unit> units) {
  const auto unit = std::find_if(units.begin(), units.end(),
                                 [&](const Unit& one) { return text.ends_with(one.suffix); });
  const std::optional<int64_t> number =
      WholeNumber(text.substr(0, text.size() - unit->suffix.size()));
  int64_t product = 0;
  if (!number || __builtin_mul_overflow(*number, unit->factor, &product)) return std::nullopt;
  return product;
}

bool InRange(const std::optional<int64_t>& number, int64_t minimum, int64_t maximum) {
  return number && *number >= minimum && *number <= maximum;
}

// "a" and "80" of "a:80"; an IPv6 host without its brackets.
std::optional<std::pair<std::string, std::string>> SplitAddress(std::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  std::string_view host = address.substr(0, colon);
  const bool bracketed = host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (host.empty() || bracketed != (host.find(':') != std::string_view::npos)) return std::nullopt;
  return std::pair(std::string(host), std::string(address.substr(colon + 1)));
}

bool IsHostPart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_';
}

bool IsHost(const std::string& host) {
  in6_addr six{};
  if (host.find(':') != std::string::npos) return inet_pton(AF_INET6, host.c_str(), &six) == 1;
  return std::all_of(host.begin(), host.end(), IsHostPart);
}

bool IsDevice(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const bool named = !kind.empty() && std::all_of(kind.begin(), kind.end(),
                                                  [](char c) { return c >= 'a' && c <= 'z'; });
  return named &&
         (colon == std::string_view::npos || InRange(WholeNumber(text.substr(colon + 1)), 0, 127));
}

// "cuda:0=0-15", a device with its first and last block, or "cuda:0=3" with its only one.
bool IsDeviceRange(std::string_view part) {
  constexpr int64_t kMostBlocks = 1 << 20;
  const size_t equals = part.find('=');
  if (equals == std::string_view::npos || !IsDevice(part.substr(0, equals))) return false;
  const std::string_view range = part.substr(equals + 1);
  const size_t dash = range.find('-');
  const std::optional<int64_t> first = WholeNumber(range.substr(0, dash));
  if (!InRange(first, 0, kMostBlocks)) return false;
  return dash == std::string_view::npos ||
         InRange(WholeNumber(range.substr(dash + 1)), *first, kMostBlocks);
}

bool IsDeviceMap(std::string_view text) {
  const size_t comma = text.find(',');
  if (!IsDeviceRange(text.substr(0, comma))) return false;
  return comma == std::string_view::npos || IsDeviceMap(text.substr(comma + 1));
}

}  // namespace

absl::Status BadValue(const Given& given, std::string_view rule, std::string_view fix) {
  return InvalidArgument(fmt::format("{} must be {}", given.origin, rule),
                         {.reason = "CONFIG_INVALID",
                          .subject = given.origin,
                          .value = given.value.empty() ? "nothing" : given.value,
                          .fix = std::string(fix)});
}

absl::StatusOr<int64_t> ReadInteger(const Given& given, int64_t minimum, int64_t maximum) {
  const std::optional<int64_t> number = WholeNumber(given.value);
  if (InRange(number, minimum, maximum)) return *number;
  return BadValue(given, fmt::format("a whole number from {} to {}", minimum, maximum), "");
}

absl::StatusOr<int64_t> ReadBytes(const Given& given, int64_t minimum, int64_t maximum) {
  const std::optional<int64_t> number = Quantity(given.value, kByteUnits);
  if (InRange(number, minimum, maximum)) return *number;
  return BadValue(given, fmt::format("a whole number of bytes from {} to {}", minimum, maximum),
                  "write for example 8388608 or 8MiB");
}

absl::StatusOr<std::chrono::milliseconds> ReadDuration(const Given& given,
                                                       std::chrono::milliseconds maximum) {
  const std::optional<int64_t> number = Quantity(given.value, kTimeUnits);
  if (InRange(number, 0, maximum.count())) return std::chrono::milliseconds(*number);
  return BadValue(given, fmt::format("a time from 0s to {}", DurationText(maximum)),
                  "write for example 500ms, 5s, 2m, 12h or 90d");
}

std::string DurationText(std::chrono::milliseconds duration) {
  return duration.count() % 1000 == 0 ? fmt::format("{}s", duration.count() / 1000)
                                      : fmt::format("{}ms", duration.count());
}

absl::StatusOr<bool> ReadBool(const Given& given) {
  if (given.value == "true" || given.value == "1") return true;
  if (given.value == "false" || given.value == "0") return false;
  return BadValue(given, "true or false", "");
}

absl::StatusOr<size_t> ReadChoice(const Given& given, std::span<const std::string_view> names) {
  const auto found = std::find(names.begin(), names.end(), given.value);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  const std::string_view nearest = NearestWord(given.value, names);
  return BadValue(given, fmt::format("one of {}", fmt::join(names, ", ")),
                  nearest.empty() ? "" : fmt::format("write {}", nearest));
}

absl::StatusOr<std::string> ReadAddress(const Given& given) {
  const auto parts = SplitAddress(given.value);
  if (parts && IsHost(parts->first) && InRange(WholeNumber(parts->second), 0, 65535)) {
    return given.value;
  }
  return BadValue(given, "host:port with a port from 0 to 65535",
                  "write for example 127.0.0.1:50051 or [::1]:50051");
}

absl::StatusOr<std::string> ReadSocketAddress(const Given& given) {
  if (given.value.starts_with(kUnixPrefix) && given.value.size() > kUnixPrefix.size()) {
    return given.value;
  }
  return ReadAddress(given);
}

absl::StatusOr<std::string> ReadHost(const Given& given) {
  // The command line's parser takes brackets away.
  for (const std::string& host : {given.value, fmt::format("[{}]", given.value)}) {
    const auto parts = SplitAddress(host + ":0");
    if (parts && IsHost(parts->first)) return host;
  }
  return BadValue(given, "a host without a port", "write for example sinkd.example.org");
}

absl::StatusOr<std::string> ReadOrigin(const Given& given) {
  std::string_view host = given.value;
  if (host == "*") return given.value;
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (!host.starts_with(scheme)) continue;
    host.remove_prefix(scheme.size());
    const size_t colon = host.rfind(':');
    const bool has_port = colon != std::string_view::npos && !host.ends_with(']');
    const std::string address(has_port ? host : std::string(host) + ":0");
    const auto parts = SplitAddress(address);
    if (parts && IsHost(parts->first) && InRange(WholeNumber(parts->second), 0, 65535)) {
      return given.value;
    }
  }
  return BadValue(given, "an origin as browsers send it, or *",
                  "write for example https://dashboards.example.org, without a path");
}

bool IsLoopback(std::string_view address) {
  if (address.starts_with(kUnixPrefix)) return true;
  const auto parts = SplitAddress(address);
  if (!parts) return false;
  const std::string& host = parts->first;
  in_addr four{};
  if (inet_pton(AF_INET, host.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
  in6_addr six{};
  if (inet_pton(AF_INET6, host.c_str(), &six) == 1) return IN6_IS_ADDR_LOOPBACK(&six);
  return host == "localhost";
}

absl::StatusOr<std::string> ReadDate(const Given& given) {
  if (IsDate(given.value)) return given.value;
  return BadValue(given, "a day of the calendar, as YYYY-MM-DD", "");
}

absl::StatusOr<std::string> ReadDevice(const Given& given) {
  const std::string_view text = given.value;
  const bool mapped = text.find('=') != std::string_view::npos;
  if (mapped ? IsDeviceMap(text) : IsDevice(text)) return given.value;
  return BadValue(given, "a device with an index from 0 to 127 where it has one, or a map of them",
                  "write for example cpu, cuda:0, auto or cuda:0=0-15,cuda:1=16-31");
}

}  // namespace sinkd
