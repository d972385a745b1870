#include "server/net/grpc_relay.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>

#include "server/access/certificate_name.h"
#include "server/access/openssl_handles.h"
#include "server/base/containment.h"
#include "server/base/str_cat.h"
#include "server/net/open_connections.h"
#include "server/net/socket_handle.h"
#include "server/net/tls_acceptor.h"
#include "server/telemetry/log.h"
#include "server/telemetry/sparse_log.h"

namespace sinkd {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Clock = FrameGuard::Clock;
using Socket = asio::generic::stream_protocol::socket;

constexpr size_t kPieceBytes = 16 << 10;
// Shorter waits are not worth a timer; they add up to longer ones.
constexpr std::chrono::milliseconds kShortWait{5};
// For the client to see the end and close its side. Idle clients of gRPC do not look.
constexpr std::chrono::milliseconds kLinger{200};
constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
// An HTTP/2 server begins with a SETTINGS frame.
constexpr std::string_view kEmptySettings("\0\0\0\x04\0\0\0\0\0", 9);
// Addresses remembered, including those without connections.
constexpr size_t kMostRested = 1024;

auto Into(error_code& error) {
  return asio::redirect_error(asio::use_awaitable, error);
}

sockaddr_storage AddressAt(int socket, int (*get)(int, sockaddr*, socklen_t*)) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  get(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return address;
}

Peer DescribePeer(const sockaddr_storage& address) {
  if (address.ss_family == AF_UNIX) return {.address = "unix:", .host = "unix"};
  asio::ip::tcp::endpoint endpoint;
  const size_t size = address.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  std::memcpy(endpoint.data(), &address, size);
  endpoint.resize(size);
  asio::ip::address host = endpoint.address();
  if (host.is_v6() && host.to_v6().is_v4_mapped()) {
    host = asio::ip::make_address_v4(asio::ip::v4_mapped, host.to_v6());
  }
  const std::string text = host.to_string();
  return {.address = host.is_v6() ? StrCat("ipv6:[", text, "]:", endpoint.port())
                                  : StrCat("ipv4:", text, ":", endpoint.port()),
          .host = text};
}

// Two connected sockets. Ours has a name in Linux's abstract namespace, which gRPC sees as its
// peer.
struct NamedPair {
  std::string name;
  SocketHandle ours;
  SocketHandle grpcs;
};

std::optional<NamedPair> MakePair(std::string name) {
  std::array<int, 2> made{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, made.data()) != 0) {
    return std::nullopt;
  }
  NamedPair pair{std::move(name), SocketHandle(made[0]), SocketHandle(made[1])};
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  pair.name.copy(address.sun_path + 1, sizeof(address.sun_path) - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + pair.name.size());
  if (bind(made[0], reinterpret_cast<const sockaddr*>(&address), size) != 0) return std::nullopt;
  return pair;
}

void LogThrown(const std::exception_ptr& thrown) {
  if (!thrown) return;
  const absl::Status failed =
      Contained([&thrown]() -> absl::Status { std::rethrow_exception(thrown); });
  const std::string error(failed.message());
  Log(LogLevel::kError, "a connection of the gRPC port failed", {{"error", error}});
}

// A GOAWAY with the code ENHANCE_YOUR_CALM (RFC 9113, sections 6.8 and 7), and why.
std::string Goaway(std::string_view why) {
  std::string frame = {0, 0, static_cast<char>(8 + why.size()), 7, 0, 0, 0, 0, 0};
  frame += {0x7f, '\xff', '\xff', '\xff', 0, 0, 0, 0xb};
  return frame += why;
}

}  // namespace

struct GrpcRelay::Internals {
  explicit Internals(Options given) : options(std::move(given)) {
    if (options.tls != nullptr) {
      tls.emplace(*options.tls, TlsRules{.needs_certificate = true, .protocol = "h2"});
    }
    std::random_device random;
    for (int i = 0; i < 4; ++i) name_prefix = StrCat(name_prefix, random(), "-");
  }

  void Run();
  std::shared_ptr<AddressLoad> LoadOf(const sockaddr_storage& peer);
  void MakeRoom();

  const Options options;
  std::string name_prefix = "sinkd-";  // that others cannot guess
  std::atomic<uint64_t> names = 0;

  // On the loop's thread alone.
  std::optional<TlsAcceptor> tls;
  std::map<std::string, std::shared_ptr<AddressLoad>> addresses;
  OpenLoad port;
  std::map<Connection*, std::weak_ptr<Connection>> connections;
  bool closed = false;
  std::optional<std::promise<void>> empty;  // asked for by Stop
  SparseLog ended{std::chrono::seconds(60)};

  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const Peer>, std::less<>> peers;  // by name; under mutex

