// PostgresServer: a real server of the test's own, on a Unix socket in a folder of its own, gone
// with the object. As root it runs as the user postgres, since PostgreSQL refuses root.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>

namespace sinkd::testing {

class PostgresServer {
 public:
  // Made and started when first asked for, ended with the process. Aborts, with the reason, when
  // PostgreSQL is not installed or does not start.
  static PostgresServer& Shared();

  PostgresServer();
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // A new schema, which is empty like a new database and made in no time, and the URL of a `user`
  // who sees no other; with `setting`, a setting of that user's sessions.
  std::string MakeSchema();
  std::string Url(const std::string& schema, const std::string& user = "postgres",
                  const std::string& setting = "") const;
  std::string DatabaseUrl(const std::string& database, const std::string& user = "postgres") const;
  // SQL as the superuser, in a schema of this server.
  void Execute(const std::string& schema, const std::string& sql) const;

  // SIGQUIT: every process of the server ends at once, without writing anything.
  void StopAtOnce();
  void Start();
  // Ends each client's connection, as an administrator would.
  void DropConnections() const;

 private:
  void Stop(int signal);

  std::filesystem::path binaries_;
  std::filesystem::path folder_;
  pid_t pid_ = -1;
  int schemas_ = 0;
};

}  // namespace sinkd::testing
