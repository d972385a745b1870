#include "server/store/postgres_errors.h"

#include <array>
#include <string>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/store/store_errors.h"

namespace sinkd {
namespace {

constexpr size_t kMaxMessageBytes = 300;

enum class Kind { kFull, kIo, kDamaged, kBusy, kUnreachable, kUnusable };

struct StateRule {
  std::string_view prefix;  // of the SQLSTATE
  Kind kind;
};

// The first that fits. PostgreSQL manual, appendix A.
constexpr std::array kRules = {
    StateRule{"53100", Kind::kFull},         // disk_full
    StateRule{"58030", Kind::kIo},           // io_error
    StateRule{"XX001", Kind::kDamaged},      // data_corrupted
    StateRule{"XX002", Kind::kDamaged},      // index_corrupted
    StateRule{"40", Kind::kBusy},            // transaction_rollback: deadlock, serialization
    StateRule{"53", Kind::kBusy},            // out of memory, too many connections
    StateRule{"55P03", Kind::kBusy},         // lock_not_available
    StateRule{"57014", Kind::kBusy},         // query_canceled, by a time limit
    StateRule{"25006", Kind::kUnreachable},  // read_only_sql_transaction: a standby
    StateRule{"57P", Kind::kUnreachable},    // shutting down, starting
    StateRule{"08", Kind::kUnreachable},     // connection_exception
    StateRule{"28", Kind::kUnusable},        // invalid_authorization_specification
    StateRule{"3D000", Kind::kUnusable},     // invalid_catalog_name
    StateRule{"3F000", Kind::kUnusable},     // invalid_schema_name
    StateRule{"42501", Kind::kUnusable},     // insufficient_privilege
};

absl::Status Unusable(std::string_view message) {
  return StoreUnusable("PostgreSQL", message,
                       "correct the connection URL, or what its user may do");
}

}  // namespace

absl::Status PostgresError(std::string_view state, std::string_view message) {
  const std::string text = Shorten(message, kMaxMessageBytes);
  for (const StateRule& rule : kRules) {
    if (!state.starts_with(rule.prefix)) continue;
    switch (rule.kind) {
      case Kind::kFull:
        return StoreFull(text);
      case Kind::kIo:
        return StoreIoError(text);
      case Kind::kDamaged:
        return StoreDamaged("PostgreSQL", text, "restore the database from a backup");
      case Kind::kBusy:
        return StoreBusy(text);
      case Kind::kUnreachable:
        return StoreUnreachable(text);
      case Kind::kUnusable:
        return Unusable(text);
    }
  }
  return Internal(StrCat("PostgreSQL: ", text));
}

absl::Status PostgresConnectError(std::string_view message) {
  const std::string text = Shorten(message, kMaxMessageBytes);
  // libpq keeps the SQLSTATE of a refused connection to itself; its words are all there is.
  for (const std::string_view refused :
       {"authentication failed", "does not exist", "no password supplied", "pg_hba.conf",
        "permission denied", "certificate"}) {
    if (message.find(refused) != std::string_view::npos) return Unusable(text);
  }
  return StoreUnreachable(text);
}

}  // namespace sinkd
