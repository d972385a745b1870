// RunStore: runs and the records of their samples, kept on disk.
//
// A run is one question put to one model: its spec, and one record for every sample it has seen.
// The store never parses a spec, a payload or an input: they are bytes of the caller's. What it
// counts stands beside them in columns, and a run's counts change in the transaction that adds its
// records, so that they are exact at any moment.
//
// A sample is named by its key, which the caller chooses and which is unique inside a run: the same
// key appended twice is kept once, and the first one stays. Whoever lost an answer may therefore
// append again. That it is the same sample is told by the digest of its input: another one of this
// key is not kept, and not taken for the first. Store a failure only if sending the sample again
// would fail again: its key counts as present.
//
// Durability: when Create, Append, AddStudy, SetState or Delete returns OK, what it did survives a
// killed process and a power cut. Units: times are UTC in microseconds; sizes are bytes. Ownership:
// everything is copied in and out. Thread-safety: all methods may be called from any thread. They
// wait for the disk, or for the database's server, so they do not belong on a thread that serves
// events. Errors, each with an ErrorDetail:
//   INVALID_ARGUMENT     an id, key, label or page token that cannot be
//   NOT_FOUND            RUN_NOT_FOUND
//   ALREADY_EXISTS       RUN_EXISTS, RUN_SPEC_DIFFERS
//   FAILED_PRECONDITION  RUN_COMPLETE; STORE_IN_USE, STORE_DAMAGED, STORE_TOO_NEW, STORE_UNUSABLE;
//                        STORE_CHANGED: another program deleted, replaced or cut a file, or took
//                        the right to write to it. Nothing is acknowledged until it is put right
//   RESOURCE_EXHAUSTED   STORE_FULL: no room on the disk. Reads and removals go on, and so do
//   writes
//                        once there is room again
//   UNAVAILABLE          STORE_BUSY, STORE_UNREACHABLE: try again. Whether an Append took place is
//                        then unknown; appending again is safe
//   INTERNAL             STORE_IO_ERROR, or a fault of ours
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
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
  kOpen,      // takes records; never pruned
  kComplete,  // takes none until it is opened again
};

struct SinkCounts {
  int64_t primary = 0;
  int64_t secondary = 0;
  int64_t noise = 0;
  bool operator==(const SinkCounts&) const = default;
};

// Sums over a run's records.
struct RunCounts {
  int64_t samples = 0;         // records, failed ones among them
  int64_t failed_samples = 0;  // records with `failed`
  int64_t tokens = 0;
  SinkCounts sinks;
  int64_t bytes = 0;  // of keys, payloads, inputs and studies; the disk holds about a fifth more
  int64_t samples_without_digest = 0;  // records whose input_digest is empty
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
  StoreTime updated;  // when a record was last added or the state last set
  RunCounts counts;
};

struct Record {
  int64_t sequence = 0;    // place in the run, from 1 without gaps, in the order of storing; set by
                           // the store, ignored by Append
  std::string sample_key;  // 1 to 255 bytes of UTF-8 without NUL
  int64_t sample_index = 0;
  bool failed = false;
  int64_t tokens = 0;
  SinkCounts sinks;
  std::string payload;
  std::string input_digest;          // of what the sample was, up to 255 bytes; empty: not known
  std::optional<std::string> input;  // what the sample was, so that it can be run again
};

inline constexpr int64_t kMaxRecordBytes = int64_t{64} << 20;  // key, payload and input together

// What was found out about a run's samples after they were analysed: bytes of the caller's.
struct StoredStudy {
  int64_t number = 0;  // ascending in the order of keeping; set by the store, as `created` is
  StoreTime created;
  std::string request;
  std::string report;  // with the request at most kMaxRecordBytes
};

enum class IfExists {
  kFail,      // ALREADY_EXISTS
  kContinue,  // the run as it is, when model and spec are the same; its labels and state stay
};

struct ListOptions {
  std::optional<std::string> model_id;
  Labels labels;  // a run must have all of them
  std::optional<StoreTime> created_from;
  std::optional<StoreTime> created_before;
  int page_size = 100;     // 1 to 1,000
  std::string page_token;  // of the page before, with the same filter; empty for the first page
};

