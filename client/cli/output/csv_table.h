// CsvTable: RFC 4180 CSV with columns as data, lines ended by CRLF.
//
// Numbers are written so that they read back to the same value; absent fields are empty. In text,
// control, invisible and direction characters are written as \x1b or \u{202e}, and text that a
// spreadsheet would take for a formula (= + - @ or a blank character in front) gets a ' before it;
// numbers and lists of numbers do not. Thread-safety: none.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <google/protobuf/message.h>

namespace sinkd::cli {

class CsvTable {
 public:
  using Messages = std::initializer_list<const google::protobuf::Message*>;
  using Words = std::vector<std::string>;

  // `columns`: headings separated by commas. "block" is the field of that name, "a=intercept.value"
  // a field under another heading, and "rank=" the next word of the row. With `raw`, text is
  // written as it is.
  explicit CsvTable(std::string_view columns, bool raw = false);

  std::string Header() const;

  // Words after those of every row from now on.
  void EndWith(Words words) { ending_ = std::move(words); }

  // A field belongs to the first of `messages` that has one of its name. Enums are written as words
  // (names.h), repeated values with blanks between them.
  std::string Row(Messages messages, const Words& words = {}) const;

 private:
  struct Column {
    std::string heading;
    std::string path;  // of the field; empty: a word
  };

  void Append(std::string_view field, std::string& line) const;

  std::vector<Column> columns_;
  bool raw_;
  Words ending_;
};

// The value of the field at `path` ("slope.value"), as above; empty when it is absent.
std::string FieldText(CsvTable::Messages messages, std::string_view path);

}  // namespace sinkd::cli
