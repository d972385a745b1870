// The flags that say who calls, and how a server proves itself; and the files they name. Secrets
// come from files only: a command line and an environment can be read by others.
//
// Thread-safety: AddCredentialFlags is used while the parser is built; ReadCredentials only reads.
#pragma once

#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <CLI/App.hpp>

#include "client/channel.h"
#include "client/cli/flags/options.h"

namespace sinkd::cli {

void AddCredentialFlags(CLI::App& app, CredentialOptions& options);

// INVALID_ARGUMENT naming the file, and never what it holds; or when a token would go to another
// machine in plaintext.
absl::Status ReadCredentials(const GlobalOptions& options, client::ChannelOptions& channel);

}  // namespace sinkd::cli
