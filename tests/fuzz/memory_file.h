// MemoryFile: a regular file of given bytes that lies in memory alone, for readers that want a
// path.
//
// Ownership: the file is gone with the object. Thread-safety: none.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "tests/fuzz/require.h"

namespace sinkd::fuzz {

class MemoryFile {
 public:
  MemoryFile(const uint8_t* data, size_t size) : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
    Require(descriptor_ >= 0, "no file in memory");
    Require(write(descriptor_, data, size) == static_cast<ssize_t>(size), "no room in memory");
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace sinkd::fuzz
