// GgufMetadata: the key-value pairs of a GGUF file, with typed access and errors that name file and
// key.
//
// Thread-safety: const methods may run on several threads.
// Errors: FAILED_PRECONDITION, reason BAD_GGUF.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <absl/status/statusor.h>

namespace sinkd {

// Integers of every width are int64, floats double; an array of bools is one of integers.
using GgufValue = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>,
                               std::vector<double>, std::vector<std::string>>;

class GgufMetadata {
 public:
  explicit GgufMetadata(std::string file) : file_(std::move(file)) {}

  // False when the key is there already.
  bool Add(std::string key, GgufValue value);

  bool Has(std::string_view key) const { return values_.find(key) != values_.end(); }

  // The keys that begin with `prefix`, in order.
  std::vector<std::string> KeysOf(std::string_view prefix) const;

  // The value of a key that has to be there.
  absl::StatusOr<int64_t> Integer(std::string_view key) const { return Get<int64_t>(key); }
  absl::StatusOr<std::string> Text(std::string_view key) const { return Get<std::string>(key); }
  absl::StatusOr<std::vector<std::string>> Texts(std::string_view key) const {
    return Get<std::vector<std::string>>(key);
  }
  absl::StatusOr<std::vector<int64_t>> Integers(std::string_view key) const {
    return Get<std::vector<int64_t>>(key);
  }
  absl::StatusOr<std::vector<double>> Numbers(std::string_view key) const {
    return Get<std::vector<double>>(key);
  }
  absl::StatusOr<double> Number(std::string_view key) const;  // an integer too

  absl::StatusOr<int64_t> IntegerOr(std::string_view key, int64_t absent) const;
  absl::StatusOr<bool> FlagOr(std::string_view key, bool absent) const;
  absl::StatusOr<std::string> TextOr(std::string_view key, std::string_view absent) const;

  // An error about `key`: "<file>: <key> <what>".
  absl::Status Error(std::string_view key, std::string_view what, std::string_view fix) const;

  const std::string& file() const { return file_; }

 private:
  template <typename T>
  absl::StatusOr<T> Get(std::string_view key) const;

  std::string file_;
  std::map<std::string, GgufValue, std::less<>> values_;
};

}  // namespace sinkd
