// Makers of flags whose values are checked as they are read, with errors that say what is expected.
//
// Thread-safety: none; used while the parser is built.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include <CLI/App.hpp>

#include "client/cli/output/names.h"

namespace sinkd::cli {

inline constexpr char kLaneHelp[] =
    "How urgent it is; default: batch with --run, interactive without";

// With `many`, a flag takes several values, between commas or given several times, and `set` is
// called for each.

// A flag that takes a finite number.
CLI::Option* AddNumber(CLI::App& app, const std::string& name, const std::string& help,
                       std::function<void(double)> set, bool many = false);

// A flag that takes an integer within int32, or any 64-bit one when `wide`.
CLI::Option* AddInteger(CLI::App& app, const std::string& name, const std::string& help,
                        std::function<void(int64_t)> set, bool wide = false, bool many = false);

// A flag that takes one of the words.
CLI::Option* AddChoice(CLI::App& app, const std::string& name, std::span<const Choice> choices,
                       const std::string& help, std::function<void(int)> set, bool many = false);

// A flag that takes a duration over 0, as ParseDuration reads it.
CLI::Option* AddDuration(CLI::App& app, const std::string& name, const std::string& help,
                         std::function<void(std::chrono::milliseconds)> set);

// "30", "30s", "500ms", "2m", "1h" as a duration over 0; nullopt for anything else.
std::optional<std::chrono::milliseconds> ParseDuration(const std::string& text);

}  // namespace sinkd::cli