struct RunPage {
  std::vector<Run> runs;        // newest first
  std::string next_page_token;  // empty on the last page
};

struct ReadOptions {
  int64_t after = 0;                     // the sequence of the last record already read
  int limit = 500;                       // records, 1 to 1,000
  int64_t max_bytes = int64_t{4} << 20;  // a page ends when it holds this much
  bool with_input = false;
};

struct KeyPage {
  std::vector<std::string> keys;           // in the order of storing; empty when there are no more
  std::vector<std::string> input_digests;  // of each
  int64_t next_after = 0;                  // where the next page begins
};

// What Prune removes: runs that are complete, the one longest without a change first.
struct PrunePolicy {
  std::optional<std::chrono::seconds> max_age;  // since the last change
  std::optional<int64_t> max_bytes;             // of RunCounts::bytes over all runs, open ones too
};

struct Pruned {
  std::vector<std::string> run_ids;
  int64_t bytes = 0;       // RunCounts::bytes of what was removed
  int64_t bytes_left = 0;  // and of what is left
};

// A copy of all that a store holds, of one moment; gone from the disk with the object.
class StoreCopy {
 public:
  virtual ~StoreCopy() = default;
  virtual int64_t bytes() const = 0;
  // The next of them, up to `most`; none at the end.
  virtual absl::StatusOr<std::string> Next(size_t most) = 0;
};

struct AppendOptions {
  // A record whose key is there with another input, or where one of the two inputs is not known,
  // takes that one's place; what it was is gone.
  bool replace = false;
  // Where an input is not known, it is the same when the payload is.
  bool compare_payloads = false;
};

// What became of an appended record.
enum class Kept {
  kAdded,
  kReplaced,  // took the place of the one that was there under its key
  kHeld,      // was there: the same input, or one is not known
  kDiffers,   // not kept: there is another input under its key
};

class RunStore {
 public:
  virtual ~RunStore() = default;

  virtual absl::StatusOr<Run> Create(const NewRun& run, IfExists if_exists) = 0;
  virtual absl::StatusOr<Run> Get(std::string_view run_id) = 0;
  // Runs created while pages are read do not move the pages that follow.
  virtual absl::StatusOr<RunPage> List(const ListOptions& options) = 0;
  virtual absl::Status SetState(std::string_view run_id, RunState state) = 0;
  // The run is gone, and its id free, when this returns OK. What it held may be removed later when
  // that met an error; Prune and the next start see to it.
  virtual absl::Status Delete(std::string_view run_id) = 0;

  // Adds all records or, on an error, none. The answer has one entry a record; those of a key that
  // comes twice are compared as if they came one after the other.
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
  // The next records, in the order of storing; none at the end. Memory is that of one page.
  virtual absl::StatusOr<std::vector<Record>> ReadRecords(std::string_view run_id,
                                                          const ReadOptions& options) = 0;

  // The record of this key, without its input.
  virtual absl::StatusOr<std::optional<Record>> Find(std::string_view run_id,
                                                     std::string_view sample_key) = 0;

  // Keeps a study with its run, open or complete.
  virtual absl::Status AddStudy(std::string_view run_id, const StoredStudy& study) = 0;
  // The study kept next after the one of number `after`; none at the end.
  virtual absl::StatusOr<std::optional<StoredStudy>> NextStudy(std::string_view run_id,
                                                               int64_t after) = 0;

  // Removes what the policy does not keep, run by run; after an error some may be gone already.
  virtual absl::StatusOr<Pruned> Prune(const PrunePolicy& policy) = 0;
  // What files or tables take on disk, indexes and free pages among them.
  virtual absl::StatusOr<int64_t> SizeOnDisk() = 0;
  // Takes room for all of it on the store's disk. CANCELLED once `stop` is set; FAILED_PRECONDITION
  // BACKUP_NOT_HERE where the database has its own means.
  virtual absl::StatusOr<std::unique_ptr<StoreCopy>> Copy(const std::stop_token& stop) = 0;
};

}  // namespace sinkd
