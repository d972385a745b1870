#include "server/config.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <span>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "server/base/status.h"
#include "server/config_access.h"
#include "server/config_file.h"
#include "server/config_memory.h"
#include "server/config_store.h"
#include "server/config_values.h"
#include "server/models/model_id.h"

namespace sinkd {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLongestDrain = std::chrono::hours(1);
constexpr milliseconds kLeastStuck = std::chrono::seconds(1);
constexpr std::array<std::string_view, 3> kComputeTypes = {"auto", "float32", "bfloat16"};
constexpr std::array<std::string_view, 2> kResidencies = {"resident", "streamed"};
constexpr std::array<std::string_view, 2> kLogFormats = {"text", "json"};
constexpr std::array<std::string_view, 4> kLogLevels = {"debug", "info", "warning", "error"};

// One setting: its flag is --name, its variable SINKD_NAME, its file key name.
struct Setting {
  const char* name;
  const char* type;  // what the help calls the value; empty: a flag that takes none
  const char* help;
  absl::Status (*apply)(const Given& given, Config& config);
  std::string (*show)(const Config& config);  // as a value in a configuration file
  bool repeatable = false;                    // apply is called for every value
};

template <auto Member>
absl::Status Store(auto value, Config& config) {
  if (!value.ok()) return std::move(value).status();
  config.*Member =
      static_cast<std::remove_reference_t<decltype(config.*Member)>>(*std::move(value));
  return absl::OkStatus();
}

template <auto Member, int64_t minimum, int64_t maximum>
absl::Status Integer(const Given& given, Config& config) {
  return Store<Member>(ReadInteger(given, minimum, maximum), config);
}

absl::Status ApplyStuckAfter(const Given& given, Config& config) {
  SINKD_ASSIGN_OR_RETURN(const milliseconds value, ReadDuration(given, kLongestDrain));
  if (value < kLeastStuck) return BadValue(given, "a time from 1s to 1h", "use for example 30s");
  config.stuck_after = value;
  return absl::OkStatus();
}

template <auto Member>
absl::Status Drain(const Given& given, Config& config) {
  return Store<Member>(ReadDuration(given, kLongestDrain), config);
}

template <auto Member>
absl::Status Switch(const Given& given, Config& config) {
  return Store<Member>(ReadBool(given), config);
}

template <auto Member, const auto& names>
absl::Status Choice(const Given& given, Config& config) {
  return Store<Member>(ReadChoice(given, names), config);
}

template <auto Member>
std::string Number(const Config& config) {
  return fmt::format("{}", config.*Member);
}

template <auto Member>
std::string Quoted(const Config& config) {
  return QuoteToml(config.*Member);
}

template <auto Member>
std::string Duration(const Config& config) {
  return QuoteToml(DurationText(config.*Member));
}

template <auto Member, const auto& names>
std::string ChoiceName(const Config& config) {
  return QuoteToml(names[static_cast<size_t>(config.*Member)]);
}

absl::Status ApplyHttpListen(const Given& given, Config& config) {
  if (given.value == "off") {
    config.http_listen.clear();
    return absl::OkStatus();
  }
  return Store<&Config::http_listen>(ReadAddress(given), config);
}

template <auto Member, auto Read>
absl::Status Append(const Given& given, Config& config) {
  SINKD_ASSIGN_OR_RETURN((config.*Member).emplace_back(), Read(given));
  return absl::OkStatus();
}

absl::Status ApplyModelRoot(const Given& given, Config& config) {
  std::error_code error;
  if (!std::filesystem::is_directory(given.value, error)) {
    return BadValue(given, "a folder that exists", "name the folder that holds the model folders");
  }
  config.model_root = given.value;
  return absl::OkStatus();
}

absl::Status ApplyLoad(const Given& given, Config& config) {
  if (!IsModelId(given.value)) {
    return BadValue(
        given,
        "a model id: 1 to 64 lower-case letters, digits, '.', '_' or '-', the first one "
        "a letter or digit",
        "name a folder directly under the model root");
  }
  config.load.push_back(given.value);
  return absl::OkStatus();
}

std::string ShowHttpListen(const Config& config) {
  return QuoteToml(config.http_listen.empty() ? "off" : config.http_listen);
}

std::string ShowModelRoot(const Config& config) {
  return QuoteToml(config.model_root.string());
}

// A file named by a flag; `of` is where its path is.
template <auto of>
absl::Status File(const Given& given, Config& config) {
  of(config) = given.value;
  return absl::OkStatus();
}

template <auto of>
std::string ShowFile(const Config& config) {
  return QuoteToml(of(config).string());
}

template <auto Member>
std::string QuotedList(const Config& config) {
  std::vector<std::string> quoted;
  for (const std::string& each : config.*Member) quoted.push_back(QuoteToml(each));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

const std::array kSettings = {
    Setting{"listen", "HOST:PORT",
            "Address of the gRPC port; port 0 picks a free one; unix:/a/path for a socket in the "
            "file system",
            [](const Given& given, Config& config) {
              return Store<&Config::listen>(ReadSocketAddress(given), config);
            },
            Quoted<&Config::listen>},
    Setting{
        "http-listen", "HOST:PORT",
        "Address of the HTTP port - the page, the JSON API, metrics, health - or off; port 0 picks "
        "a free one",
        ApplyHttpListen, ShowHttpListen},
    Setting{"http-allow-host", "HOST",
            "Name under which the page and the JSON API are asked for, beside loopback names, when "
            "something else passes requests on; may be given several times. Others are refused "
            "where http-listen is a loopback address, and wherever this is given",
            Append<&Config::http_allow_host, ReadHost>, QuotedList<&Config::http_allow_host>,
            /*repeatable=*/true},
    Setting{
        "http-allow-origin", "ORIGIN",
        "Site whose pages may read the JSON API from a browser, https://dashboards.example.org; "
        "may be given several times; *: every site",
        Append<&Config::http_allow_origin, ReadOrigin>, QuotedList<&Config::http_allow_origin>,
        /*repeatable=*/true},
    Setting{"insecure-listen", "",
            "Allow addresses other than loopback without TLS, or without tokens or client "
            "certificates. "
            "RISK: everyone who reaches the port can then read what is sent, tokens too, or run "
            "analyses, load and unload models. Only for a network that something else protects",
            Switch<&Config::insecure_listen>,
            [](const Config& config) {
              return std::string(config.insecure_listen ? "true" : "false");
            }},
    Setting{"tls-cert", "FILE",
            "Certificate chain of both ports, PEM, the server's own first; read again when it "
            "changes, as are the files below",
            File<[](Config& config) -> auto& { return config.tls.certificate; }>,
            ShowFile<[](const Config& config) -> auto& { return config.tls.certificate; }>},
    Setting{"tls-key", "FILE", "Its private key, PEM without a passphrase",
            File<[](Config& config) -> auto& { return config.tls.key; }>,
            ShowFile<[](const Config& config) -> auto& { return config.tls.key; }>},
    Setting{"tls-client-ca", "FILE",
            "Mutual TLS: clients need a certificate that one of these signed, PEM",
            File<[](Config& config) -> auto& { return config.tls.client_ca; }>,
            ShowFile<[](const Config& config) -> auto& { return config.tls.client_ca; }>},
    Setting{"token-file", "FILE",
            "Tokens that callers need, a line each as `sinkctl token new` prints it: name, role, "
            "SHA-256, quotas; read again when it changes. Empty: none is asked for",
            File<[](Config& config) -> auto& { return config.token_file; }>,
            ShowFile<[](const Config& config) -> auto& { return config.token_file; }>},
    Setting{
        "metrics-open", "", "Give metrics to everyone, where callers need tokens",
        Switch<&Config::metrics_open>,
        [](const Config& config) { return std::string(config.metrics_open ? "true" : "false"); }},
    Setting{"port-file", "FILE",
            "Where to write the bound addresses as JSON once the server is ready, for port 0",
            [](const Given& given, Config& config) {
              config.port_file = given.value;
              return absl::OkStatus();
            },
            Quoted<&Config::port_file>},
    Setting{"model-root", "DIR", "Folder that holds one folder per model (required)",
            ApplyModelRoot, ShowModelRoot},
    Setting{
        "load", "ID",
        "Model to load at start, and to keep when another load needs room (pinned); may be given "
        "several times (in the variable: a,b)",
        ApplyLoad, QuotedList<&Config::load>, /*repeatable=*/true},
    Setting{"device", "DEVICE",
            "Device models are loaded on unless a request says otherwise: cpu, cuda:0; auto (all "
            "GPUs, or the CPU where there are none); or a map, cuda:0=0-15,cuda:1=16-31",
            [](const Given& given, Config& config) {
              return Store<&Config::device>(ReadDevice(given), config);
            },
            Quoted<&Config::device>},
    Setting{"compute-type", "TYPE",
            "Format models compute in unless a request says otherwise: auto (as stored), float32, "
            "bfloat16",
            Choice<&Config::compute_type, kComputeTypes>,
            ChoiceName<&Config::compute_type, kComputeTypes>},
    Setting{"residency", "RESIDENCY",
            "Where weights are while a model runs, unless a request says otherwise: resident (all "
            "in memory), streamed (two blocks at a time, read from disk)",
            Choice<&Config::residency, kResidencies>, ChoiceName<&Config::residency, kResidencies>},
    Setting{
        "memory-budget", "BUDGET",
        "What devices may hold, weights and samples that run: cpu=8GiB,cuda:0=60GiB; of a "
        "device that is not named nine tenths of what is free, within the control group's limit",
        ApplyMemoryBudget, ShowMemoryBudget},
    Setting{"threads", "N", "Threads inside one operation, 0 to 1024; 0 = one per core",
            Integer<&Config::threads, 0, 1024>, Number<&Config::threads>},
    Setting{"max-sample-tokens", "N",
            "Longest sample, in tokens, 1 to 16777216; a model's own limit holds beside it",
            Integer<&Config::max_sample_tokens, 1, 1 << 24>, Number<&Config::max_sample_tokens>},
    Setting{"max-message-bytes", "BYTES", "Largest message that is received, 64KiB to 1GiB",
            [](const Given& given, Config& config) {
              return Store<&Config::max_message_bytes>(ReadBytes(given, 1 << 16, 1 << 30), config);
            },
            Number<&Config::max_message_bytes>},
    Setting{"max-queue", "N", "Samples waiting over all streams, 1 to 1000000",
            Integer<&Config::max_queue, 1, 1000000>, Number<&Config::max_queue>},
    Setting{"max-streams", "N", "Analyze streams open at once, 1 to 100000",
            Integer<&Config::max_streams, 1, 100000>, Number<&Config::max_streams>},
    Setting{"max-caller-percent", "PERCENT",
            "Part of --max-streams and --max-queue from which on one caller - a token's name, or a "
            "host - gets no more of them, so that others find room, 1 to 100",
            Integer<&Config::max_caller_percent, 1, 100>, Number<&Config::max_caller_percent>},
    Setting{"max-connections", "N", "Connections open at once on each port, 1 to 1000000",
            Integer<&Config::max_connections, 1, 1000000>, Number<&Config::max_connections>},
    Setting{"max-connections-per-address", "N",
            "Those of one client address (IPv6: of one /64 network), 1 to 1000000; a proxy is one "
            "address",
            Integer<&Config::max_connections_per_address, 1, 1000000>,
            Number<&Config::max_connections_per_address>},
    Setting{"read-ahead", "N",
            "Samples read from a stream before their records are sent, 1 to 4096",
            Integer<&Config::read_ahead, 1, 4096>, Number<&Config::read_ahead>},
    Setting{"stuck-after", "TIME",
            "A device whose work has made no progress for so long, 1s to 1h, makes the server "
            "NOT_SERVING until it goes on",
            ApplyStuckAfter, Duration<&Config::stuck_after>},
    Setting{"drain-delay", "TIME",
            "After SIGTERM: how long to serve on as not ready, up to 1h (500ms, 5s, 2m)",
            Drain<&Config::drain_delay>, Duration<&Config::drain_delay>},
    Setting{"drain-timeout", "TIME",
            "After that: how long running work may take to finish, up to 1h",
            Drain<&Config::drain_timeout>, Duration<&Config::drain_timeout>},
    Setting{"state-dir", "DIR",
            "Folder of what outlives the server, made when missing (default $STATE_DIRECTORY, else "
            "$XDG_STATE_HOME/sinkd, else ~/.local/state/sinkd)",
            [](const Given& given, Config& config) {
              config.state_dir = given.value;
              return absl::OkStatus();
            },
            [](const Config& config) { return QuoteToml(config.state_dir.string()); }},
    Setting{"store", "STORE",
            "Where runs are kept: sqlite (a file in the state folder), off, or a URL "
            "postgresql://user@host/database without a password",
            ApplyStore, Quoted<&Config::store>},
    Setting{"store-url-file", "FILE",
            "File that holds the URL of a PostgreSQL store, for one with a password",
            [](const Given& given, Config& config) {
              config.store_url_file = given.value;
              return absl::OkStatus();
            },
            [](const Config& config) { return QuoteToml(config.store_url_file.string()); }},
    Setting{"retain-age", "TIME",
            "Complete runs that did not change for so long are removed (90d), or off",
            ApplyRetainAge, ShowRetainAge},
    Setting{
        "retain-bytes", "BYTES",
        "Complete runs are removed, oldest first, when all runs hold more than this (10GiB), or "
        "off",
        ApplyRetainBytes, ShowRetainBytes},
    Setting{"log-format", "FORMAT", "text or json, one line an event, on standard error",
            Choice<&Config::log_format, kLogFormats>, ChoiceName<&Config::log_format, kLogFormats>},
    Setting{"log-level", "LEVEL", "Least level that is logged: debug, info, warning, error",
            Choice<&Config::log_level, kLogLevels>, ChoiceName<&Config::log_level, kLogLevels>},
    Setting{"template-date", "YYYY-MM-DD",
            "The date chat templates see; pinned, not today's, so that a prompt gives the same "
            "tokens every day",
            [](const Given& given, Config& config) {
              return Store<&Config::template_date>(ReadDate(given), config);
            },
            Quoted<&Config::template_date>},
};

std::string Flag(std::string_view name) {
  return fmt::format("--{}", name);
}

std::string Variable(std::string_view name) {
  std::string variable = "SINKD_";
  for (const char c : name) {
    variable += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
  return variable;
}

// What was typed, by setting; unset settings are absent.
struct CommandLine {
  std::map<std::string, std::vector<std::string>> values;
  std::string config_file;
  bool print_config = false;
  std::optional<std::string> text;  // of --help and --version
};

// `unknown` are the arguments that are no setting.
absl::Status CheckArguments(const CommandLine& line, const std::vector<std::string>& unknown) {
  for (const auto& [name, values] : line.values) {
    for (const std::string& value : values) {
      if (value.starts_with("--")) {
        return BadValue({Flag(name), value}, "followed by a value", "give it one");
      }
    }
  }
  if (unknown.empty()) return absl::OkStatus();
  return InvalidArgument("the command line holds something that is no setting",
                         {.reason = "COMMAND_LINE_INVALID",
                          .subject = "command line",
                          .value = unknown.front(),
                          .fix = "see sinkd --help"});
}

absl::StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv,
                                             std::string_view version) {
  const Config defaults;
  CommandLine line;
  CLI::App app("sinkd holds language models and streams what their attention sinks do.", "sinkd");
  app.footer(
      "Each flag has a variable (--max-queue: SINKD_MAX_QUEUE) and a key in the file of "
      "--config\n(max-queue = 64). The flag wins over the variable, the variable over the "
      "file.");
  app.set_help_flag("-h,--help", "Print this help");
  app.set_version_flag("--version", fmt::format("sinkd {}", version), "Print the version");
  app.add_option("--config", line.config_file, "TOML file with settings")->type_name("FILE");
  app.add_flag("--print-config", line.print_config,
               "Print the settings in force, as a file for --config, and exit");
  // Left to CheckArguments, since the parser takes a flag for the value of a flag that lacks one
  // and then complains of what comes next.
  app.allow_extras();
  std::map<std::string, bool> switches;
  for (const Setting& setting : kSettings) {
    const std::string unset = setting.show(defaults);
    const std::string help = unset == "\"\"" || unset == "[]"
                                 ? setting.help
                                 : fmt::format("{} (default {})", setting.help, unset);
    if (*setting.type == '\0') {
      app.add_flag(Flag(setting.name), switches[setting.name], help);
    } else {
      app.add_option(Flag(setting.name), line.values[setting.name], help)
          ->type_name(setting.type)
          ->expected(1)
          ->take_all();
    }
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    line.text = app.help();
  } catch (const CLI::CallForVersion&) {
    line.text = app.version() + "\n";
  } catch (const CLI::ParseError& error) {
    return InvalidArgument(error.what(),
                           {.reason = "COMMAND_LINE_INVALID", .fix = "see sinkd --help"});
  }
  for (const auto& [name, on] : switches) {
    if (app.count(Flag(name)) > 0) line.values[name] = {on ? "true" : "false"};
  }
  std::erase_if(line.values, [](const auto& item) { return item.second.empty(); });
  if (!line.text) SINKD_RETURN_IF_ERROR(CheckArguments(line, app.remaining()));
  return line;
}

// The values of `setting` from the first source that has any; empty when none has.
std::vector<Given> Collect(const Setting& setting, const CommandLine& line,
                           const Environment& environment, const ConfigFile& file,
                           const std::string& file_name) {
  std::vector<Given> all;
  const auto take = [&](const std::string& origin, const std::vector<std::string>& values) {
    for (const std::string& value : values) all.push_back({origin, value});
  };
  if (const auto typed = line.values.find(setting.name); typed != line.values.end()) {
    take(Flag(setting.name), typed->second);
    return all;
  }
  const std::string variable = Variable(setting.name);
  if (const std::optional<std::string> value = environment(variable); value && !value->empty()) {
    take(variable,
         setting.repeatable ? CLI::detail::split(*value, ',') : std::vector<std::string>{*value});
    return all;
  }
  if (const auto written = file.find(setting.name); written != file.end()) {
    take(fmt::format("{} in {}", setting.name, file_name), written->second);
  }
  return all;
}

absl::Status CheckKeys(const ConfigFile& file, const std::string& file_name) {
  for (const auto& [key, values] : file) {
    const bool known = std::any_of(kSettings.begin(), kSettings.end(),
                                   [&](const Setting& setting) { return key == setting.name; });
    if (!known) {
      return InvalidArgument(fmt::format("{} holds a key that is no setting", file_name),
                             {.reason = "CONFIG_FILE_INVALID",
                              .subject = file_name,
                              .value = key,
                              .fix = "see sinkd --print-config for all keys"});
    }
  }
  return absl::OkStatus();
}

absl::Status CheckWhole(const Config& config) {
  if (config.model_root.empty()) {
    return InvalidArgument("--model-root is missing",
                           {.reason = "CONFIG_INVALID",
                            .subject = "--model-root",
                            .fix = "name the folder that holds one folder per model"});
  }
  SINKD_RETURN_IF_ERROR(CheckStore(config));
  return CheckAccess(config);
}

}  // namespace

Environment ProcessEnvironment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

absl::StatusOr<ConfigOutcome> ParseConfig(int argc, const char* const* argv,
                                          std::string_view version,
                                          const Environment& environment) {
  SINKD_ASSIGN_OR_RETURN(const CommandLine line, ParseCommandLine(argc, argv, version));
  if (line.text) return ConfigOutcome{.text = line.text};

  const std::string file_name =
      line.config_file.empty() ? environment(Variable("config")).value_or("") : line.config_file;
  ConfigFile file;
  if (!file_name.empty()) {
    SINKD_ASSIGN_OR_RETURN(file, ReadConfigFile(file_name));
    SINKD_RETURN_IF_ERROR(CheckKeys(file, file_name));
  }
  ConfigOutcome outcome;
  for (const Setting& setting : kSettings) {
    const std::vector<Given> given = Collect(setting, line, environment, file, file_name);
    if (given.size() > 1 && !setting.repeatable) {
      return BadValue({given[0].origin, fmt::format("{} and {}", given[0].value, given[1].value)},
                      "given once", "keep one of them");
    }
    for (const Given& one : given) SINKD_RETURN_IF_ERROR(setting.apply(one, outcome.config));
  }
  SINKD_RETURN_IF_ERROR(CheckWhole(outcome.config));
  if (outcome.config.state_dir.empty()) outcome.config.state_dir = DefaultStateDir(environment);
  if (outcome.config.threads == 0) {
    outcome.config.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  }
  if (line.print_config) outcome.text = ConfigToToml(outcome.config);
  return outcome;
}

std::string ConfigToToml(const Config& config) {
  std::string text;
  for (const Setting& setting : kSettings) {
    text += fmt::format("{} = {}\n", setting.name, setting.show(config));
  }
  return text;
}

}  // namespace sinkd
