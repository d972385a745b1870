#include "server/store/sqlite_errors.h"

#include <sqlite3.h>

#include <cerrno>
#include <cstring>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/store/store_errors.h"

namespace sinkd {

bool IsOutOfSpace(int system_error) {
  return system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG;
}

absl::Status SqliteFileError(const std::filesystem::path& file, int system_error) {
  if (IsOutOfSpace(system_error)) return StoreFull(std::strerror(system_error));
  return StoreUnusable(file.string(), std::strerror(system_error),
                       "give this user the right to write there, or name another folder");
}

absl::Status SqliteDamaged(const std::filesystem::path& file, std::string_view cause) {
  const std::string name = file.string();
  return StoreDamaged(name, Shorten(cause, 200),
                      StrCat("stop the server, keep a copy of ", name, " and ", name,
                             "-wal, and put a backup in their place, or what `sqlite3 ", name,
                             " .recover` can still read"));
}

absl::Status SqliteError(const std::filesystem::path& file, int code, std::string_view message,
                         int system_error) {
  const std::string cause = system_error == 0
                                ? std::string(message)
                                : StrCat(message, " (", std::strerror(system_error), ")");
  switch (code & 0xff) {
    case SQLITE_FULL:
      return StoreFull(message);
    case SQLITE_IOERR:
      return IsOutOfSpace(system_error) ? StoreFull(cause) : StoreIoError(cause);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return StoreBusy(message);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return SqliteDamaged(file, message);
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
      if (IsOutOfSpace(system_error)) return StoreFull(cause);
      return StoreUnusable(file.string(), cause,
                           "give this user the right to write there, or name another folder");
    default:
      return Internal(StrCat("SQLite: ", message));
  }
}

}  // namespace sinkd
