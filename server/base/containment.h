// Contained: turns exceptions of some work into errors. Our code does not throw, but the standard
// library does when memory is short, and so do other libraries. On a thread of the server, an
// exception would end the process.
#pragma once

#include <exception>
#include <new>

#include <absl/status/status.h>

namespace sinkd {

// RESOURCE_EXHAUSTED: out of memory.
absl::Status MemoryExhausted();
// INTERNAL: any other exception.
absl::Status UnexpectedException(const char* what);

// Returns what `work` returns, a Status or StatusOr, or one of the errors above if it throws.
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
