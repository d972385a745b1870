// Site: the paths of the HTTP port, who may access each of them, and the status, ETag and headers
// of responses.
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

// The client that sent a request.
struct HttpPeer {
  std::string host;
  std::string certificate_name;  // empty: no certificate
};

class Site {
 public:
  explicit Site(const HttpServer::Sources& sources) : sources_(sources) {}

  enum class Work { kNone, kMetrics, kQuery, kAnalysis };

  // The response to a request, or the work that makes it.
  struct Plan {
    Work work = Work::kNone;
    HttpAnswer answer;      // if `work` is kNone
    size_t body_bytes = 0;  // of the request; read before the work
    std::function<HttpAnswer(std::string body, const std::stop_token& stop)> make;
    std::string caller;      // empty: not authenticated
    std::string request_id;  // empty: not a request to the API
  };
  Plan Route(const HttpHead& head, const HttpPeer& peer) const;

  // The response if a plan's work cannot run.
  HttpAnswer RefuseWork(const Plan& plan, const absl::Status& error) const;

  // The response to bytes that are not a request; `received` is their beginning.
  HttpAnswer RefuseUnread(std::string_view received, const absl::Status& error) const;

  // Adds the headers that every response has, and removes a body that the client already has.
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
