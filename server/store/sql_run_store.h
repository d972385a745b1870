// SqlRunStore: the RunStore over a Database, whichever it is.
#pragma once

#include <functional>
#include <memory>

#include "server/store/append_queue.h"
#include "server/store/database.h"
#include "server/store/run_store.h"

namespace sinkd {

class SqlRunStore : public RunStore {
 public:
  // Brings the schema up to date and ends removals that were broken off.
  static absl::StatusOr<std::unique_ptr<RunStore>> Open(std::unique_ptr<Database> database,
                                                        std::function<StoreTime()> now);

  absl::StatusOr<Run> Create(const NewRun& run, IfExists if_exists) override;
  absl::StatusOr<Run> Get(std::string_view run_id) override;
  absl::StatusOr<RunPage> List(const ListOptions& options) override;
  absl::Status SetState(std::string_view run_id, RunState state) override;
  absl::Status Delete(std::string_view run_id) override;
  using RunStore::Append;
  absl::StatusOr<std::vector<Kept>> Append(std::string_view run_id, std::span<const Record> records,
                                           const AppendOptions& options) override;
  absl::StatusOr<KeyPage> ListKeys(std::string_view run_id, int64_t after, int limit) override;
  absl::StatusOr<std::vector<Record>> ReadRecords(std::string_view run_id,
                                                  const ReadOptions& options) override;
  absl::StatusOr<std::optional<Record>> Find(std::string_view run_id,
                                             std::string_view sample_key) override;
  absl::Status AddStudy(std::string_view run_id, const StoredStudy& study) override;
  absl::StatusOr<std::optional<StoredStudy>> NextStudy(std::string_view run_id,
                                                       int64_t after) override;
  absl::StatusOr<Pruned> Prune(const PrunePolicy& policy) override;
  absl::StatusOr<int64_t> SizeOnDisk() override;
  absl::StatusOr<std::unique_ptr<StoreCopy>> Copy(const std::stop_token& stop) override;

 private:
  SqlRunStore(std::unique_ptr<Database> database, std::function<StoreTime()> now);

  const std::unique_ptr<Database> database_;
  const std::function<StoreTime()> now_;
  AppendQueue appends_;
};

}  // namespace sinkd
