// Models in every output format.
//
// JSON: one model is the message itself, a list {"models": [...]}; JSONL: {"type": "model",
// "model": {...}} a line. The mapping is that of json_parts.h.
#pragma once

#include <string>

#include "client/cli/flags/options.h"
#include "client/cli/output/list_view.h"
#include "client/cli/terminal/terminal.h"
#include "sinks/v1/models.pb.h"

namespace sinkd::cli {

// "a" for "models/a".
std::string ModelId(const std::string& name);

const ListView<sinks::v1::Model>& ModelListView();

}  // namespace sinkd::cli
