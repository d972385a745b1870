#include "server/engine/checkpoint/gguf/gguf_file.h"

#include <algorithm>
#include <utility>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/checkpoint/gguf/gguf_cursor.h"

namespace sinkd {
namespace {

constexpr int64_t kMaxNameBytes = 1024;
constexpr int64_t kMaxTextBytes = int64_t{16} << 20;
constexpr int64_t kMaxAxes = 4;
// Far over what models have; a header of 64 MiB could describe tenfold its size in memory.
constexpr int64_t kMaxKeys = 65'536;
constexpr int64_t kMaxTensors = 100'000;
constexpr int64_t kMaxItems = int64_t{1} << 22;
constexpr int64_t kDefaultAlignment = 32;
constexpr int64_t kMaxAlignment = int64_t{1} << 20;
// A key-value pair takes at least its name's length, a type and a byte; a tensor its name's length,
// the axes' count, a type and an offset.
constexpr int64_t kMinPairBytes = 13;
constexpr int64_t kMinTensorBytes = 24;

enum ValueType : uint32_t {
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kUint32,
  kInt32,
  kFloat32,
  kBool,
  kString,
  kArray,
  kUint64,
  kInt64,
  kFloat64,
};

template <typename T>
absl::StatusOr<int64_t> ReadInteger(GgufCursor& cursor) {
  SINKD_ASSIGN_OR_RETURN(const T value, cursor.Number<T>());
  if (!std::in_range<int64_t>(value)) return cursor.Error("holds a number over 2^63 - 1");
  return static_cast<int64_t>(value);
}

absl::StatusOr<int64_t> ReadBool(GgufCursor& cursor) {
  SINKD_ASSIGN_OR_RETURN(const auto value, cursor.Number<uint8_t>());
  if (value > 1) return cursor.Error("holds a bool that is neither 0 nor 1");
  return int64_t{value};
}

// Integers of every width, and bools.
absl::StatusOr<int64_t> ReadIntegerOf(GgufCursor& cursor, uint32_t type) {
  switch (type) {
    case kUint8:
      return ReadInteger<uint8_t>(cursor);
    case kInt8:
      return ReadInteger<int8_t>(cursor);
    case kUint16:
      return ReadInteger<uint16_t>(cursor);
    case kInt16:
      return ReadInteger<int16_t>(cursor);
    case kUint32:
      return ReadInteger<uint32_t>(cursor);
    case kInt32:
      return ReadInteger<int32_t>(cursor);
    case kUint64:
      return ReadInteger<uint64_t>(cursor);
    case kInt64:
      return ReadInteger<int64_t>(cursor);
    case kBool:
      return ReadBool(cursor);
    default:
      return cursor.Error(StrCat("has the value type ", type, ", which GGUF does not define"));
  }
}

absl::StatusOr<double> ReadFloatOf(GgufCursor& cursor, uint32_t type) {
  if (type == kFloat64) return cursor.Number<double>();
  SINKD_ASSIGN_OR_RETURN(const auto value, cursor.Number<float>());
  return double{value};
}

// `count` items, each read by `read`.
template <typename T>
absl::StatusOr<GgufValue> ReadItems(int64_t count, const auto& read) {
  std::vector<T> items;
  items.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    SINKD_ASSIGN_OR_RETURN(items.emplace_back(), read());
  }
  return GgufValue(std::move(items));
}

int64_t MinBytes(uint32_t type) {
  switch (type) {
    case kUint16:
    case kInt16:
      return 2;
    case kUint32:
    case kInt32:
    case kFloat32:
      return 4;
    case kString:
    case kUint64:
    case kInt64:
    case kFloat64:
      return 8;
    default:
      return 1;
  }
}

absl::StatusOr<GgufValue> ReadArray(GgufCursor& cursor) {
  SINKD_ASSIGN_OR_RETURN(const auto type, cursor.Number<uint32_t>());
  if (type == kArray) return cursor.Error("is an array of arrays");
  SINKD_ASSIGN_OR_RETURN(const int64_t count, cursor.Count(MinBytes(type), "items", kMaxItems));
  if (type == kString) {
    return ReadItems<std::string>(count, [&] { return cursor.Text(kMaxTextBytes); });
  }
  if (type == kFloat32 || type == kFloat64) {
    return ReadItems<double>(count, [&] { return ReadFloatOf(cursor, type); });
  }
  return ReadItems<int64_t>(count, [&] { return ReadIntegerOf(cursor, type); });
}

absl::StatusOr<GgufValue> ReadValue(GgufCursor& cursor) {
  SINKD_ASSIGN_OR_RETURN(const auto type, cursor.Number<uint32_t>());
  if (type == kArray) return ReadArray(cursor);
  if (type == kString) {
    SINKD_ASSIGN_OR_RETURN(std::string text, cursor.Text(kMaxTextBytes));
    return GgufValue(std::move(text));
  }
  if (type == kFloat32 || type == kFloat64) {
    SINKD_ASSIGN_OR_RETURN(const double value, ReadFloatOf(cursor, type));
    return GgufValue(value);
  }
  SINKD_ASSIGN_OR_RETURN(const int64_t value, ReadIntegerOf(cursor, type));
  return type == kBool ? GgufValue(value != 0) : GgufValue(value);
}

int64_t ItemsOf(const GgufValue& value) {
  return std::visit(
      [](const auto& held) -> int64_t {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_arithmetic_v<Held> || std::is_same_v<Held, std::string>)
          return 0;
        else
          return static_cast<int64_t>(held.size());
      },
      value);
}

