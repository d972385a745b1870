// HttpConnection: a client's connection, in plaintext or over TLS, with an end to how long a client
// may be silent or slow.
//
// Ownership: owns the socket and closes it; borrows the times. Thread-safety: none; all on the
// loop's thread. Errors: none. Whoever is gone, too slow, or speaks no TLS is told apart by
// nothing.
#pragma once

#include <utility>  // Boost's coroutines forget it

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include "server/http/http_head.h"
#include "server/http/http_server.h"

namespace sinkd {

class HttpConnection {
 public:
  // `socket` is connected and does not block.
  HttpConnection(boost::asio::io_context& loop, int socket, const HttpTimes& times);
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  // From now on it speaks TLS; false: the client does not.
  boost::asio::awaitable<bool> Handshake(boost::asio::ssl::context& context);

  // The head of the next request, or why it cannot be read; nullopt: none comes. `first`: of the
  // connection, which may not wait as long as later ones.
  boost::asio::awaitable<std::optional<absl::StatusOr<HttpHead>>> ReadHead(bool first);

  // The body of the request whose head was read, of `size` bytes; nullopt: it does not come.
  // `asked_for`: the client waits for "100 Continue".
  boost::asio::awaitable<std::optional<std::string>> ReadBody(size_t size, bool asked_for);

  // Both as they are; false: the client does not take them.
  boost::asio::awaitable<bool> Write(const std::string& head, std::string_view body);

  // Takes leave in a way that what was written arrives: a socket closed with bytes unread would
  // reset the connection.
  boost::asio::awaitable<void> Leave();

  // At once; whatever waits for the client ends.
  void Close();

  // Whether the other side has closed its end.
  bool HungUp();

  const std::string& host() const { return host_; }  // of the client
  // The name in the client's certificate; empty when it showed none.
  const std::string& certificate_name() const { return certificate_name_; }
  // What of the next request has come; when ReadHead failed, of this one.
  std::string_view received() const { return received_; }

 private:
  template <typename Step>
  auto OnStream(const Step& step);

  const HttpTimes& times_;
  boost::beast::tcp_stream tcp_;
  std::optional<boost::asio::ssl::stream<boost::beast::tcp_stream&>> tls_;
  std::string host_;
  std::string certificate_name_;
  std::string received_;
};

}  // namespace sinkd
