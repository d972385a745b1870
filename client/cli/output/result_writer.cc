#include "client/cli/output/result_writer.h"

#include "client/cli/output/csv_writer.h"
#include "client/cli/output/json_writer.h"
#include "client/cli/output/table_writer.h"

namespace sinkd::cli {

std::unique_ptr<ResultWriter> MakeResultWriter(const GlobalOptions& global,
                                               const AnalyzeOptions& options,
                                               const Terminal& terminal, Output& output) {
  switch (global.output) {
    case OutputFormat::kJson:
      return std::make_unique<JsonWriter>(output);
    case OutputFormat::kJsonl:
      return std::make_unique<JsonlWriter>(output);
    case OutputFormat::kCsv:
      return std::make_unique<CsvWriter>(options, output);
    case OutputFormat::kTable:
      break;
  }
  return std::make_unique<TableWriter>(options, terminal, output);
}

}  // namespace sinkd::cli
