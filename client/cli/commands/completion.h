// Completion scripts, written from the command line's own tables.
#pragma once

#include <string>

#include <CLI/App.hpp>

namespace sinkd::cli {

// The script for `shell` (bash, zsh or fish). It completes commands, flags, the values of flags
// that take one of a few words, files, and model names, for which it asks the server for at most a
// second.
std::string CompletionScript(const CLI::App& app, const std::string& shell);

}  // namespace sinkd::cli
