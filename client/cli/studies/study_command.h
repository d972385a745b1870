// StudyCommand: a study as sinkctl knows it - its flags, its table and its rows - one file a study,
// listed in study_commands.cc.
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
#include "sinks/v1/mechanism.pb.h"

namespace sinkd::cli {

struct StudyView {
  const Terminal& terminal;
  bool charts = true;
};

struct StudyCommand {
  const char* name;  // and of its field in RunStudyRequest, whose parameters are its flags
  const char* description;
  const char* example;
  bool targets;  // takes the flags that choose them

  // Tables and charts; the counts that all reports have are shown before.
  std::string (*render)(const sinks::v1::StudyReport& report, const StudyView& view);
  // CSV: the columns (output/csv_table.h) and the rows.
  std::string_view csv_columns;
  std::string (*csv)(const sinks::v1::StudyReport& report, const CsvTable& csv);
};

std::span<const StudyCommand* const> StudyCommands();

// Adds the flags of `command` to `app`; they fill `options`, which is borrowed.
void AddStudyFlags(CLI::App& app, const StudyCommand& command, StudyOptions& options);

// The parameters of `command` in `request`, which become present.
google::protobuf::Message& ParametersOf(const StudyCommand& command,
                                        sinks::v1::RunStudyRequest& request);

}  // namespace sinkd::cli