  asio::io_context loop{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{loop.get_executor()};
  std::once_flag closing;
  std::once_flag stopped;
  std::future<void> running;  // last: it uses the rest
};

// A client's connection. Lives as long as one of its two coroutines runs.
class GrpcRelay::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Internals& relay, int listener, int socket, NamedPair pair)
      : relay_(relay),
        listener_(listener),
        family_(AddressAt(socket, getsockname).ss_family),
        peer_address_(AddressAt(socket, getpeername)),
        client_(relay.loop, asio::generic::stream_protocol(family_, 0), socket),
        grpc_(relay.loop, asio::generic::stream_protocol(AF_UNIX, 0), pair.ours.Release()),
        name_(std::move(pair.name)),
        grpcs_end_(std::move(pair.grpcs)),
        guard_(relay.LoadOf(peer_address_), relay.port, relay.options.limits) {}
  ~Connection();

  // The coroutine for what the client sends.
  static asio::awaitable<void> Serve(std::shared_ptr<Connection> self);

  // At once.
  void Close();
  // Once the client has read what it was sent.
  void Leave();
  // Whether gRPC has its end.
  bool has_begun() const { return !grpcs_end_.valid(); }
  // Whether it may be ended to make room, and since when it has had no call.
  bool is_idle() const { return !leaving_ && guard_.open().calls == 0; }
  Clock::time_point idle_since() const { return idle_since_; }

 private:
  // The coroutine for what gRPC sends.
  static asio::awaitable<void> Answer(std::shared_ptr<Connection> self);

  asio::awaitable<bool> Begin();
  asio::awaitable<void> TurnAway();
  asio::awaitable<bool> Handshake();
  asio::awaitable<bool> ReadPreface();
  void HandOver();
  asio::awaitable<bool> PassOn(std::string_view bytes);
  asio::awaitable<bool> ToGrpc(std::string_view bytes);
  asio::awaitable<bool> ToClient(std::string_view bytes);
  asio::awaitable<void> Wait(Clock::duration time);
  void End(const char* fault);
  void CloseIn(std::chrono::milliseconds time);

  template <typename Step>
  auto OnClient(const Step& step) {
    return tls_ ? step(*tls_) : step(client_);
  }

  Internals& relay_;
  const int listener_;
  const int family_;
  const sockaddr_storage peer_address_;
  Socket client_;
  std::optional<asio::ssl::stream<Socket&>> tls_;
  Socket grpc_;
  const std::string name_;  // of grpc_
  SocketHandle grpcs_end_;  // until it is handed over
  asio::steady_timer deadline_{relay_.loop};
  asio::steady_timer pause_{relay_.loop};
  FrameGuard guard_;
  FrameReader received_;
  FrameReader sent_;
  std::string certificate_name_;
  const char* fault_ = nullptr;
  Clock::time_point idle_since_ = Clock::now();
  bool leaving_ = false;  // nothing is passed on to gRPC any more
};

GrpcRelay::Connection::~Connection() {
  {
    const std::lock_guard lock(relay_.mutex);
    relay_.peers.erase(name_);
  }
  relay_.connections.erase(this);
  if (relay_.empty && relay_.connections.empty()) {
    relay_.empty->set_value();
    relay_.empty.reset();
  }
}

asio::awaitable<void> GrpcRelay::Connection::Serve(std::shared_ptr<Connection> self) {
  const bool begun = co_await self->Begin();
  if (!begun) {
    co_await self->TurnAway();
    co_return;
  }
  asio::co_spawn(self->relay_.loop, Answer(self), LogThrown);
  std::vector<char> piece(kPieceBytes);
  error_code error;
  while (true) {
    const size_t size = co_await self->OnClient(
        [&](auto& client) { return client.async_read_some(asio::buffer(piece), Into(error)); });
    if (error) break;
    // Keep reading while the client is to leave: closing with unread bytes would reset the
    // connection, and the client might lose what it was sent last.
    if (self->leaving_) continue;
    if (!co_await self->PassOn({piece.data(), size})) self->Leave();
  }
  self->Leave();
}

asio::awaitable<void> GrpcRelay::Connection::Answer(std::shared_ptr<Connection> self) {
  std::vector<char> piece(kPieceBytes);
  error_code error;
  while (true) {
    const size_t size = co_await self->grpc_.async_read_some(asio::buffer(piece), Into(error));
    if (error) break;
    std::string_view rest(piece.data(), size);
    while (const auto part = self->sent_.Next(rest)) self->guard_.Sent(*part);
    self->idle_since_ = Clock::now();
    if (!co_await self->ToClient({piece.data(), size})) break;
  }
  self->Leave();
  if (self->fault_ != nullptr && self->sent_.between_frames()) {
    const std::string goaway = Goaway(self->fault_);
    co_await self->ToClient(goaway);
  }
  self->client_.shutdown(Socket::shutdown_send, error);
  self->CloseIn(kLinger);
}

