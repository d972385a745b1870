#include "server/models/model_id.h"

#include <algorithm>
#include <numeric>
#include <utility>

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

// Letters to insert, remove or replace.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replaced});
    }
  }
  return row.back();
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

std::string NearestModelId(std::string_view id, const std::vector<std::string>& ids) {
  std::string nearest;
  size_t fewest = id.size() / 3 + 1;
  for (const std::string& candidate : ids) {
    const size_t edits = EditDistance(id, candidate);
    if (edits >= fewest) continue;
    fewest = edits;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace sinkd
