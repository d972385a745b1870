// Config: all settings, validated. Each value comes from the first of these that has it: command
// line (--max-queue 64), environment (SINKD_MAX_QUEUE=64), the configuration file that --config
// names (TOML: max-queue = 64), default.
//
// Errors: INVALID_ARGUMENT naming the flag, variable or file key, the value, the limit and the fix.
// Thread-safety: values; ParseConfig is pure except that it reads the configuration file and the
// environment.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "server/access/tls_files.h"
#include "server/engine/model.h"
#include "server/telemetry/log.h"

namespace sinkd {

struct Config {
  std::string listen = "127.0.0.1:50051";      // gRPC, host:port
  std::string http_listen = "127.0.0.1:9464";  // page, API, metrics, health; empty: off
  bool insecure_listen = false;                // addresses other than loopback are allowed
  TlsPaths tls;                                // of both ports
  std::filesystem::path token_file;            // of both ports; empty: no tokens are needed
  bool http_read_only = false;                 // no analyses over HTTP
  bool metrics_open = false;                   // to everyone, with or without a token
  std::vector<std::string> http_allow_host;    // names that HTTP accepts beside localhost,
                                               // addresses and http_listen's
  std::vector<std::string> http_allow_origin;  // of pages that may read the API; "*": all
  std::string port_file;                       // receives the bound addresses once ready

  std::filesystem::path model_root;
  std::vector<std::string> load;  // ids of models to load at start
  std::string device = "cpu";     // default device of a load, "auto" and maps included
  ComputeType compute_type = ComputeType::kAuto;
  Residency residency = Residency::kResident;
  ActivationQuantization activation_quantization = ActivationQuantization::kNone;
  // Memory that devices may hold, in bytes. Default for a device: nine tenths of its free memory
  // when the server begins to use it.
  std::map<std::string, int64_t> memory_budget;
  int threads = 0;  // per operation; 0 = UsableCores(), which ParseConfig resolves
  Float32Products float32_products = Float32Products::kAuto;
  AttentionChoice attention = AttentionChoice::kAuto;

  int64_t max_sample_tokens = 32768;    // longest sample; models have limits too
  int64_t max_message_bytes = 8 << 20;  // largest message received
  int64_t max_queue = 2048;             // samples admitted and waiting, over all streams
  int64_t max_streams = 64;             // Analyze streams open at once
  int64_t max_caller_percent = 50;      // limit of a caller for each kind of work
  int64_t max_connections = 1024;       // open at once, on each port
  int64_t max_connections_per_address = 256;
  int64_t read_ahead = 32;  // samples read per stream before their records are sent

  std::chrono::milliseconds first_message_timeout{30000};
  std::chrono::milliseconds write_timeout{60000};  // plus a second per 64 KiB
  std::chrono::milliseconds stuck_after{30000};    // without progress, a device is stuck
  std::chrono::milliseconds drain_delay{5000};     // SIGTERM: not ready, still serving
  std::chrono::milliseconds drain_timeout{30000};  // then: running work may finish

  std::string store = "sqlite";          // "sqlite", "off", or a postgresql:// URL without password
  std::filesystem::path store_url_file;  // holds the URL of a PostgreSQL store; empty: none
  std::filesystem::path state_dir;       // of the SQLite store; empty: none known
  std::optional<std::chrono::milliseconds> retain_age;  // complete runs, since their last change
  std::optional<int64_t> retain_bytes;                  // of all runs together

  LogFormat log_format = LogFormat::kText;
  LogLevel log_level = LogLevel::kInfo;
  std::string template_date = "2025-01-01";  // YYYY-MM-DD, the date chat templates see
};

// The command line's request: to serve with `config`, or to print `text` and exit with 0
// (--help, --version, --print-config).
struct ConfigOutcome {
  Config config;
  std::optional<std::string> text;
};

// The value of an environment variable; nullopt when unset.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment ProcessEnvironment();

// `argv[0]` is the program's name; `version` is what --version prints.
absl::StatusOr<ConfigOutcome> ParseConfig(int argc, const char* const* argv,
                                          std::string_view version,
                                          const Environment& environment = ProcessEnvironment());

// `config` as a file that --config reads back.
std::string ConfigToToml(const Config& config);

}  // namespace sinkd
