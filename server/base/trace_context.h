// TraceContext: which trace a call belongs to, as its caller says by a traceparent
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
  std::string parent_id;  // 16 of them, not all 0: the caller's span
  bool operator==(const TraceContext&) const = default;
};

// nullopt for what the specification has one ignore: anything but version 00 of exactly its form,
// or a later version that begins in that form.
std::optional<TraceContext> ParseTraceparent(std::string_view value);

}  // namespace sinkd
