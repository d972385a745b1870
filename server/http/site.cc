#include "server/http/site.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "server/access/sha256.h"
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/http/http_query.h"

namespace sinkd {
namespace {

constexpr char kText[] = "text/plain; charset=utf-8";
constexpr char kHtml[] = "text/html; charset=utf-8";
constexpr char kMethods[] = "GET, HEAD, OPTIONS";
constexpr char kNothingRuns[] = "default-src 'none'; frame-ancestors 'none'";
constexpr char kTraceparent[] = "traceparent";
constexpr size_t kTagDigits = 32;
constexpr char kBearer[] = "Bearer realm=\"sinkd\"";

// Of who was not admitted.
int StatusOf(const absl::Status& error) {
  if (absl::IsUnauthenticated(error)) return 401;
  return absl::IsResourceExhausted(error) ? 429 : 403;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> Items(std::string_view list) {
  std::vector<std::string_view> items;
  while (!list.empty()) {
    const size_t comma = list.find(',');
    items.push_back(Trim(list.substr(0, comma)));
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
  return items;
}

bool TakesGzip(const std::string& accepted) {
  for (const std::string_view item : Items(accepted)) {
    const size_t semicolon = item.find(';');
    const std::string_view weight =
        semicolon == std::string_view::npos ? "" : Trim(item.substr(semicolon + 1));
    const bool refused =
        weight.starts_with("q=0") && weight.find_first_of("123456789") == std::string_view::npos;
    if (Trim(item.substr(0, semicolon)) == "gzip") return !refused;
  }
  return false;
}

bool HasTag(const httplib::Request& request, std::string_view tag) {
  const std::string held = request.get_header_value("If-None-Match");
  for (std::string_view item : Items(held)) {
    if (item.starts_with("W/")) item.remove_prefix(2);
    if (item == tag || item == "*") return true;
  }
  return false;
}

bool Reads(const std::string& method) {
  return method == "GET" || method == "HEAD";
}

absl::Status WrongHost(const std::string& host) {
  return MakeError(absl::StatusCode::kPermissionDenied, "this server does not answer to this name",
                   {.reason = "HOST_NOT_ALLOWED",
                    .subject = "Host",
                    .value = Shorten(host),
                    .fix = "use a loopback address, or start sinkd with --http-allow-host"});
}

absl::Status WrongMethod(const std::string& method) {
  return MakeError(absl::StatusCode::kUnimplemented, "the API only reads",
                   {.reason = "METHOD_NOT_ALLOWED",
                    .subject = "method",
                    .value = Shorten(method),
                    .fix = "use GET here, and gRPC to change something"});
}

absl::Status Unreadable() {
  return InvalidArgument("the request is no HTTP that this server reads",
                         {.reason = "REQUEST_MALFORMED",
                          .subject = "request",
                          .fix = "send HTTP/1.1 with lines of at most 8 KiB"});
}

absl::Status TooMany() {
  return ResourceExhausted("too many queries of the API are under way",
                           {.reason = "API_FULL",
                            .subject = "api",
                            .fix = "retry when another one is done",
                            .retry_after = std::chrono::seconds(1)});
}

}  // namespace

Site::Site(std::optional<HttpApi> api, Page page, HttpAccess access)
    : api_(std::move(api)), page_(page), access_(std::move(access)) {}

bool Site::IsOfApi(const std::string& path) {
  return path == "/api" || path.starts_with("/api/");
}

bool Site::Has(const std::string& path) {
  return path == "/" || IsOfApi(path);
}

void Site::Answer(const httplib::Request& request, const std::string& accepted, const Admit& admit,
                  const std::stop_token& stop, httplib::Response& response) const {
  Send(request, Make(request, accepted, admit, stop), response);
}

std::string Site::OnlyValue(const httplib::Request& request, const char* name) {
  return request.get_header_value_count(name) == 1 ? request.get_header_value(name) : "";
}

std::optional<TraceContext> Site::TraceOf(const httplib::Request& request) {
  return ParseTraceparent(OnlyValue(request, kTraceparent));
}

void Site::SendRefusal(const absl::Status& error, httplib::Response& response) {
  response.status = StatusOf(error);
  if (response.status == 401) response.set_header("WWW-Authenticate", kBearer);
  response.set_content(StrCat(error.message(), "\n"), kText);
}

void Site::AnswerFull(const httplib::Request& request, httplib::Response& response) const {
  Send(request, Refuse(/*of_api=*/true, TooMany(), 429), response);
}

bool Site::AnswerUnread(const httplib::Request& request, httplib::Response& response) const {
  if (!IsOfApi(request.target.substr(0, request.target.find('?')))) return false;
  Send(request,
       Reads(request.method) || request.method == "OPTIONS"
           ? Refuse(/*of_api=*/true, Unreadable(), response.status)
           : RefuseMethod(/*of_api=*/true, request.method),
       response);
  return true;
}

HttpAnswer Site::Make(const httplib::Request& request, const std::string& accepted,
                      const Admit& admit, const std::stop_token& stop) const {
  const bool of_api = IsOfApi(request.path);
  const std::string host = request.get_header_value("Host");
  if (!AnswersToHost(access_, host)) return Refuse(of_api, WrongHost(host), 403);
  if (request.method == "OPTIONS") return {.content_type = kText, .headers = {{"Allow", kMethods}}};
  if (!Reads(request.method)) return RefuseMethod(of_api, request.method);
  if (!of_api) return MakePage(accepted);
  if (const absl::Status admitted = admit ? admit() : absl::OkStatus(); !admitted.ok()) {
    HttpAnswer refused = Refuse(of_api, admitted, StatusOf(admitted));
    if (refused.status == 401) refused.headers.emplace_back("WWW-Authenticate", kBearer);
    return refused;
  }
  if (!api_) return {.status = 404, .content_type = kText, .body = "there is no API here\n"};
  absl::StatusOr<HttpQuery> query = ParseTarget(request.target);
  if (!query.ok()) return Refuse(of_api, query.status(), 400);
  query->request_id = request.get_header_value(kRequestIdHeader);
  query->trace = TraceOf(request);
  return api_->answer(*query, stop);
}

HttpAnswer Site::MakePage(const std::string& accepted) const {
  if (page_.html.empty()) {
    return {.status = 404, .content_type = kText, .body = std::string(kNoPage)};
  }
  const bool gzip = TakesGzip(accepted);
  HttpAnswer answer{.content_type = kHtml,
                    .body = std::string(gzip ? page_.gzip : page_.html),
                    .headers = {{"Content-Security-Policy", std::string(page_.policy)},
                                {"Vary", "Accept-Encoding"},
                                {"ETag", StrCat("\"", page_.digest, gzip ? "-gzip\"" : "\"")}}};
  if (gzip) answer.headers.emplace_back("Content-Encoding", "gzip");
  return answer;
}

HttpAnswer Site::RefuseMethod(bool of_api, const std::string& method) const {
  HttpAnswer answer = Refuse(of_api, WrongMethod(method), 405);
  answer.headers.emplace_back("Allow", kMethods);
  return answer;
}

HttpAnswer Site::Refuse(bool of_api, const absl::Status& error, int status) const {
  HttpAnswer answer;
  if (of_api && api_) {
    answer = api_->refuse(error);
  } else {
    answer = {.content_type = kText, .body = StrCat(error.message(), "\n")};
  }
  answer.status = status;
  return answer;
}

void Site::Send(const httplib::Request& request, HttpAnswer answer,
                httplib::Response& response) const {
  for (const auto& [name, value] : answer.headers) response.set_header(name, value);
  response.set_header("Cache-Control", "no-cache");
  response.set_header("X-Content-Type-Options", "nosniff");
  response.set_header("Referrer-Policy", "no-referrer");
  response.set_header("Cross-Origin-Resource-Policy", "same-origin");
  response.set_header("Accept-Ranges", "none");  // else httplib says "bytes"
  if (!response.has_header("Content-Security-Policy")) {
    response.set_header("Content-Security-Policy", kNothingRuns);
  }
  if (IsOfApi(request.path)) AddOrigin(request, response);
  response.status = answer.status;
  if (answer.status == 200 && request.method != "OPTIONS") {
    if (!response.has_header("ETag")) {
      response.set_header("ETag", StrCat("\"", Sha256(answer.body).substr(0, kTagDigits), "\""));
    }
    if (HasTag(request, response.get_header_value("ETag"))) {
      response.status = 304;
      // Of what is not sent again, as for HEAD.
      response.set_header("Content-Length", std::to_string(answer.body.size()));
      return;
    }
  }
  response.set_header("Content-Type", answer.content_type);
  response.body = std::move(answer.body);
}

void Site::AddOrigin(const httplib::Request& request, httplib::Response& response) const {
  if (access_.origins.empty()) return;
  response.set_header("Vary", "Origin");
  const std::optional<std::string> allowed =
      AllowedOrigin(access_, request.get_header_value("Origin"));
  if (!allowed) return;
  response.set_header("Access-Control-Allow-Origin", *allowed);
  response.set_header("Access-Control-Expose-Headers", "ETag, Retry-After");
  if (request.method != "OPTIONS") return;
  response.set_header("Access-Control-Allow-Methods", kMethods);
  response.set_header("Access-Control-Allow-Headers", "Authorization, If-None-Match, traceparent");
  response.set_header("Access-Control-Max-Age", "600");
}

}  // namespace sinkd
