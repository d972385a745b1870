// The command line of sinkctl: commands, flags and their help.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <CLI/App.hpp>

#include "client/cli/exit_code.h"
#include "client/cli/flags/options.h"

namespace sinkd::cli {

// The parser; fills `invocation`, which it borrows. Environment variables stand in for flags where
// the help says so.
std::unique_ptr<CLI::App> MakeCommandLine(Invocation& invocation);

// Parses. A value: the program ends here with it, everything has been said (help on standard
// output, errors with a hint on standard error).
std::optional<ExitCode> ParseCommandLine(int argc, const char* const* argv, CLI::App& app,
                                         Invocation& invocation);

// The name of a command's flag group that holds the global flags.
inline constexpr char kGlobalGroup[] = "Global flags";

}  // namespace sinkd::cli
