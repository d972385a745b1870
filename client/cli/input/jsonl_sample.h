// One line of JSONL input as a sample.
//
// A line is one JSON object with exactly one of
//   {"text": "..."}
//   {"prompt": "...", "response": "...", "raw": true}          response and raw may be absent
//   {"messages": [{"role": "user", "content": "..."}], "add_generation_prompt": true}
//   {"token_ids": [1, 2], "chat_rendered": true}
// and optionally "id": a string or an integer.
//
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sinks/v1/analysis.pb.h"

namespace sinkd::cli {

// What is wrong with a line, and what was expected.
struct LineError {
  int64_t column = 0;  // from 1, in characters; 0: the line as a whole
  std::string message;
};

// Fills `sample`, or says what is wrong. `ignore_unknown_keys`: other keys of the object are
// skipped instead of refused.
std::optional<LineError> ParseJsonlSample(std::string_view line, bool ignore_unknown_keys,
                                          sinks::v1::Sample& sample);

// What is wrong with a sample that no server would take: too large, or its id too long.
std::optional<std::string> CheckSampleSize(const sinks::v1::Sample& sample);

}  // namespace sinkd::cli
