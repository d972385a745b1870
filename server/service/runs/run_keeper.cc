#include "server/service/runs/run_keeper.h"

#include <utility>

#include <absl/strings/str_cat.h>

#include "server/access/sha256.h"
#include "server/base/status.h"
#include "server/service/calls/status_mapping.h"
#include "server/service/runs/codec_run.h"
#include "server/service/runs/run_fold.h"
#include "server/service/runs/stored_record.h"

namespace sinkd {
namespace {

absl::Status SampleDiffers(const Record& held, std::string_view input_digest) {
  constexpr size_t kBytesTold = 8;
  return MakeError(
      absl::StatusCode::kAlreadyExists,
      absl::StrCat("the run holds another input under this id: its digest begins with ",
                   Hex(held.input_digest.substr(0, kBytesTold)), ", that of this one with ",
                   Hex(input_digest.substr(0, kBytesTold))),
      {.reason = "SAMPLE_DIFFERS",
       .subject = "sample.sample_id",
       .value = Shorten(held.sample_key),
       .fix = "give the sample a new id, or let it take the other's place (replace; --replace)"});
}

}  // namespace

RunKeeper::RunKeeper(RunStore& store, v1::AnalysisSpec spec)
    : store_(store), spec_(std::move(spec)) {}

absl::StatusOr<RunCounts> RunKeeper::Open() {
  SINKD_ASSIGN_OR_RETURN(const Run run, store_.Create(MakeNewRun(spec_), IfExists::kContinue));
  if (run.state != RunState::kOpen) {
    SINKD_RETURN_IF_ERROR(store_.SetState(run.id, RunState::kOpen));
  }
  return run.counts;
}

absl::StatusOr<std::optional<StoredAnswer>> RunKeeper::Find(const std::string& key,
                                                            std::string_view input_digest,
                                                            int64_t sample_index) {
  SINKD_ASSIGN_OR_RETURN(const std::optional<Record> stored, store_.Find(spec_.run_id(), key));
  if (!stored) return std::optional<StoredAnswer>();
  const bool known = !stored->input_digest.empty() && !input_digest.empty();
  const bool same = known ? stored->input_digest == input_digest : !spec_.replace();
  if (!same && spec_.replace()) return std::optional<StoredAnswer>();
  if (!same) return std::optional<StoredAnswer>(SampleDiffers(*stored, input_digest));
  if (stored->failed) {
    SINKD_ASSIGN_OR_RETURN(const sinks::v1::SampleError error, ReadFailure(*stored));
    const absl::Status status = FromRpcStatus(error.status());
    return std::optional<StoredAnswer>(status.ok() ? Internal("a failed sample has no error")
                                                   : status);
  }
  v1::SampleRecord record;
  SINKD_RETURN_IF_ERROR(ReadPayload(*stored, record));
  record.set_sample_index(sample_index);
  return std::optional<StoredAnswer>(std::move(record));
}

absl::StatusOr<std::vector<RunKeeper::Earlier>> RunKeeper::Keep(std::span<const Record> records) {
  SINKD_ASSIGN_OR_RETURN(const std::vector<Kept> kept,
                         store_.Append(spec_.run_id(), records,
                                       {.replace = spec_.replace(), .compare_payloads = false}));
  std::vector<Earlier> earlier;
  for (size_t i = 0; i < records.size(); ++i) {
    if (kept[i] == Kept::kAdded || kept[i] == Kept::kReplaced) continue;
    const Record& record = records[i];
    SINKD_ASSIGN_OR_RETURN(std::optional<StoredAnswer> found,
                           Find(record.sample_key, record.input_digest, record.sample_index));
    if (found) {
      earlier.push_back({.sample_index = record.sample_index, .answer = *std::move(found)});
    }
  }
  return earlier;
}

absl::StatusOr<v1::Summary> RunKeeper::SumUp(const std::stop_token& stop) {
  RunFold fold(spec_, {});
  SINKD_RETURN_IF_ERROR(fold.Add(store_, spec_.run_id(), stop));
  return fold.Report();
}

absl::Status RunKeeper::Close() {
  if (spec_.keep_run_open()) return absl::OkStatus();
  return store_.SetState(spec_.run_id(), RunState::kComplete);
}

}  // namespace sinkd
