#include "server/engine/checkpoint/gguf/gguf_source.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <absl/strings/match.h>
#include <absl/strings/str_replace.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/checkpoint/gguf/gguf_folder.h"
#include "server/engine/checkpoint/gguf/gguf_names.h"
#include "server/engine/checkpoint/gguf/gguf_rope.h"

namespace sinkd {
namespace {

constexpr int64_t kChunkBytes = int64_t{1} << 20;

bool IsPlain(const GgufTypeInfo& type) {
  return type.block_values == 1;
}

// Values of one row, in the form Read gives them.
void Unpack(const GgufTypeInfo& type, const uint8_t* row, int64_t values, char* out) {
  if (IsPlain(type)) {
    std::memcpy(out, row, static_cast<size_t>(values * type.block_bytes));
    return;
  }
  Dequantize(type, row, values, reinterpret_cast<float*>(out));
}

// From each float32 of so many bytes.
void TakeOneAway(char* values, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += 4) {
    float value = 0;
    std::memcpy(&value, values + at, 4);
    value -= 1;
    std::memcpy(values + at, &value, 4);
  }
}

// Converters leave out axes of length 1.
std::vector<int64_t> CheckpointShape(std::string_view name, std::vector<int64_t> shape) {
  const bool row = shape.size() == 1 && (name.ends_with("shared_expert_gate.weight") ||
                                         name.ends_with("moe_statics.e_score_correction_bias"));
  if (row) shape.insert(shape.begin(), 1);
  if (shape.size() == 2 && name.ends_with("conv.conv.weight")) shape.insert(shape.begin() + 1, 1);
  return shape;
}

}  // namespace

absl::StatusOr<GgufSource> GgufSource::Open(const std::filesystem::path& path,
                                            std::stop_token stop) {
  SINKD_ASSIGN_OR_RETURN(GgufFile file, GgufFile::Open(path, std::move(stop)));
  GgufSource source(std::move(file));
  SINKD_RETURN_IF_ERROR(source.AddTensors());
  return source;
}

absl::Status GgufSource::Error(std::string_view tensor, std::string_view what) const {
  const std::string where = StrCat(name(), ": tensor ", Shorten(tensor));
  return FailedPrecondition(
      StrCat(where, ": ", what),
      {.reason = "BAD_GGUF", .subject = where, .fix = "fetch the file again"});
}

absl::Status GgufSource::AddTensors() {
  SINKD_ASSIGN_OR_RETURN(const GgufArchitecture architecture, ArchitectureOf(file_));
  const std::string prefix(architecture.name);
  SINKD_ASSIGN_OR_RETURN(const int64_t heads,
                         file_.metadata().IntegerOr(prefix + ".attention.head_count", 0));
  int64_t kv_heads = 0;
  if (architecture.interleaved) {
    SINKD_ASSIGN_OR_RETURN(kv_heads,
                           file_.metadata().IntegerOr(prefix + ".attention.head_count_kv", heads));
  }
  std::map<std::string, Parts> joined;
  for (const auto& [name, tensor] : file_.tensors()) {
    if (name == kRopeFactors || name == kShortFactors || name == kLongFactors) {
      continue;  // part of the configuration
    }
    const GgufName target = TranslateGgufName(architecture, name);
    if (target.join != GgufJoin::kNone) {
      Parts& parts = joined[target.name];
      const bool bias = name.ends_with(".bias") && target.join == GgufJoin::kTransposed;
      parts.join = bias ? GgufJoin::kNone : target.join;
      parts.name = name;
      parts.tensors.insert(target.second_part ? parts.tensors.end() : parts.tensors.begin(),
                           tensor);
      continue;
    }
    const int64_t interleaved = target.rows == GgufRows::kAsTheyAre    ? 0
                                : target.rows == GgufRows::kQueryHeads ? heads
                                                                       : kv_heads;
    if (target.rows != GgufRows::kAsTheyAre && interleaved < 1) {
      return Error(name, StrCat("belongs to ", interleaved, " heads"));
    }
    SINKD_RETURN_IF_ERROR(absl::StrContains(target.name, "{}")
                              ? AddExperts(name, tensor, target)
                              : Add(name, tensor, target, interleaved));
  }
  for (const auto& [target, parts] : joined) SINKD_RETURN_IF_ERROR(AddJoined(target, parts, heads));
  return absl::OkStatus();
}

