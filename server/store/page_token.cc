#include "server/store/page_token.h"

#include <vector>

#include <absl/strings/escaping.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

// FNV-1a, which is the same in every process and version.
uint64_t Hash(std::string_view text) {
  uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

std::string Field(std::string_view text) {
  return StrCat(text.size(), ":", text);
}

std::string Field(const std::optional<StoreTime>& time) {
  return time ? StrCat(time->time_since_epoch().count(), ":") : "-:";
}

uint64_t FilterHash(const ListOptions& filter) {
  std::string text = filter.model_id ? Field(*filter.model_id) : "-:";
  text += Field(filter.created_from) + Field(filter.created_before);
  for (const auto& [name, value] : filter.labels) text += Field(name) + Field(value);
  return Hash(text);
}

}  // namespace

std::string WritePageToken(const PageToken& token, const ListOptions& filter) {
  const std::string text = StrCat(token.created_us, "/", token.number, "/", FilterHash(filter));
  std::string escaped;
  absl::WebSafeBase64Escape(text, &escaped);
  return escaped;
}

absl::StatusOr<PageToken> ReadPageToken(const ListOptions& options) {
  std::string text;
  PageToken token;
  uint64_t hash = 0;
  if (absl::WebSafeBase64Unescape(options.page_token, &text)) {
    const std::vector<std::string> parts = absl::StrSplit(text, '/');
    if (parts.size() == 3 && absl::SimpleAtoi(parts[0], &token.created_us) &&
        absl::SimpleAtoi(parts[1], &token.number) && absl::SimpleAtoi(parts[2], &hash) &&
        hash == FilterHash(options)) {
      return token;
    }
  }
  return InvalidArgument("the page token is not one that this list returned",
                         {.reason = "PAGE_TOKEN_INVALID",
                          .subject = "page_token",
                          .value = options.page_token,
                          .fix = "repeat the filter of the first page, or begin without a token"});
}

}  // namespace sinkd
