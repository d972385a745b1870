#include "server/engine/checkpoint/quantized/module_tensors.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <absl/strings/str_join.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Half.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

static_assert(std::endian::native == std::endian::little, "values are read as they are stored");

constexpr char kFix[] = "fetch the checkpoint again, or write it anew with the tool that made it";

absl::Status Bad(std::string_view where, std::string_view what) {
  return FailedPrecondition(StrCat("tensor ", where, " ", what),
                            {.reason = "BAD_WEIGHTS", .subject = std::string(where), .fix = kFix});
}

template <typename Stored, typename Value>
std::vector<Value> Convert(const std::vector<uint8_t>& bytes) {
  std::vector<Value> values(bytes.size() / sizeof(Stored));
  for (size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    values[i] = static_cast<Value>(stored);
  }
  return values;
}

// A power of two, by its exponent alone.
struct Float8E8m0 {
  uint8_t bits;
  explicit operator float() const {
    return std::bit_cast<float>(bits == 0 ? uint32_t{1} << 22 : uint32_t{bits} << 23);
  }
};

std::string ShapeText(const std::vector<int64_t>& shape) {
  return StrCat("[", absl::StrJoin(shape, ", "), "]");
}

}  // namespace

int64_t StoredPart::size() const {
  int64_t size = 1;
  for (const int64_t extent : shape()) size *= extent;
  return size;
}

absl::Status StoredPart::Error(std::string_view what) const {
  return Bad(StrCat(location.file->name(), ":", name), what);
}

absl::StatusOr<std::vector<uint8_t>> StoredPart::Bytes() const {
  std::vector<uint8_t> bytes(static_cast<size_t>(location.entry->bytes));
  SINKD_RETURN_IF_ERROR(location.file->Read(name, 0, location.entry->bytes, bytes.data()));
  return bytes;
}

absl::StatusOr<std::vector<uint32_t>> StoredPart::Words() const {
  SINKD_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, Bytes());
  return Convert<uint32_t, uint32_t>(bytes);
}

absl::StatusOr<std::vector<float>> StoredPart::Floats() const {
  SINKD_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, Bytes());
  const std::string& dtype = location.entry->dtype;
  if (dtype == "F16") return Convert<c10::Half, float>(bytes);
  if (dtype == "BF16") return Convert<c10::BFloat16, float>(bytes);
  if (dtype == "F8_E4M3") return Convert<c10::Float8_e4m3fn, float>(bytes);
  if (dtype == "F8_E8M0") return Convert<Float8E8m0, float>(bytes);
  return Convert<float, float>(bytes);
}

absl::StatusOr<std::vector<int64_t>> StoredPart::Integers() const {
  SINKD_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, Bytes());
  if (location.entry->dtype == "I64") return Convert<int64_t, int64_t>(bytes);
  return Convert<int32_t, int64_t>(bytes);
}

std::string ModuleTensors::NameOf(std::string_view part) const {
  return StrCat(module_, ".", part);
}

bool ModuleTensors::Has(std::string_view part) const {
  return tensors_.contains(NameOf(part));
}

std::string_view ModuleTensors::Dtype(std::string_view part) const {
  const auto found = tensors_.find(NameOf(part));
  return found == tensors_.end() ? std::string_view() : found->second.entry->dtype;
}

absl::StatusOr<StoredPart> ModuleTensors::Part(
    std::string_view part, std::initializer_list<std::string_view> dtypes) const {
  const auto found = tensors_.find(NameOf(part));
  if (found == tensors_.end()) return Error(StrCat("has no ", part));
  used_.insert(found->first);
  StoredPart stored{found->first, found->second};
  const std::string& dtype = stored.location.entry->dtype;
  if (std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end()) {
    const std::vector<std::string> names(dtypes.begin(), dtypes.end());
    return stored.Error(
        StrCat("has dtype ", dtype, " where ", absl::StrJoin(names, " or "), " is expected"));
  }
  return stored;
}

absl::StatusOr<StoredPart> ModuleTensors::Part(std::string_view part,
                                               std::initializer_list<std::string_view> dtypes,
                                               const std::vector<int64_t>& shape) const {
  SINKD_ASSIGN_OR_RETURN(StoredPart stored, Part(part, dtypes));
  const std::vector<int64_t>& found = stored.shape();
  const bool fits =
      found.size() == shape.size() &&
      std::equal(shape.begin(), shape.end(), found.begin(),
                 [](int64_t wanted, int64_t is) { return wanted == kAny ? is > 0 : wanted == is; });
  if (fits) return stored;
  std::vector<std::string> wanted;
  for (const int64_t extent : shape) wanted.push_back(extent == kAny ? "any" : StrCat(extent));
  return stored.Error(StrCat("has shape ", ShapeText(found), " where [",
                             absl::StrJoin(wanted, ", "), "] is expected"));
}

absl::Status ModuleTensors::Error(std::string_view what) const {
  return Bad(NameOf("weight"), StrCat("is quantized and ", what));
}

}  // namespace sinkd
