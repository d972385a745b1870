// StrCat: absl::StrCat that also accepts std::string_view if absl was built with its own
// string_view (Debian 12). Otherwise the same function.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>

namespace sinkd {

template <typename T>
decltype(auto) ToStrCatArgument(const T& value) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return absl::string_view(value.data(), value.size());
  } else {
    return static_cast<const T&>(value);
  }
}

template <typename... Args>
std::string StrCat(const Args&... args) {
  return absl::StrCat(ToStrCatArgument(args)...);
}

}  // namespace sinkd
