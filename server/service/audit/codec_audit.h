// CodecAudit: what an audit came to, struct to proto.
//
// Thread-safety: pure function.
#pragma once

#include "server/audit/audit.h"
#include "sinks/v1/audit.pb.h"

namespace sinkd {

// Verdict and rules; the rest of the response is the caller's.
sinks::v1::AuditRunsResponse EncodeAudit(const AuditReport& report);

}  // namespace sinkd
