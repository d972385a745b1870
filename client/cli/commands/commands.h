// The commands of sinkctl. Each takes what the command line says and returns the exit code.
#pragma once

#include "client/cli/exit_code.h"
#include "client/cli/flags/options.h"

namespace sinkd::cli {

// `models`: the list, or one model.
ExitCode RunModels(const Invocation& invocation);

// `families`: the list, or one family.
ExitCode RunFamilies(const Invocation& invocation);

// `plan`: kExitDoesNotFit when the model would not fit.
ExitCode RunPlan(const Invocation& invocation);

// `load`: waits for the model, with progress on a terminal.
ExitCode RunLoad(const Invocation& invocation);

// `unload`.
ExitCode RunUnload(const Invocation& invocation);

// `detect`, `scores`, `levels`, `regress`, `compensation`, `rate`, `analyze`.
ExitCode RunAnalyze(const Invocation& invocation);

// `align`, `pca`, ...: the studies of study_command.h.
ExitCode RunStudy(const Invocation& invocation);

// `runs list`, `runs show`, ...
ExitCode RunRuns(const Invocation& invocation);

// `health`: kExitRpcError when the server answers and does not serve.
ExitCode RunHealth(const Invocation& invocation);

// `top`: until Ctrl-C, on a terminal.
ExitCode RunTop(const Invocation& invocation);

// `report`: writes the file.
ExitCode RunReport(const Invocation& invocation);

// `audit`: kExitVerdict when it fails, kExitNotEnoughData when it cannot tell.
ExitCode RunAudit(const Invocation& invocation);

// `token new`: prints it.
ExitCode RunToken(const Invocation& invocation);

}  // namespace sinkd::cli
