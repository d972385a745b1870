// The id of one call, in the log and in its response.
//
// Thread-safety: may be called from any thread.
#pragma once

#include <string>
#include <string_view>

namespace sinkd {

// The caller's id if it is 1 to 128 characters of [A-Za-z0-9._-], else a random one.
std::string RequestIdOf(std::string_view given);

}  // namespace sinkd
