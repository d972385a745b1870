#include "server/config/config_memory.h"

#include <algorithm>
#include <vector>

#include <absl/strings/str_split.h>
#include <fmt/format.h>

#include "server/base/status.h"
#include "server/config/config_file.h"

namespace sinkd {
namespace {

constexpr int64_t kLeast = int64_t{1} << 20;
constexpr int64_t kMost = int64_t{1} << 50;

bool IsDevice(const std::string& name) {
  if (name == "cpu") return true;
  constexpr std::string_view kCuda = "cuda:";
  return name.starts_with(kCuda) && name.size() > kCuda.size() && name.size() <= 8 &&
         std::all_of(name.begin() + kCuda.size(), name.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

absl::Status ApplyMemoryBudget(const Given& given, Config& config) {
  std::map<std::string, int64_t> budget;
  for (const auto part : absl::StrSplit(given.value, ',', absl::SkipEmpty())) {
    const std::vector<std::string> words = absl::StrSplit(part, '=');
    if (words.size() != 2 || !IsDevice(words[0]) || budget.contains(words[0])) {
      return BadValue(given, "devices, each once, with what they may hold",
                      "write for example cpu=8GiB,cuda:0=60GiB");
    }
    SINKD_ASSIGN_OR_RETURN(budget[words[0]], ReadBytes({given.origin, words[1]}, kLeast, kMost));
  }
  config.memory_budget = std::move(budget);
  return absl::OkStatus();
}

std::string ShowMemoryBudget(const Config& config) {
  std::string text;
  for (const auto& [device, bytes] : config.memory_budget) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", device, bytes);
  }
  return QuoteToml(text);
}

}  // namespace sinkd
