// PostgresUrl: the parts of a connection URL that are not secret.
#pragma once

#include <string>

#include <absl/status/statusor.h>

namespace sinkd {

struct PostgresUrl {
  std::string user, host, port, database;  // empty if the URL leaves them to libpq

  // Parses with libpq. Errors: INVALID_ARGUMENT STORE_URL_INVALID, without the URL, because a
  // password with a character that should have been encoded could be anywhere in it.
  static absl::StatusOr<PostgresUrl> Parse(const std::string& url);

  // postgresql://user@host:port/database
  std::string ForLogs() const;
};

}  // namespace sinkd
