#include "server/engine/checkpoint/gguf/gguf_joined.h"

#include <utility>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

absl::Status Unfit(std::string_view what) {
  return absl::InvalidArgumentError({what.data(), what.size()});
}

// Groups, rows and columns; a matrix is one group.
struct Cube {
  int64_t groups = 1;
  int64_t rows = 1;
  int64_t columns = 1;
};

Cube CubeOf(const GgufTensor& tensor) {
  const std::vector<int64_t>& shape = tensor.shape;
  if (shape.size() == 3) return {shape[0], shape[1], shape[2]};
  return {1, shape[0], shape[1]};
}

std::vector<int64_t> ShapeOf(const GgufTensor& like, int64_t rows, int64_t columns) {
  if (like.shape.size() == 3) return {like.shape[0], rows, columns};
  return {rows, columns};
}

// Two of one shape: rows one after the other, or columns in turns.
absl::StatusOr<GgufJoined> JoinAlike(GgufJoin join, const GgufTensor& a, const GgufTensor& b) {
  if (a.shape != b.shape) return Unfit("differs in shape from the one that belongs to it");
  const auto [groups, rows, columns] = CubeOf(a);
  GgufJoined joined{.groups = groups, .group_values = 2 * rows * columns};
  GgufJoined::Part part{.rows = rows, .columns = columns};
  int64_t next = 0;
  if (join == GgufJoin::kHalves) {
    joined.shape = ShapeOf(a, 2 * rows, columns);
    part.row_step = columns;
    part.column_step = 1;
    next = rows * columns;
  } else if (a.shape.size() == 3) {
    joined.shape = ShapeOf(a, columns, 2 * rows);
    part.row_step = 2;
    part.column_step = 2 * rows;
    next = 1;
  } else {
    joined.shape = {rows, 2 * columns};
    part.row_step = 2 * columns;
    part.column_step = 2;
    next = 1;
  }
  for (const GgufTensor* tensor : {&a, &b}) {
    part.tensor = *tensor;
    joined.parts.push_back(part);
    part.first += next;
  }
  return joined;
}

GgufJoined Transposed(const GgufTensor& tensor) {
  const auto [groups, rows, columns] = CubeOf(tensor);
  return {.shape = ShapeOf(tensor, columns, rows),
          .groups = groups,
          .group_values = rows * columns,
          .parts = {{.tensor = tensor,
                     .rows = rows,
                     .columns = columns,
                     .row_step = 1,
                     .column_step = rows}}};
}

// [3 heads size, columns], or a bias of so many values.
absl::StatusOr<GgufJoined> SplitByHead(const GgufTensor& tensor, int64_t heads) {
  const bool bias = tensor.shape.size() == 1;
  const int64_t rows = tensor.shape[0], columns = bias ? 1 : tensor.shape[1];
  if (tensor.shape.size() > 2 || heads < 1 || rows % (3 * heads) != 0) {
    return Unfit(StrCat("does not hold queries, keys and values of ", heads, " heads"));
  }
  const int64_t size = rows / (3 * heads);
  GgufJoined joined{.shape = tensor.shape, .groups = heads, .group_values = 3 * size * columns};
  GgufJoined::Part part{
      .tensor = tensor, .rows = size, .columns = columns, .row_step = columns, .column_step = 1};
  part.tensor.shape = {rows, columns};
  if (columns % tensor.type->block_values != 0) return Unfit("is quantized, and biases are not");
  for (int64_t p = 0; p < 3; ++p) {
    joined.parts.push_back(part);
    part.tensor.offset += heads * size * part.tensor.row_bytes();
    part.first += size * columns;
  }
  return joined;
}

// [heads, rank, own] and [heads, values, rank].
absl::StatusOr<GgufJoined> JoinKeysAndValues(const GgufTensor& keys, const GgufTensor& values) {
  if (keys.shape.size() != 3 || values.shape.size() != 3 || keys.shape[0] != values.shape[0] ||
      keys.shape[1] != values.shape[2]) {
    return Unfit("does not fit the one that belongs to it, by heads and rank");
  }
  const int64_t heads = keys.shape[0], rank = keys.shape[1], own = keys.shape[2];
  const int64_t rows = own + values.shape[1];
  return GgufJoined{
      .shape = {heads * rows, rank},
      .groups = heads,
      .group_values = rows * rank,
      .parts = {{.tensor = keys, .rows = rank, .columns = own, .row_step = 1, .column_step = rank},
                {.tensor = values,
                 .rows = values.shape[1],
                 .columns = rank,
                 .first = own * rank,
                 .row_step = rank,
                 .column_step = 1}}};
}

}  // namespace

absl::StatusOr<GgufJoined> JoinGguf(GgufJoin join, std::span<const GgufTensor> parts,
                                    int64_t heads) {
  if (join == GgufJoin::kByHead && parts.size() == 1) return SplitByHead(parts[0], heads);
  for (const GgufTensor& part : parts) {
    if (part.shape.size() < 2 || part.shape.size() > 3) {
      return Unfit(StrCat("has ", part.shape.size(), " axes, not 2 or 3"));
    }
  }
  if (parts.size() != (join == GgufJoin::kTransposed ? 1 : 2)) {
    return Unfit("is there without the one that belongs to it");
  }
  if (join == GgufJoin::kTransposed) return Transposed(parts[0]);
  if (join == GgufJoin::kKeysAndValues) return JoinKeysAndValues(parts[0], parts[1]);
  return JoinAlike(join, parts[0], parts[1]);
}

absl::Status ReadGgufGroups(const GgufFile& file, const GgufJoined& joined, int64_t first,
                            int64_t count, float* out) {
  std::vector<uint8_t> stored;
  std::vector<float> row;
  for (int64_t group = first; group < first + count; ++group, out += joined.group_values) {
    for (const GgufJoined::Part& part : joined.parts) {
      const int64_t row_bytes = part.tensor.row_bytes();
      stored.resize(static_cast<size_t>(part.rows * row_bytes));
      row.resize(static_cast<size_t>(part.columns));
      SINKD_RETURN_IF_ERROR(file.Read(part.tensor.offset + group * part.rows * row_bytes,
                                      part.rows * row_bytes, stored.data()));
      for (int64_t r = 0; r < part.rows; ++r) {
        Dequantize(*part.tensor.type, stored.data() + r * row_bytes, part.columns, row.data());
        float* const to = out + part.first + r * part.row_step;
        for (int64_t c = 0; c < part.columns; ++c) {
          to[c * part.column_step] = row[static_cast<size_t>(c)];
        }
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace sinkd
