#include "server/engine/families/config_reader.h"

#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <set>

#include "server/base/json.h"
#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

using Json = nlohmann::json;

constexpr uintmax_t kMaxConfigBytes = 4u << 20;
constexpr size_t kMaxValues = 250'000;
constexpr char kRestore[] = "restore config.json from the checkpoint's source";

absl::Status BadFile(std::string_view file, std::string_view what, std::string_view fix) {
  return FailedPrecondition(
      StrCat(file, ": ", what),
      {.reason = "BAD_CONFIG", .subject = std::string(file), .fix = std::string(fix)});
}

// How transformers 5 writes what JSON has no number for.
bool IsInfinity(const Json& value) {
  return value.is_object() && value.size() == 1 && value.value("__float__", Json()) == "Infinity";
}

}  // namespace

struct ConfigReader::File {
  Json json;
  std::string name;
  std::set<std::string, std::less<>> asked;   // paths
  std::set<std::string, std::less<>> opened;  // paths of objects
};

ConfigReader::ConfigReader(std::shared_ptr<File> file, const Json* node, std::string prefix)
    : file_(std::move(file)), node_(node), prefix_(std::move(prefix)) {}

absl::StatusOr<ConfigReader> ConfigReader::Open(const std::filesystem::path& folder) {
  const auto fail = [](std::string_view what, std::string_view fix) {
    return BadFile("config.json", what, fix);
  };
  const std::filesystem::path path = folder / "config.json";
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return fail("cannot be read: " + error.message(), kRestore);
  if (size > kMaxConfigBytes) return fail("is larger than 4 MiB", kRestore);
  std::ifstream stream(path, std::ios::binary);
  std::string text(size, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(size));
  if (!stream) return fail("cannot be read to its end", kRestore);
  return FromText("config.json", text);
}

absl::StatusOr<ConfigReader> ConfigReader::FromText(std::string name, std::string_view text) {
  absl::StatusOr<Json> json = ParseJson(text, {.values = kMaxValues});
  if (!json.ok()) return BadFile(name, std::string(json.status().message()), kRestore);
  if (!json->is_object()) return BadFile(name, "does not hold an object", kRestore);
  const auto file = std::make_shared<File>(File{*std::move(json), std::move(name), {}, {}});
  return ConfigReader(file, &file->json, "");
}

absl::Status ConfigReader::Error(std::string_view key, std::string_view what,
                                 std::string_view fix) const {
  ErrorDetail detail{.reason = "BAD_CONFIG",
                     .subject = StrCat(file_->name, ":", prefix_, key),
                     .fix = std::string(fix)};
  if (const Json* value = Find(key)) {
    detail.value = value->dump(-1, ' ', true, Json::error_handler_t::replace);
  }
  return FailedPrecondition(StrCat(file_->name, ": ", prefix_, key, " ", what), std::move(detail));
}

const Json* ConfigReader::Find(std::string_view key) const {
  file_->asked.insert(StrCat(prefix_, key));
  const auto found = node_->find(key);
  return found == node_->end() ? nullptr : &*found;
}

