// PostgresUrl: the parts of a connection URL that may be shown.
#pragma once

#include <string>

#include <absl/status/statusor.h>

namespace sinkd {

struct PostgresUrl {
  std::string user, host, port, database;  // empty where the URL leaves them to libpq

  // libpq's own reading. Errors: INVALID_ARGUMENT STORE_URL_INVALID, which does not repeat the URL,
  // because a password with a character that should have been encoded could be anywhere in it.
  static absl::StatusOr<PostgresUrl> Parse(const std::string& url);

  // postgresql://user@host:port/database
  std::string ForLogs() const;
};

}  // namespace sinkd
