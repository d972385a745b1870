#include "server/base/containment.h"

#include <chrono>

#include <absl/strings/str_cat.h>

#include "server/base/status.h"

namespace sinkd {

absl::Status MemoryExhausted() {
  return ResourceExhausted("the server is out of memory",
                           {.reason = "OUT_OF_MEMORY",
                            .subject = "memory",
                            .fix = "send shorter samples or fewer at once, unload a model, or "
                                   "load one in bfloat16",
                            .retry_after = std::chrono::seconds(5)});
}

absl::Status UnexpectedException(const char* what) {
  return Internal(absl::StrCat("unexpected: ", Shorten(what, 300)));
}

}  // namespace sinkd
