// A line of JSONL, as a sample.
#include <string_view>

#include "client/cli/input/jsonl_sample.h"
#include "server/base/utf8.h"
#include "tests/fuzz/require.h"

using sinkd::fuzz::Require;

namespace {

bool Parses(std::string_view line, bool ignore_unknown_keys) {
  sinks::v1::Sample sample;
  const auto error = sinkd::cli::ParseJsonlSample(line, ignore_unknown_keys, sample);
  if (error) {
    const auto most = static_cast<int64_t>(line.size()) + 1;
    Require(error->column >= 0 && error->column <= most, "a column outside the line", line);
    Require(!error->message.empty() && error->message.size() <= 2048, "an error's length");
    Require(!sinkd::FirstInvalidUtf8(error->message), "an error that is no UTF-8", line);
    return false;
  }
  Require(sample.input_case() != sinks::v1::Sample::INPUT_NOT_SET, "a sample without input", line);
  Require(!sample.SerializeAsString().empty(), "a sample that cannot be sent", line);
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const bool strict = Parses(line, false);
  Require(Parses(line, true) || !strict, "what is fine is refused where more is allowed", line);
  return 0;
}
