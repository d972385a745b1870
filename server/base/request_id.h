// The name of one call, in the log and in its answer.
//
// Thread-safety: may be called from any thread.
#pragma once

#include <string>
#include <string_view>

namespace sinkd {

// What the caller gave, where that is 1 to 128 of [A-Za-z0-9._-]; else a random one.
std::string RequestIdOf(std::string_view given);

}  // namespace sinkd
