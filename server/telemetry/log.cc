#include "server/telemetry/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <cmath>
#include <ctime>
#include <memory>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "server/base/utf8.h"

namespace sinkd {
namespace {

// In JSON's way, in which code points past U+FFFF are two.
void AppendEscape(std::string& line, uint32_t code) {
  if (code > 0xFFFF) {
    const uint32_t pair = code - 0x10000;
    line += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (pair >> 10), 0xDC00 + (pair & 0x3FF));
  } else {
    line += fmt::format("\\u{:04x}", code);
  }
}

// JSON's escapes; good in text too, where a quote or backslash only matters inside quotes. U+0080
// to U+009F are control characters that a terminal may act on, as it does on ESC.
void AppendEscaped(std::string& line, std::string_view raw, bool quoted) {
  const std::string repaired = RepairUtf8(raw);
  for (std::string_view text = repaired; !text.empty();) {
    const CodePoint point = ReadCodePoint(text);
    const uint32_t code = point.code;
    if (code == '\n') {
      line += "\\n";
    } else if (code == '\r') {
      line += "\\r";
    } else if (code == '\t') {
      line += "\\t";
    } else if (code < 0x20 || (code >= 0x7F && code < 0xA0) || IsInvisible(code)) {
      AppendEscape(line, code);
    } else {
      if (quoted && (code == '"' || code == '\\')) line += '\\';
      line += text.substr(0, point.bytes);
    }
    text.remove_prefix(point.bytes);
  }
}

void AppendQuoted(std::string& line, std::string_view text) {
  line += '"';
  AppendEscaped(line, text, /*quoted=*/true);
  line += '"';
}

// JSON has no infinities and no NaN, so there they are strings.
std::string NumberText(double number) {
  return std::isfinite(number) ? fmt::format("{}", number) : fmt::format("\"{}\"", number);
}

bool NeedsQuotes(std::string_view text) {
  return text.empty() || text.find_first_of(" \"=\\") != std::string_view::npos;
}

void AppendValue(std::string& line, LogFormat format, const LogField::Value& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    if (format == LogFormat::kJson || NeedsQuotes(*text)) {
      AppendQuoted(line, *text);
    } else {
      AppendEscaped(line, *text, /*quoted=*/false);
    }
  } else if (const auto* whole = std::get_if<int64_t>(&value)) {
    line += fmt::format("{}", *whole);
  } else if (const auto* number = std::get_if<double>(&value)) {
    line += NumberText(*number);
  } else {
    line += std::get<bool>(value) ? "true" : "false";
  }
}

std::string Timestamp(std::chrono::system_clock::time_point time) {
  const auto since_epoch = std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_epoch);
  const std::time_t whole = seconds.count();
  std::tm utc{};
  gmtime_r(&whole, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                     (since_epoch - seconds).count());
}

// The process's logger. Leaked, so that threads may log while the process exits.
struct Output {
  std::atomic<LogFormat> format{LogFormat::kText};
  std::atomic<LogLevel> least{LogLevel::kInfo};
  std::mutex writer_mutex;
  std::function<void(std::string_view)> writer;
  spdlog::logger stderr_logger{"sinkd", std::make_shared<spdlog::sinks::stderr_sink_mt>()};

  Output() {
    // The line is whole already; spdlog brings it out in one piece.
    stderr_logger.set_pattern("%v");
    stderr_logger.set_level(spdlog::level::trace);
    stderr_logger.flush_on(spdlog::level::trace);
    stderr_logger.set_error_handler([](const std::string&) {});
  }
};

Output& TheOutput() {
  static auto* const output = new Output();
  return *output;
}

}  // namespace

std::string_view LogLevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      break;
  }
  return "error";
}

void ConfigureLog(LogFormat format, LogLevel least) {
  TheOutput().format = format;
  TheOutput().least = least;
}

void SetLogWriter(std::function<void(std::string_view line)> writer) {
  Output& output = TheOutput();
  const std::lock_guard lock(output.writer_mutex);
  output.writer = std::move(writer);
}

std::string FormatLogLine(LogFormat format, std::chrono::system_clock::time_point time,
                          LogLevel level, std::string_view message,
                          std::span<const LogField> fields) {
  std::string line;
  if (format == LogFormat::kJson) {
    line = fmt::format(R"({{"time":"{}","level":"{}","message":)", Timestamp(time),
                       LogLevelName(level));
    AppendQuoted(line, message);
    for (const LogField& field : fields) {
      line += ',';
      AppendQuoted(line, field.key);
      line += ':';
      AppendValue(line, format, field.value);
    }
    return line + '}';
  }
  line = fmt::format("{} {} ", Timestamp(time), LogLevelName(level));
  AppendEscaped(line, message, /*quoted=*/false);
  for (const LogField& field : fields) {
    line += ' ';
    AppendEscaped(line, field.key, /*quoted=*/false);
    line += '=';
    AppendValue(line, format, field.value);
  }
  return line;
}

void Log(LogLevel level, std::string_view message, std::span<const LogField> fields) {
  Output& output = TheOutput();
  if (level < output.least.load()) return;
  const std::string line =
      FormatLogLine(output.format.load(), std::chrono::system_clock::now(), level, message, fields);
  {
    const std::lock_guard lock(output.writer_mutex);
    if (output.writer) {
      output.writer(line);
      return;
    }
  }
  output.stderr_logger.log(spdlog::level::info, spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace sinkd
