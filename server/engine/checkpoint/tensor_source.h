// TensorSource: named tensors that are read on demand, whatever the file format behind them.
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
  std::string dtype;           // what Read gives, as safetensors writes it: "F32", "BF16", ...
  std::vector<int64_t> shape;  // row-major, the last axis fastest
  int64_t offset = 0;          // of the first stored byte, from the start of the file
  int64_t bytes = 0;           // shape x dtype
};

using TensorMap = std::map<std::string, TensorEntry, std::less<>>;

class TensorSource {
 public:
  virtual ~TensorSource() = default;

  virtual const std::string& name() const = 0;  // the file's, without its folder
  virtual const TensorMap& tensors() const = 0;
  virtual int64_t header_bytes() const = 0;  // what was read to know them

  // Gives `bytes` bytes that begin `offset` bytes into the tensor's values.
  virtual absl::Status Read(std::string_view tensor, int64_t offset, int64_t bytes,
                            void* out) const = 0;
};

}  // namespace sinkd
