#include "server/service/runs/run_samples.h"

#include <utility>

#include <absl/strings/str_cat.h>

#include "server/base/status.h"
#include "server/service/runs/codec_run.h"
#include "server/service/studies/study_opening.h"

namespace sinkd {
namespace {

absl::Status CheckModel(const Run& run, const std::string& model) {
  if (absl::StrCat("models/", run.model_id) == model) return absl::OkStatus();
  return InvalidArgument(absl::StrCat("the run is of models/", run.model_id),
                         {.reason = "RUN_OF_ANOTHER_MODEL",
                          .subject = "run",
                          .value = RunName(run.id),
                          .fix = "study the run's own model, or send samples and no run"});
}

absl::Status CheckSize(const Run& run) {
  if (run.counts.samples <= kMaxStudySamples) return absl::OkStatus();
  return InvalidArgument(
      absl::StrCat("the run has ", run.counts.samples, " samples, a study takes at most ",
                   kMaxStudySamples),
      {.reason = "TOO_MANY_SAMPLES",
       .subject = "run",
       .value = RunName(run.id),
       .fix = "send some of its samples, beside the run that the report is to be kept with"});
}

absl::Status NoTokens(const std::string& run_id) {
  return FailedPrecondition("the run holds no sample that can be run again",
                            {.reason = "RUN_WITHOUT_TOKENS",
                             .subject = RunName(run_id),
                             .fix = "import records with their token ids, or send the samples"});
}

}  // namespace

absl::Status StoreOff() {
  return FailedPrecondition("this server keeps no runs",
                            {.reason = "STORE_OFF",
                             .subject = "store",
                             .fix = "start sinkd without --store off, or ask another server"});
}

absl::Status TakeRunSamples(RunStore& store, sinks::v1::RunStudyRequest& request) {
  SINKD_ASSIGN_OR_RETURN(const std::string run_id, DecodeRunName(request.run(), "run"));
  SINKD_ASSIGN_OR_RETURN(const Run run, store.Get(run_id));
  SINKD_RETURN_IF_ERROR(CheckModel(run, request.model()));
  if (request.samples_size() > 0) return absl::OkStatus();
  SINKD_RETURN_IF_ERROR(CheckSize(run));
  ReadOptions page{.with_input = true};
  while (true) {
    SINKD_ASSIGN_OR_RETURN(std::vector<Record> records, store.ReadRecords(run_id, page));
    if (records.empty()) break;
    page.after = records.back().sequence;
    for (const Record& record : records) {
      if (record.failed || !record.input) continue;
      sinks::v1::Sample& sample = *request.add_samples();
      sample.set_sample_id(record.sample_key);
      if (!sample.mutable_token_ids()->ParseFromString(*record.input)) {
        return Internal("the input of a sample in the store cannot be read");
      }
    }
  }
  return request.samples_size() > 0 ? absl::OkStatus() : NoTokens(run_id);
}

}  // namespace sinkd
