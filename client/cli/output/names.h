// Words for enum values, on the command line and in results: the value's name without its prefix,
// in lower case, "-" for "_" (RUN_STATE_OPEN is "open", DETECTION_PRESET_PAPER_TEXT "paper-text").
// Sites keep "_", as TransformerLens has them ("mlp_out").
//
// Thread-safety: pure functions.
#pragma once

#include <span>
#include <string>

#include <google/protobuf/generated_enum_reflection.h>

#include "sinks/v1/analysis.pb.h"

namespace sinkd::cli {

// A word of the command line and the enum value it stands for.
struct Choice {
  const char* word;
  int value;
};

extern const std::span<const Choice> kOutputChoices;  // OutputFormat
extern const std::span<const Choice> kInputChoices;   // InputFormat

// The words of all values but the unspecified one. They live as long as the program.
std::span<const Choice> ChoicesOf(const google::protobuf::EnumDescriptor& type);

template <typename Enum>
std::span<const Choice> ChoicesOf() {
  return ChoicesOf(*google::protobuf::GetEnumDescriptor<Enum>());
}

// The word of a value; `otherwise` for one that is unspecified or of a newer server.
template <typename Enum>
const char* WordOf(Enum value, const char* otherwise = "unknown") {
  for (const Choice& choice : ChoicesOf<Enum>()) {
    if (choice.value == value) return choice.word;
  }
  return otherwise;
}

// The formula of a form, "y = a + b ln x".
const char* FormFormula(sinks::v1::RegressionForm form);

}  // namespace sinkd::cli
