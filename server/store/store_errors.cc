#include "server/store/store_errors.h"

#include <chrono>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

constexpr std::chrono::milliseconds kRetrySoon{1000};
constexpr std::chrono::milliseconds kRetryWhenThereIsRoom{30000};

}  // namespace

std::string RunSubject(std::string_view run_id) {
  return StrCat("runs/", run_id);
}

absl::Status RunNotFound(std::string_view run_id) {
  return NotFound("there is no such run", {.reason = "RUN_NOT_FOUND",
                                           .subject = RunSubject(run_id),
                                           .value = std::string(run_id),
                                           .fix = "use an id that ListRuns returns"});
}

absl::Status RunExists(std::string_view run_id) {
  return MakeError(absl::StatusCode::kAlreadyExists, "there is a run of this id",
                   {.reason = "RUN_EXISTS",
                    .subject = RunSubject(run_id),
                    .value = std::string(run_id),
                    .fix = "use another id, continue this run, or delete it first"});
}

absl::Status RunSpecDiffers(std::string_view run_id) {
  return MakeError(absl::StatusCode::kAlreadyExists,
                   "there is a run of this id with another model or other parameters",
                   {.reason = "RUN_SPEC_DIFFERS",
                    .subject = RunSubject(run_id),
                    .value = std::string(run_id),
                    .fix = "use another id, or delete this run first"});
}

absl::Status RunComplete(std::string_view run_id) {
  return FailedPrecondition("the run is complete and takes no more records",
                            {.reason = "RUN_COMPLETE",
                             .subject = RunSubject(run_id),
                             .value = std::string(run_id),
                             .fix = "open it again, or use another id"});
}

absl::Status StoreFull(std::string_view cause) {
  return ResourceExhausted(StrCat("the store has no room left: ", cause),
                           {.reason = "STORE_FULL",
                            .subject = "store",
                            .fix = "free space on its disk; what is stored can still be read",
                            .retry_after = kRetryWhenThereIsRoom});
}

bool IsStoreFull(const absl::Status& status) {
  if (!absl::IsResourceExhausted(status)) return false;
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  return detail && detail->reason == "STORE_FULL";
}

absl::Status StoreBusy(std::string_view cause) {
  return Unavailable(
      StrCat("the store is busy: ", cause),
      {.reason = "STORE_BUSY", .subject = "store", .fix = "retry", .retry_after = kRetrySoon});
}

absl::Status StoreUnreachable(std::string_view cause) {
  return Unavailable(StrCat("the store's database does not answer: ", cause),
                     {.reason = "STORE_UNREACHABLE",
                      .subject = "store",
                      .fix = "retry; if this lasts, see whether PostgreSQL runs",
                      .retry_after = kRetrySoon});
}

absl::Status StoreIoError(std::string_view cause) {
  return MakeError(
      absl::StatusCode::kInternal, StrCat("the store's disk failed: ", cause),
      {.reason = "STORE_IO_ERROR", .subject = "store", .fix = "see the system's log for the disk"});
}

absl::Status StoreDamaged(std::string_view where, std::string_view cause, std::string_view fix) {
  return FailedPrecondition(
      StrCat("the store is damaged: ", where, ": ", cause),
      {.reason = "STORE_DAMAGED", .subject = std::string(where), .fix = std::string(fix)});
}

absl::Status StoreInUse(std::string_view folder, std::string_view holder) {
  return FailedPrecondition(
      StrCat("another server keeps its runs in this folder: ",
             holder.empty() ? std::string_view("it did not say which") : holder),
      {.reason = "STORE_IN_USE",
       .subject = std::string(folder),
       .value = std::string(folder),
       .fix = "stop that server, or give this one another --state-dir, or --store off"});
}

absl::Status StoreChanged(std::string_view file, std::string_view what) {
  return FailedPrecondition(
      StrCat("the store's file was changed by another program: ", file, ": ", what),
      {.reason = "STORE_CHANGED",
       .subject = std::string(file),
       .fix = "put it back; or save what this server still holds with `sinkctl runs backup FILE`, "
              "stop the server, put FILE in the place of runs.db, and start it"});
}

absl::Status StoreReadOnly(std::string_view file) {
  return FailedPrecondition(
      StrCat("the store's file may not be written to: ", file),
      {.reason = "STORE_CHANGED",
       .subject = std::string(file),
       .fix = "give this user the right to write to it again; what is stored can be read"});
}

absl::Status StoreTooNew(int64_t version, int64_t known) {
  return FailedPrecondition(
      StrCat("the store has schema ", version, ", and this program knows schemas up to ", known),
      {.reason = "STORE_TOO_NEW",
       .subject = "store",
       .value = StrCat(version),
       .fix = "run the newer program that wrote it, or name another store"});
}

absl::Status StoreUnusable(std::string_view where, std::string_view cause, std::string_view fix) {
  return FailedPrecondition(
      StrCat("the store cannot be opened: ", where, ": ", cause),
      {.reason = "STORE_UNUSABLE", .subject = std::string(where), .fix = std::string(fix)});
}

}  // namespace sinkd
