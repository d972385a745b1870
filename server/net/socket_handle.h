// SocketHandle: owns a file descriptor.
#pragma once

#include <unistd.h>

#include <utility>

namespace sinkd {

class SocketHandle {
 public:
  explicit SocketHandle(int descriptor = -1) : descriptor_(descriptor) {}
  ~SocketHandle() { Close(); }
  SocketHandle(SocketHandle&& other) noexcept : descriptor_(other.Release()) {}
  SocketHandle& operator=(SocketHandle&& other) noexcept {
    if (this != &other) {
      Close();
      descriptor_ = other.Release();
    }
    return *this;
  }

  int get() const { return descriptor_; }
  bool valid() const { return descriptor_ >= 0; }
  int Release() { return std::exchange(descriptor_, -1); }
  void Close() {
    if (valid()) close(Release());
  }

 private:
  int descriptor_;
};

}  // namespace sinkd
