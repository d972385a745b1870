// Site: the page and the API as HTTP has them - methods, access, ETags, headers.
//
// Thread-safety: Answer may be called from any thread.
#pragma once

#include <httplib.h>

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include <absl/status/status.h>

#include "server/http/http_access.h"
#include "server/http/http_api.h"
#include "server/http/page/page.h"

namespace sinkd {

// Holds the request's id by the time it comes to the site, whatever was sent.
inline constexpr char kRequestIdHeader[] = "X-Request-Id";

class Site {
 public:
  Site(std::optional<HttpApi> api, Page page, HttpAccess access);

  // Whether a path is the site's: "/", "/api/v1/runs".
  static bool Has(const std::string& path);
  static bool IsOfApi(const std::string& path);

  // Whether the request may be answered; asked only of queries of the API. Null: it may.
  using Admit = std::function<absl::Status()>;

  // `accepted` is the request's Accept-Encoding.
  void Answer(const httplib::Request& request, const std::string& accepted, const Admit& admit,
              const std::stop_token& stop, httplib::Response& response) const;

  // The value of a header that was sent once, else nothing: of two neither counts.
  static std::string OnlyValue(const httplib::Request& request, const char* name);

  // The trace that a request says it belongs to.
  static std::optional<TraceContext> TraceOf(const httplib::Request& request);

  // Why something beside the site is refused, as text.
  static void SendRefusal(const absl::Status& error, httplib::Response& response);

  // Answers a request that httplib could not read past its first line; false when it was not for
  // the API, as far as that can be told.
  bool AnswerUnread(const httplib::Request& request, httplib::Response& response) const;

  // Refuses a query because too many are under way.
  void AnswerFull(const httplib::Request& request, httplib::Response& response) const;

 private:
  HttpAnswer Make(const httplib::Request& request, const std::string& accepted, const Admit& admit,
                  const std::stop_token& stop) const;
  HttpAnswer MakePage(const std::string& accepted) const;
  HttpAnswer Refuse(bool of_api, const absl::Status& error, int status) const;
  HttpAnswer RefuseMethod(bool of_api, const std::string& method) const;
  void Send(const httplib::Request& request, HttpAnswer answer, httplib::Response& response) const;
  void AddOrigin(const httplib::Request& request, httplib::Response& response) const;

  const std::optional<HttpApi> api_;
  const Page page_;
  const HttpAccess access_;
};

}  // namespace sinkd
