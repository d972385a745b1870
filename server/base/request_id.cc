#include "server/base/request_id.h"

#include <algorithm>
#include <random>

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

namespace sinkd {
namespace {

constexpr size_t kMaxBytes = 128;

bool IsRequestId(std::string_view text) {
  return !text.empty() && text.size() <= kMaxBytes &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
         });
}

}  // namespace

std::string RequestIdOf(std::string_view given) {
  if (IsRequestId(given)) return std::string(given);
  thread_local std::mt19937_64 random{std::random_device{}()};
  return absl::StrCat(absl::Hex(random(), absl::kZeroPad16));
}

}  // namespace sinkd
