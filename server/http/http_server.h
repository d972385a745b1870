// HttpServer: the HTTP port, read only.
//
//   GET /metrics   200  the Prometheus text
//   GET /healthz   200  "ok": the process answers
//   GET /readyz    200  "ready", or 503 with the reason
//   GET /          the page
//   GET /api/...   the API, whose answers are made elsewhere (http_api.h)
//   anything else  404
//
// Where it is told to, it speaks TLS, and asks who wants metrics or the API: 401 or 403 to whom it
// does not admit. The page itself holds nothing but code, and asks for a token when the API does.
//
// Every answer of the API and the page carries an ETag, the digest of its bytes, and is 304 to who
// has them. At most eight queries of the API are under way at once, on threads beside those of the
// rest, and what comes then is refused: the API cannot hold up health and metrics.
//
// Ownership: owns its threads (one that accepts, one that watches for clients that go, twelve that
// answer); the destructor stops them.
// Thread-safety: Stop may be called from any thread, more than once. The sources are called from
// the answering threads, several at once, until Stop has returned. Errors: INVALID_ARGUMENT for an
// address that is not one of net/listener.h; UNAVAILABLE when it cannot be listened on.
#pragma once

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

class HttpServer {
 public:
  struct Sources {
    std::function<std::string()> metrics;                   // Prometheus text
    std::function<std::optional<std::string>()> not_ready;  // why not; nullopt when ready
    std::optional<HttpApi> api = std::nullopt;              // nullopt: there is none
    Page page = {};
    HttpAccess access = {};  // of the page and the API
    // The name of who shows these, when it may have metrics and what the API tells; null: everyone
    // may, without a name.
    std::function<absl::StatusOr<std::string>(const Credentials& shown)> admit = nullptr;
    bool metrics_open = false;         // metrics to everyone all the same
    const TlsIdentity* tls = nullptr;  // borrowed; null: plaintext
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

  // Takes no new connections, ends queries of the API, lets other answers finish, joins all
  // threads.
  void Stop();

 private:
  struct Internals;
  explicit HttpServer(std::unique_ptr<Internals> internals);
  std::unique_ptr<Internals> internals_;
};

}  // namespace sinkd
