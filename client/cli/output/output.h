// Output: standard output, buffered, aware of a reader that went away.
//
// Thread-safety: none; callers lock.
#pragma once

#include <string>
#include <string_view>

#include <absl/status/status.h>

namespace sinkd::cli {

class Output {
 public:
  // Writes to `descriptor`, which is not closed. Lines of more than `width` columns are broken at
  // blanks; 0: no limit.
  explicit Output(int descriptor, int width = 0) : descriptor_(descriptor), width_(width) {}

  // From now on lines stay as they are: what follows is not only for people.
  void KeepLines() { width_ = 0; }

  // Appends whole lines; written out by Flush, or here when much has gathered.
  void Write(std::string_view text);

  // ABORTED when the reader closed its end (a pipe into `head`), INTERNAL with the reason when
  // writing failed otherwise. Sticky.
  absl::Status Flush();

  bool reader_gone() const { return absl::IsAborted(status_); }

 private:
  int descriptor_;
  int width_;
  std::string buffer_;
  absl::Status status_;
};

}  // namespace sinkd::cli
