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

bool IsModelFolderName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxIdBytes && IsIdStart(name.front()) &&
         std::all_of(name.begin(), name.end(), IsIdPart);
}

bool IsRevision(std::string_view revision) {
  std::string lower(revision);
  absl::AsciiStrToLower(&lower);
  return IsModelFolderName(lower);
}

ModelIdParts SplitModelId(std::string_view id) {
  const size_t at = id.find('@');
  if (at == std::string_view::npos) return {.name = id};
  return {.name = id.substr(0, at), .revision = id.substr(at + 1)};
}

bool IsModelId(std::string_view id) {
  const ModelIdParts parts = SplitModelId(id);
  const bool has_revision = parts.name.size() < id.size();
  return IsModelFolderName(parts.name) && (!has_revision || IsRevision(parts.revision));
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
