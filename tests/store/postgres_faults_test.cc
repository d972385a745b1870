#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/store/open_store.h"
#include "server/store/postgres_connection.h"
#include "server/store/postgres_errors.h"
#include "tests/store/backend.h"
#include "tests/store/postgres_server.h"

namespace sinkd {
namespace {

using ::testing::HasSubstr;
using testing::MakeRecords;
using ::testing::Not;
using testing::PostgresServer;
using testing::ReadAll;
using testing::ReasonOf;

TEST(PostgresUrl, LogsShowNoPassword) {
  EXPECT_EQ(
      PostgresUrlForLogs("postgresql://sinkd:s3cret@db.example:5433/runs?sslmode=require").value(),
      "postgresql://sinkd@db.example:5433/runs");
  EXPECT_EQ(PostgresUrlForLogs("postgres:///runs").value(), "postgresql:///runs");
}

// A password with characters that should have been encoded: each of these puts some of it where
// libpq takes it for something else, and would repeat it.
TEST(PostgresUrl, ABadOneIsRefusedWithoutRepeatingIt) {
  for (const std::string url :
       {"postgresql://u:s3cret@x@host/db", "postgresql://u:1/s3cret@host/db",
        "postgresql://u:a%zzs3cret@host/db", "postgresql://u:p@host/db?s3cret=1",
        "postgresql://u@host:s3cret/db", "mysql://u:s3cret@host/db", "s3cret", ""}) {
    const absl::Status status = OpenPostgresStore(url, {}).status();
    EXPECT_EQ(ReasonOf(status), "STORE_URL_INVALID") << url;
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("s3cret"))) << url;
    EXPECT_FALSE(PostgresUrlForLogs(url).ok()) << url;
  }
}

TEST(PostgresUrl, AServerThatIsNotThereIsUnreachable) {
  const absl::Status status =
      OpenPostgresStore("postgresql://u:s3cret@/db?host=/nonexistent", {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_EQ(ReasonOf(status), "STORE_UNREACHABLE");
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("s3cret")));
}

TEST(PostgresUrl, ADatabaseOrUserThatIsNotThereIsNamed) {
  const PostgresServer& server = PostgresServer::Shared();
  const absl::Status database = OpenPostgresStore(server.DatabaseUrl("absent"), {}).status();
  EXPECT_EQ(ReasonOf(database), "STORE_UNUSABLE") << database;
  EXPECT_THAT(std::string(database.message()), HasSubstr("absent"));
  const absl::Status user =
      OpenPostgresStore(server.DatabaseUrl("postgres", "nobody"), {}).status();
  EXPECT_EQ(ReasonOf(user), "STORE_UNUSABLE") << user;
}

TEST(PostgresErrors, EachStateHasItsReason) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"53100", "STORE_FULL"},        {"53200", "STORE_BUSY"},        {"40P01", "STORE_BUSY"},
      {"57P01", "STORE_UNREACHABLE"}, {"08006", "STORE_UNREACHABLE"}, {"58030", "STORE_IO_ERROR"},
      {"XX001", "STORE_DAMAGED"},     {"42501", "STORE_UNUSABLE"},    {"42601", "INTERNAL"}};
  for (const auto& [state, reason] : cases) {
    EXPECT_EQ(ReasonOf(PostgresError(state, "words")), reason) << state;
  }
}

class PostgresFaults : public ::testing::Test {
 protected:
  std::unique_ptr<RunStore> Open(const std::string& user = "postgres",
                                 const std::string& setting = "") {
    auto store = OpenPostgresStore(server_.Url(schema_, user, setting), {});
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }

  PostgresServer& server_ = PostgresServer::Shared();
  const std::string schema_ = server_.MakeSchema();
};

TEST_F(PostgresFaults, BrokenConnectionsAreMadeAnew) {
  const auto store = Open();
  ASSERT_TRUE(store->Create({.id = "run", .model_id = "m"}, IfExists::kFail).ok());
  ASSERT_TRUE(store->Get("run").ok());
  server_.DropConnections();
  EXPECT_TRUE(store->Get("run").ok());
  EXPECT_TRUE(store->Append("run", MakeRecords("a", 3)).ok());
}

TEST_F(PostgresFaults, WhileTheServerIsAwayCallsFailAtOnceAndThenGoOn) {
  const auto store = Open();
  ASSERT_TRUE(store->Create({.id = "run", .model_id = "m"}, IfExists::kFail).ok());
  server_.StopAtOnce();
  const absl::Status write = store->Append("run", MakeRecords("a", 3)).status();
  EXPECT_EQ(ReasonOf(write), "STORE_UNREACHABLE") << write;
  const absl::Status read = store->Get("run").status();
  EXPECT_EQ(ReasonOf(read), "STORE_UNREACHABLE") << read;
  server_.Start();
  EXPECT_TRUE(store->Append("run", MakeRecords("a", 3)).ok());
  EXPECT_EQ(ReadAll(*store, "run").size(), 3u);
}

TEST_F(PostgresFaults, AServerThatAnswersBeforeItSyncsIsToldToSyncFirst) {
  const auto store = Open("postgres", "synchronous_commit%3Doff");
  server_.Execute(schema_,
                  "CREATE FUNCTION note() RETURNS trigger AS $$ BEGIN "
                  "NEW.model_id = current_setting('synchronous_commit'); RETURN NEW; END $$ "
                  "LANGUAGE plpgsql");
  server_.Execute(schema_,
                  "CREATE TRIGGER note BEFORE INSERT ON runs FOR EACH ROW EXECUTE FUNCTION note()");
  ASSERT_TRUE(store->Create({.id = "run", .model_id = "m"}, IfExists::kFail).ok());
  EXPECT_EQ(store->Get("run")->model_id, "on");
}

TEST_F(PostgresFaults, ARunThatAnotherServerHoldsLockedIsBusyAndNotWaitedForForever) {
  const auto store = Open("postgres", "lock_timeout%3D100");
  ASSERT_TRUE(store->Create({.id = "run", .model_id = "m"}, IfExists::kFail).ok());
  const auto other = PostgresConnection::Open(server_.Url(schema_));
  ASSERT_TRUE(other.ok()) << other.status();
  ASSERT_TRUE((*other)->Begin(Room::kOrdinary).ok());
  ASSERT_TRUE((*other)->Execute("SELECT number FROM runs FOR UPDATE").ok());
  EXPECT_EQ(ReasonOf(store->Append("run", MakeRecords("a", 3)).status()), "STORE_BUSY");
  EXPECT_TRUE(store->Get("run").ok());
  (*other)->Rollback();
  EXPECT_TRUE(store->Append("run", MakeRecords("a", 3)).ok());
}

TEST_F(PostgresFaults, AUserWithoutRightsIsTold) {
  Open();
  server_.Execute(schema_, "CREATE USER guest; GRANT USAGE ON SCHEMA " + schema_ + " TO guest");
  const absl::Status status = OpenPostgresStore(server_.Url(schema_, "guest"), {}).status();
  EXPECT_EQ(ReasonOf(status), "STORE_UNUSABLE") << status;
}

}  // namespace
}  // namespace sinkd
