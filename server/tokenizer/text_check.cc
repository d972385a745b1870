#include "server/tokenizer/text_check.h"

#include <optional>
#include <utility>

#include <absl/strings/str_cat.h>

#include "server/base/status.h"
#include "server/base/utf8.h"

namespace sinkd {

absl::Status CheckUtf8(std::string_view text, std::string subject) {
  const std::optional<size_t> at = FirstInvalidUtf8(text);
  if (!at) return absl::OkStatus();
  return InvalidArgument("the text is not UTF-8", {.reason = "TEXT_NOT_UTF8",
                                                   .subject = std::move(subject),
                                                   .value = absl::StrCat("byte ", *at),
                                                   .fix = "send UTF-8, or token ids"});
}

}  // namespace sinkd
