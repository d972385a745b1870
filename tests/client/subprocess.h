// Subprocess: a program run from a test, on pipes or on a terminal of its own.
//
// Thread-safety: none.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sinkd::testing {

struct ProcessResult {
  int exit_code = -1;  // 128 + signal when a signal ended it
  std::string out;     // standard output; on a terminal, what both wrote
  std::string err;     // standard error
  // Largest resident memory seen while it ran, in bytes.
  int64_t peak_memory = 0;
};

struct ProcessOptions {
  std::string input;                               // standard input
  bool keep_input_open = false;                    // no end of file until the program ends
  std::map<std::string, std::string> environment;  // over the test's own
  // Ends the program with this signal once `signal_when` stands in its output; 0: never.
  int signal = 0;
  std::string signal_when;
  // Closes standard output after that many bytes were read, as `head` does; 0: never.
  size_t close_output_after = 0;
};

// Runs with three pipes.
ProcessResult RunProcess(const std::vector<std::string>& command,
                         const ProcessOptions& options = {});

// Runs with standard output and standard error on a terminal 100 columns wide and standard input
// on a pipe.
ProcessResult RunOnTerminal(const std::vector<std::string>& command,
                            const ProcessOptions& options = {});

}  // namespace sinkd::testing
