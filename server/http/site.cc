#include "server/http/site.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <absl/strings/str_join.h>

#include "server/access/sha256.h"
#include "server/base/request_id.h"
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/http/gzip.h"
#include "server/http/http_query.h"

namespace sinkd {
namespace {

constexpr char kText[] = "text/plain; charset=utf-8";
constexpr char kPrometheusText[] = "text/plain; version=0.0.4; charset=utf-8";
constexpr char kHtml[] = "text/html; charset=utf-8";
constexpr int64_t kMaxBodyBytes = 8 << 20;
constexpr char kNothingRuns[] = "default-src 'none'; frame-ancestors 'none'";
constexpr char kPolicy[] = "Content-Security-Policy";
constexpr char kTag[] = "ETag";
constexpr size_t kTagDigits = 32;
constexpr char kBearer[] = "Bearer realm=\"sinkd\"";

bool IsOfApi(std::string_view path) {
  return path == "/api" || path.starts_with("/api/");
}

bool IsProbe(std::string_view path) {
  return path == "/healthz" || path == "/readyz";
}

bool Reads(std::string_view method) {
  return method == "GET" || method == "HEAD";
}

const char* MethodsAt(std::string_view path) {
  return path == kAnalyzePath ? "POST, OPTIONS" : "GET, HEAD, OPTIONS";
}

HttpAnswer Text(int status, const auto& text) {
  return {.status = status, .content_type = kText, .body = StrCat(text, "\n")};
}

std::string_view Trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// The items of all headers of a name, which hold lists.
std::vector<std::string_view> Items(const HttpHead& head, std::string_view name) {
  std::vector<std::string_view> items;
  for (std::string_view list : head.All(name)) {
    while (!list.empty()) {
      const size_t comma = list.find(',');
      items.push_back(Trim(list.substr(0, comma)));
      list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    }
  }
  return items;
}

bool TakesGzip(const HttpHead& head) {
  for (const std::string_view item : Items(head, "accept-encoding")) {
    const size_t semicolon = item.find(';');
    const std::string_view weight =
        semicolon == std::string_view::npos ? "" : Trim(item.substr(semicolon + 1));
    const bool refused =
        weight.starts_with("q=0") && weight.find_first_of("123456789") == std::string_view::npos;
    if (Trim(item.substr(0, semicolon)) == "gzip") return !refused;
  }
  return false;
}

bool HasTag(const HttpHead& head, std::string_view tag) {
  for (std::string_view item : Items(head, "if-none-match")) {
    if (item.starts_with("W/")) item.remove_prefix(2);
    if (item == tag || item == "*") return true;
  }
  return false;
}

std::string HeaderOf(const HttpAnswer& answer, std::string_view name) {
  const auto found = std::find_if(answer.headers.begin(), answer.headers.end(),
                                  [name](const auto& each) { return each.first == name; });
  return found == answer.headers.end() ? std::string() : found->second;
}

std::string_view BodyOf(const HttpAnswer& answer) {
  return answer.fixed_body.empty() ? answer.body : answer.fixed_body;
}

// Adds an ETag to a successful response.
void Tag(HttpAnswer& answer) {
  if (answer.status != 200) return;
  answer.headers.emplace_back(kTag,
                              StrCat("\"", Sha256(BodyOf(answer)).substr(0, kTagDigits), "\""));
}

// Answers of a few hundred bytes fit into a packet as they are.
constexpr size_t kLeastGzipBytes = 1024;

// Each encoding has its own tag, since a tag stands for bytes.
void Compress(HttpAnswer& answer) {
  if (answer.status != 200 || answer.body.size() < kLeastGzipBytes) return;
  std::string gzip = Gzip(answer.body);
  if (gzip.empty()) return;
  answer.body = std::move(gzip);
  for (auto& [name, value] : answer.headers) {
    if (name == kTag) value.insert(value.size() - 1, "-gzip");
  }
  answer.headers.emplace_back("Content-Encoding", "gzip");
}

absl::Status WrongHost(std::string_view host) {
  return MakeError(absl::StatusCode::kPermissionDenied, "the server does not accept this host name",
                   {.reason = "HOST_NOT_ALLOWED",
                    .subject = "Host",
                    .value = Shorten(host),
                    .fix = "use an IP address, or start sinkd with --http-allow-host"});
}

absl::Status WrongMethod(std::string_view method, std::string_view path) {
  const bool analyzes = path == kAnalyzePath;
  return MakeError(absl::StatusCode::kUnimplemented,
                   analyzes ? "analyses need POST" : "this path only accepts GET",
                   {.reason = "METHOD_NOT_ALLOWED",
                    .subject = "method",
                    .value = Shorten(method),
                    .fix = analyzes ? "use POST" : "use GET, or gRPC for changes"});
}

absl::Status OnlyReads() {
  return MakeError(absl::StatusCode::kPermissionDenied, "the HTTP port of this server is read-only",
                   {.reason = "HTTP_READ_ONLY",
                    .subject = "http-read-only",
                    .fix = "use gRPC, or start sinkd without --http-read-only"});
}

absl::Status WrongOrigin(std::string_view origin) {
  return MakeError(absl::StatusCode::kPermissionDenied,
                   "pages of this origin may not run analyses here",
                   {.reason = "ORIGIN_NOT_ALLOWED",
                    .subject = "Origin",
                    .value = Shorten(origin),
                    .fix = "name the origin with --http-allow-origin (* does not count)"});
}

absl::Status WrongType(std::string_view type) {
  return InvalidArgument("the content type is not JSON lines",
                         {.reason = "CONTENT_TYPE_NOT_ALLOWED",
                          .subject = "Content-Type",
                          .value = Shorten(type),
                          .fix = StrCat("send Content-Type: ", kJsonLinesType)});
}

absl::Status NoLength() {
  return InvalidArgument("the request has no Content-Length",
                         {.reason = "LENGTH_REQUIRED",
                          .subject = "Content-Length",
                          .fix = "send Content-Length instead of Transfer-Encoding"});
}

absl::Status TooLarge(int64_t bytes) {
  return InvalidArgument(
      StrCat("the body has ", bytes, " bytes, over the limit of ", kMaxBodyBytes),
      {.reason = "BODY_TOO_LARGE",
       .subject = "Content-Length",
       .value = std::to_string(bytes),
       .fix = "send fewer samples at once, or use gRPC"});
}

int StatusOfUnread(const absl::Status& error) {
  const std::string reason = GetErrorDetail(error)->reason;
  if (reason == "ADDRESS_TOO_LONG") return 414;
  return reason == "HEADERS_TOO_LARGE" ? 431 : 400;
}

}  // namespace

Site::Plan Site::Route(const HttpHead& head, const HttpPeer& peer) const {
  Plan plan;
  const std::string_view path = head.path();
  const bool of_api = IsOfApi(path);
  if (of_api) plan.request_id = RequestIdOf(head.Only("x-request-id"));
  const std::string_view host = head.Only("host");
  if (!of_api && !IsProbe(path) && path != "/" && path != "/metrics") {
    plan.answer = Text(404, "no such path");
  } else if (!IsProbe(path) && !AnswersToHost(sources_.access, host)) {
    plan.answer = Refuse(of_api, WrongHost(host), 403);
  } else if (head.method == "OPTIONS") {
    plan.answer = {.content_type = kText, .headers = {{"Allow", MethodsAt(path)}}};
  } else if (path == kAnalyzePath && head.method == "POST") {
    PlanAnalysis(head, peer, plan);
  } else if (path == kAnalyzePath || !Reads(head.method)) {
    plan.answer = Refuse(of_api, WrongMethod(head.method, path), 405);
    plan.answer.headers.emplace_back("Allow", MethodsAt(path));
  } else if (path == "/healthz") {
    plan.answer = Text(200, "ok");
  } else if (path == "/readyz") {
    plan.answer = MakeReady();
  } else if (path == "/") {
    plan.answer = MakePage(head);
  } else {
    PlanRead(head, peer, plan);
  }
  if (plan.make && TakesGzip(head)) {
    plan.make = [make = std::move(plan.make)](std::string body, const std::stop_token& stop) {
      HttpAnswer answer = make(std::move(body), stop);
      Compress(answer);
      return answer;
    };
  }
  return plan;
}

void Site::PlanRead(const HttpHead& head, const HttpPeer& peer, Plan& plan) const {
  const bool of_api = IsOfApi(head.path());
  if (of_api || !sources_.metrics_open) {
    auto admitted = Admit(head, peer, Role::kRead, plan.caller);
    if (!admitted.ok()) {
      plan.answer = RefuseCaller(of_api, admitted.status());
      return;
    }
    if (of_api) return PlanQuery(head, peer, *std::move(admitted), plan);
  }
  plan.work = Work::kMetrics;
  plan.make = [this](const std::string&, const std::stop_token&) {
    return HttpAnswer{.content_type = kPrometheusText, .body = sources_.metrics()};
  };
}

// Whatever the head already rules out is refused before the body is read.
void Site::PlanAnalysis(const HttpHead& head, const HttpPeer& peer, Plan& plan) const {
  const auto refuse = [&](const absl::Status& error, int status) {
    plan.answer = Refuse(/*of_api=*/true, error, status);
  };
  if (!sources_.api || !sources_.api->analyze) return refuse(OnlyReads(), 403);
  const std::string_view origin = head.Only("origin");
  if (head.All("origin").size() > 1 || !MayPost(sources_.access, origin, head.Only("host"))) {
    return refuse(WrongOrigin(origin), 403);
  }
  const std::string_view type = head.Only("content-type");
  if (Trim(type.substr(0, type.find(';'))) != kJsonLinesType) return refuse(WrongType(type), 415);
  if (!head.body_bytes) return refuse(NoLength(), 411);
  if (*head.body_bytes > kMaxBodyBytes) return refuse(TooLarge(*head.body_bytes), 413);
  auto admitted = Admit(head, peer, Role::kAnalyse, plan.caller);
  if (!admitted.ok()) {
    plan.answer = RefuseCaller(/*of_api=*/true, admitted.status());
    return;
  }
  PlanQuery(head, peer, *std::move(admitted), plan);
}

void Site::PlanQuery(const HttpHead& head, const HttpPeer& peer,
                     std::shared_ptr<const Principal> principal, Plan& plan) const {
  if (!sources_.api) {
    plan.answer = Text(404, "this server has no API");
    return;
  }
  absl::StatusOr<HttpQuery> query = ParseTarget(head.target);
  if (!query.ok()) {
    plan.answer = Refuse(/*of_api=*/true, query.status(), 400);
    return;
  }
  query->caller = plan.caller;
  query->peer_host = peer.host;
  query->principal = std::move(principal);
  query->request_id = plan.request_id;
  query->trace = ParseTraceparent(head.Only("traceparent"));
  const bool analyzes = head.method == "POST";
  plan.work = analyzes ? Work::kAnalysis : Work::kQuery;
  plan.body_bytes = analyzes ? static_cast<size_t>(*head.body_bytes) : 0;
  plan.make = [make = analyzes ? &sources_.api->analyze : &sources_.api->answer, analyzes,
               asked = *std::move(query)](std::string body, const std::stop_token& stop) {
    HttpQuery whole = asked;
    whole.body = std::move(body);
    HttpAnswer answer = (*make)(whole, stop);
    if (!analyzes) Tag(answer);
    return answer;
  };
}

absl::StatusOr<std::shared_ptr<const Principal>> Site::Admit(const HttpHead& head,
                                                             const HttpPeer& peer, Role least,
                                                             std::string& caller) const {
  caller = peer.host;
  if (!sources_.admit) return nullptr;
  SINKD_ASSIGN_OR_RETURN(std::shared_ptr<const Principal> principal,
                         sources_.admit({.authorization = head.All("authorization"),
                                         .certificate_name = peer.certificate_name,
                                         .peer_host = peer.host},
                                        least));
  caller = principal->name();
  return principal;
}

HttpAnswer Site::MakeReady() const {
  const std::optional<std::string> reason = sources_.not_ready();
  return reason ? Text(503, *reason) : Text(200, "ready");
}

HttpAnswer Site::MakePage(const HttpHead& head) const {
  const Page& page = sources_.page;
  if (page.html.empty()) return {.status = 404, .content_type = kText, .fixed_body = kNoPage};
  const bool gzip = TakesGzip(head);
  HttpAnswer answer{.content_type = kHtml,
                    .fixed_body = gzip ? page.gzip : page.html,
                    .headers = {{kPolicy, std::string(page.policy)},
                                {"Vary", "Accept-Encoding"},
                                {kTag, StrCat("\"", page.digest, gzip ? "-gzip\"" : "\"")}}};
  if (gzip) answer.headers.emplace_back("Content-Encoding", "gzip");
  return answer;
}

HttpAnswer Site::RefuseWork(const Plan& plan, const absl::Status& error) const {
  const int status = absl::IsResourceExhausted(error) ? 429
                     : absl::IsUnavailable(error)     ? 503
                                                      : 500;
  return Refuse(plan.work != Work::kMetrics, error, status);
}

HttpAnswer Site::RefuseUnread(std::string_view received, const absl::Status& error) const {
  const std::string_view line = received.substr(0, received.find("\r\n"));
  const std::string_view target = line.substr(std::min(line.find(' '), line.size()));
  const bool of_api = IsOfApi(Trim(target).substr(0, Trim(target).find_first_of(" ?#")));
  return Refuse(of_api, error, StatusOfUnread(error));
}

HttpAnswer Site::RefuseCaller(bool of_api, const absl::Status& error) const {
  const bool unknown = absl::IsUnauthenticated(error);
  const int status = unknown ? 401 : absl::IsResourceExhausted(error) ? 429 : 403;
  HttpAnswer answer = Refuse(of_api, error, status);
  if (unknown) answer.headers.emplace_back("WWW-Authenticate", kBearer);
  return answer;
}

HttpAnswer Site::Refuse(bool of_api, const absl::Status& error, int status) const {
  if (!of_api || !sources_.api) return Text(status, error.message());
  HttpAnswer answer = sources_.api->refuse(error);
  answer.status = status;
  return answer;
}

void Site::Dress(const HttpHead& head, const Plan& plan, HttpAnswer& answer) const {
  const std::string tag = HeaderOf(answer, kTag);
  if (answer.status == 200 && !tag.empty() && HasTag(head, tag)) answer.status = 304;
  const auto add = [&answer](std::string_view name, std::string_view value) {
    answer.headers.emplace_back(name, value);
  };
  if (answer.status != 304) add("Content-Type", answer.content_type);
  // Also for HEAD, whose body is not sent.
  add("Content-Length", std::to_string(BodyOf(answer).size()));
  add("Cache-Control", "no-cache");
  const bool by_origin = IsOfApi(head.path()) && !sources_.access.origins.empty();
  std::vector<std::string> vary;
  if (plan.work != Work::kNone) vary.emplace_back("Accept-Encoding");
  if (by_origin) vary.emplace_back("Origin");
  if (!vary.empty()) add("Vary", absl::StrJoin(vary, ", "));
  add("X-Content-Type-Options", "nosniff");
  add("Referrer-Policy", "no-referrer");
  add("Cross-Origin-Resource-Policy", "same-origin");
  if (HeaderOf(answer, kPolicy).empty()) add(kPolicy, kNothingRuns);
  if (!plan.request_id.empty()) add("X-Request-Id", plan.request_id);
  if (by_origin) AddOrigin(head, answer);
  if (answer.status == 304 || head.method == "HEAD") answer.body = answer.fixed_body = {};
}

void Site::AddOrigin(const HttpHead& head, HttpAnswer& answer) const {
  const auto add = [&answer](const char* name, const std::string& value) {
    answer.headers.emplace_back(name, value);
  };
  const std::string_view origin = head.Only("origin");
  const std::optional<std::string> allowed = AllowedOrigin(sources_.access, origin);
  const bool analyzes = head.path() == kAnalyzePath;
  if (!allowed || (analyzes && !MayPost(sources_.access, origin, head.Only("host")))) return;
  add("Access-Control-Allow-Origin", *allowed);
  add("Access-Control-Expose-Headers", "ETag, Retry-After");
  if (head.method != "OPTIONS") return;
  add("Access-Control-Allow-Methods", MethodsAt(head.path()));
  add("Access-Control-Allow-Headers", analyzes ? "Authorization, Content-Type, traceparent"
                                               : "Authorization, If-None-Match, traceparent");
  add("Access-Control-Max-Age", "600");
}

}  // namespace sinkd
