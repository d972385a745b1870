// Site: what is at which path of the HTTP port, who may have it, and how an answer is dressed -
// status, ETag, headers.
//
// Ownership: borrows the sources. Thread-safety: all methods may be called from any thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/http/http_api.h"
#include "server/http/http_head.h"
#include "server/http/http_server.h"

namespace sinkd {

// Who sent a request.
struct HttpPeer {
  std::string host;
  std::string certificate_name;  // empty: it showed no certificate
};

class Site {
 public:
  explicit Site(const HttpServer::Sources& sources) : sources_(sources) {}

  enum class Work { kNone, kMetrics, kQuery, kAnalysis };

  // What a request gets: an answer, or work that makes it and takes a while.
  struct Plan {
    Work work = Work::kNone;
    HttpAnswer answer;      // of no work
    size_t body_bytes = 0;  // of the request, to be read before the work
    std::function<HttpAnswer(std::string body, const std::stop_token& stop)> make;
    std::string caller;      // empty: it was not asked who it is
    std::string request_id;  // empty: not of the API
  };
  Plan Route(const HttpHead& head, const HttpPeer& peer) const;

  // Instead of what a plan's work would make.
  HttpAnswer RefuseWork(const Plan& plan, const absl::Status& error) const;

  // The answer to what is no request; `received` is how it begins.
  HttpAnswer RefuseUnread(std::string_view received, const absl::Status& error) const;

  // Gives an answer the headers that it goes out with, and takes the body from one that the client
  // has.
  void Dress(const HttpHead& head, const Plan& plan, HttpAnswer& answer) const;

 private:
  HttpAnswer Refuse(bool of_api, const absl::Status& error, int status) const;
  HttpAnswer RefuseCaller(bool of_api, const absl::Status& error) const;
  HttpAnswer MakePage(const HttpHead& head) const;
  HttpAnswer MakeReady() const;
  void PlanRead(const HttpHead& head, const HttpPeer& peer, Plan& plan) const;
  void PlanAnalysis(const HttpHead& head, const HttpPeer& peer, Plan& plan) const;
  void PlanQuery(const HttpHead& head, const HttpPeer& peer,
                 std::shared_ptr<const Principal> principal, Plan& plan) const;
  absl::StatusOr<std::shared_ptr<const Principal>> Admit(const HttpHead& head, const HttpPeer& peer,
                                                         Role least, std::string& caller) const;
  void AddOrigin(const HttpHead& head, HttpAnswer& answer) const;

  const HttpServer::Sources& sources_;
};

}  // namespace sinkd
