#include "server/config/config_settings.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "server/base/status.h"
#include "server/config/config_file.h"
#include "server/config/config_memory.h"
#include "server/config/config_store.h"
#include "server/models/model_id.h"

namespace sinkd {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLongestDrain = std::chrono::hours(1);
constexpr milliseconds kLeastTimeout = std::chrono::seconds(1);
constexpr std::array<std::string_view, 3> kComputeTypes = {"auto", "float32", "bfloat16"};
constexpr std::array<std::string_view, 2> kResidencies = {"resident", "streamed"};
constexpr std::array<std::string_view, 3> kFloat32Products = {"auto", "mkl", "onednn"};
constexpr std::array<std::string_view, 2> kLogFormats = {"text", "json"};
constexpr std::array<std::string_view, 4> kLogLevels = {"debug", "info", "warning", "error"};

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

template <auto Member>
absl::Status Timeout(const Given& given, Config& config) {
  SINKD_ASSIGN_OR_RETURN(const milliseconds value, ReadDuration(given, kLongestDrain));
  if (value < kLeastTimeout) return BadValue(given, "a time from 1s to 1h", "use for example 30s");
  config.*Member = value;
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
    Setting{
        "http-allow-host", "HOST",
        "Name under which the page, the JSON API and metrics are asked for, beside IP addresses "
        "and localhost; may be given several times. Others are refused where http-listen is a "
        "loopback address, and wherever this is given",
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
    Setting{
        "threads", "N",
        "Threads inside one operation, 0 to 1024; 0 = as many as the cores this process may use, "
        "by its affinity and its control group's CPU quota",
        Integer<&Config::threads, 0, 1024>, Number<&Config::threads>},
    Setting{"float32-products", "LIBRARY",
            "Library that multiplies float32 matrices on the CPU: auto (mkl on Intel's processors, "
            "onednn on others), mkl, onednn. Results of the two differ in their last digits",
            Choice<&Config::float32_products, kFloat32Products>,
            ChoiceName<&Config::float32_products, kFloat32Products>},
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
            "Part of every kind of work - streams, samples waiting, queries, exports, loads - from "
            "which on one caller - a token's name, or a host - gets no more of it, so that others "
            "find room, 1 to 100; 100: no bound",
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
    Setting{"first-message-timeout", "TIME",
            "Time a gRPC call has to send its first message, whole, 1s to 1h",
            Timeout<&Config::first_message_timeout>, Duration<&Config::first_message_timeout>},
    Setting{"write-timeout", "TIME",
            "Time a gRPC client has to read an answer, and a second more for each 64 KiB of it, "
            "1s to 1h; a call whose client does not is ended",
            Timeout<&Config::write_timeout>, Duration<&Config::write_timeout>},
    Setting{"stuck-after", "TIME",
            "A device whose work has made no progress for so long, 1s to 1h, makes the server "
            "NOT_SERVING until it goes on",
            Timeout<&Config::stuck_after>, Duration<&Config::stuck_after>},
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

}  // namespace

std::span<const Setting> Settings() {
  return kSettings;
}

}  // namespace sinkd
