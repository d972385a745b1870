#include "client/cli/output/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "client/cli/terminal/text_width.h"

namespace sinkd::cli {
namespace {

constexpr size_t kFlushBytes = 64 << 10;

}  // namespace

void Output::Write(std::string_view text) {
  if (!status_.ok()) return;
  if (width_ > 0) {
    buffer_ += FoldLines(text, width_);
  } else {
    buffer_ += text;
  }
  if (buffer_.size() >= kFlushBytes) Flush().IgnoreError();
}

absl::Status Output::Flush() {
  std::string_view rest = buffer_;
  while (status_.ok() && !rest.empty()) {
    const ssize_t written = write(descriptor_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EPIPE) {
      status_ = absl::AbortedError("the reader of standard output is gone");
    } else if (errno != EINTR) {
      status_ = absl::InternalError(std::string("cannot write to standard output: ") +
                                    std::strerror(errno));
    }
  }
  buffer_.clear();
  return status_;
}

}  // namespace sinkd::cli