absl::Status ReadMetadata(GgufCursor& cursor, int64_t count, GgufMetadata& metadata) {
  int64_t items = 0;
  for (int64_t i = 0; i < count; ++i) {
    cursor.SetField(StrCat("key ", i, " of ", count));
    SINKD_ASSIGN_OR_RETURN(std::string key, cursor.Text(kMaxNameBytes));
    if (key.empty()) return cursor.Error("is empty");
    cursor.SetField(StrCat("key ", key));
    SINKD_ASSIGN_OR_RETURN(GgufValue value, ReadValue(cursor));
    items += ItemsOf(value);
    if (items > kMaxItems)
      return cursor.Error(StrCat("makes the arrays hold over ", kMaxItems, " items"));
    if (!metadata.Add(std::move(key), std::move(value))) return cursor.Error("is written twice");
  }
  return absl::OkStatus();
}

absl::Status ReadShape(GgufCursor& cursor, GgufTensor& tensor) {
  SINKD_ASSIGN_OR_RETURN(const auto axes, cursor.Number<uint32_t>());
  if (axes < 1 || axes > kMaxAxes) return cursor.Error(StrCat("has ", axes, " axes, not 1 to 4"));
  for (uint32_t axis = 0; axis < axes; ++axis) {
    SINKD_ASSIGN_OR_RETURN(const int64_t size, ReadInteger<uint64_t>(cursor));
    if (size == 0) return cursor.Error("has an empty axis");
    tensor.shape.insert(tensor.shape.begin(), size);
  }
  return absl::OkStatus();
}

absl::Status ReadType(GgufCursor& cursor, GgufTensor& tensor) {
  SINKD_ASSIGN_OR_RETURN(const auto type, cursor.Number<uint32_t>());
  tensor.type = FindGgufType(type);
  if (tensor.type != nullptr) return absl::OkStatus();
  return cursor.Error(StrCat("is stored as ", GgufTypeName(type), ", which cannot be read"),
                      "GGUF_TYPE",
                      StrCat("use a file whose tensors are stored as ", GgufTypeList()));
}

// Bytes and, from the start of the data, place.
absl::Status ReadPlace(GgufCursor& cursor, int64_t alignment, GgufTensor& tensor) {
  if (tensor.row_values() % tensor.type->block_values != 0) {
    return cursor.Error(StrCat("has rows of ", tensor.row_values(), " values, which ",
                               tensor.type->name, " cannot store: it takes ",
                               tensor.type->block_values, " at a time"));
  }
  // Bytes as stored, and as float32: readers compute with both.
  int64_t widest = 4;
  tensor.bytes = tensor.type->block_bytes;
  for (const int64_t& size : tensor.shape) {
    const bool is_row = &size == &tensor.shape.back();
    const int64_t blocks = is_row ? size / tensor.type->block_values : size;
    if (__builtin_mul_overflow(widest, size, &widest) ||
        __builtin_mul_overflow(tensor.bytes, blocks, &tensor.bytes)) {
      return cursor.Error("has a shape whose size overflows");
    }
  }
  SINKD_ASSIGN_OR_RETURN(tensor.offset, ReadInteger<uint64_t>(cursor));
  if (tensor.offset % alignment != 0) {
    return cursor.Error(StrCat("begins at byte ", tensor.offset,
                               " of the data, which is not a multiple of the alignment ",
                               alignment));
  }
  return absl::OkStatus();
}

