#include "client/cli/output/csv_row.h"

#include <algorithm>
#include <array>
#include <vector>

#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>

#include "client/error_report.h"

namespace sinkd::cli {
namespace {

bool as_is = false;

bool IsNumbers(std::string_view field) {
  const std::vector<std::string> words = absl::StrSplit(std::string(field), ' ');
  return std::all_of(words.begin(), words.end(), [](const std::string& word) {
    double number = 0;
    return absl::SimpleAtod(word, &number);
  });
}

// The full-width forms of = + - @ count in some languages.
bool BeginsFormula(std::string_view field) {
  if (field.starts_with('-') || field.starts_with('+')) return !IsNumbers(field);
  constexpr std::array<std::string_view, 8> kBegins = {"=",  "@",      "\t",     "\r",
                                                       "\n", "\uFF1D", "\uFF0B", "\uFF0D"};
  return field.starts_with("\uFF20") ||
         std::any_of(kBegins.begin(), kBegins.end(),
                     [field](std::string_view begin) { return field.starts_with(begin); });
}

// Tabs and ends of lines stay, since quotes hold them.
std::string Neutral(std::string_view field) {
  std::string out(BeginsFormula(field) ? "'" : "");
  while (!field.empty()) {
    const size_t end = std::min(field.find_first_of("\t\r\n"), field.size());
    out += client::MakePrintable(field.substr(0, end));
    out += field.substr(end, 1);
    field.remove_prefix(std::min(end + 1, field.size()));
  }
  return out;
}

}  // namespace

std::string CsvRow::ending_;

void CsvRow::WriteAsIs() {
  as_is = true;
}

void CsvRow::EndWith(std::string_view model, std::string_view run) {
  ending_.clear();
  ending_ = "," + CsvRow().Add(model).Add(run).line_;
}

std::string CsvRow::Take() {
  return std::move(line_) + ending_ + "\r\n";
}

CsvRow& CsvRow::Add(std::string_view field) {
  return as_is ? Append(field) : Append(Neutral(field));
}

CsvRow& CsvRow::Append(std::string_view field) {
  if (any_) line_ += ',';
  any_ = true;
  if (field.find_first_of(",\"\t\r\n") == std::string_view::npos) {
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
