#include "tests/store/backend.h"

#include <stdlib.h>

#include <system_error>
#include <utility>

#include "server/base/status.h"
#include "server/store/postgres_connection.h"
#include "server/store/sqlite_connection.h"
#include "tests/store/postgres_server.h"

namespace sinkd::testing {
namespace {

class SqliteBackend : public Backend {
 public:
  absl::StatusOr<std::unique_ptr<RunStore>> Open(const StoreOptions& options) override {
    return OpenSqliteStore(folder_.path(), options);
  }
  Connect connect() const override {
    return [folder = folder_.path()]() -> absl::StatusOr<std::unique_ptr<Connection>> {
      const auto files = std::make_shared<SqliteFiles>(folder, nullptr);
      SINKD_RETURN_IF_ERROR(files->Prepare());
      return SqliteConnection::Open(files, SqliteConnection::Use::kWrite);
    };
  }
  bool is_shared() const override { return false; }

 private:
  const ScratchFolder folder_;
};

class PostgresBackend : public Backend {
 public:
  PostgresBackend() : url_(PostgresServer::Shared().Url(PostgresServer::Shared().MakeSchema())) {}
  absl::StatusOr<std::unique_ptr<RunStore>> Open(const StoreOptions& options) override {
    return OpenPostgresStore(url_, options);
  }
  Connect connect() const override {
    return [url = url_] { return PostgresConnection::Open(url); };
  }
  bool is_shared() const override { return true; }

 private:
  const std::string url_;
};

}  // namespace

ScratchFolder::ScratchFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "sinkd-store-XXXXXX").string();
  path_ = mkdtemp(pattern.data());
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::unique_ptr<Backend> MakeBackend(const std::string& name) {
  if (name == "Sqlite") return std::make_unique<SqliteBackend>();
  return std::make_unique<PostgresBackend>();
}

std::unique_ptr<RunStore> StoreTest::Open() {
  auto store = backend().Open({.now = [this] { return now_; }});
  EXPECT_TRUE(store.ok()) << store.status();
  return store.ok() ? *std::move(store) : nullptr;
}

std::shared_ptr<RunStore> StoreTest::OpenAnother(std::shared_ptr<RunStore> own) {
  return backend().is_shared() ? std::shared_ptr<RunStore>(Open()) : std::move(own);
}

std::vector<Record> MakeRecords(const std::string& prefix, int count, int first) {
  std::vector<Record> records;
  for (int i = first; i < first + count; ++i) {
    const std::string key = prefix + std::to_string(i);
    records.push_back({.sample_key = key,
                       .sample_index = i,
                       .failed = i % 5 == 4,
                       .tokens = 10 + i,
                       .sinks = {.primary = 1, .secondary = i % 3, .noise = i % 2},
                       .payload = std::string("\0payload of ", 12) + key,
                       .input_digest = std::string("\0digest of ", 11) + key,
                       .input = std::nullopt});
  }
  return records;
}

std::vector<Record> LargeRecords(int call) {
  std::vector<Record> records =
      MakeRecords("key", kLargeRecordsPerCall, call * kLargeRecordsPerCall);
  for (Record& record : records) record.payload.resize(2000, 'p');
  return records;
}

std::vector<Record> ReadAll(RunStore& store, const std::string& run_id, int page) {
  std::vector<Record> all;
  while (true) {
    const int64_t after = all.empty() ? 0 : all.back().sequence;
    auto records = store.ReadRecords(run_id, {.after = after, .limit = page, .with_input = true});
    EXPECT_TRUE(records.ok()) << records.status();
    if (!records.ok() || records->empty()) return all;
    all.insert(all.end(), records->begin(), records->end());
  }
}

std::string ReasonOf(const absl::Status& status) {
  const auto detail = GetErrorDetail(status);
  return detail ? detail->reason : "";
}

}  // namespace sinkd::testing
