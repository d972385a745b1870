#include <google/protobuf/util/time_util.h>

#include <array>

#include "client/cli/analyses/analysis_command.h"
#include "client/cli/commands/commands.h"
#include "client/cli/flags/common_flags.h"
#include "client/cli/flags/flag_values.h"
#include "client/cli/flags/parameter_flags.h"
#include "client/error_report.h"
#include "client/model_client.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;
using google::protobuf::Timestamp;

constexpr char kFilterGroup[] = "Which runs";

constexpr std::array kFormatChoices = {
    Choice{"auto", v1::IMPORT_FORMAT_UNSPECIFIED},
    Choice{"records", v1::IMPORT_FORMAT_RECORDS},
    Choice{"published", v1::IMPORT_FORMAT_PUBLISHED_ROWS},
};

constexpr std::array kOrderChoices = {
    Choice{"name", v1::SUMMARY_ORDER_UNSPECIFIED},
    Choice{"numeric", v1::SUMMARY_ORDER_NUMERIC},
};

CLI::App* AddAction(CLI::App& runs, Invocation& invocation, const char* name,
                    const char* description, RunAction action) {
  CLI::App* sub = runs.add_subcommand(name, description);
  sub->fallthrough();
  sub->callback([&invocation, action] { invocation.runs.action = action; });
  return sub;
}

void AddRun(CLI::App& command, RunOptions& options, const char* help) {
  command
      .add_option_function<std::string>(
          "RUN", [&options](const std::string& run) { options.runs = {run}; }, help)
      ->type_name("");
}

CLI::Option* AddRuns(CLI::App& command, RunOptions& options, const char* help) {
  return command.add_option("RUN", options.runs, help)->type_name("");
}

// A day, or a time as RFC 3339 has it.
bool ParseTime(const std::string& text, Timestamp& time) {
  const bool day = text.size() == std::string_view("2026-01-02").size();
  return google::protobuf::util::TimeUtil::FromString(day ? text + "T00:00:00Z" : text, &time);
}

void AddTime(CLI::App& command, const char* name, const char* help,
             std::function<Timestamp*()> time) {
  command
      .add_option_function<std::string>(
          name, [time = std::move(time)](const std::string& text) { ParseTime(text, *time()); },
          help)
      ->type_name("TIME")
      ->check([](const std::string& text) {
        Timestamp ignored;
        return ParseTime(text, ignored)
                   ? ""
                   : "\"" + client::MakePrintable(text) +
                         "\" is not a time; e.g. 2026-01-31 or 2026-01-31T12:00:00Z";
      })
      ->group(kFilterGroup);
}

void AddFilter(CLI::App& command, v1::RunFilter& filter) {
  command
      .add_option_function<std::string>(
          "-m,--model",
          [&filter](const std::string& model) { filter.set_model(client::ModelName(model)); },
          "Of this model")
      ->type_name("MODEL")
      ->group(kFilterGroup);
  AddLabels(command, "--label", "With this label; may be given several times",
            [&filter](const std::string& name, const std::string& value) {
              (*filter.mutable_labels())[name] = value;
            })
      ->group(kFilterGroup);
  AddTime(command, "--since", "Made at this time (UTC) or later",
          [&filter] { return filter.mutable_created_from(); });
  AddTime(command, "--before", "Made before this time (UTC)",
          [&filter] { return filter.mutable_created_before(); });
}

void AddGrouping(CLI::App& command, v1::SummarizeRunsRequest& request) {
  command
      .add_option_function<std::string>(
          "--by",
          [&request](const std::string& text) {
            if (text == "model") request.set_grouping(v1::SUMMARY_GROUPING_MODEL);
            if (text == "run") request.set_grouping(v1::SUMMARY_GROUPING_RUN);
            if (!text.starts_with("label:")) return;
            request.set_grouping(v1::SUMMARY_GROUPING_LABEL);
            request.set_label(text.substr(text.find(':') + 1));
          },
          "One summary a model, a run, or a value of a label; default: one of all runs")
      ->type_name("model|run|label:NAME")
      ->check([](const std::string& text) {
        const bool known =
            text == "model" || text == "run" || (text.starts_with("label:") && text.size() > 6);
        return known ? ""
                     : "\"" + client::MakePrintable(text) + "\" is not model, run or label:NAME";
      });
  AddChoice(
      command, "--order", kOrderChoices,
      "Order of the groups; numeric: a label's values as numbers, as a series with its change "
      "points",
      [&request](int value) { request.set_order(static_cast<v1::SummaryOrder>(value)); });
}

void AddSummarize(CLI::App& runs, Invocation& invocation) {
  RunOptions& options = invocation.runs;
  CLI::App* sub = AddAction(runs, invocation, "summarize", "Fold the records of runs together",
                            RunAction::kSummarize);
  AddRuns(*sub, options, "These runs; with filters, those that are in both");
  AddFilter(*sub, options.filter);
  sub->add_flag("--all", options.all, "All runs")->group(kFilterGroup);
  AddGrouping(*sub, options.summarize);
  AddInteger(*sub, "--l-start", "Only sinks that start at this layer", [&options](int64_t value) {
    options.summarize.set_l_start(static_cast<int32_t>(value));
  });
  AddInteger(*sub, "--lifetime", "Only sinks of this lifetime", [&options](int64_t value) {
    options.summarize.set_lifetime(static_cast<int32_t>(value));
  });
  for (const AnalysisCommand* analysis : AnalysisCommands()) {
    if (analysis->render == nullptr) continue;
    AddSection(*sub, *analysis, options.sections)->group("Analyses; default: those of the runs");
  }
  sub->add_flag("--no-chart", options.no_chart, "Tables without charts");
  sub->footer(
      "Examples:\n  sinkctl runs summarize --label branch=main --by model --levels\n"
      "  sinkctl runs summarize --label sweep=a --by label:step --order numeric");
}

