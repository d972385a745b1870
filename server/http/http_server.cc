#include "server/http/http_server.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <list>
#include <map>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include "server/base/containment.h"
#include "server/base/status.h"
#include "server/http/connection.h"
#include "server/http/http_head.h"
#include "server/http/site.h"
#include "server/net/tls_acceptor.h"
#include "server/telemetry/log.h"
#include "server/telemetry/trace_fields.h"

namespace sinkd {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

constexpr size_t kQueriesAtOnce = 8;    // of the API
constexpr size_t kQueriesOfCaller = 6;  // what a browser asks at once
constexpr size_t kAnalysesAtOnce = 4;
constexpr size_t kAnalysesOfCaller = 2;
constexpr int kRequestsOfConnection = 1000;
// Of answers of the API whose clients have not taken them yet. What is over keeps new queries out.
constexpr size_t kMostUnsentBytes = size_t{256} << 20;
constexpr size_t kMostUnsentBytesOfCaller = size_t{64} << 20;
constexpr std::chrono::milliseconds kLook{100};  // between two looks for clients that left
constexpr seconds kLastWords{1};                 // for what is being written when the server stops
constexpr size_t kMaxLoggedPath = 200;

LogLevel LevelOf(int status) {
  if (status == 429 || status == 503) return LogLevel::kWarning;
  return status >= 500 ? LogLevel::kError : LogLevel::kInfo;
}

// Without what follows the path, which callers choose.
void LogAnswer(const HttpHead& head, const std::string& host, const Site::Plan& plan, int status,
               std::chrono::duration<double> took) {
  const std::string path = Shorten(head.path(), kMaxLoggedPath);
  std::vector<LogField> fields = {{"request_id", plan.request_id},
                                  {"method", head.method},
                                  {"path", path},
                                  {"status", status},
                                  {"seconds", took},
                                  {"peer", host}};
  if (!plan.caller.empty()) fields.emplace_back("caller", plan.caller);
  const std::optional<TraceContext> trace = ParseTraceparent(head.Only("traceparent"));
  for (const LogField& field : TraceFields(trace)) fields.push_back(field);
  Log(LevelOf(status), "request done", fields);
}

absl::Status TooMany() {
  return ResourceExhausted(
      "too many queries of the API are under way, or too much of their "
      "answers is not taken yet",
      {.reason = "API_FULL",
       .subject = "api",
       .fix = "retry when another one is done",
       .retry_after = seconds(1)});
}

absl::Status Stopping() {
  return Unavailable("the server is stopping", {.reason = "SERVER_STOPPING",
                                                .subject = "server",
                                                .fix = "retry, at another server or later",
                                                .retry_after = seconds(1)});
}

// In a list until it is destroyed.
template <typename T>
class Listed {
 public:
  Listed(std::list<T>& list, T entry)
      : list_(list), place_(list.insert(list.end(), std::move(entry))) {}
  ~Listed() { list_.erase(place_); }
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;

 private:
  std::list<T>& list_;
  const typename std::list<T>::iterator place_;
};

struct Query {
  HttpConnection* connection;
  Site::Work work;
  std::string caller;
  std::stop_source stop;
};

struct Unsent {
  std::string caller;
  size_t bytes;
};

}  // namespace

struct HttpServer::Internals {
  Internals(Sources given, int64_t most) : sources(std::move(given)), most_connections(most) {
    if (sources.tls != nullptr) tls.emplace(*sources.tls);
    running = std::async(std::launch::async, [this] { Run(); });
  }
  ~Internals() { Stop(); }

  const Sources sources;
  const int64_t most_connections;
  const Site site{sources};
  std::once_flag stopped;

  // On the loop's thread alone.
  std::optional<TlsAcceptor> tls;
  std::list<HttpConnection*> connections;
  std::list<HttpConnection*> silent;  // whose clients are to speak, the longest silent first
  std::list<Query> queries;
  std::list<Unsent> unsent;
  bool stopping = false;

  asio::thread_pool query_threads{kQueriesAtOnce};
  asio::thread_pool analysis_threads{kAnalysesAtOnce};
  asio::thread_pool metrics_thread{1};
  asio::io_context loop{1};
  asio::steady_timer look{loop};
  asio::executor_work_guard<asio::io_context::executor_type> work{loop.get_executor()};
  std::future<void> running;
  std::unique_ptr<AcceptLoop> accept;

