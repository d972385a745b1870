// RunStore: runs and the records of their samples, stored on disk.
//
// A run is one spec applied to one model: the spec, and one record for every sample. The store does
// not parse specs, payloads or inputs; they are the caller's bytes. Counts are separate columns,
// and a run's counts change in the transaction that adds its records, so they are exact at any
// moment.
//
// A sample is identified by its key, which the caller chooses and which is unique within a run. A
// key that is appended twice is stored once, and the first record stays, so a caller that lost a
// response can append again. The digest of the input says whether it is the same sample: another
// input under the same key is not stored, and not mistaken for the first. Store a failure only if
// the sample would fail again, because its key then counts as present.
//
// Durability: when Create, Append, AddStudy, SetState or Delete returns OK, its effect survives a
// killed process and a power failure. Units: times are UTC in microseconds; sizes are in bytes.
// Ownership: everything is copied in and out. Thread-safety: all methods may be called from any
// thread. They wait for the disk or the database server, so do not call them on a thread that
// serves events. Errors, each with an ErrorDetail:
//   INVALID_ARGUMENT     an invalid id, key, label or page token
//   NOT_FOUND            RUN_NOT_FOUND
//   ALREADY_EXISTS       RUN_EXISTS, RUN_SPEC_DIFFERS
//   FAILED_PRECONDITION  RUN_COMPLETE; STORE_IN_USE, STORE_DAMAGED, STORE_TOO_NEW, STORE_UNUSABLE;
//                        STORE_CHANGED: another program deleted, replaced or truncated a file, or
//                        made it read-only. Nothing is acknowledged until this is repaired
//   RESOURCE_EXHAUSTED   STORE_FULL: the disk is full. Reads and removals still work; writes work
//                        again once there is space
//   UNAVAILABLE          STORE_BUSY, STORE_UNREACHABLE: retry later. It is then unknown whether an
//                        Append took effect; it is safe to append the same records once more,
//                        since each key is stored once
//   INTERNAL             STORE_IO_ERROR, or a bug
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

namespace sinkd {

using StoreTime = std::chrono::sys_time<std::chrono::microseconds>;
using Labels = std::map<std::string, std::string>;

enum class RunState {
  kOpen,      // accepts records; never pruned
  kComplete,  // accepts none until it is reopened
};

struct SinkCounts {
  int64_t primary = 0;
  int64_t secondary = 0;
  int64_t noise = 0;
  bool operator==(const SinkCounts&) const = default;
};

// Sums over a run's records.
struct RunCounts {
  int64_t samples = 0;         // records, including failed ones
  int64_t failed_samples = 0;  // records with `failed`
  int64_t tokens = 0;
  SinkCounts sinks;
  int64_t bytes = 0;  // of keys, payloads, inputs and studies; the disk holds about a fifth more
  int64_t samples_without_digest = 0;  // records whose input_digest is empty
  // Record::arithmetic of every record ever added, but for empty ones; the first kMostArithmetics.
  std::set<std::string> arithmetics;
  bool operator==(const RunCounts&) const = default;
};

struct NewRun {
  std::string id;        // ^[a-z0-9][a-z0-9._-]{0,63}$
  std::string model_id;  // 1 to 255 bytes of UTF-8 without NUL
  Labels labels;         // up to 64; keys of 1 to 63 bytes, values up to 255, UTF-8 without NUL
  std::string spec;      // any bytes, up to kMaxRecordBytes
};

struct Run {
  std::string id;
  std::string model_id;
  Labels labels;
  std::string spec;
  RunState state = RunState::kOpen;
  StoreTime created;
  StoreTime updated;  // when a record was last added or the state last changed
  RunCounts counts;
};

struct Record {
  int64_t sequence = 0;    // number in the run, from 1 without gaps, in the order of storing; set
                           // by the store, ignored by Append
  std::string sample_key;  // 1 to 255 bytes of UTF-8 without NUL
  int64_t sample_index = 0;
  bool failed = false;
  int64_t tokens = 0;
  SinkCounts sinks;
  std::string arithmetic;  // how it was computed, one line; only counted, not read back
  std::string payload;
  std::string input_digest;          // of the sample's input, up to 255 bytes; empty: unknown
  std::optional<std::string> input;  // the sample's input, so that it can be run again
};

inline constexpr size_t kMostArithmetics = 16;
inline constexpr int64_t kMaxRecordBytes = int64_t{64} << 20;  // key, payload and input together

// Later findings about a run's samples, as the caller's bytes.
struct StoredStudy {
  int64_t number = 0;  // ascending in the order of storing; set by the store, like `created`
  StoreTime created;
  std::string request;
  std::string report;  // together with the request at most kMaxRecordBytes
};

enum class IfExists {
  kFail,      // ALREADY_EXISTS
  kContinue,  // returns the run if model and spec are the same; its labels and state stay
};

struct ListOptions {
  std::optional<std::string> model_id;
  Labels labels;  // a run must have all of them
  std::optional<StoreTime> created_from;
  std::optional<StoreTime> created_before;
  int page_size = 100;     // 1 to 1,000
  std::string page_token;  // of the previous page, with the same filter; empty for the first page
};

struct RunPage {
  std::vector<Run> runs;        // newest first
  std::string next_page_token;  // empty on the last page
};

struct ReadOptions {
  int64_t after = 0;                     // the sequence of the last record already read
  int limit = 500;                       // records, 1 to 1,000
  int64_t max_bytes = int64_t{4} << 20;  // a page ends when it has this size
  bool with_input = false;
};

struct KeyPage {
  std::vector<std::string> keys;           // in the order of storing; empty after the last page
  std::vector<std::string> input_digests;  // one per key
  int64_t next_after = 0;                  // where the next page begins
};

// What Prune removes: complete runs, the one that has not changed for longest first.
struct PrunePolicy {
  std::optional<std::chrono::seconds> max_age;  // since the last change
  std::optional<int64_t> max_bytes;             // of RunCounts::bytes over all runs, open ones too
};

struct Pruned {
  std::vector<std::string> run_ids;
  int64_t bytes = 0;       // RunCounts::bytes of the removed runs
  int64_t bytes_left = 0;  // RunCounts::bytes of the remaining runs
};

// A consistent copy of a whole store; deleted from the disk with the object.
class StoreCopy {
 public:
  virtual ~StoreCopy() = default;
  virtual int64_t bytes() const = 0;
  // The next bytes, up to `most`; empty at the end.
  virtual absl::StatusOr<std::string> Next(size_t most) = 0;
};

struct AppendOptions {
  // A record replaces a stored one of the same key if the inputs differ, or if one of them is
  // unknown; the stored record is lost.
  bool replace = false;
  // If an input is unknown, inputs count as equal if the payloads are equal.
  bool compare_payloads = false;
};

// The outcome of appending a record.
enum class Kept {
  kAdded,
  kReplaced,  // replaced the stored record of its key
  kHeld,      // already stored: the same input, or an unknown one
  kDiffers,   // not stored: its key has a different input
};

class RunStore {
 public:
  virtual ~RunStore() = default;

