// KilledWriter: another process that appends to a store and says what was acknowledged, until it is
// killed without warning.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include <absl/status/statusor.h>

#include "server/store/run_store.h"

namespace sinkd::testing {

inline constexpr char kKilledRun[] = "killed";
inline constexpr int kWriterThreads = 3;

// The payload that goes with a key, so that a mixed-up record is noticed.
std::string PayloadOf(const std::string& key);

// Forks; the child opens a store and appends to kKilledRun, from several threads, records whose
// keys begin with `prefix`. Once `acknowledged` calls have been answered, and after `delay_us`
// more, the child gets SIGKILL. The keys that were acknowledged. The calling process has no other
// threads.
std::set<std::string> AppendUntilKilled(
    const std::function<absl::StatusOr<std::unique_ptr<RunStore>>()>& open,
    const std::string& prefix, int acknowledged, int delay_us);

}  // namespace sinkd::testing
