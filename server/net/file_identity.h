// FileIdentity: which file or socket it is, whatever its name or descriptor.
#pragma once

#include <sys/types.h>

namespace sinkd {

struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

}  // namespace sinkd
