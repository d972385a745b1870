// Backend: one of the databases that a store may stand on, empty, for one test.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "server/store/connection.h"
#include "server/store/open_store.h"
#include "server/store/run_store.h"

namespace sinkd::testing {

// Removed with the object, with what is in it.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual absl::StatusOr<std::unique_ptr<RunStore>> Open(const StoreOptions& options) = 0;
  // Whether several servers may have it open at once.
  virtual bool is_shared() const = 0;
  // Past the store and its lock, to see what it wrote and to tamper with it.
  virtual Connect connect() const = 0;
};

std::unique_ptr<Backend> MakeBackend(const std::string& name);  // "Sqlite" or "Postgres"

// A test that runs over both: TEST_P(..., ...) and SINKD_OVER_BOTH_BACKENDS(fixture).
class StoreTest : public ::testing::TestWithParam<const char*> {
 protected:
  StoreTest() : backend_(MakeBackend(GetParam())) {}

  // Opens the store with the fake clock; the test fails when that does.
  std::unique_ptr<RunStore> Open();
  // Another server's, on the same database, where there may be one; else the server's own.
  std::shared_ptr<RunStore> OpenAnother(std::shared_ptr<RunStore> own);
  Backend& backend() { return *backend_; }

  StoreTime now_{std::chrono::microseconds{1'700'000'000'000'000}};

 private:
  const std::unique_ptr<Backend> backend_;
};

// Records with keys prefix0, prefix1, ...; payloads and counts follow from the number.
std::vector<Record> MakeRecords(const std::string& prefix, int count, int first = 0);

// The records of call number `call`, each of some 2 KB, and none of another call's.
inline constexpr int kLargeRecordsPerCall = 50;
std::vector<Record> LargeRecords(int call);

// Every record of a run, read page by page.
std::vector<Record> ReadAll(RunStore& store, const std::string& run_id, int page = 100);

// The reason in the status's ErrorDetail, or empty.
std::string ReasonOf(const absl::Status& status);

}  // namespace sinkd::testing

#define SINKD_OVER_BOTH_BACKENDS(fixture)                                          \
  INSTANTIATE_TEST_SUITE_P(Over, fixture, ::testing::Values("Sqlite", "Postgres"), \
                           [](const auto& which) { return std::string(which.param); })
