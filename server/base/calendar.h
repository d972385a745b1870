// Days of the calendar as text.
//
// Thread-safety: pure functions.
#pragma once

#include <string_view>

namespace sinkd {

// Whether `text` is a day from 1000-01-01 to 9999-12-31, as YYYY-MM-DD.
bool IsDate(std::string_view text);

}  // namespace sinkd
