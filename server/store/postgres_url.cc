#include "server/store/postgres_url.h"

#include <libpq-fe.h>

#include <memory>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

absl::Status BadUrl() {
  return InvalidArgument(
      "this is not a PostgreSQL connection URL",
      {.reason = "STORE_URL_INVALID",
       .subject = "store",
       .fix = "write postgresql://user:password@host:port/database, with every character of the "
              "password but letters, digits, '.', '_' and '-' percent-encoded"});
}

bool IsUrl(const std::string& url) {
  return url.starts_with("postgresql://") || url.starts_with("postgres://");
}

}  // namespace

absl::StatusOr<PostgresUrl> PostgresUrl::Parse(const std::string& url) {
  if (!IsUrl(url)) return BadUrl();
  const std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> options(
      PQconninfoParse(url.c_str(), nullptr), PQconninfoFree);
  if (options == nullptr) return BadUrl();
  PostgresUrl parsed;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val == nullptr) continue;
    const std::string_view keyword = option->keyword;
    if (keyword == "user") parsed.user = option->val;
    if (keyword == "host") parsed.host = option->val;
    if (keyword == "port") parsed.port = option->val;
    if (keyword == "dbname") parsed.database = option->val;
  }
  // An '@' of the password that was not encoded ends up in the host, and libpq's messages with it;
  // a '/' or ':' in the port or the database.
  if (parsed.host.find('@') != std::string::npos ||
      parsed.database.find('@') != std::string::npos ||
      parsed.port.find_first_not_of("0123456789,") != std::string::npos) {
    return BadUrl();
  }
  return parsed;
}

std::string PostgresUrl::ForLogs() const {
  return StrCat("postgresql://", user, user.empty() ? "" : "@", host, port.empty() ? "" : ":", port,
                "/", database);
}

}  // namespace sinkd
