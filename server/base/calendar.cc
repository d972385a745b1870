#include "server/base/calendar.h"

#include <absl/time/civil_time.h>

namespace sinkd {

bool IsDate(std::string_view text) {
  absl::CivilDay day;
  // absl takes blanks around a day, and years and months without their zeros.
  return absl::ParseCivilTime({text.data(), text.size()}, &day) && day.year() >= 1000 &&
         day.year() <= 9999 && absl::FormatCivilTime(day) == text;
}

}  // namespace sinkd
