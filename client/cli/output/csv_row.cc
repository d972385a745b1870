#include "client/cli/output/csv_row.h"

namespace sinkd::cli {

CsvRow& CsvRow::Add(std::string_view field) {
  if (any_) line_ += ',';
  any_ = true;
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
    line_ += field;
    return *this;
  }
  line_ += '"';
  for (const char c : field) {
    if (c == '"') line_ += '"';
    line_ += c;
  }
  line_ += '"';
  return *this;
}

}  // namespace sinkd::cli
