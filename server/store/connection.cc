#include "server/store/connection.h"

#include "server/base/status.h"

namespace sinkd {

absl::StatusOr<int64_t> Connection::Execute(std::string_view sql, const Values& parameters) {
  SINKD_ASSIGN_OR_RETURN(const std::vector<int64_t> rows, ExecuteMany(sql, {&parameters, 1}));
  return rows.front();
}

}  // namespace sinkd
