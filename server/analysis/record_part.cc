#include "server/analysis/record_part.h"

#include <algorithm>
#include <cmath>

#include <absl/strings/str_cat.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

std::string Limit(double least, double most) {
  if (most < RecordPart::kAny) return "it is from 0 to 1";
  return absl::StrCat("it is finite, from ", std::max(least, 0.0), " on");
}

}  // namespace

absl::Status RecordPart::Bad(std::string_view field, const std::string& value,
                             const std::string& limit) const {
  const std::string place = index_ < 0 ? "" : StrCat("[", index_, "]");
  const std::string name =
      name_.empty() ? std::string(field) : StrCat(name_, place, field.empty() ? "" : ".", field);
  return InvalidArgument(
      StrCat("record of sample ", record_.sample_index(), ": ", name, " cannot be"),
      {.reason = "INCONSISTENT_RECORD", .subject = name, .value = value, .fix = limit});
}

absl::Status RecordPart::Integer(std::string_view field, int64_t value, int64_t least,
                                 int64_t most) const {
  if (value >= least && value <= most) return absl::OkStatus();
  return Bad(field, absl::StrCat(value), absl::StrCat("it is from ", least, " to ", most));
}

absl::Status RecordPart::Size(std::string_view field, int64_t value, int64_t least,
                              int64_t most) const {
  if (value >= least && value <= most) return absl::OkStatus();
  const std::string limit = least == most ? absl::StrCat("it has ", most)
                                          : absl::StrCat("it has from ", least, " to ", most);
  return Bad(field, absl::StrCat(value, " values"), limit);
}

absl::Status RecordPart::Number(std::string_view field, double value, double least,
                                double most) const {
  if (std::isfinite(value) && value >= least && value <= most) return absl::OkStatus();
  return Bad(field, absl::StrCat(value), Limit(least, most));
}

absl::Status RecordPart::Numbers(std::string_view field, const Floats& values, double least,
                                 double most) const {
  for (int i = 0; i < values.size(); ++i) {
    const double value = values[i];
    if (std::isfinite(value) && value >= least && value <= most) continue;
    return Bad(StrCat(field, "[", i, "]"), absl::StrCat(value), Limit(least, most));
  }
  return absl::OkStatus();
}

absl::Status RecordPart::Curve(std::string_view field, const Floats& values, double least,
                               double most) const {
  const int64_t blocks = AttentionBlockCount(record_);
  SINKD_RETURN_IF_ERROR(Size(field, values.size(), blocks, blocks));
  return Numbers(field, values, least, most);
}

absl::Status RecordPart::Blocks(std::string_view field, std::string_view what,
                                const google::protobuf::RepeatedField<int32_t>& values) const {
  int64_t least = 0;
  for (int i = 0; i < values.size(); ++i) {
    if (values[i] < least || values[i] >= record_.layers()) {
      return Bad(StrCat(field, "[", i, "]"), absl::StrCat(values[i]),
                 StrCat(what, " ascend, from 0 to ", record_.layers() - 1));
    }
    least = int64_t{values[i]} + 1;
  }
  return absl::OkStatus();
}

}  // namespace sinkd
