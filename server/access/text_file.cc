#include "server/access/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

absl::Status Unreadable(const std::filesystem::path& file, const std::string& why) {
  return FailedPrecondition(StrCat("the file cannot be read: ", why),
                            {.reason = "FILE_UNREADABLE",
                             .subject = file.string(),
                             .value = file.string(),
                             .fix = "name a file that the user of this process can read"});
}

}  // namespace

absl::StatusOr<std::string> ReadTextFile(const std::filesystem::path& file, size_t max_bytes) {
  // Non-blocking, because opening a FIFO without a writer would block.
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return Unreadable(file, std::strerror(errno));
  struct stat status {};
  std::string text(max_bytes + 1, '\0');
  size_t size = 0;
  ssize_t got = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) ? 1 : -1;
  if (got < 0) errno = EINVAL;
  while (got > 0 && size < text.size()) {
    got = read(descriptor, text.data() + size, text.size() - size);
    if (got > 0) size += static_cast<size_t>(got);
    if (got < 0 && errno == EINTR) got = 1;
  }
  const std::string why = got < 0 ? std::strerror(errno) : "";
  close(descriptor);
  if (got < 0) return Unreadable(file, S_ISREG(status.st_mode) ? why : "it is not a regular file");
  if (size > max_bytes) return Unreadable(file, StrCat("it is longer than ", max_bytes, " bytes"));
  text.resize(size);
  return text;
}

}  // namespace sinkd
