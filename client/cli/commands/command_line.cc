#include "client/cli/commands/command_line.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "client/channel.h"
#include "client/cli/analyses/analysis_command.h"
#include "client/cli/commands/call_setup.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/completion.h"
#include "client/cli/flags/credential_flags.h"
#include "client/cli/flags/flag_values.h"
#include "client/cli/studies/study_command.h"
#include "client/error_report.h"
#include "server/base/nearest_word.h"
#include "server/base/utf8.h"

namespace sinkd::cli {
namespace {

constexpr const char* kFooter = R"(Examples:
  sinkctl models
  sinkctl plan smollm2-135m
  sinkctl load smollm2-135m
  sinkctl detect smollm2-135m --input prompts.jsonl
  echo "Some text" | sinkctl scores smollm2-135m --output json
  sinkctl analyze smollm2-135m --all --input prompts.jsonl
  sinkctl swap smollm2-135m --input prompts.jsonl
  sinkctl analyze smollm2-135m --levels --input prompts.jsonl --run nightly --resume
  sinkctl runs list
  sinkctl audit --policy release-gate.yaml --candidate new --baseline old

Exit codes: 0 ok, 1 an audit fails, 2 usage or bad input, 3 server unreachable, 4 error of the server
or a failed sample, 5 deadline, 6 a planned model does not fit, 7 an audit has not enough data, 130
interrupted. `sinkctl help COMMAND` lists a command's flags.)";

constexpr const char* kInputHelp = R"(
JSONL input, one object a line, each with an optional "id":
  {"text": "..."}
  {"prompt": "...", "response": "...", "raw": false}
  {"messages": [{"role": "user", "content": "..."}], "add_generation_prompt": true}
  {"token_ids": [1, 2, 3], "chat_rendered": false}
Plain text is one sample a file, or one a line with --lines. The global flags (--server, --output,
--timeout, --fail-fast, ...) may stand here too: `sinkctl --help`.)";

constexpr const char* kStudyHelp = R"(
All samples go to the server at once, at most 10,000. Where --time-budget or --timeout ends the study
early, the report covers what was done: it says `partial`, a warning goes to standard error, and the
exit code is 0, or 5 when nothing was measured. Flags that take several values take commas.)";

constexpr const char* kNoModel =
    "which model? give MODEL, --model or SINKCTL_MODEL; `sinkctl models` lists them";

void AddGlobalFlags(CLI::App& app, Invocation& invocation) {
  GlobalOptions& global = invocation.global;
  app.add_option_function<std::vector<std::string>>(
         "--server",
         [&](const std::vector<std::string>& servers) {
           global.server = fmt::format("{}", fmt::join(servers, ","));
         },
         "Address of sinkd, or several with commas or in several flags, which are asked in turn; "
         "default 127.0.0.1:50051")
      ->envname("SINKCTL_SERVER")
      ->type_name("HOST:PORT")
      ->allow_extra_args(false)
      ->check([](const std::string& address) {
        return std::string(client::CheckAddress(address).message());
      })
      ->group(kGlobalGroup);
  AddChoice(app, "-o,--output", kOutputChoices, "Format of the results on standard output",
            [&](int value) { global.output = static_cast<OutputFormat>(value); })
      ->group(kGlobalGroup);
  AddDuration(app, "--timeout", "Give up after this long, e.g. 500ms, 30s, 5m; default: never",
              [&global](std::chrono::milliseconds time) { global.timeout = time; })
      ->group(kGlobalGroup);
  AddCredentialFlags(app, global.credentials);
  app.add_flag("-q,--quiet", global.quiet, "No progress bar and no closing remarks")
      ->group(kGlobalGroup);
  app.add_flag("-v,--verbose", global.verbose, "gRPC's own log on standard error, of errors")
      ->group(kGlobalGroup);
  app.add_flag("--no-color", global.no_color, "No colours (env NO_COLOR); none when piped anyway")
      ->group(kGlobalGroup);
  app.add_flag_callback(
         "--fail-fast", [&] { invocation.analyze.spec.set_fail_fast(true); },
         "Stop at the first bad sample")
      ->group(kGlobalGroup);
  app.add_flag("--ascii", global.ascii, "Charts in ASCII")->group(kGlobalGroup);
  app.add_flag("--csv-raw", global.csv_raw,
               "CSV with text as it is, formulas and control characters included")
      ->group(kGlobalGroup);
}

