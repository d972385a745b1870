// ConfigReader: typed access to a checkpoint's config.json, with errors that name file, key and
// value. Absent and null keys read alike. It notes which keys it was asked for, so that those that
// nothing reads can be told.
//
// Thread-safety: none, since reading notes the key; copies and objects within share the note.
// Errors: FAILED_PRECONDITION.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>
#include <nlohmann/json_fwd.hpp>

namespace sinkd {

class ConfigReader {
 public:
  // Reads `folder`/config.json, at most 4 MiB.
  static absl::StatusOr<ConfigReader> Open(const std::filesystem::path& folder);

  // Reads `text`, a config.json that was made from `file`; errors name that file.
  static absl::StatusOr<ConfigReader> FromText(std::string file, std::string_view text);

  bool Has(std::string_view key) const;       // the key is written, be it null
  bool HasValue(std::string_view key) const;  // the key is written and not null
  // Counts keys as read that do not affect what the model computes.
  void PassOver(std::initializer_list<std::string_view> keys) const;
  bool HasObject(std::string_view key) const;  // the key holds an object that is not empty
  // Both keys are written and hold different values.
  bool Differ(std::string_view key, std::string_view other) const;

  // A positive integer of at most `maximum`.
  absl::StatusOr<int64_t> Size(std::string_view key, int64_t maximum) const;
  absl::StatusOr<int64_t> SizeOr(std::string_view key, int64_t absent, int64_t maximum) const;
  absl::StatusOr<double> NumberOr(std::string_view key, double absent) const;
  absl::StatusOr<double> Number(std::string_view key) const;
  absl::StatusOr<bool> FlagOr(std::string_view key, bool absent) const;
  absl::StatusOr<std::string> TextOr(std::string_view key, std::string_view absent) const;
  // Lists; an absent key gives an empty one.
  absl::StatusOr<std::vector<std::string>> TextList(std::string_view key) const;
  absl::StatusOr<std::vector<double>> NumberList(std::string_view key,
                                                 bool infinite_too = false) const;
  // [[["a", "b"], 2], ...]: lists of strings, each as often as the number beside it says, one after
  // the other; at most `maximum` strings.
  absl::StatusOr<std::vector<std::string>> RepeatedTexts(std::string_view key,
                                                         size_t maximum) const;

  // The keys of this object.
  std::vector<std::string> Keys() const;

  // The object under `key`; its errors name "key.inner".
  ConfigReader Object(std::string_view key) const;

  // An error about `key` of this file: "config.json: <key> <what>".
  absl::Status Error(std::string_view key, std::string_view what, std::string_view fix) const;

  const std::string& file() const;  // whose keys these are

  // Paths ("rope_parameters.factor") of the keys that nothing was asked about so far and that are
  // not null; those within an object only where Object gave it out.
  std::vector<std::string> Unread() const;

 private:
  struct File;
  ConfigReader(std::shared_ptr<File> file, const nlohmann::json* node, std::string prefix);
  // What `key` holds; nullptr where it is absent.
  const nlohmann::json* Find(std::string_view key) const;
  // The same, nullptr for null too.
  const nlohmann::json* Value(std::string_view key) const;

  std::shared_ptr<File> file_;
  const nlohmann::json* node_;  // an object in file_
  std::string prefix_;
};

}  // namespace sinkd
