#include "server/library_logs.h"

#include <google/protobuf/stubs/common.h>
#include <grpcpp/version_info.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/telemetry/log.h"
#include "server/telemetry/sparse_log.h"

// Both have their own way until they take Abseil's.
#define SINKD_PROTOBUF_LOGS_ITSELF (GOOGLE_PROTOBUF_VERSION < 4022000)
#define SINKD_GRPC_LOGS_ITSELF (GRPC_CPP_VERSION_MAJOR == 1 && GRPC_CPP_VERSION_MINOR < 65)
#if SINKD_PROTOBUF_LOGS_ITSELF
#include <google/protobuf/stubs/logging.h>
#endif
#if SINKD_GRPC_LOGS_ITSELF
#include <grpc/support/log.h>
#endif
#if !SINKD_PROTOBUF_LOGS_ITSELF || !SINKD_GRPC_LOGS_ITSELF
#include <absl/log/globals.h>
#include <absl/log/log_sink.h>
#include <absl/log/log_sink_registry.h>
#endif

namespace sinkd {
namespace {

constexpr std::chrono::seconds kBetweenLines{60};
constexpr size_t kMostTextBytes = 300;

// Leaked, since libraries speak until the process ends.
SparseLog& LogOf(const std::string& place) {
  static auto* const mutex = new std::mutex;
  static auto* const logs = new std::map<std::string, std::unique_ptr<SparseLog>>;
  const std::lock_guard lock(*mutex);
  std::unique_ptr<SparseLog>& log = (*logs)[place];
  if (!log) log = std::make_unique<SparseLog>(kBetweenLines);
  return *log;
}

void Tell(LogLevel level, std::string_view file, int line, std::string_view text) {
  const std::string place = StrCat(file.substr(file.rfind('/') + 1), ":", line);
  const std::string shortened = Shorten(text, kMostTextBytes);
  LogOf(place).Note(level, "a library reports", {{"place", place}, {"text", shortened}});
}

#if SINKD_PROTOBUF_LOGS_ITSELF
void TellOfProtobuf(google::protobuf::LogLevel level, const char* file, int line,
                    const std::string& text) {
  Tell(level == google::protobuf::LOGLEVEL_INFO ? LogLevel::kInfo : LogLevel::kWarning, file, line,
       text);
}
#endif

#if SINKD_GRPC_LOGS_ITSELF
void TellOfGrpc(gpr_log_func_args* args) {
  Tell(args->severity == GPR_LOG_SEVERITY_ERROR ? LogLevel::kWarning : LogLevel::kInfo, args->file,
       args->line, args->message);
}
#endif

#if !SINKD_PROTOBUF_LOGS_ITSELF || !SINKD_GRPC_LOGS_ITSELF
class Sink final : public absl::LogSink {
  void Send(const absl::LogEntry& entry) override {
    Tell(entry.log_severity() == absl::LogSeverity::kInfo ? LogLevel::kInfo : LogLevel::kWarning,
         entry.source_filename(), entry.source_line(), entry.text_message());
  }
};
#endif

}  // namespace

void RouteLibraryLogs() {
#if SINKD_PROTOBUF_LOGS_ITSELF
  google::protobuf::SetLogHandler(TellOfProtobuf);
#endif
#if SINKD_GRPC_LOGS_ITSELF
  gpr_set_log_function(TellOfGrpc);
#endif
#if !SINKD_PROTOBUF_LOGS_ITSELF || !SINKD_GRPC_LOGS_ITSELF
  absl::SetStderrThreshold(absl::LogSeverityAtLeast::kInfinity);
  absl::AddLogSink(new Sink);
#endif
}

}  // namespace sinkd