// What every run over samples needs; piped input is taken where no other is named.
std::string CheckRun(const std::string& model, InputOptions& input) {
  if (model.empty()) return kNoModel;
  if (!input.files.empty() || !input.texts.empty()) return {};
  if (isatty(STDIN_FILENO) == 1) {
    return "no input: give --input FILE, --text TEXT, or pipe samples in";
  }
  input.files.emplace_back("-");
  return {};
}

std::string CheckStudy(Invocation& invocation) {
  StudyOptions& study = invocation.study;
  const bool of_run =
      study.request.has_run() && study.input.files.empty() && study.input.texts.empty();
  return of_run && !study.model.empty() ? std::string() : CheckRun(study.model, study.input);
}

std::string CheckAnalysis(Invocation& invocation) {
  AnalyzeOptions& options = invocation.analyze;
  const OutputFormat output = invocation.global.output;
  if (options.model.empty()) return kNoModel;
  if (options.sections.empty()) {
    std::vector<std::string> flags;
    for (const AnalysisCommand* analysis : AnalysisCommands()) {
      flags.push_back(fmt::format("--{}", analysis->name));
    }
    return fmt::format("which analyses? give {} or --all", fmt::join(flags, ", "));
  }
  if (output == OutputFormat::kCsv && options.sections.size() > 1) {
    return "CSV holds one table; choose one analysis, or --output json";
  }
  if (options.spec.scores().all_positions() && output == OutputFormat::kTable) {
    return "--all-positions is too much for a table; add --output json, jsonl or csv";
  }
  const bool of_run =
      options.resume || options.spec.replace() || options.spec.run_labels_size() > 0;
  if (options.spec.run_id().empty() && of_run) {
    return "--resume, --replace and --label are about a run: give --run ID";
  }
  if (options.spec.run_id().empty() && options.spec.no_summary()) {
    return "--no-summary leaves what a run holds to `sinkctl runs summarize`: give --run ID";
  }
  if (options.spec.no_summary() && options.summary_only) {
    return "--no-summary and --summary-only exclude each other";
  }
  if (options.records && (options.summary_only || options.no_records)) {
    return "--records excludes --no-records and --summary-only";
  }
  return CheckRun(options.model, options.input);
}

void AddAnalysisCommands(CLI::App& app, Invocation& invocation) {
  AnalyzeOptions& options = invocation.analyze;
  for (const AnalysisCommand* command : AnalysisCommands()) {
    CLI::App* sub =
        AddCommand(app, invocation, command->name, command->description, RunAnalyze, CheckAnalysis);
    AddAnalysisFlags(*sub, {&command, 1}, options);
    sub->footer(fmt::format("Example:\n  {}\n{}", command->example, kInputHelp));
    sub->preparse_callback([&options, command](size_t) { options.sections = {command}; });
  }
  CLI::App* analyze = AddCommand(app, invocation, "analyze", "Several analyses in one pass",
                                 RunAnalyze, CheckAnalysis);
  const char* group = "Analyses";
  for (const AnalysisCommand* command : AnalysisCommands()) {
    AddSection(*analyze, *command, options.sections)->group(group);
  }
  analyze
      ->add_flag_callback(
          "--all",
          [&options] {
            for (const AnalysisCommand* each : AnalysisCommands()) {
              if (each->in_all) options.sections.insert(each);
            }
          },
          "All of them but heads, whose records are large")
      ->group(group);
  AddAnalysisFlags(*analyze, AnalysisCommands(), options);
  analyze->footer(fmt::format(
      "Example:\n  sinkctl analyze smollm2-135m --levels --regress --input prompts.jsonl\n{}",
      kInputHelp));
}

