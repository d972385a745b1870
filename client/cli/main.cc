// sinkctl: the command line client of sinkd.
#include "client/cli/commands/command_line.h"

int main(int argc, char** argv) {
  sinkd::cli::Invocation invocation;
  const auto app = sinkd::cli::MakeCommandLine(invocation);
  if (const auto code = sinkd::cli::ParseCommandLine(argc, argv, *app, invocation)) return *code;
  return invocation.run(invocation);
}
