#include "server/models/spec_cache.h"

#include <system_error>

#include "server/engine/model.h"

namespace sinkd {

absl::StatusOr<DecoderSpec> SpecCache::Read(const std::filesystem::path& folder) {
  std::error_code no_time;
  std::error_code no_size;
  const std::filesystem::path file = SpecFile(folder);
  const Stamp stamp{file.filename(), std::filesystem::last_write_time(file, no_time),
                    std::filesystem::file_size(file, no_size)};
  if (no_time || no_size) return ReadDecoderSpec(folder);
  {
    const std::lock_guard lock(mutex_);
    const auto line = lines_.find(folder);
    if (line != lines_.end() && line->second.stamp == stamp) return line->second.spec;
  }
  absl::StatusOr<DecoderSpec> spec = ReadDecoderSpec(folder);
  const std::lock_guard lock(mutex_);
  lines_.insert_or_assign(folder, Line{stamp, spec});
  return spec;
}

}  // namespace sinkd