absl::Status GgufSource::AddJoined(const std::string& target, const Parts& parts, int64_t heads) {
  if (parts.join == GgufJoin::kNone) {
    return Add(parts.name, parts.tensors.front(), {.name = target}, 0);
  }
  absl::StatusOr<GgufJoined> joined = JoinGguf(parts.join, parts.tensors, heads);
  if (!joined.ok()) return Error(parts.name, std::string(joined.status().message()));
  TensorEntry entry{.dtype = "F32",
                    .shape = joined->shape,
                    .offset = parts.tensors.front().offset,
                    .bytes = joined->groups * joined->group_values * 4};
  for (const GgufTensor& part : parts.tensors) {
    entry.stored_bytes += part.bytes;
    if (part.type->type != GgufType::kF32) entry.stored_as = StrCat("gguf ", part.type->name);
  }
  if (!tensors_.emplace(target, std::move(entry)).second) {
    return Error(parts.name, StrCat("has the meaning of another one, ", target));
  }
  joined_.emplace(target, *std::move(joined));
  return absl::OkStatus();
}

// The matrices of all experts lie one after the other.
absl::Status GgufSource::AddExperts(const std::string& name, const GgufTensor& tensor,
                                    const GgufName& target) {
  const bool norms = target.name.ends_with("norms.{}.weight");  // of heads
  const size_t axes = norms ? 2 : 3;
  GgufTensor own = tensor;
  if (norms && own.shape.size() == 1) own.shape.insert(own.shape.begin(), 1);
  const int64_t count = own.shape.empty() ? 0 : own.shape.front();
  if (own.shape.size() != axes || count < 1 || tensor.bytes % count != 0) {
    return Error(name,
                 norms ? "is not one vector for each head" : "is not one matrix for each expert");
  }
  own.shape.erase(own.shape.begin());
  own.bytes /= count;
  for (int64_t e = 0; e < count; ++e) {
    own.offset = tensor.offset + e * own.bytes;
    GgufName of_expert = target;
    of_expert.name = absl::StrReplaceAll(target.name, {{"{}", StrCat(e)}});
    SINKD_RETURN_IF_ERROR(Add(name, own, of_expert, 0));
  }
  return absl::OkStatus();
}

absl::Status GgufSource::Add(const std::string& name, const GgufTensor& tensor,
                             const GgufName& target, int64_t interleaved) {
  SINKD_ASSIGN_OR_RETURN(Stored stored, Describe(name, tensor, interleaved));
  if (target.plus_one) {
    if (tensor.type->type != GgufType::kF32) {
      return Error(name, StrCat("is stored as ", tensor.type->name, ", and norms are F32"));
    }
    stored.plus_one = true;
  }
  TensorEntry entry{.dtype = std::string(IsPlain(*tensor.type) ? tensor.type->name : "F32"),
                    .shape = tensor.shape,
                    .offset = tensor.offset,
                    .bytes = stored.rows * stored.out_bytes};
  entry.shape = CheckpointShape(target.name, tensor.shape);
  if (!IsPlain(*tensor.type)) {
    entry.stored_as = StrCat("gguf ", tensor.type->name);
    entry.stored_bytes = stored.rows * stored.row_bytes;
  }
  if (!tensors_.emplace(target.name, std::move(entry)).second) {
    return Error(name, StrCat("has the meaning of another one, ", target.name));
  }
  stored_.emplace(target.name, std::move(stored));
  return absl::OkStatus();
}

