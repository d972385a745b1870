#include "server/http/http_server.h"

#include <httplib.h>
#include <sys/socket.h>

#include <atomic>
#include <charconv>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "server/base/status.h"
#include "server/http/hangup_watch.h"
#include "server/http/site.h"
#include "server/http/socket_stream.h"

namespace sinkd {
namespace {

constexpr size_t kThreads = 4;     // for what is not the API
constexpr int kQueriesAtOnce = 8;  // of the API, each on a thread of its own
constexpr int kBacklog = 128;
constexpr size_t kMaxBodyBytes = 1024;
constexpr char kText[] = "text/plain; charset=utf-8";
constexpr char kPrometheusText[] = "text/plain; version=0.0.4; charset=utf-8";

struct Address {
  std::string host;
  int port = 0;
};

absl::StatusOr<Address> ParseAddress(std::string_view text) {
  const size_t colon = text.rfind(':');
  Address address;
  if (colon != std::string_view::npos && colon > 0) {
    std::string_view host = text.substr(0, colon);
    if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, address.port);
    address.host = std::string(host);
    if (error == std::errc() && stop == end && address.port >= 0 && address.port <= 65535) {
      return address;
    }
  }
  return InvalidArgument("the HTTP address must be host:port with a port from 0 to 65535",
                         {.reason = "ADDRESS_INVALID",
                          .subject = "http-listen",
                          .value = std::string(text),
                          .fix = "write for example 127.0.0.1:9464"});
}

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
  std::string accepted;  // Accept-Encoding of a request to the site
  std::optional<QueryPlace> place;
};
thread_local Visit* visit_of_this_thread = nullptr;

// httplib's server, but for how a connection is read and written.
class VisitServer final : public httplib::Server {
 private:
  bool process_and_close_socket(socket_t socket) override {
    SocketStream stream(socket);
    Visit visit{.socket = socket};
    visit_of_this_thread = &visit;
    bool closed = false;
    // To the site httplib would answer with ranges and compressed, whatever the ETag stands for.
    const auto set_up = [&visit](httplib::Request& request) {
      if (!Site::Has(request.path)) return;
      visit.accepted = request.get_header_value("Accept-Encoding");
      request.headers.erase("Accept-Encoding");
      request.headers.erase("Range");
      request.ranges.clear();
    };
    return process_request(stream, /*close_connection=*/true, closed, set_up);
  }
};

}  // namespace

struct HttpServer::Internals {
  explicit Internals(Sources given)
      : sources(std::move(given)), site(sources.api, sources.page, sources.access) {}

  const Sources sources;
  const Site site;
  HangupWatch watch;
  std::atomic<int> queries = 0;
  VisitServer server;
  socket_t listening = -1;  // httplib's
  int port = 0;
  std::thread accepting;
  std::mutex stop_mutex;

  void AnswerSite(const httplib::Request& request, httplib::Response& response) {
    Visit& visit = *visit_of_this_thread;
    if (!Site::IsOfApi(request.path)) return site.Answer(request, visit.accepted, {}, response);
    // Until the answer is written: a slow reader holds a thread too.
    visit.place.emplace(queries);
    if (!visit.place->has_place()) return site.AnswerFull(request, response);
    const HangupWatch::Guard guard(watch, visit.socket);
    site.Answer(request, visit.accepted, guard.token(), response);
  }

  void AddRoutes() {
    server.Get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(sources.metrics(), kPrometheusText);
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

  void SetLimits() {
    // httplib would set SO_REUSEPORT as well, and then a second server on the port takes half of
    // the requests instead of failing.
    server.set_socket_options([this](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
      listening = socket;
    });
    server.set_payload_max_length(kMaxBodyBytes);
    server.new_task_queue = [] { return new httplib::ThreadPool(kThreads + kQueriesAtOnce); };
  }
};

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(std::string_view address,
                                                              Sources sources) {
  SINKD_ASSIGN_OR_RETURN(const Address parsed, ParseAddress(address));
  auto internals = std::make_unique<Internals>(std::move(sources));
  internals->AddRoutes();
  internals->SetLimits();
  httplib::Server& server = internals->server;
  if (parsed.port == 0) {
    internals->port = server.bind_to_any_port(parsed.host);
  } else {
    internals->port = server.bind_to_port(parsed.host, parsed.port) ? parsed.port : -1;
  }
  if (internals->port < 0) {
    return Unavailable("the HTTP address cannot be listened on",
                       {.reason = "ADDRESS_UNAVAILABLE",
                        .subject = "http-listen",
                        .value = std::string(address),
                        .fix = "choose a free port of this machine"});
  }
  // httplib's own backlog of 5 makes a burst of connections wait a second for their second try.
  listen(internals->listening, kBacklog);
  internals->accepting = std::thread([&server] { server.listen_after_bind(); });
  // Stop has no effect on a server whose loop has not begun.
  while (!server.is_running()) std::this_thread::yield();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(internals)));
}

HttpServer::HttpServer(std::unique_ptr<Internals> internals) : internals_(std::move(internals)) {}

HttpServer::~HttpServer() {
  Stop();
}

int HttpServer::port() const {
  return internals_->port;
}

void HttpServer::Stop() {
  const std::lock_guard lock(internals_->stop_mutex);
  if (!internals_->accepting.joinable()) return;
  internals_->watch.StopAll();
  internals_->server.stop();
  internals_->accepting.join();
}

}  // namespace sinkd
