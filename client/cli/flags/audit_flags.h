// `audit` and its flags.
#pragma once

#include <string>

#include <CLI/App.hpp>

#include "client/cli/flags/options.h"

namespace sinkd::cli {

// `app` keeps references to `invocation`.
void AddAuditCommand(CLI::App& app, Invocation& invocation);

// What the flags must say together; the problem, or empty.
std::string CheckAuditOptions(const GlobalOptions& global, const AuditOptions& options);

}  // namespace sinkd::cli
