// RunSamples: the samples of a stored run, for a study of them.
//
// Thread-safety: pure functions over the store; they wait for it.
#pragma once

#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/store/run_store.h"
#include "sinks/v1/mechanism.pb.h"

namespace sinkd {

// FAILED_PRECONDITION: the server was started without a store.
absl::Status StoreOff();

// Checks that the run that `request` names is of its model, and gives it the run's samples, as
// token ids, when it has none; those that failed, or whose ids were not kept, are left out. Errors:
// those of RunStore; INVALID_ARGUMENT for a run of another model, or of more samples than a study
// takes; FAILED_PRECONDITION when no sample is left.
absl::Status TakeRunSamples(RunStore& store, sinks::v1::RunStudyRequest& request);

}  // namespace sinkd
