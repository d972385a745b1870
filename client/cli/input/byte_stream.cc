#include "client/cli/input/byte_stream.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace sinkd::cli {
namespace {

absl::Status CannotRead(const std::string& name, const std::string& why) {
  return absl::InvalidArgumentError("cannot read " + name + ": " + why);
}

}  // namespace

StopSignal::StopSignal() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

StopSignal::~StopSignal() {
  close(descriptor_);
}

void StopSignal::Stop() noexcept {
  const uint64_t one = 1;
  // A full counter is stopped already.
  [[maybe_unused]] const ssize_t written = write(descriptor_, &one, sizeof(one));
}

bool StopSignal::stopped() const {
  return WaitFor(std::chrono::milliseconds(0));
}

bool StopSignal::WaitFor(std::chrono::milliseconds time) const {
  pollfd wait{descriptor_, POLLIN, 0};
  return poll(&wait, 1, static_cast<int>(time.count())) > 0;
}

absl::StatusOr<ByteStream> ByteStream::Open(const std::string& path, const StopSignal* stop) {
  if (path == "-") return ByteStream(STDIN_FILENO, false, InputName(path), stop);
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return CannotRead(InputName(path), std::strerror(errno));
  return ByteStream(descriptor, true, InputName(path), stop);
}

ByteStream::ByteStream(ByteStream&& other) noexcept
    : descriptor_(other.descriptor_),
      owned_(std::exchange(other.owned_, false)),
      name_(std::move(other.name_)),
      stop_(other.stop_) {}

ByteStream::~ByteStream() {
  if (owned_) close(descriptor_);
}

absl::StatusOr<size_t> ByteStream::Read(char* data, size_t size) {
  while (true) {
    pollfd wait[] = {{stop_->descriptor(), POLLIN, 0}, {descriptor_, POLLIN, 0}};
    if (poll(wait, 2, -1) < 0 && errno != EINTR) return CannotRead(name_, std::strerror(errno));
    if (wait[0].revents != 0) return 0;
    if (wait[1].revents == 0) continue;
    const ssize_t count = read(descriptor_, data, size);
    if (count >= 0) return static_cast<size_t>(count);
    if (errno != EINTR && errno != EAGAIN) return CannotRead(name_, std::strerror(errno));
  }
}

std::string InputName(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

absl::Status CheckReadable(const std::string& path) {
  if (path == "-") return absl::OkStatus();
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return CannotRead(path, std::strerror(errno));
  if (S_ISDIR(info.st_mode)) return CannotRead(path, "it is a folder; name its files");
  if (access(path.c_str(), R_OK) != 0) return CannotRead(path, std::strerror(errno));
  return absl::OkStatus();
}

std::optional<int64_t> RegularFileSize(const std::string& path) {
  struct stat info {};
  const bool known = path == "-" ? fstat(STDIN_FILENO, &info) == 0 : stat(path.c_str(), &info) == 0;
  if (!known || !S_ISREG(info.st_mode)) return std::nullopt;
  return info.st_size;
}

}  // namespace sinkd::cli
