#include "server/service/calls/template_date.h"

#include "server/base/calendar.h"
#include "server/base/status.h"

namespace sinkd {

absl::StatusOr<std::string> DecodeTemplateDate(const std::string* given,
                                               const std::string& otherwise,
                                               const std::string& prefix) {
  const std::string& date = given != nullptr ? *given : otherwise;
  if (IsDate(date)) return date;
  const std::string field = prefix + "template_date";
  return InvalidArgument(field + " is not a date",
                         {.reason = "INVALID_DATE",
                          .subject = field,
                          .value = Shorten(date),
                          .fix = "write a day of the calendar as YYYY-MM-DD, from 1000-01-01"});
}

}  // namespace sinkd