void AddStudyCommands(CLI::App& app, Invocation& invocation) {
  for (const StudyCommand* study : StudyCommands()) {
    CLI::App* sub =
        AddCommand(app, invocation, study->name, study->description, RunStudy, CheckStudy);
    AddStudyFlags(*sub, *study, invocation.study);
    sub->footer(fmt::format("Example:\n  {}\n{}\n{}", study->example, kStudyHelp, kInputHelp));
    sub->preparse_callback([&invocation, study](size_t) { invocation.study.command = study; });
  }
}

std::vector<std::string> KnownWords(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::App* level = &app; level != nullptr; level = level->get_parent()) {
    for (const CLI::Option* option : level->get_options()) {
      for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
    }
  }
  for (const CLI::App* sub : app.get_subcommands({})) words.push_back(sub->get_name());
  return words;
}

// The command that was named, or the program itself.
const CLI::App& Deepest(const CLI::App& app) {
  const CLI::App* deepest = &app;
  while (!deepest->get_subcommands().empty()) deepest = deepest->get_subcommands().front();
  return *deepest;
}

// The problem of a flag's value that is not UTF-8, or empty. Texts and names of files may hold any
// bytes; samples are checked as they are read.
std::string CheckWords(const CLI::App& app) {
  for (const CLI::App* level = &Deepest(app); level != nullptr; level = level->get_parent()) {
    for (const CLI::Option* option : level->get_options()) {
      if (option->get_type_name() == "FILE" || option->get_type_name() == "TEXT") continue;
      for (const std::string& word : option->results()) {
        if (!FirstInvalidUtf8(word)) continue;
        return fmt::format("{} \"{}\" is not UTF-8", option->get_name(option->get_positional()),
                           client::MakePrintable(word));
      }
    }
  }
  return {};
}

void SayUsage(const std::string& problem, const CLI::App& app) {
  const CLI::App& deepest = Deepest(app);
  std::string command;
  for (const CLI::App* level = &deepest; level != nullptr; level = level->get_parent()) {
    command = level->get_name() + (command.empty() ? "" : " ") + command;
  }
  fmt::print(stderr, "sinkctl: {}\n  see `{} --help`\n", problem, command);
}

// The error of a word the parser has no use for: the first flag among them, else the first word.
std::string UnexpectedWord(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining(true);
  std::string word = words.empty() ? std::string() : words.front();
  for (const std::string& candidate : words) {
    if (candidate.starts_with('-')) {
      word = candidate.substr(0, candidate.find('='));
      break;
    }
  }
  const CLI::App& deepest = Deepest(app);
  const char* sort = word.starts_with('-')                 ? "flag"
                     : deepest.get_subcommands({}).empty() ? "word"
                                                           : "command";
  return fmt::format("unknown {} {}{}", sort, client::MakePrintable(word),
                     DidYouMean(word, KnownWords(deepest)));
}

// The help of a command, or what is wrong with its name.
ExitCode RunHelp(const Invocation& invocation) {
  const CLI::App& app = *invocation.app;
  const CLI::App* found = &app;
  std::string path = app.get_name();
  for (const std::string& word : invocation.help) {
    const std::vector<const CLI::App*> subs =
        found->get_subcommands([&word](const CLI::App* each) { return each->get_name() == word; });
    if (subs.empty()) {
      SayUsage(fmt::format("unknown command {}{}", client::MakePrintable(word),
                           DidYouMean(word, KnownWords(*found))),
               app);
      return kExitUsage;
    }
    found = subs.front();
    path += " " + word;
  }
  // CLI::App::help() would be about the command that was parsed, `help`.
  fmt::print("{}", app.get_formatter()->make_help(found, path, CLI::AppFormatMode::Normal));
  return kExitOk;
}

