// TraceFields: the trace of a call, as fields of its log lines.
#pragma once

#include <optional>
#include <vector>

#include "server/base/trace_context.h"
#include "server/telemetry/log.h"

namespace sinkd {

// Borrows `trace`. Empty without a trace.
inline std::vector<LogField> TraceFields(const std::optional<TraceContext>& trace) {
  if (!trace) return {};
  return {{"trace_id", trace->trace_id}, {"parent_id", trace->parent_id}};
}

}  // namespace sinkd