const Json* ConfigReader::Value(std::string_view key) const {
  const Json* value = Find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

bool ConfigReader::Has(std::string_view key) const {
  return Find(key) != nullptr;
}

void ConfigReader::PassOver(std::initializer_list<std::string_view> keys) const {
  for (const std::string_view key : keys) (void)Find(key);
}

bool ConfigReader::HasValue(std::string_view key) const {
  return Value(key) != nullptr;
}

bool ConfigReader::HasObject(std::string_view key) const {
  const Json* value = Find(key);
  return value != nullptr && value->is_object() && !value->empty();
}

bool ConfigReader::Differ(std::string_view key, std::string_view other) const {
  const Json* one = Find(key);
  const Json* two = Find(other);
  return one != nullptr && two != nullptr && *one != *two;
}

absl::StatusOr<int64_t> ConfigReader::Size(std::string_view key, int64_t maximum) const {
  const Json* const found = Value(key);
  if (found == nullptr) {
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
  const Json* const found = Value(key);
  if (found == nullptr) return absent;
  return Size(key, maximum);
}

absl::StatusOr<double> ConfigReader::NumberOr(std::string_view key, double absent) const {
  const Json* const found = Value(key);
  if (found == nullptr) return absent;
  return Number(key);
}

absl::StatusOr<double> ConfigReader::Number(std::string_view key) const {
  const Json* const found = Value(key);
  if (found == nullptr) return Error(key, "is missing", "add it: a number");
  if (!found->is_number() || !std::isfinite(found->get<double>())) {
    return Error(key, "is not a number", kRestore);
  }
  return found->get<double>();
}

absl::StatusOr<bool> ConfigReader::FlagOr(std::string_view key, bool absent) const {
  const Json* const found = Value(key);
  if (found == nullptr) return absent;
  if (!found->is_boolean()) return Error(key, "is neither true nor false", kRestore);
  return found->get<bool>();
}

absl::StatusOr<std::string> ConfigReader::TextOr(std::string_view key,
                                                 std::string_view absent) const {
  const Json* const found = Value(key);
  if (found == nullptr) return std::string(absent);
  if (!found->is_string()) return Error(key, "is not a string", kRestore);
  return found->get<std::string>();
}

absl::StatusOr<std::vector<std::string>> ConfigReader::TextList(std::string_view key) const {
  const Json* const found = Value(key);
  if (found == nullptr) return std::vector<std::string>();
  std::vector<std::string> list;
  if (!found->is_array()) return Error(key, "is not a list of strings", kRestore);
  for (const Json& item : *found) {
    if (!item.is_string()) return Error(key, "is not a list of strings", kRestore);
    list.push_back(item.get<std::string>());
  }
  return list;
}

absl::StatusOr<std::vector<std::string>> ConfigReader::RepeatedTexts(std::string_view key,
                                                                     size_t maximum) const {
  const Json* const found = Value(key);
  std::vector<std::string> all;
  if (found == nullptr) return all;
  const auto error = [&] {
    return Error(
        key, StrCat("is not a list of lists, each with a number, of ", maximum, " strings at most"),
        kRestore);
  };
  if (!found->is_array()) return error();
  for (const Json& run : *found) {
    if (!run.is_array() || run.size() != 2 || !run[0].is_array() || !run[1].is_number_unsigned()) {
      return error();
    }
    const auto times = run[1].get<uint64_t>();
    if (times > maximum) return error();
    for (uint64_t time = 0; time < times; ++time) {
      for (const Json& item : run[0]) {
        if (!item.is_string() || all.size() == maximum) return error();
        all.push_back(item.get<std::string>());
      }
    }
  }
  return all;
}

absl::StatusOr<std::vector<double>> ConfigReader::NumberList(std::string_view key,
                                                             bool infinite_too) const {
  const Json* const found = Value(key);
  if (found == nullptr) return std::vector<double>();
  std::vector<double> list;
  if (!found->is_array()) return Error(key, "is not a list of numbers", kRestore);
  for (const Json& item : *found) {
    if (infinite_too && IsInfinity(item)) {
      list.push_back(std::numeric_limits<double>::infinity());
      continue;
    }
    if (!item.is_number() || !std::isfinite(item.get<double>())) {
      return Error(key, "is not a list of numbers", kRestore);
    }
    list.push_back(item.get<double>());
  }
  return list;
}

std::vector<std::string> ConfigReader::Keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : node_->items()) keys.push_back(key);
  return keys;
}

ConfigReader ConfigReader::Object(std::string_view key) const {
  static const Json kEmpty = Json::object();
  const Json* const value = Find(key);
  const bool object = value != nullptr && value->is_object();
  std::string path = StrCat(prefix_, key);
  if (object) file_->opened.insert(path);
  return ConfigReader(file_, object ? value : &kEmpty, path + ".");
}

const std::string& ConfigReader::file() const {
  return file_->name;
}

std::vector<std::string> ConfigReader::Unread() const {
  std::vector<std::string> unread;
  const std::function<void(const Json&, const std::string&)> collect =
      [&](const Json& object, const std::string& prefix) {
        for (const auto& [key, value] : object.items()) {
          const std::string path = prefix + key;
          if (value.is_null()) continue;
          if (!file_->asked.contains(path)) {
            unread.push_back(path);
          } else if (file_->opened.contains(path)) {
            collect(value, path + ".");
          }
        }
      };
  collect(file_->json, "");
  return unread;
}

}  // namespace sinkd
