// CodecRun: stored runs, their names and filters, between proto and struct.
//
// A run's spec is kept as the bytes of a sinks.v1.AnalysisSpec that holds what its records depend
// on, in one form only: without the run's id and labels, and without what merely says how a stream
// answers (fail_fast, summary_only, no_summary, replace, all_positions,
// points).
//
// Thread-safety: pure functions.
// Errors: INVALID_ARGUMENT naming the field, its value and the fix.
#pragma once

#include <map>
#include <string>

#include <absl/status/statusor.h>

#include "server/analysis/parameters.h"
#include "server/store/run_store.h"
#include "sinks/v1/runs.pb.h"

namespace sinkd {

// "runs/{id}", and the id in it; `field` is where the name stood.
std::string RunName(std::string_view id);
absl::StatusOr<std::string> DecodeRunName(const std::string& name, const std::string& field);

// A new run with the run id and labels of a complete spec.
NewRun MakeNewRun(const v1::AnalysisSpec& spec);

// The complete spec that a run was made with. INTERNAL when the store holds none.
absl::StatusOr<v1::AnalysisSpec> ReadRunSpec(const Run& run);

absl::StatusOr<sinks::v1::Run> EncodeRun(const Run& run);
void EncodeTime(StoreTime time, google::protobuf::Timestamp* out);

// Filters as options of RunStore::List; the page is left at its default.
absl::StatusOr<ListOptions> DecodeFilter(const sinks::v1::RunFilter& filter);
absl::StatusOr<ListOptions> DecodeList(const sinks::v1::ListRunsRequest& request);
// Whether a run meets the filter.
bool Meets(const Run& run, const ListOptions& filter);

// Where a page of keys begins, as text and back; an empty token is the beginning.
std::string WriteSequenceToken(int64_t after);
absl::StatusOr<int64_t> ReadSequenceToken(const std::string& token);

}  // namespace sinkd
