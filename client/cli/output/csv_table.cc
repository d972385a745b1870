#include "client/cli/output/csv_table.h"

#include <algorithm>
#include <array>
#include <cassert>

#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>
#include <fmt/format.h>

#include "client/cli/output/names.h"
#include "client/error_report.h"

namespace sinkd::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

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

std::string WordOfNumber(const google::protobuf::EnumDescriptor& type, int number) {
  for (const Choice& choice : ChoicesOf(type)) {
    if (choice.value == number) return choice.word;
  }
  return "unknown";
}

// One value of a field; `index` is -1 where it is not repeated.
std::string ValueText(const Message& message, const FieldDescriptor* field, int index) {
  const Reflection& values = *message.GetReflection();
  const auto get = [&](auto one, auto of_many) {
    return index < 0 ? (values.*one)(message, field) : (values.*of_many)(message, field, index);
  };
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return fmt::to_string(get(&Reflection::GetInt32, &Reflection::GetRepeatedInt32));
    case FieldDescriptor::CPPTYPE_INT64:
      return fmt::to_string(get(&Reflection::GetInt64, &Reflection::GetRepeatedInt64));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return fmt::to_string(get(&Reflection::GetDouble, &Reflection::GetRepeatedDouble));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return fmt::to_string(get(&Reflection::GetFloat, &Reflection::GetRepeatedFloat));
    case FieldDescriptor::CPPTYPE_BOOL:
      return get(&Reflection::GetBool, &Reflection::GetRepeatedBool) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_ENUM:
      return WordOfNumber(*field->enum_type(),
                          get(&Reflection::GetEnumValue, &Reflection::GetRepeatedEnumValue));
    case FieldDescriptor::CPPTYPE_STRING:
      return get(&Reflection::GetString, &Reflection::GetRepeatedString);
    default:
      return {};
  }
}

std::string FieldText(const Message& message, const FieldDescriptor* field) {
  const Reflection& values = *message.GetReflection();
  if (!field->is_repeated()) {
    return values.HasField(message, field) ? ValueText(message, field, -1) : std::string();
  }
  std::string text;
  for (int i = 0; i < values.FieldSize(message, field); ++i) {
    text += (i == 0 ? "" : " ") + ValueText(message, field, i);
  }
  return text;
}

}  // namespace

std::string FieldText(CsvTable::Messages messages, std::string_view path) {
  const size_t dot = path.find('.');
  const std::string name(path.substr(0, dot));
  for (const Message* message : messages) {
    const FieldDescriptor* field = message->GetDescriptor()->FindFieldByName(name);
    if (field == nullptr) continue;
    if (dot == std::string_view::npos) return FieldText(*message, field);
    const Message& inner = message->GetReflection()->GetMessage(*message, field);
    return FieldText({&inner}, path.substr(dot + 1));
  }
  assert(false && "no message has this field");
  return {};
}

CsvTable::CsvTable(std::string_view columns, bool raw) : raw_(raw) {
  const std::vector<std::string> parts = absl::StrSplit(std::string(columns), ',');
  for (const std::string& column : parts) {
    const size_t sign = column.find('=');
    const bool same = sign == std::string::npos;
    columns_.push_back({column.substr(0, sign), same ? column : column.substr(sign + 1)});
  }
}

std::string CsvTable::Header() const {
  std::string line;
  for (const Column& column : columns_) line += (line.empty() ? "" : ",") + column.heading;
  return line + "\r\n";
}

std::string CsvTable::Row(Messages messages, const Words& words) const {
  std::string line;
  size_t next = 0;
  for (const Column& column : columns_) {
    if (&column != &columns_.front()) line += ',';
    if (!column.path.empty()) {
      Append(FieldText(messages, column.path), line);
    } else {
      const size_t past = next - std::min(next, words.size());
      Append(next < words.size() ? words[next] : past < ending_.size() ? ending_[past] : "", line);
      ++next;
    }
  }
  return line + "\r\n";
}

// In quotes where CSV needs them.
void CsvTable::Append(std::string_view field, std::string& line) const {
  const std::string text = raw_ ? std::string(field) : Neutral(field);
  if (text.find_first_of(",\"\t\r\n") == std::string::npos) {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text) {
    if (c == '"') line += '"';
    line += c;
  }
  line += '"';
}

}  // namespace sinkd::cli
