// YamlMap: a mapping of a policy, parsed strictly: keys must be known and unique, and values must
// have the expected type. Policies follow the core schema of YAML 1.2: numbers and true/false are
// plain words, and text that looks like one of them needs quotes.
//
// Ownership: shares the document. Thread-safety: one thread at a time.
// Errors: INVALID_ARGUMENT, reason BAD_POLICY, with line, column, field, value and a fix.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>
#include <yaml-cpp/yaml.h>

namespace sinkd {

// "policy line 3, column 5: WHAT". `path` is the field's, "rules[2].at_most"; lines and columns
// count from 1.
absl::Status PolicyError(const YAML::Mark& mark, std::string_view path, std::string_view value,
                         std::string_view what, std::string_view fix);

class YamlMap {
 public:
  static absl::StatusOr<YamlMap> Open(const YAML::Node& node, std::string path,
                                      std::span<const std::string_view> known);

  bool Has(std::string_view key) const { return values_.contains(key); }
  YAML::Mark mark() const { return mark_; }
  YAML::Node Value(std::string_view key) const;
  std::string PathOf(std::string_view key) const;

  // Absent if the key is absent.
  absl::StatusOr<std::optional<std::string>> Text(std::string_view key, size_t most_bytes) const;
  absl::StatusOr<std::optional<double>> Number(std::string_view key, double least,
                                               double most) const;
  absl::StatusOr<std::optional<int64_t>> Integer(std::string_view key, int64_t least,
                                                 int64_t most) const;
  absl::StatusOr<std::optional<bool>> Flag(std::string_view key) const;
  // The index of one of `words`.
  absl::StatusOr<std::optional<size_t>> Word(std::string_view key,
                                             std::span<const std::string_view> words) const;
  absl::StatusOr<std::vector<YAML::Node>> List(std::string_view key, size_t most) const;

  // An error about the value of `key`.
  absl::Status Bad(std::string_view key, std::string_view what, std::string_view fix) const;

 private:
  YamlMap(std::string path, const YAML::Mark& mark) : path_(std::move(path)), mark_(mark) {}

  std::string path_;
  YAML::Mark mark_;
  std::map<std::string, YAML::Node, std::less<>> values_;
};

}  // namespace sinkd
