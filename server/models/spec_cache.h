// SpecCache: a cache of config.json files and GGUF headers, so that listing models costs one stat
// per model.
//
// Thread-safety: Read may be called from any thread; files are read outside the lock.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>

#include <absl/status/statusor.h>

#include "server/engine/decoder_spec.h"

namespace sinkd {

class SpecCache {
 public:
  // Returns the result of ReadDecoderSpec(folder), including errors; reads again if the file, or
  // its time or size, has changed.
  absl::StatusOr<DecoderSpec> Read(const std::filesystem::path& folder);

 private:
  struct Stamp {
    std::filesystem::path file;
    std::filesystem::file_time_type time;
    uintmax_t bytes = 0;
    bool operator==(const Stamp&) const = default;
  };
  struct Line {
    Stamp stamp;
    absl::StatusOr<DecoderSpec> spec;
  };

  std::mutex mutex_;
  std::map<std::filesystem::path, Line> lines_;
};

}  // namespace sinkd
