#include "server/config/config_store.h"

#include <array>
#include <string_view>

#include "server/base/status.h"
#include "server/config/config_file.h"

namespace sinkd {
namespace {

constexpr char kOff[] = "off";
constexpr std::chrono::hours kLongestRetention{24 * 36500};
constexpr int64_t kMostBytes = int64_t{1} << 60;
constexpr std::array<std::string_view, 2> kSchemes = {"postgresql://", "postgres://"};

// What follows the scheme; empty for a value of another kind.
std::string_view PastScheme(std::string_view url) {
  for (const std::string_view scheme : kSchemes) {
    if (url.starts_with(scheme)) return url.substr(scheme.size());
  }
  return {};
}

bool HoldsPassword(std::string_view past_scheme) {
  const size_t at = past_scheme.rfind('@');
  const bool of_user =
      at != std::string_view::npos && past_scheme.substr(0, at).find(':') != std::string_view::npos;
  return of_user || past_scheme.find("password=") != std::string_view::npos;
}

}  // namespace

absl::Status ApplyStore(const Given& given, Config& config) {
  const std::string_view past_scheme = PastScheme(given.value);
  if (HoldsPassword(past_scheme)) {
    // The value itself must not come into a message.
    return BadValue({given.origin, "a URL with a password"}, "a URL without a password",
                    "put the URL into a file that only this user can read, and name it with "
                    "--store-url-file");
  }
  if (past_scheme.empty() && given.value != "sqlite" && given.value != kOff) {
    return BadValue(given, "sqlite, off, or a URL that begins with postgresql://",
                    "write for example postgresql://sinkd@127.0.0.1/runs");
  }
  config.store = given.value;
  return absl::OkStatus();
}

absl::Status ApplyRetainAge(const Given& given, Config& config) {
  config.retain_age.reset();
  if (given.value == kOff) return absl::OkStatus();
  SINKD_ASSIGN_OR_RETURN(config.retain_age, ReadDuration(given, kLongestRetention));
  return absl::OkStatus();
}

std::string ShowRetainAge(const Config& config) {
  return QuoteToml(config.retain_age ? DurationText(*config.retain_age) : kOff);
}

absl::Status ApplyRetainBytes(const Given& given, Config& config) {
  config.retain_bytes.reset();
  if (given.value == kOff) return absl::OkStatus();
  SINKD_ASSIGN_OR_RETURN(config.retain_bytes, ReadBytes(given, 0, kMostBytes));
  return absl::OkStatus();
}

std::string ShowRetainBytes(const Config& config) {
  return QuoteToml(config.retain_bytes ? std::to_string(*config.retain_bytes) : kOff);
}

absl::Status CheckStore(const Config& config) {
  if (config.store_url_file.empty() || config.store == Config().store) return absl::OkStatus();
  return InvalidArgument("--store and --store-url-file both name a store",
                         {.reason = "CONFIG_INVALID",
                          .subject = "--store-url-file",
                          .value = config.store_url_file.string(),
                          .fix = "keep one of them"});
}

std::filesystem::path DefaultStateDir(const Environment& environment) {
  const auto variable = [&environment](const char* name) -> std::filesystem::path {
    return environment(name).value_or("");
  };
  // systemd lists several folders if a unit has several; the first one is for the store.
  const std::string of_unit = environment("STATE_DIRECTORY").value_or("");
  if (!of_unit.empty()) return of_unit.substr(0, of_unit.find(':'));
  if (const auto state = variable("XDG_STATE_HOME"); !state.empty()) return state / "sinkd";
  if (const auto home = variable("HOME"); !home.empty()) return home / ".local/state/sinkd";
  return {};
}

}  // namespace sinkd
