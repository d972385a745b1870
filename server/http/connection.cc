#include "server/http/connection.h"

#include <poll.h>

#include <algorithm>
#include <array>

#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "server/access/certificate_name.h"
#include "server/access/openssl_handles.h"

namespace sinkd {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::seconds;

constexpr size_t kLeastBytesASecond = 64 << 10;  // beyond the time of a body
constexpr seconds kLeaveTime{1};
constexpr size_t kLeaveBytes = 1 << 20;
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

auto Into(error_code& error) {
  return asio::redirect_error(asio::use_awaitable, error);
}

asio::ip::tcp ProtocolOf(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return address.ss_family == AF_INET6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4();
}

}  // namespace

HttpConnection::HttpConnection(asio::io_context& loop, int socket, const HttpTimes& times)
    : times_(times), tcp_(asio::ip::tcp::socket(loop, ProtocolOf(socket), socket)) {
  error_code gone;
  host_ = tcp_.socket().remote_endpoint(gone).address().to_string();
}

template <typename Step>
auto HttpConnection::OnStream(const Step& step) {
  return tls_ ? step(*tls_) : step(tcp_);
}

asio::awaitable<bool> HttpConnection::Handshake(asio::ssl::context& context) {
  tls_.emplace(tcp_, context);
  tcp_.expires_after(times_.head);
  error_code error;
  co_await tls_->async_handshake(asio::ssl::stream_base::server, Into(error));
  if (error) co_return false;
  const Certificate shown(SSL_get1_peer_certificate(tls_->native_handle()));
  if (shown) certificate_name_ = CertificateName(*shown);
  co_return true;
}

asio::awaitable<std::optional<absl::StatusOr<HttpHead>>> HttpConnection::ReadHead(bool first) {
  error_code error;
  const auto received = asio::dynamic_buffer(received_, kMaxHeadBytes);
  if (!first && received_.empty()) {
    tcp_.expires_after(times_.idle);
    co_await OnStream([&](auto& stream) {
      return asio::async_read(stream, received, asio::transfer_at_least(1), Into(error));
    });
    if (error) co_return std::nullopt;
  }
  tcp_.expires_after(times_.head);
  const size_t size = co_await OnStream([&](auto& stream) {
    return asio::async_read_until(stream, received, kHeadEnd, Into(error));
  });
  if (error == asio::error::not_found) co_return HeadTooLarge(received_);
  if (error) co_return std::nullopt;
  absl::StatusOr<HttpHead> head = ParseHead(std::string_view(received_).substr(0, size));
  if (head.ok()) received_.erase(0, size);
  co_return head;
}

asio::awaitable<std::optional<std::string>> HttpConnection::ReadBody(size_t size, bool asked_for) {
  if (asked_for && received_.empty() && !co_await Write(std::string(kContinue), {})) {
    co_return std::nullopt;
  }
  const size_t here = std::min(size, received_.size());
  std::string body = received_.substr(0, here);
  received_.erase(0, here);
  body.resize(size);
  tcp_.expires_after(times_.body + seconds(size / kLeastBytesASecond));
  error_code error;
  co_await OnStream([&](auto& stream) {
    return asio::async_read(stream, asio::buffer(body.data() + here, size - here), Into(error));
  });
  if (error) co_return std::nullopt;
  co_return body;
}

asio::awaitable<bool> HttpConnection::Write(const std::string& head, std::string_view body) {
  const std::array<asio::const_buffer, 2> parts = {asio::buffer(head),
                                                   asio::buffer(body.data(), body.size())};
  tcp_.expires_after(times_.body + seconds(body.size() / kLeastBytesASecond));
  error_code error;
  co_await OnStream([&](auto& stream) { return asio::async_write(stream, parts, Into(error)); });
  co_return !error;
}

asio::awaitable<void> HttpConnection::Leave() {
  tcp_.expires_after(kLeaveTime);
  error_code error;
  if (tls_) co_await tls_->async_shutdown(Into(error));
  tcp_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, error);
  std::array<char, 4096> dropped;
  for (size_t all = 0; !error && all < kLeaveBytes;) {
    all += co_await tcp_.async_read_some(asio::buffer(dropped), Into(error));
  }
}

void HttpConnection::Close() {
  tcp_.close();
}

bool HttpConnection::HungUp() {
  pollfd polled{tcp_.socket().native_handle(), POLLRDHUP, 0};
  return poll(&polled, 1, 0) > 0;
}

}  // namespace sinkd
