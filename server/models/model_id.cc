#include "server/models/model_id.h"

#include <algorithm>

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

}  // namespace sinkd
