// HttpConnection: a client's connection, in plaintext or over TLS, with time limits for silent and
// slow clients.
//
// Ownership: owns the socket and closes it; borrows the times. Thread-safety: none; use it on the
// loop's thread only. Errors: none; callers do not learn whether a client disconnected, was too
// slow, or did not speak TLS.
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
  // `socket` is connected and non-blocking.
  HttpConnection(boost::asio::io_context& loop, int socket, const HttpTimes& times);
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  // Switches to TLS. False: the handshake failed.
  boost::asio::awaitable<bool> Handshake(boost::asio::ssl::context& context);

  // The head of the next request, or why it cannot be read; nullopt: the client sends none. The
  // `first` request of a connection has less time than later ones.
  boost::asio::awaitable<std::optional<absl::StatusOr<HttpHead>>> ReadHead(bool first);

  // The body, of `size` bytes, of the request whose head was read last; nullopt: it did not arrive.
  // `asked_for`: the client waits for "100 Continue".
  boost::asio::awaitable<std::optional<std::string>> ReadBody(size_t size, bool asked_for);

  // Sends both unchanged. False: the client did not take them.
  boost::asio::awaitable<bool> Write(const std::string& head, std::string_view body);

  // Ends the connection so that everything written arrives. Closing a socket with unread bytes
  // would reset the connection.
  boost::asio::awaitable<void> Leave();

  // Closes the connection at once; pending operations end.
  void Close();

  // Whether the other side has closed its end.
  bool HungUp();

  const std::string& host() const { return host_; }  // of the client
  // The name in the client's certificate; empty without a certificate.
  const std::string& certificate_name() const { return certificate_name_; }
  // The bytes received of the next request, or of this one if ReadHead failed.
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
