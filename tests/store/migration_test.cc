#include <gtest/gtest.h>

#include "server/store/database.h"
#include "server/store/schema.h"
#include "tests/store/backend.h"

namespace sinkd {
namespace {

using testing::ReasonOf;

class MigrationTest : public testing::StoreTest {
 protected:
  void SetUp() override {
    auto database = Database::Open(backend().connect(), backend().connect(), 1);
    ASSERT_TRUE(database.ok()) << database.status();
    database_ = *std::move(database);
  }

  absl::StatusOr<int64_t> Rows(const std::string& sql) {
    int64_t rows = 0;
    const absl::Status status = database_->Write([&](Connection& connection) {
      const auto found = connection.Execute(sql);
      rows = found.value_or(0);
      return found.status();
    });
    if (!status.ok()) return status;
    return rows;
  }

  std::unique_ptr<Database> database_;
};

const Migration kFirst = {
    .version = 1, .statements = {"CREATE TABLE a (x BIGINT)", "INSERT INTO a (x) VALUES (1)"}};
const Migration kSecond = {
    .version = 2,
    .statements = {"ALTER TABLE a ADD COLUMN y {bytes}", "INSERT INTO a (x) VALUES (2)"}};

TEST_P(MigrationTest, GoesThroughEachVersionOnce) {
  ASSERT_TRUE(Migrate(*database_, {{kFirst}}, now_).ok());
  ASSERT_TRUE(Migrate(*database_, {{kFirst, kSecond}}, now_).ok());
  ASSERT_TRUE(Migrate(*database_, {{kFirst, kSecond}}, now_).ok());
  EXPECT_EQ(Rows("SELECT x, y FROM a").value(), 2);
  EXPECT_EQ(Rows("SELECT version FROM schema_versions").value(), 2);
}

TEST_P(MigrationTest, AFailingVersionLeavesNothingBehind) {
  ASSERT_TRUE(Migrate(*database_, {{kFirst}}, now_).ok());
  Migration broken = kSecond;
  broken.statements.push_back("INSERT INTO nowhere (x) VALUES (1)");
  EXPECT_FALSE(Migrate(*database_, {{kFirst, broken}}, now_).ok());
  EXPECT_EQ(Rows("SELECT version FROM schema_versions").value(), 1);
  ASSERT_TRUE(Migrate(*database_, {{kFirst, kSecond}}, now_).ok());
  EXPECT_EQ(Rows("SELECT x, y FROM a").value(), 2);
}

TEST_P(MigrationTest, ADatabaseOfANewerProgramIsLeftAlone) {
  ASSERT_NE(Open(), nullptr);
  ASSERT_EQ(Rows("INSERT INTO schema_versions (version, applied_us) VALUES (99, 0)").value(), 1);
  const absl::Status status = backend().Open({}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ReasonOf(status), "STORE_TOO_NEW");
  EXPECT_NE(std::string(status.message()).find("99"), std::string::npos) << status;
}

SINKD_OVER_BOTH_BACKENDS(MigrationTest);

}  // namespace
}  // namespace sinkd
