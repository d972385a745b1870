// Contained: work whose exceptions are to be errors. Nothing of ours throws, but the standard
// library does when memory is short, and others' libraries do; on a thread of a server that would
// be the end of the process.
#pragma once

#include <exception>
#include <new>

#include <absl/status/status.h>

namespace sinkd {

// RESOURCE_EXHAUSTED: out of memory.
absl::Status MemoryExhausted();
// INTERNAL: any other exception.
absl::Status UnexpectedException(const char* what);

// What `work` returns, a status or StatusOr; or the above, when it throws.
template <typename Work>
auto Contained(const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return MemoryExhausted();
  } catch (const std::exception& error) {
    return UnexpectedException(error.what());
  } catch (...) {
    return UnexpectedException("an exception of no known type");
  }
}

}  // namespace sinkd