void AddImport(CLI::App& runs, Invocation& invocation) {
  RunOptions& options = invocation.runs;
  v1::ImportHeader& header = options.import;
  CLI::App* sub = AddAction(runs, invocation, "import",
                            "Store records that were exported, or the paper's published rows",
                            RunAction::kImport);
  AddRun(*sub, options, "The run they go to; made when it is not there");
  sub->add_option("FILE", options.file, "What to read, - for standard input")
      ->type_name("FILE")
      ->required();
  AddChoice(*sub, "--format", kFormatChoices, "What the file holds; auto goes by its first line",
            [&header](int value) { header.set_format(static_cast<v1::ImportFormat>(value)); });
  sub->add_option_function<std::string>(
         "-m,--model",
         [&header](const std::string& model) {
           header.mutable_spec()->set_model(client::ModelName(model));
         },
         "Model that the records are of; exported files name theirs")
      ->type_name("MODEL");
  AddInteger(*sub, "--layers", "Blocks of the model, which published rows do not name",
             [&header](int64_t value) { header.set_layers(static_cast<int32_t>(value)); });
  sub->add_flag_callback(
      "--include-primary-position",
      [&header] { header.mutable_spec()->mutable_levels()->set_include_primary_position(true); },
      "Published rows: count the primary sink's own position too, as their figures do");
  sub->add_flag_callback(
      "--replace", [&header] { header.set_replace(true); },
      "A record whose key the run holds with another text or record takes its place");
  AddLabels(*sub, "--label", "A label of a new run; may be given several times",
            [&header](const std::string& name, const std::string& value) {
              (*header.mutable_labels())[name] = value;
            });
  AddParameterFlags(*sub, "Detection", *v1::DetectionParameters::descriptor(),
                    [&header]() -> auto& { return *header.mutable_spec()->mutable_detection(); });
  sub->footer(
      "Examples:\n  sinkctl runs import nightly nightly.jsonl\n"
      "  sinkctl runs import deepseek rows.jsonl --model deepseek-14b --layers 48 --kind-rule "
      "published");
}

std::string CheckSummarize(const RunOptions& options) {
  const v1::RunFilter& filter = options.filter;
  const bool filtered = filter.has_model() || filter.labels_size() > 0 ||
                        filter.has_created_from() || filter.has_created_before();
  if (!options.all && !filtered && options.runs.empty()) {
    return "which runs? give RUN, --model, --label, --since, --before or --all";
  }
  if (options.summarize.order() == v1::SUMMARY_ORDER_NUMERIC && !options.summarize.has_label()) {
    return "--order numeric needs --by label:NAME";
  }
  return {};
}

// What the flags must say together.
std::string Check(Invocation& invocation) {
  const RunOptions& options = invocation.runs;
  switch (options.action) {
    case RunAction::kNone:
      return "what about runs? list, show, complete, delete, export, import, summarize or backup";
    case RunAction::kList:
    case RunAction::kBackup:
      return {};
    case RunAction::kSummarize:
      return CheckSummarize(options);
    case RunAction::kShow:
    case RunAction::kComplete:
    case RunAction::kDelete:
    case RunAction::kExport:
    case RunAction::kImport:
      return options.runs.empty() ? "which run? give RUN; `sinkctl runs list` lists them" : "";
  }
  return {};
}

}  // namespace

void AddRunCommands(CLI::App& app, Invocation& invocation) {
  RunOptions& options = invocation.runs;
  CLI::App* runs =
      AddCommand(app, invocation, "runs", "What the server's store keeps", RunRuns, Check);
  runs->require_subcommand(0, 1);

  CLI::App* list =
      AddAction(*runs, invocation, "list", "List runs, newest first", RunAction::kList);
  AddFilter(*list, options.filter);
  list->add_flag("--names", options.names, "Only the names, one a line");
  list->footer("Example:\n  sinkctl runs list --model smollm2-135m --since 2026-01-01");

  CLI::App* show = AddAction(*runs, invocation, "show", "Show one run", RunAction::kShow);
  AddRun(*show, options, "The run");
  show->footer("Example:\n  sinkctl runs show nightly");

  CLI::App* complete = AddAction(*runs, invocation, "complete",
                                 "Complete runs: they take no more records", RunAction::kComplete);
  AddRuns(*complete, options, "The runs")->expected(1, -1);
  complete->footer("Example:\n  sinkctl runs complete nightly");

  CLI::App* remove =
      AddAction(*runs, invocation, "delete", "Remove runs and their records", RunAction::kDelete);
  AddRuns(*remove, options, "The runs")->expected(1, -1);
  remove->footer("Example:\n  sinkctl runs delete nightly");

  CLI::App* exported = AddAction(*runs, invocation, "export",
                                 "Write a run's records, for `runs import`", RunAction::kExport);
  AddRun(*exported, options, "The run");
  exported->add_flag("--token-ids", options.token_ids, "The samples' token ids too");
  exported->footer(
      "Example:\n  sinkctl runs export nightly > nightly.jsonl\n"
      "JSONL unless --output says json (one document) or csv (a row a sink).");

  CLI::App* backup = AddAction(*runs, invocation, "backup",
                               "Copy the server's whole store to a file", RunAction::kBackup);
  backup->add_option("FILE", options.file, "Where to write it; replaced when it is there")
      ->type_name("FILE")
      ->required();
  backup->footer(
      "Example:\n  sinkctl runs backup runs.db\n"
      "The file is an SQLite database: as runs.db in a server's --state-dir it is that store "
      "again.");

  AddImport(*runs, invocation);
  AddSummarize(*runs, invocation);
}

}  // namespace sinkd::cli
