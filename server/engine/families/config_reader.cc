#include "server/engine/families/config_reader.h"

#include <cmath>
#include <fstream>

#include <nlohmann/json.hpp>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

using Json = nlohmann::json;

constexpr uintmax_t kMaxConfigBytes = 16u << 20;
constexpr int kMaxDepth = 64;
constexpr char kRestore[] = "restore config.json from the checkpoint's source";

absl::Status BadFile(std::string_view file, std::string_view what, std::string_view fix) {
  return FailedPrecondition(
      StrCat(file, ": ", what),
      {.reason = "BAD_CONFIG", .subject = std::string(file), .fix = std::string(fix)});
}

}  // namespace

struct ConfigReader::Node {
  Json json;
  std::string file;
};

ConfigReader::ConfigReader(std::shared_ptr<const Node> node, std::string prefix)
    : node_(std::move(node)), prefix_(std::move(prefix)) {}

absl::StatusOr<ConfigReader> ConfigReader::Open(const std::filesystem::path& folder) {
  const auto fail = [](std::string_view what, std::string_view fix) {
    return BadFile("config.json", what, fix);
  };
  const std::filesystem::path path = folder / "config.json";
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return fail("cannot be read: " + error.message(), kRestore);
  if (size > kMaxConfigBytes) return fail("is larger than 16 MiB", kRestore);
  std::ifstream stream(path, std::ios::binary);
  std::string text(size, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(size));
  if (!stream) return fail("cannot be read to its end", kRestore);
  return FromText("config.json", text);
}

absl::StatusOr<ConfigReader> ConfigReader::FromText(std::string file, std::string_view text) {
  const auto fail = [&file](std::string_view what, std::string_view fix) {
    return BadFile(file, what, fix);
  };
  // nlohmann::json would take it for the end of the text.
  if (text.find('\0') != std::string_view::npos) return fail("is not valid JSON", kRestore);
  bool too_deep = false;
  const auto bound_depth = [&too_deep](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > kMaxDepth;
    return depth <= kMaxDepth;
  };
  Json json = Json::parse(text, bound_depth, /*allow_exceptions=*/false);
  if (too_deep) return fail("is nested deeper than 64 levels", kRestore);
  if (json.is_discarded()) return fail("is not valid JSON", kRestore);
  if (!json.is_object()) return fail("does not hold an object", kRestore);
  return ConfigReader(std::make_shared<Node>(Node{std::move(json), std::move(file)}), "");
}

absl::Status ConfigReader::Error(std::string_view key, std::string_view what,
                                 std::string_view fix) const {
  ErrorDetail detail{.reason = "BAD_CONFIG",
                     .subject = StrCat(node_->file, ":", prefix_, key),
                     .fix = std::string(fix)};
  const auto found = node_->json.find(key);
  if (found != node_->json.end()) {
    detail.value = found->dump(-1, ' ', true, Json::error_handler_t::replace);
  }
  return FailedPrecondition(StrCat(node_->file, ": ", prefix_, key, " ", what), std::move(detail));
}

bool ConfigReader::Has(std::string_view key) const {
  return node_->json.contains(key);
}

bool ConfigReader::HasObject(std::string_view key) const {
  const auto found = node_->json.find(key);
  return found != node_->json.end() && found->is_object();
}

absl::StatusOr<int64_t> ConfigReader::Size(std::string_view key, int64_t maximum) const {
  const auto found = node_->json.find(key);
  if (found == node_->json.end() || found->is_null()) {
    return Error(key, "is missing", StrCat("add it: an integer from 1 to ", maximum));
  }
  // Unsigned values past int64 would wrap, so they are compared as they are.
  const bool fits =
      found->is_number_integer() &&
      (found->is_number_unsigned()
           ? found->get<uint64_t>() >= 1 && found->get<uint64_t>() <= static_cast<uint64_t>(maximum)
           : found->get<int64_t>() >= 1 && found->get<int64_t>() <= maximum);
  if (!fits) {
    return Error(key, StrCat("is not an integer from 1 to ", maximum), kRestore);
  }
  return found->get<int64_t>();
}

absl::StatusOr<int64_t> ConfigReader::SizeOr(std::string_view key, int64_t absent,
                                             int64_t maximum) const {
  const auto found = node_->json.find(key);
  if (found == node_->json.end() || found->is_null()) return absent;
  return Size(key, maximum);
}

absl::StatusOr<double> ConfigReader::NumberOr(std::string_view key, double absent) const {
  const auto found = node_->json.find(key);
  if (found == node_->json.end() || found->is_null()) return absent;
  return Number(key);
}

absl::StatusOr<double> ConfigReader::Number(std::string_view key) const {
  const auto found = node_->json.find(key);
  if (found == node_->json.end() || !found->is_number() || !std::isfinite(found->get<double>())) {
    return Error(key, "is not a number", kRestore);
  }
  return found->get<double>();
}

absl::StatusOr<bool> ConfigReader::FlagOr(std::string_view key, bool absent) const {
  const auto found = node_->json.find(key);
  if (found == node_->json.end() || found->is_null()) return absent;
  if (!found->is_boolean()) return Error(key, "is neither true nor false", kRestore);
  return found->get<bool>();
}

absl::StatusOr<std::string> ConfigReader::TextOr(std::string_view key,
                                                 std::string_view absent) const {
  const auto found = node_->json.find(key);
  if (found == node_->json.end() || found->is_null()) return std::string(absent);
  if (!found->is_string()) return Error(key, "is not a string", kRestore);
  return found->get<std::string>();
}

absl::StatusOr<std::vector<std::string>> ConfigReader::TextList(std::string_view key) const {
  const auto found = node_->json.find(key);
  if (found == node_->json.end() || found->is_null()) return std::vector<std::string>();
  std::vector<std::string> list;
  if (!found->is_array()) return Error(key, "is not a list of strings", kRestore);
  for (const Json& item : *found) {
    if (!item.is_string()) return Error(key, "is not a list of strings", kRestore);
    list.push_back(item.get<std::string>());
  }
  return list;
}

absl::StatusOr<std::vector<double>> ConfigReader::NumberList(std::string_view key) const {
  const auto found = node_->json.find(key);
  if (found == node_->json.end() || found->is_null()) return std::vector<double>();
  std::vector<double> list;
  if (!found->is_array()) return Error(key, "is not a list of numbers", kRestore);
  for (const Json& item : *found) {
    if (!item.is_number() || !std::isfinite(item.get<double>())) {
      return Error(key, "is not a list of numbers", kRestore);
    }
    list.push_back(item.get<double>());
  }
  return list;
}

ConfigReader ConfigReader::Object(std::string_view key) const {
  const auto found = node_->json.find(key);
  Json inner = found != node_->json.end() && found->is_object() ? *found : Json::object();
  return ConfigReader(std::make_shared<Node>(Node{std::move(inner), node_->file}),
                      StrCat(prefix_, key, "."));
}

}  // namespace sinkd
