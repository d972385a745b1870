// HangupWatch: tells work that is done for a client when that client is gone.
//
// Ownership: owns a thread; sockets stay their owners', and must stay open while they are watched.
// Thread-safety: all methods may be called from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>

namespace sinkd {

class HangupWatch {
 public:
  // Watches a socket until it is destroyed.
  class Guard {
   public:
    Guard(HangupWatch& watch, int socket);
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

    // Set when the other side closed its end, or by StopAll.
    std::stop_token token() const { return stop_.get_token(); }

   private:
    HangupWatch& watch_;
    std::stop_source stop_;
    int64_t id_;
  };

  HangupWatch();
  ~HangupWatch();
  HangupWatch(const HangupWatch&) = delete;
  HangupWatch& operator=(const HangupWatch&) = delete;

  // Ends all work that is watched, and what comes after.
  void StopAll();

 private:
  struct Watched {
    int socket = -1;
    std::stop_source stop;
  };

  int64_t Add(int socket, const std::stop_source& stop);
  void Remove(int64_t id);
  void Wake() const;
  void Run();

  const int wake_;  // an eventfd
  std::mutex mutex_;
  std::map<int64_t, Watched> watched_;  // by id, since numbers of sockets are used again
  int64_t next_id_ = 0;
  bool stopped_ = false;
  bool ending_ = false;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace sinkd
