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
constexpr std::array<std::string_view, 2> kActivationQuantizations = {"none", "as-stored"};
constexpr std::array<std::string_view, 3> kFloat32Products = {"auto", "mkl", "onednn"};
constexpr std::array<std::string_view, 3> kAttentionChoices = {"auto", "strips", "fused-calls"};
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
        "a letter or digit, and @REVISION or nothing",
        "name a folder directly under the model root, or one of a Hugging Face cache there");
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
            "Address of the gRPC port; port 0 picks a free one, unix:/a/path is a socket in the "
            "file system",
            [](const Given& given, Config& config) {
              return Store<&Config::listen>(ReadSocketAddress(given), config);
            },
            Quoted<&Config::listen>},
    Setting{"http-listen", "HOST:PORT",
            "Address of the HTTP port (page, JSON API, metrics, health), or off; port 0 picks a "
            "free one",
            ApplyHttpListen, ShowHttpListen},
    Setting{"http-allow-host", "HOST",
            "Host name that HTTP requests may use besides IP addresses and localhost; repeatable. "
            "Other names are refused if http-listen is a loopback address or if this flag is given",
            Append<&Config::http_allow_host, ReadHost>, QuotedList<&Config::http_allow_host>,
            /*repeatable=*/true},
    Setting{"http-allow-origin", "ORIGIN",
            "Origin whose pages may read the JSON API from a browser, such as "
            "https://dashboards.example.org, or * for all; repeatable",
            Append<&Config::http_allow_origin, ReadOrigin>, QuotedList<&Config::http_allow_origin>,
            /*repeatable=*/true},
    Setting{
        "insecure-listen", "",
        "Allow non-loopback addresses without TLS, or without tokens or client certificates. RISK: "
        "anyone who reaches the port can read what is sent, including tokens, and can run analyses "
        "and load and unload models. Only for networks that are protected otherwise",
        Switch<&Config::insecure_listen>,
        [](const Config& config) {
          return std::string(config.insecure_listen ? "true" : "false");
        }},
    Setting{"tls-cert", "FILE",
            "Certificate chain of both ports, PEM, the server's own certificate first; reloaded "
            "when it changes, as are the next three files",
            File<[](Config& config) -> auto& { return config.tls.certificate; }>,
            ShowFile<[](const Config& config) -> auto& { return config.tls.certificate; }>},
    Setting{"tls-key", "FILE", "Private key of the certificate, PEM without a passphrase",
            File<[](Config& config) -> auto& { return config.tls.key; }>,
            ShowFile<[](const Config& config) -> auto& { return config.tls.key; }>},
    Setting{"tls-client-ca", "FILE",
            "CA certificates for mutual TLS, PEM; clients need a certificate signed by one of them",
            File<[](Config& config) -> auto& { return config.tls.client_ca; }>,
            ShowFile<[](const Config& config) -> auto& { return config.tls.client_ca; }>},
    Setting{"token-file", "FILE",
            "Tokens of callers, one line each as `sinkctl token new` prints it: name, role, "
            "SHA-256, quotas. Empty: no tokens are required",
            File<[](Config& config) -> auto& { return config.token_file; }>,
            ShowFile<[](const Config& config) -> auto& { return config.token_file; }>},
    Setting{
        "http-read-only", "", "Refuse analyses over HTTP (POST /api/v1/analyze)",
        Switch<&Config::http_read_only>,
        [](const Config& config) { return std::string(config.http_read_only ? "true" : "false"); }},
    Setting{
        "metrics-open", "", "Serve /metrics without a token, even if callers need one",
        Switch<&Config::metrics_open>,
        [](const Config& config) { return std::string(config.metrics_open ? "true" : "false"); }},
    Setting{"port-file", "FILE",
            "File to write the bound addresses to, as JSON, once the server is ready; for port 0",
            [](const Given& given, Config& config) {
              config.port_file = given.value;
              return absl::OkStatus();
            },
            Quoted<&Config::port_file>},
    Setting{"model-root", "DIR", "Folder with one folder per model (required)", ApplyModelRoot,
            ShowModelRoot},
    Setting{"load", "ID",
            "Model to load at start and never to evict (pinned); repeatable (in the variable: a,b)",
            ApplyLoad, QuotedList<&Config::load>, /*repeatable=*/true},
    Setting{"device", "DEVICE",
            "Default device of models: cpu; cuda:0; auto (all GPUs, or the CPU if there are none); "
            "or a map of blocks, cuda:0=0-15,cuda:1=16-31",
            [](const Given& given, Config& config) {
              return Store<&Config::device>(ReadDevice(given), config);
            },
            Quoted<&Config::device>},
    Setting{"compute-type", "TYPE",
            "Default number format of models: auto (as stored), float32, bfloat16",
            Choice<&Config::compute_type, kComputeTypes>,
            ChoiceName<&Config::compute_type, kComputeTypes>},
    Setting{"residency", "RESIDENCY",
            "Default place of weights while a model runs: resident (all in memory) or streamed "
            "(two blocks at a time, read from disk)",
            Choice<&Config::residency, kResidencies>, ChoiceName<&Config::residency, kResidencies>},
    Setting{"activation-quantization", "HOW",
            "Default rounding of the inputs of quantized projections: none (the weights are "
            "measured alone) or as-stored (as config.json says)",
            Choice<&Config::activation_quantization, kActivationQuantizations>,
            ChoiceName<&Config::activation_quantization, kActivationQuantizations>},
    Setting{"memory-budget", "BUDGET",
            "Memory that each device may use for weights and running samples: "
            "cpu=8GiB,cuda:0=60GiB. Default for other devices: nine tenths of their free memory, "
            "within the control group's limit",
            ApplyMemoryBudget, ShowMemoryBudget},
    Setting{"threads", "N",
            "Threads per operation, 0 to 1024; 0: one per core that the CPU affinity and the "
            "control group's quota allow",
            Integer<&Config::threads, 0, 1024>, Number<&Config::threads>},
    Setting{"float32-products", "LIBRARY",
            "Library for float32 matrix products on the CPU: auto (mkl on Intel, onednn "
            "elsewhere), mkl, onednn. Their results differ in the last digits",
            Choice<&Config::float32_products, kFloat32Products>,
            ChoiceName<&Config::float32_products, kFloat32Products>},
    Setting{"attention", "WAY",
            "How attention is computed: auto (fused on CPUs with AVX-512, by two fused calls of "
            "libtorch on GPUs, else in strips), strips, fused-calls. Their results differ in the "
            "last digits",
            Choice<&Config::attention, kAttentionChoices>,
            ChoiceName<&Config::attention, kAttentionChoices>},
    Setting{"max-sample-tokens", "N",
            "Longest sample in tokens, 1 to 16777216; the model's own limit applies too",
            Integer<&Config::max_sample_tokens, 1, 1 << 24>, Number<&Config::max_sample_tokens>},
    Setting{"max-message-bytes", "BYTES", "Largest message that the server receives, 64KiB to 1GiB",
            [](const Given& given, Config& config) {
              return Store<&Config::max_message_bytes>(ReadBytes(given, 1 << 16, 1 << 30), config);
            },
            Number<&Config::max_message_bytes>},
    Setting{"max-queue", "N", "Limit on waiting samples over all streams, 1 to 1000000",
            Integer<&Config::max_queue, 1, 1000000>, Number<&Config::max_queue>},
    Setting{"max-streams", "N", "Limit on open Analyze and RunStudy streams, 1 to 100000",
            Integer<&Config::max_streams, 1, 100000>, Number<&Config::max_streams>},
    Setting{"max-caller-percent", "PERCENT",
            "Share of each kind of work (streams, waiting samples, queries, exports, loads) that "
            "one caller may hold, in percent, 1 to 100. A caller is a token's name or a host",
            Integer<&Config::max_caller_percent, 1, 100>, Number<&Config::max_caller_percent>},
    Setting{"max-connections", "N", "Limit on open connections per port, 1 to 1000000",
            Integer<&Config::max_connections, 1, 1000000>, Number<&Config::max_connections>},
    Setting{
        "max-connections-per-address", "N",
        "Limit on open connections per client address (or IPv6 /64 network), 1 to 1000000; a proxy "
        "counts as one address",
        Integer<&Config::max_connections_per_address, 1, 1000000>,
        Number<&Config::max_connections_per_address>},
    Setting{"read-ahead", "N",
            "Samples that a stream may send before it gets their records, 1 to 4096",
            Integer<&Config::read_ahead, 1, 4096>, Number<&Config::read_ahead>},
    Setting{"first-message-timeout", "TIME",
            "Time in which a gRPC call must send its first message, 1s to 1h",
            Timeout<&Config::first_message_timeout>, Duration<&Config::first_message_timeout>},
    Setting{"write-timeout", "TIME",
            "Time in which a gRPC client must read an answer, 1s to 1h, plus 1s per 64 KiB; "
            "otherwise the call ends",
            Timeout<&Config::write_timeout>, Duration<&Config::write_timeout>},
    Setting{"stuck-after", "TIME",
            "Time without progress, 1s to 1h, after which a device counts as stuck and the server "
            "as NOT_SERVING until it continues",
            Timeout<&Config::stuck_after>, Duration<&Config::stuck_after>},
    Setting{"drain-delay", "TIME",
            "Time after SIGTERM in which the server still serves but is not ready, up to 1h "
            "(500ms, 5s, 2m)",
            Drain<&Config::drain_delay>, Duration<&Config::drain_delay>},
    Setting{"drain-timeout", "TIME", "Time that running work then has to finish, up to 1h",
            Drain<&Config::drain_timeout>, Duration<&Config::drain_timeout>},
    Setting{"state-dir", "DIR",
            "Folder for state that outlives the server, created if missing (default "
            "$STATE_DIRECTORY, else $XDG_STATE_HOME/sinkd, else ~/.local/state/sinkd)",
            [](const Given& given, Config& config) {
              config.state_dir = given.value;
              return absl::OkStatus();
            },
            [](const Config& config) { return QuoteToml(config.state_dir.string()); }},
    Setting{"store", "STORE",
            "Store of runs: sqlite (a file in the state folder), off, or "
            "postgresql://user@host/database without a password",
            ApplyStore, Quoted<&Config::store>},
    Setting{"store-url-file", "FILE",
            "File with the URL of a PostgreSQL store, for a URL with a password",
            [](const Given& given, Config& config) {
              config.store_url_file = given.value;
              return absl::OkStatus();
            },
            [](const Config& config) { return QuoteToml(config.store_url_file.string()); }},
    Setting{"retain-age", "TIME",
            "Age since its last change at which a complete run is deleted (90d), or off",
            ApplyRetainAge, ShowRetainAge},
    Setting{"retain-bytes", "BYTES",
            "Size of all runs beyond which complete runs are deleted, oldest first (10GiB), or off",
            ApplyRetainBytes, ShowRetainBytes},
    Setting{"log-format", "FORMAT",
            "Format of the log on standard error: text or json, one line per event",
            Choice<&Config::log_format, kLogFormats>, ChoiceName<&Config::log_format, kLogFormats>},
    Setting{"log-level", "LEVEL", "Lowest level to log: debug, info, warning, error",
            Choice<&Config::log_level, kLogLevels>, ChoiceName<&Config::log_level, kLogLevels>},
    Setting{"template-date", "YYYY-MM-DD",
            "Date that chat templates see. Fixed, so that a prompt gives the same tokens every day",
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
