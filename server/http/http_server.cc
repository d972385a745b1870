#include "server/http/http_server.h"

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "server/base/containment.h"
#include "server/base/request_id.h"
#include "server/base/status.h"
#include "server/http/hangup_watch.h"
#include "server/http/site.h"
#include "server/http/socket_stream.h"
#include "server/http/tls_stream.h"
#include "server/telemetry/log.h"
#include "server/telemetry/trace_fields.h"

namespace sinkd {
namespace {

constexpr size_t kThreads = 4;     // for what is not the API
constexpr int kQueriesAtOnce = 8;  // of the API, each on a thread of its own
constexpr size_t kMaxBodyBytes = 1024;
constexpr size_t kMaxLoggedPath = 200;
constexpr char kText[] = "text/plain; charset=utf-8";
constexpr char kPrometheusText[] = "text/plain; version=0.0.4; charset=utf-8";

// One of kQueriesAtOnce, until it is destroyed.
class QueryPlace {
 public:
  explicit QueryPlace(std::atomic<int>& taken)
      : taken_(taken), has_place_(taken.fetch_add(1) < kQueriesAtOnce) {}
  ~QueryPlace() { taken_.fetch_sub(1); }
  QueryPlace(const QueryPlace&) = delete;
  QueryPlace& operator=(const QueryPlace&) = delete;

  bool has_place() const { return has_place_; }

 private:
  std::atomic<int>& taken_;
  const bool has_place_;
};

// What httplib does not tell its handlers of the request they answer.
struct Visit {
  int socket = -1;
  std::string accepted;          // Accept-Encoding of a request to the site
  std::string certificate_name;  // of the client's certificate
  std::string caller;            // its name, once it is admitted
  std::optional<QueryPlace> place;
};
thread_local Visit* visit_of_this_thread = nullptr;

// httplib's server, but for how connections come, and how they are read and written.
class VisitServer final : public httplib::Server {
 public:
  // Reads a request from `socket`, which it owns, and answers it.
  // `tls` null: in plaintext.
  void Answer(int socket, TlsAcceptor* tls) {
    SocketStream stream(socket);
    Visit visit{.socket = socket};
    if (tls == nullptr) return Answer(stream, visit);
    const std::shared_ptr<SSL_CTX> context = tls->context();
    if (!context) return;
    TlsStream secured(stream, context);
    if (!secured.Handshake()) return;
    visit.certificate_name = secured.ClientName();
    Answer(secured, visit);
  }

 private:
  void Answer(httplib::Stream& stream, Visit& visit) {
    visit_of_this_thread = &visit;
    bool closed = false;
    // To the site httplib would answer with ranges and compressed, whatever the ETag stands for.
    const auto set_up = [&visit](httplib::Request& request) {
      if (!Site::Has(request.path)) return;
      const std::string id = RequestIdOf(Site::OnlyValue(request, kRequestIdHeader));
      request.headers.erase(kRequestIdHeader);
      request.headers.emplace(kRequestIdHeader, id);
      visit.accepted = request.get_header_value("Accept-Encoding");
      request.headers.erase("Accept-Encoding");
      request.headers.erase("Range");
      request.ranges.clear();
    };
    process_request(stream, /*close_connection=*/true, closed, set_up);
  }
};

LogLevel LevelOf(int status) {
  if (status == 429 || status == 503) return LogLevel::kWarning;
  return status >= 500 ? LogLevel::kError : LogLevel::kInfo;
}

// Without what follows the path, which callers choose.
void LogAnswer(const httplib::Request& request, const std::string& caller, int status,
               std::chrono::duration<double> seconds) {
  const std::string path = Shorten(request.path, kMaxLoggedPath);
  const std::string id = request.get_header_value(kRequestIdHeader);
  std::vector<LogField> fields = {{"request_id", id},   {"method", request.method},
                                  {"path", path},       {"status", status},
                                  {"seconds", seconds}, {"peer", request.remote_addr}};
  if (!caller.empty()) fields.emplace_back("caller", caller);
  const std::optional<TraceContext> trace = Site::TraceOf(request);
  for (const LogField& field : TraceFields(trace)) fields.push_back(field);
  Log(LevelOf(status), "request done", fields);
}

}  // namespace

struct HttpServer::Internals {
  explicit Internals(Sources given)
      : sources(std::move(given)), site(sources.api, sources.page, sources.access) {
    if (sources.tls != nullptr) tls.emplace(*sources.tls);
  }
  ~Internals() { Stop(); }

  void Stop() {
    std::call_once(stopped, [this] {
      if (loop) loop->Stop();
      watch.StopAll();
      threads.shutdown();
    });
  }

