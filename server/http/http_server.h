// HttpServer: the HTTP port.
//
//   GET /metrics   200  the Prometheus text
//   GET /healthz   200  "ok": the process answers
//   GET /readyz    200  "ready", or 503 with the reason
//   GET /          the page
//   GET /api/...   the API, whose answers are made elsewhere (http_api.h)
//   POST /api/v1/analyze   the same, where the API takes it
//   anything else  404
//
// Where it is told to, it speaks TLS, and asks who wants metrics or the API: 401 or 403 to whom it
// does not admit. The page itself holds nothing but code, and asks for a token when the API does.
//
// One thread reads and writes all connections and answers probes and the page, so that a client
// that is silent or slow holds none. Metrics are made on another, at most eight queries of the API
// on eight more. A head has ten seconds and 8 KiB, an answer ten seconds and one for each 64 KiB;
// an idle connection is closed after a minute, or when the port gets full, the longest silent
// first. Four analyses are under way at most, two of one caller; their bodies, of 8 MiB at most,
// have ten seconds and one for each 64 KiB. No other body is read: whoever sends one is answered,
// and its connection closed. Answers to GET of the API and the page carry an ETag, the digest of
// their bytes, and are 304 to who has them.
//
// Ownership: owns its threads; the destructor stops them. Thread-safety: Stop may be called from
// any thread, more than once. The sources are called from several threads, several at once, until
// Stop has returned. Errors: INVALID_ARGUMENT for an address that is not one of net/listener.h;
// UNAVAILABLE when it cannot be listened on.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

#include "server/access/access_control.h"
#include "server/access/tls_identity.h"
#include "server/http/http_access.h"
#include "server/http/http_api.h"
#include "server/http/page/page.h"
#include "server/net/accept_loop.h"

namespace sinkd {

// How long clients may take.
struct HttpTimes {
  std::chrono::milliseconds head = std::chrono::seconds(10);  // a handshake; a request's head
  std::chrono::milliseconds idle = std::chrono::seconds(60);  // between two requests
  std::chrono::milliseconds body = std::chrono::seconds(10);  // of either side, and more for bytes
};

class HttpServer {
 public:
  struct Sources {
    std::function<std::string()> metrics;                   // Prometheus text
    std::function<std::optional<std::string>()> not_ready;  // why not; nullopt when ready
    std::optional<HttpApi> api = std::nullopt;              // nullopt: there is none
    Page page = {};
    HttpAccess access = {};  // of the page, the API and metrics
    // Who shows these, when it has at least this role; null: everyone may have everything, without
    // a name. Metrics and reading the API need Role::kRead.
    std::function<absl::StatusOr<std::shared_ptr<const Principal>>(const Credentials& shown,
                                                                   Role least)>
        admit = nullptr;
    bool metrics_open = false;         // metrics to everyone all the same
    const TlsIdentity* tls = nullptr;  // borrowed; null: plaintext
    HttpTimes times = {};
  };

  // Listens on `address`, "127.0.0.1:9464" or "[::1]:9464"; port 0 picks a free one. Answers from
  // the moment it returns.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const std::string& address,
                                                           Sources sources,
                                                           PortOptions port = {.name = "http"});

  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;

  // Takes no new connections, ends queries of the API, lets answers that are made be written for
  // a second, joins all threads.
  void Stop();

 private:
  struct Internals;
  explicit HttpServer(std::unique_ptr<Internals> internals);
  std::unique_ptr<Internals> internals_;
};

}  // namespace sinkd
