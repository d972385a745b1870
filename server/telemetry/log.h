// Log: one line per event on stderr, as text for people or as JSON for collectors.
//
//   Log(LogLevel::kInfo, "model loaded", {{"model", id}, {"seconds", 1.25}});
//   text: 2026-01-02T03:04:05.678Z info model loaded model=smollm2 seconds=1.25
//   json: {"time":"2026-01-02T03:04:05.678Z","level":"info","message":"model loaded",...}
//
// A line never contains a newline or control character, whatever the values contain, and is always
// valid UTF-8. Keys are fixed snake_case words: request_id, method, model, code, seconds (always in
// seconds), bytes.
// Thread-safety: all functions may be called from any thread; lines never mix.
// Errors: none; a line that cannot be written is dropped.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace sinkd {

enum class LogLevel { kDebug, kInfo, kWarning, kError };
enum class LogFormat { kText, kJson };

std::string_view LogLevelName(LogLevel level);  // "debug", "info", "warning", "error"

// A key and its value. Borrows the key and string values, so build it in the call to Log.
struct LogField {
  using Value = std::variant<std::string_view, int64_t, double, bool>;

  LogField(std::string_view field_key, std::string_view text) : key(field_key), value(text) {}
  LogField(std::string_view field_key, const std::string& text)
      : key(field_key), value(std::string_view(text)) {}
  LogField(std::string_view field_key, const char* text)
      : key(field_key), value(std::string_view(text)) {}
  LogField(std::string_view field_key, bool flag) : key(field_key), value(flag) {}
  LogField(std::string_view field_key, std::floating_point auto number)
      : key(field_key), value(static_cast<double>(number)) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  LogField(std::string_view field_key, T number)
      : key(field_key), value(static_cast<int64_t>(number)) {}
  LogField(std::string_view field_key, std::chrono::duration<double> seconds)
      : key(field_key), value(seconds.count()) {}

  std::string_view key;
  Value value;
};

// Sets the format and the lowest level for the whole process. Default: text, info.
void ConfigureLog(LogFormat format, LogLevel least);

void Log(LogLevel level, std::string_view message, std::span<const LogField> fields);
inline void Log(LogLevel level, std::string_view message,
                std::initializer_list<LogField> fields = {}) {
  Log(level, message, std::span<const LogField>(fields.begin(), fields.size()));
}

// The line that Log would write, without its newline.
std::string FormatLogLine(LogFormat format, std::chrono::system_clock::time_point time,
                          LogLevel level, std::string_view message,
                          std::span<const LogField> fields);

// Sends lines (without newline) to `writer` instead of stderr; an empty one restores stderr. Calls
// do not overlap.
void SetLogWriter(std::function<void(std::string_view line)> writer);

}  // namespace sinkd
