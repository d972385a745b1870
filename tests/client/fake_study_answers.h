// The reports a FakeServer gives of studies: made up, the same every time.
//
// Thread-safety: pure functions.
#pragma once

#include "sinks/v1/mechanism.pb.h"

namespace sinkd::testing {

sinks::v1::StudyStarted MakeStudyStarted(const sinks::v1::RunStudyRequest& request);

// The report of the study that `request` names, over two samples: some numbers defined, some not,
// texts with an escape sequence in them.
sinks::v1::StudyReport MakeStudyReport(const sinks::v1::RunStudyRequest& request);

}  // namespace sinkd::testing