asio::awaitable<bool> GrpcRelay::Connection::Begin() {
  if (relay_.closed || peer_address_.ss_family == AF_UNSPEC) co_return false;
  co_await Wait(guard_.Begun(Clock::now()));
  CloseIn(relay_.options.times.begin);
  // No co_await next to || or &&: GCC 12 resumes such a coroutine at the wrong place.
  if (relay_.tls) {
    const bool secured = co_await Handshake();
    if (!secured) co_return false;
  }
  const bool speaks = co_await ReadPreface();
  if (!speaks || relay_.closed) co_return false;
  HandOver();
  deadline_.cancel();
  // Even if gRPC has closed its end already, the client gets what gRPC sent before.
  co_await ToGrpc(kPreface);
  co_return true;
}

// Closes in a way that lets the client read why its handshake failed.
asio::awaitable<void> GrpcRelay::Connection::TurnAway() {
  error_code error;
  client_.shutdown(Socket::shutdown_send, error);
  CloseIn(relay_.options.times.leave);
  std::array<char, 4096> dropped;
  while (!error) co_await client_.async_read_some(asio::buffer(dropped), Into(error));
}

asio::awaitable<bool> GrpcRelay::Connection::Handshake() {
  tls_.emplace(client_, relay_.tls->context());
  error_code error;
  co_await tls_->async_handshake(asio::ssl::stream_base::server, Into(error));
  if (error) co_return false;
  const unsigned char* protocol = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(tls_->native_handle(), &protocol, &size);
  const Certificate shown(SSL_get1_peer_certificate(tls_->native_handle()));
  if (shown) certificate_name_ = CertificateName(*shown);
  co_return size > 0;
}

asio::awaitable<bool> GrpcRelay::Connection::ReadPreface() {
  std::array<char, kPreface.size()> first{};
  error_code error;
  co_await OnClient(
      [&](auto& client) { return asio::async_read(client, asio::buffer(first), Into(error)); });
  if (error) co_return false;
  const bool speaks = std::string_view(first.data(), first.size()) == kPreface;
  // So that a client which speaks TLS to a plaintext port finds out.
  if (!speaks) co_await ToClient(kEmptySettings);
  co_return speaks;
}

void GrpcRelay::Connection::HandOver() {
  Peer peer = DescribePeer(peer_address_);
  peer.certificate_name = certificate_name_;
  {
    const std::lock_guard lock(relay_.mutex);
    relay_.peers.emplace(name_, std::make_shared<const Peer>(std::move(peer)));
  }
  relay_.options.hand_over(listener_, grpcs_end_.Release());
}

// False: nothing else is to be passed on.
asio::awaitable<bool> GrpcRelay::Connection::PassOn(std::string_view bytes) {
  std::string_view rest = bytes;
  while (const auto part = received_.Next(rest)) {
    const auto [wait, fault] = guard_.Received(*part, Clock::now());
    if (fault != nullptr) {
      End(fault);
      co_return false;
    }
    if (wait < kShortWait) continue;
    if (!co_await ToGrpc(bytes.substr(0, bytes.size() - rest.size()))) co_return false;
    bytes = rest;
    co_await Wait(wait);
  }
  co_return co_await ToGrpc(bytes);
}

asio::awaitable<bool> GrpcRelay::Connection::ToGrpc(std::string_view bytes) {
  error_code error;
  co_await asio::async_write(grpc_, asio::buffer(bytes.data(), bytes.size()), Into(error));
  co_return !error;
}

asio::awaitable<bool> GrpcRelay::Connection::ToClient(std::string_view bytes) {
  if (!leaving_) CloseIn(relay_.options.times.read);
  error_code error;
  co_await OnClient([&](auto& client) {
    return asio::async_write(client, asio::buffer(bytes.data(), bytes.size()), Into(error));
  });
  if (!leaving_) deadline_.cancel();
  co_return !error;
}

asio::awaitable<void> GrpcRelay::Connection::Wait(Clock::duration time) {
  if (leaving_ || time < kShortWait) co_return;
  pause_.expires_after(time);
  error_code ended;
  co_await pause_.async_wait(Into(ended));
}

void GrpcRelay::Connection::End(const char* fault) {
  fault_ = fault;
  relay_.options.refused();
  const std::string address = DescribePeer(peer_address_).address;
  relay_.ended.Note(LogLevel::kWarning, "client disconnected for what it sent",
                    {{"port", "grpc"}, {"why", fault}, {"peer", address}});
}

