#include "server/store/run_removal.h"

#include <utility>
#include <vector>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/store/run_rows.h"
#include "server/store/run_rules.h"
#include "server/store/store_errors.h"

namespace sinkd {
namespace {

// Each may lie on another page of an index, all of which must have room in the log.
constexpr int64_t kRecordsPerStep = 250;

struct Candidate {
  int64_t number = 0;
  std::string id;
  int64_t updated_us = 0;
  int64_t bytes = 0;
};

struct Hidden {
  int64_t number = 0;
  int64_t samples = 0;
};

// Hidden runs get ids that are not valid for runs.
absl::StatusOr<int64_t> Hide(Connection& connection, std::string_view where,
                             const Values& parameters) {
  return connection.Execute(StrCat("UPDATE runs SET id = '.removed.' || number, state = ",
                                   kRemovedState, " WHERE ", where),
                            parameters);
}

absl::Status RemoveHidden(Database& database, const Hidden& run) {
  for (int64_t last = kRecordsPerStep; last < run.samples; last += kRecordsPerStep) {
    SINKD_RETURN_IF_ERROR(database.Write(
        [&](Connection& connection) {
          return connection
              .Execute("DELETE FROM records WHERE run = $1 AND sequence <= $2", {run.number, last})
              .status();
        },
        Room::kReserved));
  }
  return database.Write(
      [&](Connection& connection) {
        return connection.Execute("DELETE FROM runs WHERE number = $1", {run.number}).status();
      },
      Room::kReserved);
}

// Complete runs, the one longest without a change first, and the bytes of all runs.
absl::Status ReadCandidates(Connection& connection, std::vector<Candidate>& candidates,
                            int64_t& bytes) {
  candidates.clear();
  SINKD_RETURN_IF_ERROR(
      connection.Query("SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM runs WHERE state < $1",
                       {kRemovedState}, [&](const Row& row) {
                         bytes = row.Integer(0);
                         return true;
                       }));
  return connection.Query(
      "SELECT number, id, updated_us, bytes FROM runs WHERE state = $1 "
      "ORDER BY updated_us, number",
      {kCompleteState}, [&](const Row& row) {
        candidates.push_back({.number = row.Integer(0),
                              .id = std::string(row.Text(1)),
                              .updated_us = row.Integer(2),
                              .bytes = row.Integer(3)});
        return true;
      });
}

}  // namespace

absl::Status HideRun(Database& database, std::string_view run_id) {
  return database.Write(
      [&](Connection& connection) -> absl::Status {
        SINKD_ASSIGN_OR_RETURN(const int64_t rows, Hide(connection, "id = $1", {run_id}));
        return rows == 0 ? RunNotFound(run_id) : absl::OkStatus();
      },
      Room::kReserved);
}

absl::Status FinishRemovals(Database& database) {
  std::vector<Hidden> hidden;
  SINKD_RETURN_IF_ERROR(database.Read([&](Connection& connection) {
    hidden.clear();
    return connection.Query("SELECT number, samples FROM runs WHERE state = $1", {kRemovedState},
                            [&](const Row& row) {
                              hidden.push_back({row.Integer(0), row.Integer(1)});
                              return true;
                            });
  }));
  for (const Hidden& run : hidden) SINKD_RETURN_IF_ERROR(RemoveHidden(database, run));
  bool more = true;
  while (more) {
    SINKD_RETURN_IF_ERROR(database.Maintain([&](Connection& connection) -> absl::Status {
      SINKD_ASSIGN_OR_RETURN(more, connection.ReclaimSpace());
      return absl::OkStatus();
    }));
  }
  return absl::OkStatus();
}

absl::StatusOr<Pruned> PruneRuns(Database& database, const PrunePolicy& policy, StoreTime now) {
  std::vector<Candidate> candidates;
  Pruned pruned;
  SINKD_RETURN_IF_ERROR(database.Read([&](Connection& connection) {
    return ReadCandidates(connection, candidates, pruned.bytes_left);
  }));
  for (Candidate& run : candidates) {
    const bool old = policy.max_age && run.updated_us < Microseconds(now - *policy.max_age);
    const bool too_much = policy.max_bytes && pruned.bytes_left > *policy.max_bytes;
    if (!old && !too_much) break;  // those that follow changed later
    int64_t rows = 0;
    SINKD_RETURN_IF_ERROR(database.Write(
        [&](Connection& connection) -> absl::Status {
          // It may have been opened again meanwhile.
          SINKD_ASSIGN_OR_RETURN(rows,
                                 Hide(connection, "number = $1 AND state = $2 AND updated_us = $3",
                                      {run.number, kCompleteState, run.updated_us}));
          return absl::OkStatus();
        },
        Room::kReserved));
    if (rows == 0) continue;
    pruned.bytes += run.bytes;
    pruned.bytes_left -= run.bytes;
    pruned.run_ids.push_back(std::move(run.id));
  }
  SINKD_RETURN_IF_ERROR(FinishRemovals(database));
  return pruned;
}

}  // namespace sinkd
