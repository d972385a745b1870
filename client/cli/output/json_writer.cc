#include "client/cli/output/json_writer.h"

#include <string_view>

#include <fmt/format.h>

namespace sinkd::cli {

void JsonlWriter::Write(const char* type, const std::string& body) {
  output_.Write(TypedJson(type, body) + '\n');
}

void JsonWriter::Write(const char* type, const std::string& body) {
  const std::string_view word = type;
  if (word == "outcome") {
    output_.Write(any_result_ ? "\n]" : "{\"results\":[]");
    output_.Write(fmt::format("{},\n\"outcome\":{}}}\n", tail_, body));
  } else if (word == "started" || word == "summary" || word == "report") {
    tail_ += fmt::format(",\n\"{}\":{}", word, body);
  } else {
    output_.Write((any_result_ ? ",\n  " : "{\"results\":[\n  ") + TypedJson(type, body));
    any_result_ = true;
  }
}

}  // namespace sinkd::cli