  virtual absl::StatusOr<Run> Create(const NewRun& run, IfExists if_exists) = 0;
  virtual absl::StatusOr<Run> Get(std::string_view run_id) = 0;
  // Runs created while pages are read do not shift the following pages.
  virtual absl::StatusOr<RunPage> List(const ListOptions& options) = 0;
  virtual absl::Status SetState(std::string_view run_id, RunState state) = 0;
  // On OK, the run is gone and its id is free. If deleting its records met an error, Prune or the
  // next start deletes them.
  virtual absl::Status Delete(std::string_view run_id) = 0;

  // Adds all records or, on an error, none. Returns one entry per record. Records with the same key
  // are compared as if they were appended one after the other.
  // Calls from several threads share one transaction.
  virtual absl::StatusOr<std::vector<Kept>> Append(std::string_view run_id,
                                                   std::span<const Record> records,
                                                   const AppendOptions& options) = 0;
  absl::StatusOr<std::vector<Kept>> Append(std::string_view run_id,
                                           std::span<const Record> records) {
    return Append(run_id, records, {});
  }

  // Up to `limit` (1 to 10,000) keys stored after `after`.
  virtual absl::StatusOr<KeyPage> ListKeys(std::string_view run_id, int64_t after, int limit) = 0;
  // The next records, in the order of storing; none at the end. Uses the memory of one page.
  virtual absl::StatusOr<std::vector<Record>> ReadRecords(std::string_view run_id,
                                                          const ReadOptions& options) = 0;

  // The record with this key, without its input.
  virtual absl::StatusOr<std::optional<Record>> Find(std::string_view run_id,
                                                     std::string_view sample_key) = 0;

  // Stores a study with its run, which may be open or complete.
  virtual absl::Status AddStudy(std::string_view run_id, const StoredStudy& study) = 0;
  // The next study after the one with number `after`; none at the end.
  virtual absl::StatusOr<std::optional<StoredStudy>> NextStudy(std::string_view run_id,
                                                               int64_t after) = 0;

  // Removes runs that the policy does not keep, one by one; on an error, some may be gone already.
  virtual absl::StatusOr<Pruned> Prune(const PrunePolicy& policy) = 0;
  // Size of the files or tables on disk, including indexes and free pages.
  virtual absl::StatusOr<int64_t> SizeOnDisk() = 0;
  // Needs space for the whole copy on the store's disk. CANCELLED once `stop` is set;
  // FAILED_PRECONDITION BACKUP_NOT_HERE if the database has its own backup tools.
  virtual absl::StatusOr<std::unique_ptr<StoreCopy>> Copy(const std::stop_token& stop) = 0;
};

}  // namespace sinkd
