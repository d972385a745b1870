// AnalysisCommand: an analysis as sinkctl knows it - its command, its report and its rows - one
// file an analysis, listed in analysis_commands.cc. Its flags are made from the message of its
// parameters.
//
// Thread-safety: pure functions over what they are given.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <CLI/App.hpp>

#include "client/cli/flags/options.h"
#include "client/cli/output/csv_table.h"
#include "client/cli/terminal/terminal.h"
#include "sinks/v1/analysis.pb.h"

namespace sinkd::cli {

struct SummaryView {
  Sections sections;
  int blocks = 0;  // of the model
  bool charts = true;
};

struct AnalysisCommand {
  const char* name;        // of the command, and of the flag of `analyze` and `runs summarize`
  std::string_view field;  // in AnalysisSpec, whose message holds its parameters
  const char* group;       // of its flags, in help
  const char* description;
  const char* shows;  // what the flag adds
  const char* example;
  bool per_sample = false;       // its results are the records
  bool takes_scores = false;     // takes the flags of the scores too
  bool needs_scores = false;     // works on scores
  bool shows_attention = false;  // shows a model's learned sinks and gates too
  bool in_all = true;            // of `analyze --all`
  // Parameters that charts need; null: none.
  void (*ask_for_charts)(sinks::v1::AnalysisSpec& spec) = nullptr;

  // Its part of a summary, empty where the summary has none; null: a summary never has.
  std::string (*render)(const sinks::v1::Summary& summary, const SummaryView& view,
                        const Terminal& terminal) = nullptr;
  // CSV: the columns (output/csv_table.h) and the rows. Without them, a row a sink.
  std::string_view csv_columns = {};
  std::string (*csv)(const sinks::v1::Summary& summary, const CsvTable& csv) = nullptr;
};

extern const AnalysisCommand kDetectAnalysis;
extern const AnalysisCommand kScoresAnalysis;

// In the order in which they are shown.
std::span<const AnalysisCommand* const> AnalysisCommands();

// Whether results come sample by sample.
bool ShowsRecords(const Sections& sections);

// Adds the flags of a command that runs `commands`; they fill `options`, which is borrowed. A
// parameter that is not given stays absent in the spec: its default is the server's.
void AddAnalysisFlags(CLI::App& app, std::span<const AnalysisCommand* const> commands,
                      AnalyzeOptions& options);

// A flag that adds `command` to `sections`, which is borrowed.
CLI::Option* AddSection(CLI::App& app, const AnalysisCommand& command, Sections& sections);

// The parameters of `command` in `spec`, which become present.
google::protobuf::Message& ParametersOf(const AnalysisCommand& command,
                                        sinks::v1::AnalysisSpec& spec);

}  // namespace sinkd::cli