ExitCode RunCompletion(const Invocation& invocation) {
  fmt::print("{}", CompletionScript(*invocation.app, invocation.shell));
  return kExitOk;
}

void AddOtherCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* completion =
      AddCommand(app, invocation, "completion", "Print a shell's completion script", RunCompletion);
  completion->add_option("SHELL", invocation.shell, "bash, zsh or fish")
      ->type_name("{bash,zsh,fish}")
      ->required()
      ->check([](const std::string& shell) {
        const bool known = shell == "bash" || shell == "zsh" || shell == "fish";
        return known ? "" : "\"" + client::MakePrintable(shell) + "\" is not one of bash,zsh,fish";
      });
  completion->footer(
      "Examples:\n  source <(sinkctl completion bash)\n"
      "  sinkctl completion zsh > ~/.zfunc/_sinkctl\n"
      "  sinkctl completion fish > ~/.config/fish/completions/sinkctl.fish");
  AddCommand(app, invocation, "version", "Print the version", [](const Invocation&) {
    fmt::print("sinkctl {}\n", SINKCTL_VERSION);
    return kExitOk;
  });
  app.set_version_flag("--version", "sinkctl " SINKCTL_VERSION, "Print the version")
      ->group(kGlobalGroup);
  CLI::App* help =
      AddCommand(app, invocation, "help", "What a command does: its flags and an example", RunHelp);
  help->add_option("COMMAND", invocation.help, "The command, e.g. detect, or runs export")
      ->type_name("");
}

}  // namespace

CLI::App* AddCommand(CLI::App& app, Invocation& invocation, const char* name,
                     const char* description, RunCommand run, CheckCommand check) {
  CLI::App* command = app.add_subcommand(name, description);
  command->callback([&invocation, run, check] {
    invocation.run = run;
    invocation.check = check;
  });
  return command;
}

std::unique_ptr<CLI::App> MakeCommandLine(Invocation& invocation) {
  auto app = std::make_unique<CLI::App>(
      "sinkctl: attention sinks of language models, from a sinkd server", "sinkctl");
  invocation.app = app.get();
  app->get_formatter()->column_width(34);
  app->fallthrough();
  app->option_defaults()->always_capture_default(false);
  app->require_subcommand(0, 1);
  app->footer(kFooter);
  AddGlobalFlags(*app, invocation);
  AddModelCommands(*app, invocation);
  AddAnalysisCommands(*app, invocation);
  AddStudyCommands(*app, invocation);
  AddRunCommands(*app, invocation);
  AddAuditCommand(*app, invocation);
  AddReportCommand(*app, invocation);
  AddHealthCommand(*app, invocation);
  AddTopCommand(*app, invocation);
  AddTokenCommand(*app, invocation);
  AddOtherCommands(*app, invocation);
  for (CLI::App* sub : app->get_subcommands({})) sub->fallthrough();
  return app;
}

std::optional<ExitCode> ParseCommandLine(int argc, const char* const* argv, CLI::App& app,
                                         Invocation& invocation) {
  invocation.global.command.assign(argv, argv + argc);
  // CLI11 reports by throwing; nothing of it leaves this function.
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    app.exit(help);
    return kExitOk;
  } catch (const CLI::ExtrasError&) {
    SayUsage(UnexpectedWord(app), app);
    return kExitUsage;
  } catch (const CLI::Error& error) {
    SayUsage(error.what(), app);
    return kExitUsage;
  }
  if (app.get_subcommands().empty()) {
    fmt::print("{}", app.help());
    return kExitOk;
  }
  std::string problem = CheckWords(app);
  if (problem.empty() && invocation.check != nullptr) problem = invocation.check(invocation);
  if (!problem.empty()) {
    SayUsage(problem, app);
    return kExitUsage;
  }
  return std::nullopt;
}

}  // namespace sinkd::cli
