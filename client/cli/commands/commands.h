// The commands of sinkctl. Each adds itself to the command line, and leaves in the invocation the
// function that runs it. `app` keeps references to `invocation`.
//
// Thread-safety: none; used while the parser is built.
#pragma once

#include <CLI/App.hpp>

#include "client/cli/flags/options.h"

namespace sinkd::cli {

// A command that `run` runs, after `check`, which may be null.
CLI::App* AddCommand(CLI::App& app, Invocation& invocation, const char* name,
                     const char* description, RunCommand run, CheckCommand check = nullptr);

void AddModelCommands(CLI::App& app, Invocation& invocation);  // and families, plan, load, unload
void AddRunCommands(CLI::App& app, Invocation& invocation);    // runs list, runs show, ...
void AddAuditCommand(CLI::App& app, Invocation& invocation);
void AddReportCommand(CLI::App& app, Invocation& invocation);
void AddHealthCommand(CLI::App& app, Invocation& invocation);
void AddTopCommand(CLI::App& app, Invocation& invocation);
void AddTokenCommand(CLI::App& app, Invocation& invocation);

// The commands whose flags stand elsewhere.
ExitCode RunFamilies(const Invocation& invocation);
ExitCode RunPlan(const Invocation& invocation);     // kExitDoesNotFit when the model would not fit
ExitCode RunAnalyze(const Invocation& invocation);  // detect, scores, ..., analyze
ExitCode RunStudy(const Invocation& invocation);    // align, pca, ...
ExitCode RunRuns(const Invocation& invocation);
// kExitVerdict if the audit fails, kExitNotEnoughData if a rule has not enough data.
ExitCode RunAudit(const Invocation& invocation);

}  // namespace sinkd::cli