  void Run() {
    const auto run = [this] {
      loop.run();
      return absl::OkStatus();
    };
    for (absl::Status ended = Contained(run); !ended.ok(); ended = Contained(run)) {
      const std::string error(ended.message());
      Log(LogLevel::kError, "the HTTP port failed", {{"error", error}});
    }
  }

  void Stop() {
    std::call_once(stopped, [this] {
      if (accept) accept->Stop();
      asio::post(loop, asio::use_future([this] {
                   stopping = true;
                   for (Query& each : queries) each.stop.request_stop();
                   for (HttpConnection* const each : silent) each->Close();
                 }))
          .wait();
      query_threads.join();
      analysis_threads.join();
      metrics_thread.join();
      work.reset();
      if (running.wait_for(kLastWords) != std::future_status::ready) loop.stop();
      running.wait();
    });
  }

  // `socket` is a connection of AcceptLoop's.
  bool Take(int socket) {
    asio::post(loop, [this, socket] {
      asio::co_spawn(loop, Serve(socket), [](const std::exception_ptr& thrown) {
        if (!thrown) return;
        const absl::Status failed =
            Contained([&thrown]() -> absl::Status { std::rethrow_exception(thrown); });
        const std::string error(failed.message());
        Log(LogLevel::kError, "no answer over HTTP", {{"error", error}});
      });
    });
    return true;
  }

  asio::awaitable<void> Serve(int socket) {
    HttpConnection connection(loop, socket, sources.times);
    const Listed open(connections, &connection);
    MakeRoom();
    if (tls) {
      const Listed quiet(silent, &connection);
      if (stopping || !co_await connection.Handshake(tls->context())) co_return;
    }
    for (int i = 0; i < kRequestsOfConnection; ++i) {
      std::optional<absl::StatusOr<HttpHead>> head;
      if (!stopping) {
        const Listed quiet(silent, &connection);
        head = co_await connection.ReadHead(/*first=*/i == 0);
      }
      if (!head) co_return;
      if (!head->ok()) {
        if (!co_await RefuseUnread(connection, head->status())) co_return;
        break;
      }
      const bool last = i + 1 == kRequestsOfConnection || !(*head)->keeps_alive;
      const std::optional<bool> goes_on = co_await Answer(connection, **head, !last);
      if (!goes_on) co_return;
      if (!*goes_on) break;
    }
    co_await connection.Leave();
  }

  // So that new clients are served even if others hold many connections.
  void MakeRoom() {
    if (4 * static_cast<int64_t>(connections.size()) <= 3 * most_connections || silent.empty()) {
      return;
    }
    silent.front()->Close();
    silent.splice(silent.end(), silent, silent.begin());
  }

  asio::awaitable<bool> RefuseUnread(HttpConnection& connection, const absl::Status& error) {
    HttpAnswer answer = site.RefuseUnread(connection.received(), error);
    site.Dress({}, {}, answer);
    co_return co_await connection.Write(FormatHead(answer, /*keep_alive=*/false), answer.body);
  }

  // Whether another request may follow; nullopt: the client does not take the answer.
  asio::awaitable<std::optional<bool>> Answer(HttpConnection& connection, const HttpHead& head,
                                              bool keep_alive) {
    const Clock::time_point begin = Clock::now();
    const Site::Plan plan = site.Route(head, {connection.host(), connection.certificate_name()});
    bool body_left = head.has_body;
    std::optional<HttpAnswer> made = co_await Make(connection, head, plan, body_left);
    if (!made) co_return std::nullopt;
    HttpAnswer& answer = *made;
    site.Dress(head, plan, answer);
    if (!plan.request_id.empty()) {
      LogAnswer(head, connection.host(), plan, answer.status, Clock::now() - begin);
    }
    const Listed waits(unsent, Unsent{plan.caller, answer.body.size()});
    const bool goes_on = keep_alive && !body_left && !stopping;
    const std::string text = FormatHead(answer, goes_on);
    const bool taken = co_await connection.Write(
        text, answer.fixed_body.empty() ? answer.body : answer.fixed_body);
    co_return taken ? std::optional(goes_on) : std::nullopt;
  }

