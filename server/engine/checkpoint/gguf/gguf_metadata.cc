#include "server/engine/checkpoint/gguf/gguf_metadata.h"

#include <type_traits>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

constexpr char kFix[] = "fetch the file again, or use the model's safetensors checkpoint";

template <typename T>
constexpr std::string_view NameOf() {
  if constexpr (std::is_same_v<T, bool>) return "true or false";
  if constexpr (std::is_same_v<T, int64_t>) return "an integer";
  if constexpr (std::is_same_v<T, double>) return "a number";
  if constexpr (std::is_same_v<T, std::string>) return "a string";
  if constexpr (std::is_same_v<T, std::vector<int64_t>>) return "an array of integers";
  if constexpr (std::is_same_v<T, std::vector<double>>) return "an array of numbers";
  return "an array of strings";
}

}  // namespace

bool GgufMetadata::Add(std::string key, GgufValue value) {
  return values_.emplace(std::move(key), std::move(value)).second;
}

std::vector<std::string> GgufMetadata::KeysOf(std::string_view prefix) const {
  std::vector<std::string> keys;
  for (auto at = values_.lower_bound(prefix); at != values_.end(); ++at) {
    if (!std::string_view(at->first).starts_with(prefix)) break;
    keys.push_back(at->first);
  }
  return keys;
}

template <typename T>
absl::StatusOr<T> GgufMetadata::Get(std::string_view key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return Error(key, "is missing", kFix);
  if (const T* value = std::get_if<T>(&found->second)) return *value;
  return Error(key, StrCat("is not ", NameOf<T>()), kFix);
}

template absl::StatusOr<int64_t> GgufMetadata::Get(std::string_view) const;
template absl::StatusOr<std::string> GgufMetadata::Get(std::string_view) const;
template absl::StatusOr<std::vector<int64_t>> GgufMetadata::Get(std::string_view) const;
template absl::StatusOr<std::vector<double>> GgufMetadata::Get(std::string_view) const;
template absl::StatusOr<std::vector<std::string>> GgufMetadata::Get(std::string_view) const;

absl::StatusOr<double> GgufMetadata::Number(std::string_view key) const {
  const auto found = values_.find(key);
  if (found != values_.end()) {
    if (const auto* integer = std::get_if<int64_t>(&found->second)) {
      return static_cast<double>(*integer);
    }
  }
  return Get<double>(key);
}

absl::StatusOr<int64_t> GgufMetadata::IntegerOr(std::string_view key, int64_t absent) const {
  return Has(key) ? Get<int64_t>(key) : absent;
}

absl::StatusOr<bool> GgufMetadata::FlagOr(std::string_view key, bool absent) const {
  return Has(key) ? Get<bool>(key) : absent;
}

absl::StatusOr<std::string> GgufMetadata::TextOr(std::string_view key,
                                                 std::string_view absent) const {
  return Has(key) ? Get<std::string>(key) : std::string(absent);
}

absl::Status GgufMetadata::Error(std::string_view key, std::string_view what,
                                 std::string_view fix) const {
  const std::string shown = Shorten(key);
  return FailedPrecondition(
      StrCat(file_, ": ", shown, " ", what),
      {.reason = "BAD_GGUF", .subject = StrCat(file_, ":", shown), .fix = std::string(fix)});
}

}  // namespace sinkd
