#include "server/net/listener.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include <absl/strings/str_cat.h>

#include "server/base/status.h"

namespace sinkd {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";
// Of connections that came and were not accepted; the kernel's own limit holds beside it.
constexpr int kBacklog = 1024;
constexpr size_t kMostPathBytes = sizeof(sockaddr_un::sun_path) - 1;

absl::Status NoAddress(const std::string& address) {
  return InvalidArgument("an address to listen on is host:port, with a port from 0 to 65535",
                         {.reason = "ADDRESS_INVALID",
                          .subject = "address",
                          .value = address,
                          .fix = "write for example 127.0.0.1:50051, [::1]:50051 or unix:/a/path"});
}

absl::Status PathTooLong(const std::string& path) {
  return InvalidArgument(absl::StrCat("the path of a socket has at most ", kMostPathBytes,
                                      " bytes, this one has ", path.size()),
                         {.reason = "ADDRESS_INVALID",
                          .subject = "address",
                          .value = path,
                          .fix = "choose a shorter path, or listen on host:port"});
}

absl::Status CannotListen(const std::string& address, const std::string& why) {
  return Unavailable(absl::StrCat("cannot listen on ", address, ": ", why),
                     {.reason = "CANNOT_LISTEN",
                      .subject = address,
                      .fix = "free the port, or choose another address"});
}

std::string ErrorText(int error) {
  return std::generic_category().message(error);
}

SocketHandle NewSocket(int family) {
  return SocketHandle(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

int PortOf(int descriptor) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

// The addresses of `host`; null if there are none, with the reason in `why`.
std::unique_ptr<addrinfo, void (*)(addrinfo*)> Resolve(const std::string& host, std::string& why) {
  const addrinfo hints{.ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (error != 0) why = gai_strerror(error);
  return {error == 0 ? found : nullptr, [](addrinfo* list) {
            if (list != nullptr) freeaddrinfo(list);
          }};
}

// Whether `list` names the address of `last` before it does with `last`.
bool HasBefore(const addrinfo* list, const addrinfo& last) {
  for (const addrinfo* each = list; each != &last; each = each->ai_next) {
    if (each->ai_addrlen == last.ai_addrlen &&
        std::memcmp(each->ai_addr, last.ai_addr, last.ai_addrlen) == 0) {
      return true;
    }
  }
  return false;
}

// Listens on `address`, whose port it sets; invalid, with errno, when that fails.
SocketHandle ListenOnOne(const addrinfo& address, int port) {
  sockaddr_storage bound{};
  std::memcpy(&bound, address.ai_addr, address.ai_addrlen);
  in_port_t& place = address.ai_family == AF_INET6
                         ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                         : reinterpret_cast<sockaddr_in&>(bound).sin_port;
  place = htons(static_cast<in_port_t>(port));
  SocketHandle made = NewSocket(address.ai_family);
  if (!made.valid()) return made;
  const int yes = 1;
  const int no = 0;
  setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (address.ai_family == AF_INET6) {
    setsockopt(made.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
  }
  const bool listens = bind(made.get(), reinterpret_cast<const sockaddr*>(&bound),
                            static_cast<socklen_t>(address.ai_addrlen)) == 0 &&
                       listen(made.get(), kBacklog) == 0;
  return listens ? std::move(made) : SocketHandle();
}

// The socket at a path; nullopt if there is none.
std::optional<FileIdentity> FileAt(const std::string& path) {
  struct stat file {};
  if (lstat(path.c_str(), &file) != 0 || !S_ISSOCK(file.st_mode)) return std::nullopt;
  return FileIdentity{file.st_dev, file.st_ino};
}

// Whether nobody listens any more at the socket of an address.
bool IsLeftBehind(const sockaddr_un& address) {
  if (!FileAt(address.sun_path)) return false;
  const SocketHandle probe = NewSocket(AF_UNIX);
  return connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 &&
         errno == ECONNREFUSED;
}

}  // namespace

Listener::~Listener() {
  Close();
}

void Listener::Close() {
  // Another server may have taken the path since.
  if (file_ && FileAt(path_) == file_) unlink(path_.c_str());
  file_.reset();
  sockets_.clear();
}

absl::StatusOr<Listener> Listener::Open(const std::string& address) {
  Listener listener;
  listener.address_ = address;
  if (address.starts_with(kUnixPrefix)) {
    SINKD_RETURN_IF_ERROR(listener.ListenAt(address.substr(kUnixPrefix.size())));
    return listener;
  }
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0) return NoAddress(address);
  int port = -1;
  const char* const end = address.data() + address.size();
  const auto [stop, error] = std::from_chars(address.data() + colon + 1, end, port);
  if (error != std::errc() || stop != end || port < 0 || port > 65535) return NoAddress(address);
  std::string host = address.substr(0, colon);
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  SINKD_RETURN_IF_ERROR(listener.ListenOn(host, port));
  listener.address_ = absl::StrCat(address.substr(0, colon), ":", listener.port_);
  return listener;
}

absl::Status Listener::ListenOn(const std::string& host, int port) {
  std::string why;
  const auto found = Resolve(host, why);
  port_ = port;
  for (const addrinfo* each = found.get(); each != nullptr; each = each->ai_next) {
    if (HasBefore(found.get(), *each)) continue;
    SocketHandle made = ListenOnOne(*each, port_);
    if (made.valid()) {
      port_ = PortOf(made.get());
      sockets_.push_back(std::move(made));
      continue;
    }
    const int error = errno;
    why = ErrorText(error);
    // A name may have addresses of a family that this machine lacks, but not of another machine.
    if (error == EAFNOSUPPORT || error == EADDRNOTAVAIL) continue;
    sockets_.clear();
    break;
  }
  return sockets_.empty() ? CannotListen(address_, why) : absl::OkStatus();
}

absl::Status Listener::ListenAt(const std::string& path) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  if (path.empty()) return NoAddress(address_);
  if (path.size() > kMostPathBytes) return PathTooLong(path);
  path.copy(address.sun_path, path.size());
  if (IsLeftBehind(address)) unlink(path.c_str());
  SocketHandle made = NewSocket(AF_UNIX);
  if (bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(made.get(), kBacklog) != 0) {
    return CannotListen(address_, ErrorText(errno));
  }
  path_ = path;
  file_ = FileAt(path);
  sockets_.push_back(std::move(made));
  return absl::OkStatus();
}

}  // namespace sinkd
