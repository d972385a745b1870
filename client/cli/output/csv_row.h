// CsvRow: one line of RFC 4180 CSV, ended by CRLF.
//
// Numbers are written so that they read back to the same value; absent values are empty fields. In
// text, control, invisible and direction characters are written as \x1b or \u{202e}, and text that
// a spreadsheet would take for a formula (= + - @ or a blank character in front) gets a ' before
// it; numbers and lists of numbers do not. Thread-safety: none.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace sinkd::cli {

class CsvRow {
 public:
  // From now on text is written as it is, by all rows. To be called before the first one is made.
  static void WriteAsIs();

  // From now on every row ends with these two, which name what it is of; "" for no run.
  static void EndWith(std::string_view model, std::string_view run);

  CsvRow& Add(std::string_view field);
  CsvRow& Add(const char* field) { return Add(std::string_view(field)); }
  CsvRow& Add(const std::string& field) { return Add(std::string_view(field)); }
  CsvRow& Add(bool value) { return Add(value ? "true" : "false"); }
  template <typename Number>
    requires(std::integral<Number> || std::floating_point<Number>)
  CsvRow& Add(Number value) {
    return Append(fmt::format("{}", value));
  }
  // The value when `present`, else an empty field.
  template <typename Value>
  CsvRow& AddIf(bool present, const Value& value) {
    return present ? Add(value) : Add("");
  }
  // The whole line.
  std::string Take();

 private:
  CsvRow& Append(std::string_view field);  // quoted where CSV needs it

  static std::string ending_;

  std::string line_;
  bool any_ = false;
};

}  // namespace sinkd::cli
