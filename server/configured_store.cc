#include "server/configured_store.h"

#include <fstream>
#include <iterator>
#include <string>

#include "server/base/status.h"
#include "server/store/open_store.h"
#include "server/telemetry/log.h"

namespace sinkd {
namespace {

absl::StatusOr<std::string> ReadUrl(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (!in || first == std::string::npos) {
    return FailedPrecondition("the file of --store-url-file holds no URL, or cannot be read",
                              {.reason = "STORE_URL_FILE_UNREADABLE",
                               .subject = file.string(),
                               .fix = "write postgresql://user:password@host/database into it"});
  }
  return text.substr(first, text.find_last_not_of(" \t\r\n") + 1 - first);
}

absl::StatusOr<std::unique_ptr<RunStore>> OpenPostgres(const std::string& url) {
  SINKD_ASSIGN_OR_RETURN(const std::string shown, PostgresUrlForLogs(url));
  SINKD_ASSIGN_OR_RETURN(std::unique_ptr<RunStore> store, OpenPostgresStore(url, {}));
  Log(LogLevel::kInfo, "runs are kept", {{"store", shown}});
  return store;
}

absl::StatusOr<std::unique_ptr<RunStore>> OpenSqlite(const std::filesystem::path& folder) {
  if (folder.empty()) {
    return FailedPrecondition(
        "there is no folder to keep runs in: neither --state-dir nor the "
        "environment names one",
        {.reason = "STATE_DIR_UNKNOWN",
         .subject = "--state-dir",
         .fix = "give --state-dir DIR, or --store off"});
  }
  SINKD_ASSIGN_OR_RETURN(std::unique_ptr<RunStore> store, OpenSqliteStore(folder, {}));
  Log(LogLevel::kInfo, "runs are kept", {{"store", folder.string()}});
  return store;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RunStore>> OpenConfiguredStore(const Config& config) {
  if (!config.store_url_file.empty()) {
    SINKD_ASSIGN_OR_RETURN(const std::string url, ReadUrl(config.store_url_file));
    return OpenPostgres(url);
  }
  if (config.store == "sqlite") return OpenSqlite(config.state_dir);
  if (config.store != "off") return OpenPostgres(config.store);
  Log(LogLevel::kInfo, "runs are not kept");
  return nullptr;
}

}  // namespace sinkd
