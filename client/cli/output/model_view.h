// Models in every output format.
//
// JSON: one model is the message itself, a list {"models": [...]}; JSONL: {"type": "model",
// "model": {...}} a line. The mapping is that of json_parts.h.
#pragma once

#include <string>

#include "client/cli/flags/options.h"
#include "client/cli/output/output.h"
#include "client/cli/output/table.h"
#include "client/cli/terminal/terminal.h"
#include "sinks/v1/models.pb.h"

namespace sinkd::cli {

// "a" for "models/a".
std::string ModelId(const std::string& name);

// One model.
std::string RenderModel(const sinks::v1::Model& model, OutputFormat format,
                        const Terminal& terminal);

// A list; JSON, JSONL and CSV are written as models come, a table at the end.
// Thread-safety: none.
class ModelListWriter {
 public:
  // `names`: only the ids, one a line, whatever the format.
  ModelListWriter(bool names, OutputFormat format, const Terminal& terminal, Output& output);
  void Add(const sinks::v1::Model& model);
  void End();

 private:
  bool names_;
  OutputFormat format_;
  Terminal terminal_;
  Output& output_;
  Table table_;
  std::string failures_;  // written under the table
  bool any_ = false;
};

}  // namespace sinkd::cli