  const Sources sources;
  const Site site;
  HangupWatch watch;
  std::atomic<int> queries = 0;
  std::optional<TlsAcceptor> tls;
  VisitServer server;
  httplib::ThreadPool threads{kThreads + kQueriesAtOnce};
  std::unique_ptr<AcceptLoop> loop;
  std::once_flag stopped;

  void AnswerSite(const httplib::Request& request, httplib::Response& response) {
    if (!Site::IsOfApi(request.path)) {
      return site.Answer(request, visit_of_this_thread->accepted, {}, {}, response);
    }
    const auto begin = std::chrono::steady_clock::now();
    AnswerApi(request, response);
    response.set_header(kRequestIdHeader, request.get_header_value(kRequestIdHeader));
    LogAnswer(request, visit_of_this_thread->caller, response.status,
              std::chrono::steady_clock::now() - begin);
  }

  void AnswerApi(const httplib::Request& request, httplib::Response& response) {
    Visit& visit = *visit_of_this_thread;
    // Until the answer is written: a slow reader holds a thread too.
    visit.place.emplace(queries);
    if (!visit.place->has_place()) return site.AnswerFull(request, response);
    const HangupWatch::Guard guard(watch, visit.socket);
    site.Answer(
        request, visit.accepted, [&] { return Admit(request); }, guard.token(), response);
  }

  absl::Status Admit(const httplib::Request& request) const {
    if (!sources.admit) return absl::OkStatus();
    Credentials shown{.certificate_name = visit_of_this_thread->certificate_name,
                      .peer_host = request.remote_addr};
    const auto [begin, end] = request.headers.equal_range("Authorization");
    for (auto each = begin; each != end; ++each) shown.authorization.push_back(each->second);
    SINKD_ASSIGN_OR_RETURN(visit_of_this_thread->caller, sources.admit(shown));
    return absl::OkStatus();
  }

  void AnswerMetrics(const httplib::Request& request, httplib::Response& response) const {
    const absl::Status admitted = sources.metrics_open ? absl::OkStatus() : Admit(request);
    if (admitted.ok()) return response.set_content(sources.metrics(), kPrometheusText);
    Site::SendRefusal(admitted, response);
  }

  void AddRoutes() {
    server.Get("/metrics", [this](const httplib::Request& request, httplib::Response& response) {
      AnswerMetrics(request, response);
    });
    server.Get("/healthz", [](const httplib::Request&, httplib::Response& response) {
      response.set_content("ok\n", kText);
    });
    server.Get("/readyz", [this](const httplib::Request&, httplib::Response& response) {
      const std::optional<std::string> reason = sources.not_ready();
      response.status = reason ? 503 : 200;
      response.set_content(reason ? *reason + "\n" : "ready\n", kText);
    });
    // httplib would wait for the body of a request that it then refuses.
    server.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          if (Site::Has(request.path)) {
            AnswerSite(request, response);
            return httplib::Server::HandlerResponse::Handled;
          }
          if (request.method == "GET" || request.method == "HEAD") {
            return httplib::Server::HandlerResponse::Unhandled;
          }
          response.status = 404;
          return httplib::Server::HandlerResponse::Handled;
        });
    server.set_error_handler([this](const httplib::Request& request, httplib::Response& response) {
      if (!response.body.empty() || site.AnswerUnread(request, response)) return;
      response.set_content(fmt::format("error {}\n", response.status), kText);
    });
  }
};

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const std::string& address,
                                                              Sources sources, PortOptions port) {
  SINKD_ASSIGN_OR_RETURN(Listener listener, Listener::Open(address));
  auto internals = std::make_unique<Internals>(std::move(sources));
  internals->AddRoutes();
  internals->server.set_payload_max_length(kMaxBodyBytes);
  const auto take = [&all = *internals](int, int socket) {
    all.threads.enqueue([&all, socket] {
      const absl::Status answered = Contained([&] {
        all.server.Answer(socket, all.tls ? &*all.tls : nullptr);
        return absl::OkStatus();
      });
      if (!answered.ok()) {
        const std::string error(answered.message());
        Log(LogLevel::kError, "no answer over HTTP", {{"error", error}});
      }
    });
  };
  SINKD_ASSIGN_OR_RETURN(internals->loop,
                         AcceptLoop::Start(std::move(listener), std::move(port), take));
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(internals)));
}

HttpServer::HttpServer(std::unique_ptr<Internals> internals) : internals_(std::move(internals)) {}

HttpServer::~HttpServer() {
  Stop();
}

int HttpServer::port() const {
  return internals_->loop->listener().port();
}

void HttpServer::Stop() {
  internals_->Stop();
}

}  // namespace sinkd