absl::Status ReadTensors(GgufCursor& cursor, int64_t count, int64_t alignment,
                         GgufTensors& tensors) {
  for (int64_t i = 0; i < count; ++i) {
    cursor.SetField(StrCat("tensor ", i, " of ", count));
    SINKD_ASSIGN_OR_RETURN(std::string name, cursor.Text(kMaxNameBytes));
    if (name.empty()) return cursor.Error("has no name");
    cursor.SetField(StrCat("tensor ", name));
    GgufTensor tensor;
    SINKD_RETURN_IF_ERROR(ReadShape(cursor, tensor));
    SINKD_RETURN_IF_ERROR(ReadType(cursor, tensor));
    SINKD_RETURN_IF_ERROR(ReadPlace(cursor, alignment, tensor));
    if (!tensors.emplace(std::move(name), std::move(tensor)).second) {
      return cursor.Error("is described twice");
    }
  }
  return absl::OkStatus();
}

// Turns offsets into the data into offsets into the file.
absl::Status PlaceTensors(GgufCursor& cursor, int64_t data_begin, int64_t file_bytes,
                          GgufTensors& tensors) {
  std::vector<std::pair<int64_t, const std::string*>> begins;
  for (auto& [name, tensor] : tensors) {
    cursor.SetField(StrCat("tensor ", name));
    const int64_t room = std::max<int64_t>(file_bytes - data_begin, 0);
    if (tensor.bytes > room || tensor.offset > room - tensor.bytes) {
      return cursor.Error(StrCat("takes ", tensor.bytes, " bytes from byte ", tensor.offset,
                                 " of the data, but the file holds ", room, ": it is truncated"));
    }
    tensor.offset += data_begin;
    begins.emplace_back(tensor.offset, &name);
  }
  std::sort(begins.begin(), begins.end());
  int64_t covered = data_begin;
  for (const auto& [begin, name] : begins) {
    cursor.SetField(StrCat("tensor ", *name));
    if (begin < covered) return cursor.Error("overlaps the tensor before it");
    covered = begin + tensors.find(*name)->second.bytes;
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ReadAlignment(const GgufMetadata& metadata) {
  constexpr char kKey[] = "general.alignment";
  SINKD_ASSIGN_OR_RETURN(const int64_t alignment, metadata.IntegerOr(kKey, kDefaultAlignment));
  if (alignment < 1 || alignment > kMaxAlignment || (alignment & (alignment - 1)) != 0) {
    return metadata.Error(kKey, StrCat("is ", alignment, ", no power of two up to 2^20"),
                          "fetch the file again");
  }
  return alignment;
}

absl::Status ReadVersion(GgufCursor& cursor) {
  SINKD_ASSIGN_OR_RETURN(const auto magic, cursor.Number<uint32_t>());
  if (magic != 0x46554747) return cursor.Error("does not begin with GGUF");
  SINKD_ASSIGN_OR_RETURN(const auto version, cursor.Number<uint32_t>());
  if (version != 0 && (version & 0xffff) == 0) return cursor.Error("is big-endian");
  if (version != 2 && version != 3) {
    return cursor.Error(StrCat("has version ", version, ", not 2 or 3"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<GgufFile> GgufFile::Open(const std::filesystem::path& path, std::stop_token stop) {
  SINKD_ASSIGN_OR_RETURN(RandomAccessFile opened, RandomAccessFile::Open(path, "BAD_GGUF"));
  GgufFile file(std::move(opened));
  GgufCursor cursor(file.file_, std::move(stop));
  SINKD_RETURN_IF_ERROR(ReadVersion(cursor));
  SINKD_ASSIGN_OR_RETURN(const int64_t tensors,
                         cursor.Count(kMinTensorBytes, "tensors", kMaxTensors));
  SINKD_ASSIGN_OR_RETURN(const int64_t pairs, cursor.Count(kMinPairBytes, "keys", kMaxKeys));
  SINKD_RETURN_IF_ERROR(ReadMetadata(cursor, pairs, file.metadata_));
  SINKD_ASSIGN_OR_RETURN(const int64_t alignment, ReadAlignment(file.metadata_));
  SINKD_RETURN_IF_ERROR(ReadTensors(cursor, tensors, alignment, file.tensors_));
  file.header_bytes_ = cursor.position();
  const int64_t data_begin = (cursor.position() + alignment - 1) / alignment * alignment;
  SINKD_RETURN_IF_ERROR(PlaceTensors(cursor, data_begin, file.file_.bytes(), file.tensors_));
  return file;
}

}  // namespace sinkd