  // nullopt: the request's body does not come.
  asio::awaitable<std::optional<HttpAnswer>> Make(HttpConnection& connection, const HttpHead& head,
                                                  const Site::Plan& plan, bool& body_left) {
    if (plan.work == Site::Work::kNone) co_return plan.answer;
    if (stopping) co_return site.RefuseWork(plan, Stopping());
    if (plan.work == Site::Work::kMetrics) co_return co_await On(metrics_thread, plan, {}, {});
    if (IsFull(plan)) co_return site.RefuseWork(plan, TooMany());
    std::stop_source stop;
    std::optional<HttpAnswer> answer;
    {
      const Listed under_way(queries, Query{&connection, plan.work, plan.caller, stop});
      if (queries.size() == 1) LookForHangups();
      std::optional<std::string> body = co_await ReadBody(connection, head, plan);
      if (body) {
        body_left = body_left && plan.body_bytes == 0;
        asio::thread_pool& threads =
            plan.work == Site::Work::kAnalysis ? analysis_threads : query_threads;
        answer = co_await On(threads, plan, *std::move(body), stop.get_token());
      }
    }
    if (queries.empty()) look.cancel();
    co_return answer;
  }

  asio::awaitable<std::optional<std::string>> ReadBody(HttpConnection& connection,
                                                       const HttpHead& head,
                                                       const Site::Plan& plan) {
    if (plan.body_bytes == 0) co_return std::string();
    const Listed quiet(silent, &connection);
    co_return co_await connection.ReadBody(plan.body_bytes, head.Only("expect") == "100-continue");
  }

  bool IsFull(const Site::Plan& plan) const {
    const bool analyzes = plan.work == Site::Work::kAnalysis;
    const std::string& caller = plan.caller;
    size_t like = 0;
    size_t of_caller = 0;
    for (const Query& each : queries) {
      if (each.work != plan.work) continue;
      ++like;
      if (each.caller == caller) ++of_caller;
    }
    if (like >= (analyzes ? kAnalysesAtOnce : kQueriesAtOnce) ||
        of_caller >= (analyzes ? kAnalysesOfCaller : kQueriesOfCaller)) {
      return true;
    }
    size_t all = 0;
    size_t own = 0;
    for (const Unsent& each : unsent) {
      all += each.bytes;
      if (each.caller == caller) own += each.bytes;
    }
    return all > kMostUnsentBytes || own > kMostUnsentBytesOfCaller;
  }

  asio::awaitable<HttpAnswer> On(asio::thread_pool& threads, const Site::Plan& plan,
                                 std::string body, std::stop_token stop) {
    const auto make = [&]() -> asio::awaitable<HttpAnswer> {
      const auto made =
          Contained([&] { return absl::StatusOr<HttpAnswer>(plan.make(std::move(body), stop)); });
      co_return made.ok() ? *made : site.RefuseWork(plan, made.status());
    };
    co_return co_await asio::co_spawn(threads, make, asio::use_awaitable);
  }

  void LookForHangups() {
    look.expires_after(kLook);
    look.async_wait([this](const error_code& error) {
      if (error) return;
      for (Query& each : queries) {
        if (each.connection->HungUp()) each.stop.request_stop();
      }
      LookForHangups();
    });
  }
};

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const std::string& address,
                                                              Sources sources, PortOptions port) {
  SINKD_ASSIGN_OR_RETURN(Listener listener, Listener::Open(address));
  auto internals = std::make_unique<Internals>(std::move(sources), port.limits.in_all);
  const auto take = [&all = *internals](int, int socket) { return all.Take(socket); };
  SINKD_ASSIGN_OR_RETURN(internals->accept,
                         AcceptLoop::Start(std::move(listener), std::move(port), take));
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(internals)));
}

HttpServer::HttpServer(std::unique_ptr<Internals> internals) : internals_(std::move(internals)) {}

HttpServer::~HttpServer() {
  Stop();
}

int HttpServer::port() const {
  return internals_->accept->listener().port();
}

void HttpServer::Stop() {
  internals_->Stop();
}

}  // namespace sinkd
