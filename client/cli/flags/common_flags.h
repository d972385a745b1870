// Flags that analyses and studies share.
//
// Thread-safety: none; used while the parser is built. What the flags fill is borrowed.
#pragma once

#include <functional>
#include <string>

#include <CLI/App.hpp>

#include "client/cli/flags/options.h"

namespace sinkd::cli {

inline constexpr char kRunGroup[] = "Run";

// MODEL or --model.
void AddModelFlag(CLI::App& app, std::string& model);

void AddTemplateDateFlag(CLI::App& app, std::function<void(const std::string&)> set);

// A flag that takes NAME=VALUE; `add` is called for each that is given.
CLI::Option* AddLabels(CLI::App& app, const std::string& name, const std::string& help,
                       std::function<void(const std::string&, const std::string&)> add);

void AddInputFlags(CLI::App& app, InputOptions& input);

}  // namespace sinkd::cli
