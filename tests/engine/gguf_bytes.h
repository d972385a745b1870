// GgufBytes: builds GGUF files field by field, right or wrong ones, for tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace sinkd::testing {

// The numbers GGUF gives its value types.
enum class GgufField : uint32_t {
  kU8 = 0,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kText = 8,
  kArray = 9,
  kU64 = 10
};

class GgufBytes {
 public:
  template <typename T>
  static std::string Raw(T value) {
    std::string bytes(sizeof(T), '\0');
    std::memcpy(bytes.data(), &value, sizeof(T));
    return bytes;
  }
  static std::string Text(const std::string& text) { return Raw<uint64_t>(text.size()) + text; }
  static std::string Type(GgufField type) { return Raw(static_cast<uint32_t>(type)); }

  GgufBytes& Pair(const std::string& key, const std::string& type_and_value) {
    pairs_.push_back(Text(key) + type_and_value);
    return *this;
  }
  GgufBytes& Number(const std::string& key, uint32_t value) {
    return Pair(key, Type(GgufField::kU32) + Raw(value));
  }
  GgufBytes& Float(const std::string& key, float value) {
    return Pair(key, Type(GgufField::kF32) + Raw(value));
  }
  GgufBytes& Flag(const std::string& key, bool value) {
    return Pair(key, Type(GgufField::kBool) + Raw(static_cast<uint8_t>(value)));
  }
  GgufBytes& String(const std::string& key, const std::string& value) {
    return Pair(key, Type(GgufField::kText) + Text(value));
  }
  GgufBytes& Strings(const std::string& key, const std::vector<std::string>& values) {
    std::string bytes =
        Type(GgufField::kArray) + Type(GgufField::kText) + Raw<uint64_t>(values.size());
    for (const std::string& value : values) bytes += Text(value);
    return Pair(key, bytes);
  }
  template <typename T>
  GgufBytes& Array(const std::string& key, GgufField type, const std::vector<T>& values) {
    std::string bytes = Type(GgufField::kArray) + Type(type) + Raw<uint64_t>(values.size());
    for (const T value : values) bytes += Raw(value);
    return Pair(key, bytes);
  }
  // `axes` as the file has them, the fastest first.
  GgufBytes& Tensor(const std::string& name, const std::vector<uint64_t>& axes, uint32_t type,
                    uint64_t offset) {
    std::string bytes = Text(name) + Raw(static_cast<uint32_t>(axes.size()));
    for (const uint64_t axis : axes) bytes += Raw(axis);
    tensors_.push_back(bytes + Raw(type) + Raw(offset));
    return *this;
  }
  GgufBytes& Data(size_t bytes, char fill = '\x01') {
    data_ += std::string(bytes, fill);
    return *this;
  }
  GgufBytes& Data(const std::string& bytes) {
    data_ += bytes;
    return *this;
  }

  // With the counts of what was added, or with these.
  std::string File(uint32_t version = 3) const {
    return File(version, tensors_.size(), pairs_.size());
  }
  std::string File(uint32_t version, uint64_t tensors, uint64_t pairs) const {
    std::string bytes = "GGUF" + Raw(version) + Raw(tensors) + Raw(pairs);
    for (const std::string& pair : pairs_) bytes += pair;
    for (const std::string& tensor : tensors_) bytes += tensor;
    if (data_.empty()) return bytes;
    bytes.resize((bytes.size() + 31) / 32 * 32, '\0');
    return bytes + data_;
  }

 private:
  std::vector<std::string> pairs_;
  std::vector<std::string> tensors_;
  std::string data_;
};

}  // namespace sinkd::testing
