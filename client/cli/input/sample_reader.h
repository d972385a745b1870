// SampleReader: the samples of all inputs of a command line, one after the other, in flat memory.
//
// Thread-safety: Next belongs to one thread; Stop may be called from any; the rest is const.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <absl/status/status.h>

#include "client/cli/flags/options.h"
#include "client/cli/input/line_reader.h"

namespace sinkd::cli {

// Where a sample came from.
struct Origin {
  int32_t source = 0;     // which input, from 0
  int64_t line = 0;       // from 1; 0 when the input is the sample
  int64_t end_bytes = 0;  // bytes of all inputs up to its end
  int64_t number = 0;     // of the piece of input that it is, from 1
};

// A piece of input that is no sample.
struct InputError {
  std::string source;  // file, "standard input" or "--text"
  int64_t line = 0;    // from 1; 0: the input as a whole
  int64_t column = 0;  // from 1, in characters; 0: the line as a whole
  std::string message;

  // "prompts.jsonl:3:17: message".
  std::string Describe() const;
};

struct InputSample {
  sinks::v1::Sample sample;
  Origin origin;
};

using InputItem = std::variant<InputSample, InputError>;

class SampleReader {
 public:
  explicit SampleReader(InputOptions options);

  // INVALID_ARGUMENT when a file cannot be opened, before anything is read.
  absl::Status Check() const;

  // The next sample or error; nullopt at the end, and when stopped.
  std::optional<InputItem> Next();

  // Begins again with the first input. False, and nothing is done, when one of them can be read
  // only once.
  bool Restart();

  // Ends a Next that waits for input, and all later ones.
  void Stop() { stop_.Stop(); }

  // "prompts.jsonl:3".
  std::string Describe(const Origin& origin) const;

  // Bytes of all inputs, when each of them is a regular file or a text of the command line.
  std::optional<int64_t> total_bytes() const { return total_bytes_; }

  // Pieces of all inputs, good and bad ones, in one pass over the files; nullopt without
  // total_bytes, and when that is over 1 GiB.
  std::optional<int64_t> CountPieces() const;

 private:
  struct OpenInput {
    LineReader reader;
    bool jsonl;
  };

  std::optional<InputItem> NextPiece();
  std::optional<InputItem> NextText();
  // Opens the next file; an error when that fails.
  std::optional<InputError> OpenNext();
  std::optional<InputItem> NextOfFile();
  std::optional<InputItem> NextWhole();
  InputItem MakeLineItem(const Line& line) const;
  InputItem MakeTextItem(std::string_view text, int64_t line) const;
  InputError MakeError(std::string message, int64_t line = 0, int64_t column = 0) const;
  const std::string& file() const { return options_.files[next_file_ - 1]; }
  void CloseFile();

  InputOptions options_;
  StopSignal stop_;
  bool only_counts_ = false;  // pieces are found and not read
  std::optional<int64_t> total_bytes_;
  size_t next_text_ = 0;
  size_t next_file_ = 0;
  std::optional<OpenInput> open_;
  int64_t bytes_before_ = 0;  // bytes of the inputs before the open one
  int64_t end_bytes_ = 0;     // bytes up to the end of the piece read last
  int64_t pieces_ = 0;        // read
};

}  // namespace sinkd::cli
