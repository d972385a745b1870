// Audits in every format.
//
// JSON is the message itself, in the mapping of json_parts.h. In JUnit's XML a rule is a test case:
// one that failed holds a failure, one that lacks data an error.
// Thread-safety: pure functions.
#pragma once

#include <string>

#include "client/cli/flags/options.h"
#include "client/cli/terminal/terminal.h"
#include "sinks/v1/audit.pb.h"

namespace sinkd::cli {

std::string RenderAudit(const sinks::v1::AuditRunsResponse& audit, AuditFormat format,
                        const Terminal& terminal);

}  // namespace sinkd::cli
