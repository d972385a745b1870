// What the command line asks for, as plain values. Filled by command_line.h, read by the commands.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/cli/exit_code.h"
#include "sinks/v1/analysis.pb.h"
#include "sinks/v1/audit.pb.h"
#include "sinks/v1/mechanism.pb.h"
#include "sinks/v1/models.pb.h"
#include "sinks/v1/runs.pb.h"

namespace CLI {
class App;
}

namespace sinkd::cli {

enum class OutputFormat { kTable, kJson, kJsonl, kCsv };
enum class InputFormat { kAuto, kJsonl, kText };

// Files of the caller's; all empty: an unknown caller, in plaintext.
struct CredentialOptions {
  std::string token_file;
  std::string tls_ca;
  std::string tls_cert;
  std::string tls_key;
  std::string tls_server_name;
  bool insecure_token = false;  // may go to other machines without TLS
};

// A token to be made.
struct TokenOptions {
  std::string name;
  std::string role;
  std::optional<int64_t> requests_per_minute;
  std::optional<int64_t> tokens_per_minute;
  std::optional<int64_t> streams;
  std::optional<double> weight;
};

struct GlobalOptions {
  std::string server = "127.0.0.1:50051";
  OutputFormat output = OutputFormat::kTable;
  std::optional<std::chrono::milliseconds> timeout;  // for the whole command; absent: none
  bool quiet = false;
  bool verbose = false;  // what gRPC logs goes to standard error
  bool no_color = false;
  bool ascii = false;                // charts in ASCII only
  bool csv_raw = false;              // CSV with text as it is
  std::vector<std::string> command;  // the words of the command line
  CredentialOptions credentials;
};

struct InputOptions {
  std::vector<std::string> files;  // "-" is standard input
  std::vector<std::string> texts;  // samples given on the command line
  InputFormat format = InputFormat::kAuto;
  bool lines = false;                // plain text: a sample per line, not per file
  bool ignore_unknown_keys = false;  // JSONL keys that mean nothing here
};

struct AnalysisCommand;  // analyses/analysis_command.h

// Which results are shown. Detection always runs on the server.
using Sections = std::set<const AnalysisCommand*>;

struct AnalyzeOptions {
  Sections sections;
  std::string model;
  sinks::v1::AnalysisSpec spec;  // parameters given on the command line; the rest is absent
  InputOptions input;
  std::string shard;          // "3/8"; empty: all samples
  bool resume = false;        // of the run that spec names: only what it does not hold
  bool records = false;       // records even when only summaries are shown
  bool no_records = false;    // even when they would be shown
  bool summary_only = false;  // no records, and a summary even of a shard
  // How long to go on trying after the last answer; absent: a few times.
  std::optional<std::chrono::milliseconds> retry_for;
  bool no_chart = false;
};

struct ModelOptions {
  std::string model;  // empty: all of them
  bool names = false;
  sinks::v1::LoadModelRequest load;
  sinks::v1::PlanModelRequest plan;
  bool tensors = false;  // of `plan`: each, not grouped
};

struct FamilyOptions {
  std::string family;  // empty: all of them
  bool names = false;
};

struct StudyCommand;  // study_command.h

struct StudyOptions {
  const StudyCommand* command = nullptr;
  std::string model;
  sinks::v1::RunStudyRequest request;  // what was given on the command line; the rest is absent
  InputOptions input;
  bool no_chart = false;
};

enum class RunAction {
  kNone,
  kList,
  kShow,
  kComplete,
  kDelete,
  kExport,
  kImport,
  kSummarize,
  kBackup
};

// `runs` and what follows it.
struct RunOptions {
  RunAction action = RunAction::kNone;
  std::vector<std::string> runs;  // as given, with or without "runs/"
  bool names = false;             // of `list`
  bool token_ids = false;         // of `export`
  bool no_chart = false;
  sinks::v1::RunFilter filter;
  bool all = false;                           // of `summarize`: every run
  sinks::v1::SummarizeRunsRequest summarize;  // what was given; the rest is absent
  Sections sections;                          // of `summarize`; none: what the runs have
  sinks::v1::ImportHeader import;             // what was given; the rest comes from the file
  std::string file;                           // of `import`, "-" is standard input; of `backup`
};

struct HealthOptions {
  bool wait = false;  // until the server serves or the time is over
};

struct TopOptions {
  bool once = false;
  std::optional<std::chrono::milliseconds> interval;  // absent: kTopInterval, on a terminal alone
};
inline constexpr std::chrono::milliseconds kTopInterval{2000};

struct ReportOptions {
  std::vector<std::string> runs;  // as given, with or without "runs/"
  std::string file;               // "-" is standard output
  int64_t samples = 20;           // of each run
};

enum class AuditFormat { kTable, kJson, kJunit, kMarkdown, kText };

struct AuditOptions {
  std::string policy_file;  // "-" is standard input
  std::optional<AuditFormat> format;
  sinks::v1::AuditRunsRequest request;  // without the policy
};

struct Invocation;
using RunCommand = ExitCode (*)(const Invocation&);
// What is wrong with flags together, or empty. May fill in what follows from them.
using CheckCommand = std::string (*)(Invocation&);

struct Invocation {
  RunCommand run = nullptr;      // of the command that was given
  CheckCommand check = nullptr;  // null: nothing to check
  const CLI::App* app = nullptr;
  TokenOptions token;
  GlobalOptions global;
  ModelOptions models;
  FamilyOptions families;
  AnalyzeOptions analyze;
  StudyOptions study;
  RunOptions runs;
  AuditOptions audit;
  ReportOptions report;
  HealthOptions health;
  TopOptions top;
  std::string shell;              // of `completion`
  std::vector<std::string> help;  // of `help`: a command
};

}  // namespace sinkd::cli
