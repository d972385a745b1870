#include "server/engine/checkpoint/safetensors.h"

#include <utility>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/checkpoint/safetensors_header.h"

namespace sinkd {
namespace {

constexpr int64_t kMaxHeaderBytes = int64_t{100} << 20;

}  // namespace

absl::StatusOr<SafetensorsFile> SafetensorsFile::Open(const std::filesystem::path& path,
                                                      std::stop_token stop) {
  SINKD_ASSIGN_OR_RETURN(RandomAccessFile opened, RandomAccessFile::Open(path, "BAD_SAFETENSORS"));
  SafetensorsFile file(std::move(opened));
  SINKD_RETURN_IF_ERROR(file.ReadHeader(std::move(stop)));
  return file;
}

absl::Status SafetensorsFile::ReadHeader(std::stop_token stop) {
  if (file_.bytes() < 8) return file_.Error(StrCat("has only ", file_.bytes(), " bytes"));
  unsigned char prefix[8] = {};
  SINKD_RETURN_IF_ERROR(file_.Read(0, 8, prefix));
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = (length << 8) | prefix[i];
  if (length > static_cast<uint64_t>(kMaxHeaderBytes)) {
    return file_.Error(
        StrCat("announces a header of ", length, " bytes, over the limit of 100 MiB"));
  }
  header_bytes_ = static_cast<int64_t>(length);
  if (header_bytes_ > file_.bytes() - 8) {
    return file_.Error(StrCat("announces a header of ", length, " bytes, but holds ",
                              file_.bytes() - 8, ": it is truncated"));
  }
  std::string header(length, '\0');
  SINKD_RETURN_IF_ERROR(file_.Read(8, header_bytes_, header.data()));
  SINKD_ASSIGN_OR_RETURN(tensors_, ParseSafetensorsHeader(name(), header, 8 + header_bytes_,
                                                          file_.bytes(), std::move(stop)));
  return absl::OkStatus();
}

absl::Status SafetensorsFile::Read(std::string_view tensor, int64_t offset, int64_t bytes,
                                   void* out) const {
  const auto found = tensors_.find(tensor);
  if (found == tensors_.end()) return file_.Error(StrCat("has no tensor ", tensor));
  if (offset < 0 || bytes < 0 || offset > found->second.bytes - bytes) {
    return file_.Error(StrCat("tensor ", tensor, ": read past its end"));
  }
  return file_.Read(found->second.offset + offset, bytes, out);
}

}  // namespace sinkd
