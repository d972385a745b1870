#include "server/engine/checkpoint/tensor_source.h"

#include <algorithm>
#include <cstring>

#include "server/base/status.h"

namespace sinkd {

absl::Status ReadByRows(
    const RowLayout& layout, int64_t offset, int64_t bytes, void* out,
    const std::function<absl::Status(int64_t first, int64_t count, void* rows)>& read_rows) {
  if (offset < 0 || bytes < 0 || offset > layout.rows * layout.row_bytes - bytes) {
    return Internal("a tensor is read past its end");
  }
  char* cursor = static_cast<char*>(out);
  const int64_t end = offset + bytes;
  std::vector<char> partial;
  while (offset < end) {
    const int64_t row = offset / layout.row_bytes;
    const int64_t inside = offset % layout.row_bytes;
    const int64_t whole = (end - offset) / layout.row_bytes;
    int64_t given = whole * layout.row_bytes;
    if (inside == 0 && whole > 0) {
      SINKD_RETURN_IF_ERROR(read_rows(row, whole, cursor));
    } else {
      partial.resize(static_cast<size_t>(layout.row_bytes));
      SINKD_RETURN_IF_ERROR(read_rows(row, 1, partial.data()));
      given = std::min(end - offset, layout.row_bytes - inside);
      std::memcpy(cursor, partial.data() + inside, static_cast<size_t>(given));
    }
    cursor += given;
    offset += given;
  }
  return absl::OkStatus();
}

}  // namespace sinkd
