// ListView: how messages of one kind are shown, one of them or a list, in every output format.
//
// JSON: one message is itself, a list {"runs": [...]}; JSONL: {"type": "run", "run": {...}} a line;
// CSV: a header and a row a message. The mapping is that of json_parts.h. Thread-safety: constant
// data; a ListWriter has none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/cli/flags/options.h"
#include "client/cli/output/csv_table.h"
#include "client/cli/output/json_parts.h"
#include "client/cli/output/output.h"
#include "client/cli/output/table.h"
#include "client/cli/terminal/terminal.h"

namespace sinkd::cli {

template <typename Message>
struct ListView {
  const char* type = "";                                           // "run"
  const char* plural = "";                                         // "runs"
  const char* none = "";                                           // a line for an empty table
  std::string_view csv_columns = {};                               // csv_table.h
  CsvTable::Words (*csv_words)(const Message& message) = nullptr;  // of a row; null: none
  std::string (*id)(const Message& message) = nullptr;
  std::vector<Column> columns = {};
  std::vector<Cell> (*row)(const Message& message) = nullptr;
  // One message in detail.
  std::string (*card)(const Message& message, const Terminal& terminal) = nullptr;
  // A line below the table, or nothing; null: never any.
  std::string (*remark)(const Message& message) = nullptr;
};

template <typename Message>
std::string CsvLine(const ListView<Message>& view, const Message& message, const CsvTable& csv) {
  return csv.Row({&message},
                 view.csv_words != nullptr ? view.csv_words(message) : CsvTable::Words());
}

template <typename Message>
std::string RenderOne(const ListView<Message>& view, const Message& message,
                      const GlobalOptions& global, const Terminal& terminal) {
  const CsvTable csv(view.csv_columns, global.csv_raw);
  switch (global.output) {
    case OutputFormat::kJson:
      return ToJson(message) + '\n';
    case OutputFormat::kJsonl:
      return TypedJson(view.type, ToJson(message)) + '\n';
    case OutputFormat::kCsv:
      return csv.Header() + CsvLine(view, message, csv);
    case OutputFormat::kTable:
      break;
  }
  return view.card(message, terminal);
}

// JSON, JSONL and CSV are written as messages come, a table at the end.
template <typename Message>
class ListWriter {
 public:
  // `names`: only the ids, one a line, whatever the format. `view` must outlive the writer.
  ListWriter(const ListView<Message>& view, bool names, const GlobalOptions& global,
             const Terminal& terminal, Output& output)
      : view_(view),
        csv_(view.csv_columns, global.csv_raw),
        names_(names),
        format_(global.output),
        terminal_(terminal),
        output_(output),
        table_(view.columns) {}

  void Add(const Message& message) {
    if (names_) return output_.Write(view_.id(message) + '\n');
    if (!any_) Begin();
    if (format_ == OutputFormat::kJson) {
      output_.Write((any_ ? ",\n  " : "\n  ") + ToJson(message));
    } else if (format_ == OutputFormat::kJsonl) {
      output_.Write(TypedJson(view_.type, ToJson(message)) + '\n');
    } else if (format_ == OutputFormat::kCsv) {
      output_.Write(CsvLine(view_, message, csv_));
    } else {
      table_.AddRow(view_.row(message));
      if (view_.remark != nullptr) remarks_ += view_.remark(message);
    }
    any_ = true;
  }

  void End() {
    if (names_) return;
    if (!any_) Begin();
    if (format_ == OutputFormat::kJson) output_.Write(any_ ? "\n]}\n" : "]}\n");
    if (format_ != OutputFormat::kTable) return;
    output_.Write(any_ ? table_.Render(terminal_, 0) : view_.none);
    if (!remarks_.empty()) output_.Write('\n' + remarks_);
  }

 private:
  // Not before the first message: a call that fails leaves nothing behind.
  void Begin() {
    if (format_ == OutputFormat::kJson) output_.Write(std::string("{\"") + view_.plural + "\":[");
    if (format_ == OutputFormat::kCsv) output_.Write(csv_.Header());
  }

  const ListView<Message>& view_;
  const CsvTable csv_;
  const bool names_;
  const OutputFormat format_;
  const Terminal terminal_;
  Output& output_;
  Table table_;
  std::string remarks_;
  bool any_ = false;
};

}  // namespace sinkd::cli
