// FrameGuard: limits what a client of the gRPC port may send.
//
// gRPC 1.51 keeps working on a call after its client has reset it, buffers a whole message before
// it checks its size, and enforces its limit on concurrent calls only once the client has
// acknowledged it. So the HTTP/2 frames of each connection are counted before gRPC sees them:
//
//   rates      of new calls, resets and control frames. A client over a rate is slowed down: the
//              caller of Received waits before it passes on more (Pace). Calls and resets count for
//              the address, so that a new connection does not bring a new allowance.
//   amounts    of open calls, bytes of incomplete messages, headers of a call. A client over one of
//              these, or over the rate of resets of its connection, is disconnected.
//
// Ownership: shares the loads of its address and of the port with other connections; the destructor
// returns what this one added. Thread-safety: none; all guards of a port are used on one thread.
// Errors: none; a verdict is not an error.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "server/net/frame_reader.h"
#include "server/net/pace.h"

namespace sinkd {

// The most that may be open at a time.
struct LoadLimits {
  int64_t calls = 0;
  int64_t message_bytes = 0;  // received, of incomplete messages
};

struct FrameLimits {
  // Well-behaved clients stay far below all of these.
  LoadLimits of_connection{.calls = 1024, .message_bytes = int64_t{128} << 20};
  LoadLimits of_address{.calls = 2048, .message_bytes = int64_t{128} << 20};
  LoadLimits in_all{.calls = 8192, .message_bytes = int64_t{384} << 20};
  int64_t headers_bytes = 64 << 10;  // of one call, as compressed by HPACK
  int64_t continuations = 16;        // CONTINUATION frames of one call's headers
  int64_t frame_bytes = 64 << 10;    // of any frame but DATA
};

// What a connection, an address or the port has open.
struct OpenLoad {
  int64_t calls = 0;
  int64_t message_bytes = 0;
};

// What the connections of one address have open, and how fast they open and reset calls.
struct AddressLoad {
  OpenLoad open;
  Pace calls{5000, 5000};
  Pace resets{250, 500};

  bool IsAtRest(Pace::Clock::time_point now) const {
    return calls.IsRested(now) && resets.IsRested(now);
  }
};

class FrameGuard {
 public:
  using Clock = Pace::Clock;

  struct Verdict {
    Clock::duration wait{};       // before anything else of this client is passed on
    const char* fault = nullptr;  // why to disconnect the client; null: no reason
  };

  FrameGuard(std::shared_ptr<AddressLoad> address, OpenLoad& port, const FrameLimits& limits)
      : address_(std::move(address)), port_(port), limits_(limits) {}
  ~FrameGuard();
  FrameGuard(const FrameGuard&) = delete;
  FrameGuard& operator=(const FrameGuard&) = delete;

  // Charges the address for a new connection, which costs about as much as some calls.
  Clock::duration Begun(Clock::time_point now);
  // To be called with all that the client sends, in order.
  Verdict Received(const FrameReader::Piece& piece, Clock::time_point now);
  // To be called with all that gRPC sends, in order: it tells which calls have ended.
  void Sent(const FrameReader::Piece& piece);

  const OpenLoad& open() const { return open_; }

 private:
  // The message that a call is receiving: a prefix of one flag byte and four bytes of length, then
  // as many bytes.
  struct Message {
    int prefix = 0;       // bytes of the prefix received
    uint32_t length = 0;  // known once the prefix is complete
    int64_t come = 0;     // bytes received after the prefix
  };

  Verdict Begins(const FrameHeader& frame, Clock::time_point now);
  Verdict BeginsCall(const FrameHeader& frame, Clock::time_point now);
  Verdict TakesHeaders(const FrameHeader& frame, Clock::time_point now);
  Verdict Resets(const FrameHeader& frame, Clock::time_point now);
  const char* TakesData(uint32_t stream, std::string_view payload);
  void Add(int64_t calls, int64_t message_bytes);
  const char* OverLimit() const;
  void EndCall(uint32_t stream);

  const std::shared_ptr<AddressLoad> address_;
  OpenLoad& port_;
  const FrameLimits& limits_;
  OpenLoad open_;
  Pace carries_nothing_{1000, 2000};
  Pace window_updates_{10000, 20000};
  Pace own_resets_{100, 500};
  std::map<uint32_t, Message> calls_;  // open calls by stream id
  uint32_t last_call_ = 0;
  int64_t headers_bytes_ = 0;  // of the latest call
  int64_t continuations_ = 0;
};

}  // namespace sinkd
