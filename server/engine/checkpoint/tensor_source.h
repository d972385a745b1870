// TensorSource: the interface of file formats: named tensors that are read on demand.
//
// Row-major, the last axis fastest. Thread-safety: const methods may run on several threads.
// Errors: FAILED_PRECONDITION naming file and tensor.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>

namespace sinkd {

struct TensorEntry {
  std::string dtype;  // of the values that Read returns, in safetensors' names: "F32", "BF16", ...
  std::vector<int64_t> shape;  // row-major, the last axis fastest
  int64_t offset = 0;          // of the first stored byte, from the start of the file
  int64_t bytes = 0;           // shape x dtype
  std::string stored_as;       // the format that Read unpacks, for people; empty: plain
  int64_t stored_bytes = 0;    // if packed: all stored parts together

  int64_t BytesInFile() const { return stored_as.empty() ? bytes : stored_bytes; }
};

// How the tensor is stored: its dtype, or the format that Read unpacks.
inline const std::string& StoredType(const TensorEntry& entry) {
  return entry.stored_as.empty() ? entry.dtype : entry.stored_as;
}

using TensorMap = std::map<std::string, TensorEntry, std::less<>>;

class TensorSource {
 public:
  virtual ~TensorSource() = default;

  virtual const std::string& name() const = 0;  // the file's, without its folder
  virtual const TensorMap& tensors() const = 0;
  virtual int64_t header_bytes() const = 0;  // read to list the tensors

  // Reads `bytes` bytes at `offset` within the tensor's values.
  virtual absl::Status Read(std::string_view tensor, int64_t offset, int64_t bytes,
                            void* out) const = 0;
};

// Rows that can be read one by one.
struct RowLayout {
  int64_t rows = 0;
  int64_t row_bytes = 0;
};

// Reads `bytes` bytes at `offset` within all rows by means of `read_rows`, which writes `count`
// whole rows from `first`. INTERNAL past the end.
absl::Status ReadByRows(
    const RowLayout& layout, int64_t offset, int64_t bytes, void* out,
    const std::function<absl::Status(int64_t first, int64_t count, void* rows)>& read_rows);

}  // namespace sinkd
