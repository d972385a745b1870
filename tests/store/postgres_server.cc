#include "tests/store/postgres_server.h"

#include <fcntl.h>
#include <grp.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace sinkd::testing {
namespace {

namespace fs = std::filesystem;

// 30 seconds in all, for a machine that does other things too.
constexpr int kReadyTries = 600;
constexpr std::chrono::milliseconds kReadyPause{50};

[[noreturn]] void Abort(const std::string& reason) {
  std::fprintf(stderr, "PostgresServer: %s\n", reason.c_str());
  std::abort();
}

// Debian keeps them out of PATH, a folder a version.
fs::path FindBinaries() {
  fs::path found;
  const fs::path root = "/usr/lib/postgresql";
  if (fs::exists(root)) {
    for (const fs::directory_entry& version : fs::directory_iterator(root)) {
      if (fs::exists(version.path() / "bin/initdb"))
        found = std::max(found, version.path() / "bin");
    }
  }
  if (found.empty())
    Abort("there is no /usr/lib/postgresql/*/bin/initdb; run deploy/setup.sh test");
  return found;
}

void BecomePostgres() {
  if (geteuid() != 0) return;
  const passwd* user = getpwnam("postgres");
  if (user == nullptr || initgroups("postgres", user->pw_gid) != 0 || setgid(user->pw_gid) != 0 ||
      setuid(user->pw_uid) != 0) {
    std::perror("PostgresServer: cannot become the user postgres");
    _exit(127);
  }
}

pid_t Spawn(const std::vector<std::string>& command, const fs::path& log) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t pid = fork();
  if (pid < 0) Abort("fork failed");
  if (pid > 0) return pid;
  const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  BecomePostgres();
  // The server goes when this process is killed too.
  prctl(PR_SET_PDEATHSIG, SIGQUIT);
  if (chdir("/") == 0) execv(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

PostgresServer& PostgresServer::Shared() {
  static PostgresServer server;
  return server;
}

PostgresServer::PostgresServer() : binaries_(FindBinaries()) {
  std::string pattern = "/tmp/sinkd-postgres-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) Abort("no folder in /tmp");
  folder_ = pattern;
  if (const passwd* user = getpwnam("postgres"); geteuid() == 0 && user != nullptr) {
    if (chown(folder_.c_str(), user->pw_uid, user->pw_gid) != 0) Abort("chown failed");
  }
  const pid_t pid = Spawn({binaries_ / "initdb", "-D", folder_ / "data", "-U", "postgres", "-A",
                           "trust", "-E", "UTF8", "--no-locale", "--no-sync"},
                          folder_ / "log");
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || status != 0)
    Abort("initdb failed, see " + folder_.string());
  Start();
}

PostgresServer::~PostgresServer() {
  // Nobody needs what it holds, so it need not write it down.
  if (pid_ > 0) StopAtOnce();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void PostgresServer::Start() {
  // No address of a network, so that no port can be taken; few buffers, since tests are small.
  pid_ = Spawn({binaries_ / "postgres", "-D", folder_ / "data", "-k", folder_, "-c",
                "listen_addresses=", "-c", "shared_buffers=32MB", "-c", "fsync=on"},
               folder_ / "log");
  for (int i = 0; i < kReadyTries; ++i) {
    if (PQping(DatabaseUrl("postgres").c_str()) == PQPING_OK) return;
    if (waitpid(pid_, nullptr, WNOHANG) == pid_) break;
    std::this_thread::sleep_for(
        kReadyPause);  // as pg_isready is called: there is nothing to wait on
  }
  Abort("the server did not start, see " + (folder_ / "log").string());
}

void PostgresServer::Stop(int signal) {
  kill(pid_, signal);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void PostgresServer::StopAtOnce() {
  Stop(SIGQUIT);
}

std::string PostgresServer::MakeSchema() {
  const std::string name = "test" + std::to_string(++schemas_);
  Execute("public", "CREATE SCHEMA " + name);
  return name;
}

std::string PostgresServer::Url(const std::string& schema, const std::string& user,
                                const std::string& setting) const {
  return DatabaseUrl("postgres", user) + "&options=-csearch_path%3D" + schema +
         (setting.empty() ? "" : "%20-c" + setting);
}

std::string PostgresServer::DatabaseUrl(const std::string& database,
                                        const std::string& user) const {
  return "postgresql://" + user + "@/" + database + "?host=" + folder_.string();
}

void PostgresServer::Execute(const std::string& schema, const std::string& sql) const {
  PGconn* connection = PQconnectdb(Url(schema).c_str());
  PGresult* result = PQexec(connection, sql.c_str());
  const ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    Abort(sql + ": " + PQerrorMessage(connection));
  }
  PQclear(result);
  PQfinish(connection);
}

void PostgresServer::DropConnections() const {
  Execute("public",
          "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
          "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()");
}

}  // namespace sinkd::testing
