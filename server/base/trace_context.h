// TraceContext: the trace that a call belongs to, from the caller's traceparent
// (https://www.w3.org/TR/trace-context/).
//
// Thread-safety: pure function.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sinkd {

struct TraceContext {
  std::string trace_id;   // 32 of [0-9a-f], not all 0
  std::string parent_id;  // 16 of [0-9a-f], not all 0: the caller's span
  bool operator==(const TraceContext&) const = default;
};

// nullopt for values that the specification requires to be ignored: anything except version 00 in
// its exact form, or a later version that begins with that form.
std::optional<TraceContext> ParseTraceparent(std::string_view value);

}  // namespace sinkd
