// Model families in every output format.
//
// JSON: one family is the message itself, a list {"families": [...]}; JSONL: {"type": "family",
// "family": {...}} a line. CSV: a row a family, with its largest difference.
// Thread-safety: pure functions.
#pragma once

#include <string>

#include "client/cli/flags/options.h"
#include "client/cli/terminal/terminal.h"
#include "sinks/v1/models.pb.h"

namespace sinkd::cli {

std::string RenderFamilies(const sinks::v1::ListFamiliesResponse& families,
                           const GlobalOptions& global, const Terminal& terminal);

// One family in detail: its difference at each site, its published checkpoints.
std::string RenderFamily(const sinks::v1::Family& family, const GlobalOptions& global,
                         const Terminal& terminal);

}  // namespace sinkd::cli