// gRPC sees the connection end, and the client has a moment to read what gRPC has sent.
void GrpcRelay::Connection::Leave() {
  if (std::exchange(leaving_, true)) return;
  error_code ignored;
  grpc_.shutdown(Socket::shutdown_both, ignored);
  pause_.cancel();
  CloseIn(relay_.options.times.leave);
}

void GrpcRelay::Connection::Close() {
  error_code ignored;
  client_.close(ignored);
  grpc_.close(ignored);
  pause_.cancel();
}

void GrpcRelay::Connection::CloseIn(std::chrono::milliseconds time) {
  deadline_.expires_after(time);
  deadline_.async_wait([weak = weak_from_this()](const error_code& error) {
    const std::shared_ptr<Connection> self = weak.lock();
    // The deadline may have moved while this handler was queued.
    if (!error && self && self->deadline_.expiry() <= Clock::now()) self->Close();
  });
}

void GrpcRelay::Internals::Run() {
  const auto run = [this] {
    loop.run();
    return absl::OkStatus();
  };
  for (absl::Status failed = Contained(run); !failed.ok(); failed = Contained(run)) {
    const std::string error(failed.message());
    Log(LogLevel::kError, "the gRPC port failed", {{"error", error}});
  }
}

std::shared_ptr<AddressLoad> GrpcRelay::Internals::LoadOf(const sockaddr_storage& peer) {
  if (addresses.size() > kMostRested) {
    std::erase_if(addresses, [now = Clock::now()](const auto& each) {
      return each.second.use_count() == 1 && each.second->IsAtRest(now);
    });
  }
  std::shared_ptr<AddressLoad>& load = addresses[AddressOf(peer)];
  if (!load) load = std::make_shared<AddressLoad>();
  return load;
}

void GrpcRelay::Internals::MakeRoom() {
  if (4 * static_cast<int64_t>(connections.size()) <= 3 * options.max_connections) return;
  Connection* idlest = nullptr;
  for (const auto& [connection, owner] : connections) {
    if (!connection->is_idle()) continue;
    if (idlest == nullptr || connection->idle_since() < idlest->idle_since()) idlest = connection;
  }
  if (idlest != nullptr) idlest->Leave();
}

GrpcRelay::GrpcRelay(Options options)
    : internals_(std::make_unique<Internals>(std::move(options))) {
  internals_->running = std::async(std::launch::async, [all = internals_.get()] { all->Run(); });
}

GrpcRelay::~GrpcRelay() {
  Stop();
}

bool GrpcRelay::Take(int listener, int socket) {
  Internals& all = *internals_;
  std::optional<NamedPair> pair = MakePair(StrCat(all.name_prefix, ++all.names));
  if (!pair) return false;
  asio::post(all.loop, [&all, listener, socket, pair = *std::move(pair)]() mutable {
    auto connection = std::make_shared<Connection>(all, listener, socket, std::move(pair));
    all.connections.emplace(connection.get(), connection);
    all.MakeRoom();
    asio::co_spawn(all.loop, Connection::Serve(std::move(connection)), LogThrown);
  });
  return true;
}

std::shared_ptr<const Peer> GrpcRelay::PeerOf(std::string_view grpc_peer) const {
  const std::lock_guard lock(internals_->mutex);
  const auto found = internals_->peers.find(grpc_peer.substr(grpc_peer.rfind(':') + 1));
  return found != internals_->peers.end() ? found->second : nullptr;
}

void GrpcRelay::Close() {
  // Once: the loop has ended when Stop has returned.
  std::call_once(internals_->closing, [&all = *internals_] {
    asio::post(all.loop, asio::use_future([&all] {
                 all.closed = true;
                 for (const auto& [connection, owner] : all.connections) {
                   if (!connection->has_begun()) connection->Close();
                 }
               }))
        .wait();
  });
}

void GrpcRelay::Stop() {
  std::call_once(internals_->stopped, [&all = *internals_, this] {
    Close();
    std::promise<void> empty;
    const std::future<void> emptied = empty.get_future();
    asio::post(all.loop, [&all, &empty] {
      if (all.connections.empty()) return empty.set_value();
      all.empty = std::move(empty);
    });
    if (emptied.wait_for(2 * all.options.times.leave) != std::future_status::ready) {
      asio::post(all.loop, [&all] {
        for (const auto& [connection, owner] : all.connections) connection->Close();
      });
    }
    emptied.wait();
    all.work.reset();
    all.running.wait();
  });
}

}  // namespace sinkd
