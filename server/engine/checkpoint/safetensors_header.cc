#include "server/engine/checkpoint/safetensors_header.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "server/base/json.h"
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/checkpoint/safetensors.h"

namespace sinkd {
namespace {

using Json = nlohmann::json;

// Name -> {dtype, shape, data_offsets}: nothing deeper exists in a valid header. Metadata are texts
// by name.
constexpr JsonLimits kLimits{.depth = 3, .values = 100'000, .unique_keys = true};
constexpr char kMetadata[] = "__metadata__";
constexpr char kFix[] = "fetch the file again, or write it anew with the safetensors library";

absl::Status Bad(std::string_view file, std::string_view tensor, std::string_view what,
                 std::string value = "") {
  const std::string where =
      tensor.empty() ? std::string(file) : StrCat(file, ": tensor ", Shorten(tensor));
  return FailedPrecondition(
      StrCat(where, ": ", what),
      {.reason = "BAD_SAFETENSORS", .subject = where, .value = std::move(value), .fix = kFix});
}

// A non-negative integer that fits int64.
std::optional<int64_t> Count(const Json& json) {
  if (!json.is_number_unsigned()) return std::nullopt;
  const auto value = json.get<uint64_t>();
  if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
  return static_cast<int64_t>(value);
}

absl::Status ReadShape(std::string_view file, std::string_view name, const Json& json,
                       TensorEntry& entry) {
  const auto shape = json.find("shape");
  if (shape == json.end() || !shape->is_array() || shape->size() > 8) {
    return Bad(file, name, "has no shape of at most 8 axes");
  }
  for (const Json& axis : *shape) {
    const std::optional<int64_t> size = Count(axis);
    if (!size) return Bad(file, name, "has a shape that is not of whole numbers", shape->dump());
    entry.shape.push_back(*size);
  }
  return absl::OkStatus();
}

absl::Status CheckBytes(std::string_view file, std::string_view name, const TensorEntry& entry) {
  int64_t bytes = DtypeBytes(entry.dtype);
  for (const int64_t axis : entry.shape) {
    if (__builtin_mul_overflow(bytes, axis, &bytes)) {
      return Bad(file, name, "has a shape whose size overflows");
    }
  }
  if (bytes != entry.bytes) {
    return Bad(file, name,
               StrCat("takes ", bytes, " bytes by its shape and dtype, and ", entry.bytes,
                      " by its data_offsets"));
  }
  return absl::OkStatus();
}

absl::StatusOr<TensorEntry> ReadEntry(std::string_view file, std::string_view name,
                                      const Json& json, int64_t data_begin, int64_t file_bytes) {
  TensorEntry entry;
  if (!json.is_object()) return Bad(file, name, "is not described by an object");
  const auto dtype = json.find("dtype");
  if (dtype == json.end() || !dtype->is_string() || DtypeBytes(dtype->get<std::string>()) == 0) {
    return Bad(file, name, "has no known dtype", dtype == json.end() ? "" : dtype->dump());
  }
  entry.dtype = dtype->get<std::string>();
  SINKD_RETURN_IF_ERROR(ReadShape(file, name, json, entry));
  const auto offsets = json.find("data_offsets");
  if (offsets == json.end() || !offsets->is_array() || offsets->size() != 2) {
    return Bad(file, name, "has no pair of data_offsets");
  }
  const std::optional<int64_t> begin = Count((*offsets)[0]);
  const std::optional<int64_t> end = Count((*offsets)[1]);
  if (!begin || !end || *begin > *end) {
    return Bad(file, name, "has invalid data_offsets", offsets->dump());
  }
  if (*end > file_bytes - data_begin) {
    return Bad(file, name,
               StrCat("ends at byte ", *end, " of the data, but the file holds ",
                      file_bytes - data_begin, ": it is truncated"));
  }
  entry.offset = data_begin + *begin;
  entry.bytes = *end - *begin;
  SINKD_RETURN_IF_ERROR(CheckBytes(file, name, entry));
  return entry;
}

// Texts by name; what they say is of no concern here.
absl::Status CheckMetadata(std::string_view file, const Json& metadata) {
  bool fine = metadata.is_object();
  for (const Json& value : metadata) fine = fine && value.is_string();
  return fine ? absl::OkStatus() : Bad(file, "", "__metadata__ does not hold texts by name");
}

// Every byte of the data belongs to exactly one tensor.
absl::Status CheckCover(std::string_view file, const TensorMap& tensors, int64_t data_begin,
                        int64_t file_bytes) {
  std::vector<std::pair<int64_t, std::string_view>> begins;
  for (const auto& [name, entry] : tensors) begins.emplace_back(entry.offset, name);
  std::sort(begins.begin(), begins.end(), [&tensors](const auto& a, const auto& b) {
    // Empty tensors share their offset with the next one and come first.
    return std::pair(a.first, tensors.find(a.second)->second.bytes) <
           std::pair(b.first, tensors.find(b.second)->second.bytes);
  });
  int64_t covered = data_begin;
  for (const auto& [begin, name] : begins) {
    if (begin < covered) return Bad(file, name, "overlaps the tensor before it");
    if (begin > covered) return Bad(file, name, "leaves a hole before its data");
    covered = begin + tensors.find(name)->second.bytes;
  }
  if (covered != file_bytes) {
    return Bad(file, "", StrCat("holds ", file_bytes - covered, " bytes after the last tensor"));
  }
  return absl::OkStatus();
}

}  // namespace

int64_t DtypeBytes(std::string_view dtype) {
  static const std::map<std::string_view, int64_t> kBytes = {
      {"F64", 8},  {"F32", 4},     {"F16", 2},     {"BF16", 2},   {"I64", 8}, {"I32", 4},
      {"I16", 2},  {"I8", 1},      {"U64", 8},     {"U32", 4},    {"U16", 2}, {"U8", 1},
      {"BOOL", 1}, {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"F8_E8M0", 1}};
  const auto found = kBytes.find(dtype);
  return found == kBytes.end() ? 0 : found->second;
}

absl::StatusOr<TensorMap> ParseSafetensorsHeader(std::string_view file, std::string_view json,
                                                 int64_t data_begin, int64_t file_bytes,
                                                 std::stop_token stop) {
  // The parser passes over a byte order mark.
  if (!json.starts_with('{')) return Bad(file, "", "the header is not a JSON object");
  TensorMap tensors;
  bool metadata = false;
  const auto add = [&](const std::string& name, const Json& description) -> absl::Status {
    if (name == kMetadata) {
      if (std::exchange(metadata, true)) return Bad(file, name, "is named twice in the header");
      return CheckMetadata(file, description);
    }
    SINKD_ASSIGN_OR_RETURN(TensorEntry entry,
                           ReadEntry(file, name, description, data_begin, file_bytes));
    if (!tensors.emplace(name, std::move(entry)).second) {
      return Bad(file, name, "is named twice in the header");
    }
    if (tensors.size() <= kMaxTensors) return absl::OkStatus();
    return Bad(file, "", StrCat("the header describes over ", kMaxTensors, " tensors"));
  };
  const absl::Status read = ReadJsonMembers(json, kLimits, std::move(stop), add);
  // The parser's errors have no detail yet.
  if (absl::IsInvalidArgument(read)) return Bad(file, "", StrCat("the header ", read.message()));
  SINKD_RETURN_IF_ERROR(read);
  SINKD_RETURN_IF_ERROR(CheckCover(file, tensors, data_begin, file_bytes));
  return tensors;
}

}  // namespace sinkd
