// SampleRun: one sample's way from input to record - encoded on the CPU executor, run on the
// device's, analysed on the CPU executor again, so that the device never waits for text. What the
// stream's run holds already is taken from there and not run.
//
// Thread-safety: RunSample may be called from any thread.
// Errors of a sample: INVALID_ARGUMENT naming field, value and limit; FAILED_PRECONDITION when the
// checkpoint lacks tokenizer or template; RESOURCE_EXHAUSTED, INTERNAL from the device. CANCELLED,
// DEADLINE_EXCEEDED and UNAVAILABLE mean that the stream cannot go on.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/analysis/records.h"
#include "server/engine/trace.h"
#include "server/service/analyze/stream_plan.h"
#include "server/store/run_store.h"
#include "server/tokenizer/sample_encoder.h"

namespace sinkd {

struct IncomingSample {
  int64_t index = 0;
  std::string id;
  std::string input_digest;  // where a run keeps the records
  SampleInput input;
};

struct SampleResult {
  v1::SampleRecord record;
  std::optional<Record> to_keep;  // when a run keeps the records and this one is not in it yet
  std::optional<Trace> trace;     // when alpha of every position was asked for
};

// `done` is called exactly once, on a thread of an executor, or on the caller's before RunSample
// returns when an executor takes no more work.
using SampleDone = std::function<void(absl::StatusOr<SampleResult>)>;
void RunSample(std::shared_ptr<const StreamPlan> plan, IncomingSample sample, SampleDone done);

// Who waits for a sample to be encoded.
struct EncodeCaller {
  const Principal* principal = nullptr;  // who pays for what is refused; null: nobody
  std::stop_token stop;
};

// `input` as token ids within the limits of model and server; `date` is what its template sees.
// What was encoded in vain of a sample that is refused is taken from the caller's quota.
absl::StatusOr<EncodedSample> EncodeChecked(const SampleRunner& runner, const SampleInput& input,
                                            std::string_view date, int64_t max_sample_tokens,
                                            const EncodeCaller& caller, PhaseTimes& phases);

// The length and ids of an encoded sample against the limits of model and server.
absl::Status CheckEncoded(const EncodedSample& sample, const DecoderSpec& spec,
                          int64_t max_sample_tokens);

}  // namespace sinkd