absl::StatusOr<GgufSource::Stored> GgufSource::Describe(std::string_view name,
                                                        const GgufTensor& tensor,
                                                        int64_t heads) const {
  Stored stored{.tensor = tensor, .rows = 1, .row_values = tensor.row_values()};
  for (size_t axis = 0; axis + 1 < tensor.shape.size(); ++axis) stored.rows *= tensor.shape[axis];
  // A bias that is interleaved has one value for each row of its matrix.
  if (heads > 0 && tensor.shape.size() == 1) std::swap(stored.rows, stored.row_values);
  if (heads > 0) {
    if (tensor.shape.size() > 2 || stored.rows % heads != 0 || stored.rows / heads % 2 != 0) {
      return Error(name, StrCat("has ", stored.rows, " rows, which do not make ", heads,
                                " heads of an even size"));
    }
    stored.head_rows = stored.rows / heads;
  }
  const GgufTypeInfo& type = *tensor.type;
  if (stored.row_values % type.block_values != 0) {
    return Error(name, StrCat("is stored as ", type.name, ", whose values belong together"));
  }
  stored.row_bytes = stored.row_values / type.block_values * type.block_bytes;
  stored.out_bytes = stored.row_values * (IsPlain(type) ? type.block_bytes : 4);
  return stored;
}

absl::Status GgufSource::ReadRows(const Stored& stored, int64_t first, int64_t count,
                                  char* out) const {
  if (stored.head_rows > 0) return ReadHeadRows(stored, first, count, out);
  const GgufTypeInfo& type = *stored.tensor.type;
  if (IsPlain(type)) {
    SINKD_RETURN_IF_ERROR(
        file_.Read(stored.tensor.offset + first * stored.row_bytes, count * stored.row_bytes, out));
    if (stored.plus_one) TakeOneAway(out, count * stored.row_bytes);
    return absl::OkStatus();
  }
  const int64_t chunk = std::clamp<int64_t>(kChunkBytes / stored.row_bytes, 1, count);
  std::vector<uint8_t> rows(static_cast<size_t>(chunk * stored.row_bytes));
  for (int64_t done = 0; done < count; done += chunk) {
    const int64_t now = std::min(chunk, count - done);
    SINKD_RETURN_IF_ERROR(file_.Read(stored.tensor.offset + (first + done) * stored.row_bytes,
                                     now * stored.row_bytes, rows.data()));
    Unpack(type, rows.data(), now * stored.row_values, out + done * stored.out_bytes);
  }
  return absl::OkStatus();
}

// Row j h + i of a head of 2 h rows (j is 0 or 1) lies in the file as row 2 i + j.
absl::Status GgufSource::ReadHeadRows(const Stored& stored, int64_t first, int64_t count,
                                      char* out) const {
  const int64_t half = stored.head_rows / 2;
  std::vector<uint8_t> head(static_cast<size_t>(stored.head_rows * stored.row_bytes));
  int64_t held = -1;
  for (int64_t row = first; row < first + count; ++row) {
    const int64_t wanted = row / stored.head_rows;
    if (wanted != held) {
      const auto bytes = static_cast<int64_t>(head.size());
      SINKD_RETURN_IF_ERROR(file_.Read(stored.tensor.offset + wanted * bytes, bytes, head.data()));
      held = wanted;
    }
    const int64_t inside = row % stored.head_rows;
    const int64_t source = 2 * (inside % half) + inside / half;
    Unpack(*stored.tensor.type, head.data() + source * stored.row_bytes, stored.row_values, out);
    out += stored.out_bytes;
  }
  return absl::OkStatus();
}

absl::Status GgufSource::Read(std::string_view tensor, int64_t offset, int64_t bytes,
                              void* out) const {
  const auto joined = joined_.find(tensor);
  if (joined != joined_.end()) {
    const GgufJoined& groups = joined->second;
    return ReadByRows({.rows = groups.groups, .row_bytes = groups.group_values * 4}, offset, bytes,
                      out, [&](int64_t first, int64_t count, void* rows) {
                        return ReadGgufGroups(file_, groups, first, count,
                                              static_cast<float*>(rows));
                      });
  }
  const auto found = stored_.find(tensor);
  if (found == stored_.end()) return Error(tensor, "is not in the file");
  const Stored& stored = found->second;
  return ReadByRows({.rows = stored.rows, .row_bytes = stored.out_bytes}, offset, bytes, out,
                    [&](int64_t first, int64_t count, void* rows) {
                      return ReadRows(stored, first, count, static_cast<char*>(rows));
                    });
}

}  // namespace sinkd
