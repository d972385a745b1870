#include "server/base/sample_name.h"

#include <optional>
#include <string>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {

absl::Status NameSample(const absl::Status& status, int64_t index, std::string_view id) {
  const std::string name = id.empty() ? "" : StrCat(" (", Shorten(id), ")");
  const absl::Status named(status.code(), StrCat("sample ", index, name, ": ", status.message()));
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  return detail ? WithDetail(named, *detail) : named;
}

}  // namespace sinkd
