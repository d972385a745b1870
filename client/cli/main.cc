// sinkctl: the command line client of sinkd.
#include <cstdio>

#include <fmt/format.h>

#include "client/cli/commands/command_line.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/completion.h"

int main(int argc, char** argv) {
  using sinkd::cli::Command;
  sinkd::cli::Invocation invocation;
  const auto app = sinkd::cli::MakeCommandLine(invocation);
  if (const auto code = sinkd::cli::ParseCommandLine(argc, argv, *app, invocation)) return *code;
  switch (invocation.command) {
    case Command::kModels:
      return sinkd::cli::RunModels(invocation);
    case Command::kFamilies:
      return sinkd::cli::RunFamilies(invocation);
    case Command::kPlan:
      return sinkd::cli::RunPlan(invocation);
    case Command::kLoad:
      return sinkd::cli::RunLoad(invocation);
    case Command::kUnload:
      return sinkd::cli::RunUnload(invocation);
    case Command::kAnalyze:
      return sinkd::cli::RunAnalyze(invocation);
    case Command::kStudy:
      return sinkd::cli::RunStudy(invocation);
    case Command::kRuns:
      return sinkd::cli::RunRuns(invocation);
    case Command::kHealth:
      return sinkd::cli::RunHealth(invocation);
    case Command::kTop:
      return sinkd::cli::RunTop(invocation);
    case Command::kReport:
      return sinkd::cli::RunReport(invocation);
    case Command::kAudit:
      return sinkd::cli::RunAudit(invocation);
    case Command::kToken:
      return sinkd::cli::RunToken(invocation);
    case Command::kCompletion:
      fmt::print("{}", sinkd::cli::CompletionScript(*app, invocation.shell));
      return sinkd::cli::kExitOk;
    case Command::kHelp:  // has been said
    case Command::kVersion:
      fmt::print("sinkctl {}\n", SINKCTL_VERSION);
      return sinkd::cli::kExitOk;
  }
  return sinkd::cli::kExitUsage;
}
