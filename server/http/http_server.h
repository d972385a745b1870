// HttpServer: the operations port, plain HTTP, read only.
//
//   GET /metrics   200  the Prometheus text
//   GET /healthz   200  "ok": the process answers
//   GET /readyz    200  "ready", or 503 with the reason
//   anything else  404
//
// Ownership: owns its threads (one that accepts, four that answer); the destructor stops them.
// Thread-safety: Stop may be called from any thread, more than once. The sources are called from
// the answering threads, several at once, until Stop has returned. Errors: INVALID_ARGUMENT for an
// address that is not host:port; UNAVAILABLE when it cannot be bound.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

namespace sinkd {

class HttpServer {
 public:
  struct Sources {
    std::function<std::string()> metrics;                   // Prometheus text
    std::function<std::optional<std::string>()> not_ready;  // why not; nullopt when ready
  };

  // Listens on `address`, "127.0.0.1:9464" or "[::1]:9464"; port 0 picks a free one. Answers from
  // the moment it returns.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(std::string_view address,
                                                           Sources sources);

  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;

  // Takes no new connections, lets running answers finish, joins all threads.
  void Stop();

 private:
  struct Internals;
  explicit HttpServer(std::unique_ptr<Internals> internals);
  std::unique_ptr<Internals> internals_;
};

}  // namespace sinkd
