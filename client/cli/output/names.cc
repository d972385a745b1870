#include "client/cli/output/names.h"

#include <deque>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

#include <absl/strings/ascii.h>
#include <absl/strings/str_replace.h>

#include "client/cli/flags/options.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

constexpr Choice kOutputs[] = {{"table", static_cast<int>(OutputFormat::kTable)},
                               {"json", static_cast<int>(OutputFormat::kJson)},
                               {"jsonl", static_cast<int>(OutputFormat::kJsonl)},
                               {"csv", static_cast<int>(OutputFormat::kCsv)}};
constexpr Choice kInputs[] = {{"auto", static_cast<int>(InputFormat::kAuto)},
                              {"jsonl", static_cast<int>(InputFormat::kJsonl)},
                              {"text", static_cast<int>(InputFormat::kText)}};

}  // namespace

const std::span<const Choice> kOutputChoices(kOutputs);
const std::span<const Choice> kInputChoices(kInputs);

std::span<const Choice> ChoicesOf(const google::protobuf::EnumDescriptor& type) {
  static auto* const mutex = new std::mutex;
  static auto* const known =
      new std::map<const google::protobuf::EnumDescriptor*, std::vector<Choice>>;
  static auto* const words = new std::deque<std::string>;
  const std::lock_guard lock(*mutex);
  std::vector<Choice>& choices = (*known)[&type];
  if (!choices.empty()) return choices;
  const std::string& unspecified = type.FindValueByNumber(0)->name();
  const size_t prefix = unspecified.size() - std::string_view("UNSPECIFIED").size();
  for (int i = 1; i < type.value_count(); ++i) {
    std::string word = absl::AsciiStrToLower(type.value(i)->name().substr(prefix));
    if (type.name() != "Site") word = absl::StrReplaceAll(word, {{"_", "-"}});
    words->push_back(std::move(word));
    choices.push_back({words->back().c_str(), type.value(i)->number()});
  }
  return choices;
}

const char* FormFormula(v1::RegressionForm form) {
  switch (form) {
    case v1::REGRESSION_FORM_LINEAR_LOG:
      return "y = a + b ln x";
    case v1::REGRESSION_FORM_LOG_LINEAR:
      return "ln y = a + b x";
    case v1::REGRESSION_FORM_LOG_LOG:
      return "ln y = a + b ln x";
    case v1::REGRESSION_FORM_LINEAR:
      return "y = a + b x";
    default:
      return "unknown";
  }
}

}  // namespace sinkd::cli
