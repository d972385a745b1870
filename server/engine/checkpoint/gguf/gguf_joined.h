// Tensors of a checkpoint that a GGUF file stores as two, or with other axes.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <absl/status/statusor.h>

#include "server/engine/checkpoint/gguf/gguf_file.h"
#include "server/engine/checkpoint/gguf/gguf_names.h"

namespace sinkd {

// Consists of groups of `group_values` values: experts, or heads. The value in
// row r and column c of a part goes to index first + r row_step + c column_step of its group.
struct GgufJoined {
  struct Part {
    GgufTensor tensor;
    int64_t rows = 0;  // of one group
    int64_t columns = 0;
    int64_t first = 0;
    int64_t row_step = 0;
    int64_t column_step = 0;
  };
  std::vector<int64_t> shape;
  int64_t groups = 0;
  int64_t group_values = 0;
  std::vector<Part> parts;
};

// Of one part or two, as GgufJoin says; `heads` are the model's. INVALID_ARGUMENT, saying what is
// wrong with the parts, when they do not fit.
absl::StatusOr<GgufJoined> JoinGguf(GgufJoin join, std::span<const GgufTensor> parts,
                                    int64_t heads);

// Reads `count` groups from `first` as float32.
absl::Status ReadGgufGroups(const GgufFile& file, const GgufJoined& joined, int64_t first,
                            int64_t count, float* out);

}  // namespace sinkd
