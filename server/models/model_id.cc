#include "server/models/model_id.h"

#include <algorithm>

#include <absl/strings/ascii.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

constexpr size_t kMaxIdBytes = 64;

bool IsIdStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
bool IsIdPart(char c) {
  return IsIdStart(c) || c == '.' || c == '_' || c == '-';
}

}  // namespace

bool IsModelId(std::string_view id) {
  return !id.empty() && id.size() <= kMaxIdBytes && IsIdStart(id.front()) &&
         std::all_of(id.begin(), id.end(), IsIdPart);
}

std::string ModelIdFor(std::string_view name) {
  std::string id;
  for (const char c : name) {
    const char low = absl::ascii_tolower(static_cast<unsigned char>(c));
    if (id.empty() && !IsIdStart(low)) continue;
    id.push_back(IsIdPart(low) ? low : '-');
  }
  return id.substr(0, kMaxIdBytes);
}

std::string WhyNoModelId(std::string_view name) {
  if (name.empty()) return "it is empty";
  const auto bad = std::find_if_not(name.begin(), name.end(), IsIdPart);
  if (bad != name.end()) {
    return absl::ascii_isprint(static_cast<unsigned char>(*bad))
               ? StrCat("'", std::string(1, *bad), "' cannot be in an id")
               : "it holds what is neither a lower-case letter, a digit, '.', '_' nor '-'";
  }
  if (name.size() > kMaxIdBytes) return StrCat("it is longer than ", kMaxIdBytes, " bytes");
  return "it does not begin with a letter or digit";
}

}  // namespace sinkd
