#include "server/store/run_list.h"

#include <utility>
#include <vector>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/store/page_token.h"
#include "server/store/run_rows.h"
#include "server/store/run_rules.h"

namespace sinkd {
namespace {

constexpr int kMaxPageSize = 1000;

// A SELECT under construction; values are parameters, never text.
class ListQuery {
 public:
  ListQuery() : sql_(StrCat("SELECT ", kRunColumns, " FROM runs WHERE state < ", kRemovedState)) {}

  std::string Parameter(Value value) {
    values_.push_back(value);
    return StrCat("$", values_.size());
  }
  void And(std::string_view condition) { sql_ += StrCat(" AND ", condition); }
  void End(int64_t limit) {
    sql_ += StrCat(" ORDER BY created_us DESC, number DESC LIMIT ", Parameter(limit));
  }
  absl::Status Run(Connection& connection, const RowReader& reader) const {
    return connection.Query(sql_, values_, reader);
  }

 private:
  std::string sql_;
  Values values_;
};

// The views in the query are the options'.
absl::Status AddFilter(const ListOptions& options, ListQuery& query) {
  if (options.model_id) {
    query.And(StrCat("model_id = ", query.Parameter(std::string_view(*options.model_id))));
  }
  for (const auto& [name, value] : options.labels) {
    const std::string name_parameter = query.Parameter(std::string_view(name));
    query.And(StrCat("number IN (SELECT run FROM run_labels WHERE name = ", name_parameter,
                     " AND value = ", query.Parameter(std::string_view(value)), ")"));
  }
  if (options.created_from) {
    query.And(StrCat("created_us >= ", query.Parameter(Microseconds(*options.created_from))));
  }
  if (options.created_before) {
    query.And(StrCat("created_us < ", query.Parameter(Microseconds(*options.created_before))));
  }
  if (!options.page_token.empty()) {
    SINKD_ASSIGN_OR_RETURN(const PageToken token, ReadPageToken(options));
    const std::string created = query.Parameter(token.created_us);
    query.And(
        StrCat("(created_us, number) < (", created, ", ", query.Parameter(token.number), ")"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RunPage> ListRuns(Connection& connection, const ListOptions& options) {
  SINKD_RETURN_IF_ERROR(CheckRange("page_size", options.page_size, 1, kMaxPageSize));
  SINKD_RETURN_IF_ERROR(CheckLabels(options.labels));
  ListQuery query;
  SINKD_RETURN_IF_ERROR(AddFilter(options, query));
  // One more than the page holds says whether there is a next one.
  query.End(int64_t{options.page_size} + 1);
  std::vector<NumberedRun> rows;
  SINKD_RETURN_IF_ERROR(query.Run(connection, [&](const Row& row) {
    rows.push_back(ReadRun(row));
    return true;
  }));
  RunPage page;
  if (rows.size() > static_cast<size_t>(options.page_size)) {
    rows.pop_back();
    const NumberedRun& last = rows.back();
    page.next_page_token = WritePageToken(
        {.created_us = Microseconds(last.run.created), .number = last.number}, options);
  }
  for (NumberedRun& row : rows) page.runs.push_back(std::move(row.run));
  return page;
}

}  // namespace sinkd
