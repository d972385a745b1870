// HttpServer: the HTTP port.
//
//   GET /metrics   200  metrics in Prometheus' text format
//   GET /healthz   200  "ok": the process responds
//   GET /readyz    200  "ready", or 503 with the reason
//   GET /          the page
//   GET /api/...   the API (http_api.h)
//   POST /api/v1/analyze   analyses, unless the port is read-only
//   anything else  404
//
// Optionally it speaks TLS and authenticates callers of the API and of metrics (401, 403). The page
// contains only code, so it is open to all; it asks for a token if the API needs one.
//
// One thread reads and writes all connections and serves probes and the page, so a silent or slow
// client occupies no thread. Another thread collects metrics, and eight more run API queries, at
// most eight at a time. A request's head has ten seconds and 8 KiB. A response has ten seconds plus
// one second per 64 KiB. An idle connection is closed after a minute; when the port is full, the
// connection that has been silent longest is closed. At most four analyses run at once, two per
// caller; their bodies have at most 8 MiB and ten seconds plus one second per 64 KiB. No other body
// is read: the request is answered and the connection closed. Responses to GET of the API and the
// page carry an ETag, the digest of their bytes (304 on a match), and long ones are gzipped if the
// client accepts that.
//
// Ownership: owns its threads; the destructor stops them. Thread-safety: Stop may be called from
// any thread, more than once. Several threads call the sources at once, until Stop has returned.
// Errors: INVALID_ARGUMENT for an address that net/listener.h does not describe; UNAVAILABLE if the
// address cannot be listened on.
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

// Time limits for clients.
struct HttpTimes {
  std::chrono::milliseconds head =
      std::chrono::seconds(10);  // for a handshake, and for a request's head
  std::chrono::milliseconds idle = std::chrono::seconds(60);  // between two requests
  std::chrono::milliseconds body = std::chrono::seconds(10);  // for a body, plus time per byte
};

class HttpServer {
 public:
  struct Sources {
    std::function<std::string()> metrics;                   // Prometheus text
    std::function<std::optional<std::string>()> not_ready;  // why not; nullopt when ready
    std::optional<HttpApi> api = std::nullopt;              // nullopt: there is none
    Page page = {};
    HttpAccess access = {};  // to the page, the API and metrics
    // The principal with these credentials, or an error if it lacks the role `least`. Null: callers
    // are not authenticated. Metrics and reading the API need Role::kRead.
    std::function<absl::StatusOr<std::shared_ptr<const Principal>>(const Credentials& shown,
                                                                   Role least)>
        admit = nullptr;
    bool metrics_open = false;         // serve metrics to everyone nevertheless
    const TlsIdentity* tls = nullptr;  // borrowed; null: plaintext
    HttpTimes times = {};
  };

  // Listens on `address`, "127.0.0.1:9464" or "[::1]:9464"; port 0 picks a free port. The port
  // serves requests as soon as this returns.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const std::string& address,
                                                           Sources sources,
                                                           PortOptions port = {.name = "http"});

  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;

  // Accepts no more connections, cancels API queries, allows a second for writing responses that
  // are ready, and joins all threads.
  void Stop();

 private:
  struct Internals;
  explicit HttpServer(std::unique_ptr<Internals> internals);
  std::unique_ptr<Internals> internals_;
};

}  // namespace sinkd
