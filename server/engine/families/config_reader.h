// ConfigReader: typed access to a checkpoint's config.json, with errors that name file, key and
// value. Absent and null keys read alike.
//
// Thread-safety: const methods may be called from several threads.
// Errors: FAILED_PRECONDITION.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

namespace sinkd {

class ConfigReader {
 public:
  // Reads `folder`/config.json, at most 16 MiB.
  static absl::StatusOr<ConfigReader> Open(const std::filesystem::path& folder);

  // Reads `text`, a config.json that was made from `file`; errors name that file.
  static absl::StatusOr<ConfigReader> FromText(std::string file, std::string_view text);

  bool Has(std::string_view key) const;        // the key is written, be it null
  bool HasObject(std::string_view key) const;  // the key holds an object

  // A positive integer of at most `maximum`.
  absl::StatusOr<int64_t> Size(std::string_view key, int64_t maximum) const;
  absl::StatusOr<int64_t> SizeOr(std::string_view key, int64_t absent, int64_t maximum) const;
  absl::StatusOr<double> NumberOr(std::string_view key, double absent) const;
  absl::StatusOr<double> Number(std::string_view key) const;
  absl::StatusOr<bool> FlagOr(std::string_view key, bool absent) const;
  absl::StatusOr<std::string> TextOr(std::string_view key, std::string_view absent) const;
  // Lists; an absent key gives an empty one.
  absl::StatusOr<std::vector<std::string>> TextList(std::string_view key) const;
  absl::StatusOr<std::vector<double>> NumberList(std::string_view key) const;

  // The object under `key`; its errors name "key.inner".
  ConfigReader Object(std::string_view key) const;

  // An error about `key` of this file: "config.json: <key> <what>".
  absl::Status Error(std::string_view key, std::string_view what, std::string_view fix) const;

 private:
  struct Node;
  ConfigReader(std::shared_ptr<const Node> node, std::string prefix);
  std::shared_ptr<const Node> node_;
  std::string prefix_;
};

}  // namespace sinkd
