#include "server/net/frame_guard.h"

#include <algorithm>
#include <utility>

namespace sinkd {
namespace {

// Prices in new calls: a connection, and a number of bytes of headers, since HPACK can make one
// byte stand for kilobytes that were sent before.
constexpr double kPriceOfConnection = 10;
constexpr double kHeadersBytesOfCall = 512;
constexpr double kBytesThatCarryNothing = 64;
constexpr int kMessagePrefix = 5;

constexpr char kTooManyCalls[] = "too many calls are open at once";
constexpr char kTooManyBytes[] = "too many bytes of incomplete messages";
constexpr char kHeadersTooLarge[] = "the headers of a call are too large";
constexpr char kFrameTooLarge[] = "a frame is too large";
constexpr char kTooManyResets[] = "calls are reset too fast";

const char* Exceeds(const OpenLoad& open, const LoadLimits& limits) {
  if (open.calls > limits.calls) return kTooManyCalls;
  return open.message_bytes > limits.message_bytes ? kTooManyBytes : nullptr;
}

}  // namespace

FrameGuard::~FrameGuard() {
  Add(-open_.calls, -open_.message_bytes);
}

FrameGuard::Clock::duration FrameGuard::Begun(Clock::time_point now) {
  return address_->calls.Take(kPriceOfConnection, now);
}

FrameGuard::Verdict FrameGuard::Received(const FrameReader::Piece& piece, Clock::time_point now) {
  if (piece.begins) return Begins(piece.frame, now);
  if (piece.frame.type != FrameType::kData) return {};
  return {.wait = {}, .fault = TakesData(piece.frame.stream, piece.payload)};
}

void FrameGuard::Sent(const FrameReader::Piece& piece) {
  if (!piece.begins) return;
  const FrameHeader& frame = piece.frame;
  const bool may_end = frame.type == FrameType::kHeaders || frame.type == FrameType::kData;
  if (frame.type == FrameType::kRstStream || (may_end && frame.ends_stream())) {
    EndCall(frame.stream);
  }
}

FrameGuard::Verdict FrameGuard::Begins(const FrameHeader& frame, Clock::time_point now) {
  if (frame.type != FrameType::kData && frame.length > limits_.frame_bytes) {
    return {.wait = {}, .fault = kFrameTooLarge};
  }
  switch (frame.type) {
    case FrameType::kHeaders:
      return BeginsCall(frame, now);
    case FrameType::kContinuation:
      ++continuations_;
      return TakesHeaders(frame, now);
    case FrameType::kRstStream:
      return Resets(frame, now);
    case FrameType::kWindowUpdate:
      return {.wait = window_updates_.Take(1, now)};
    case FrameType::kData:
      if (frame.length > 0 || frame.ends_stream()) return {};
      [[fallthrough]];
    default:
      return {.wait = carries_nothing_.Take(1 + frame.length / kBytesThatCarryNothing, now)};
  }
}

FrameGuard::Verdict FrameGuard::BeginsCall(const FrameHeader& frame, Clock::time_point now) {
  headers_bytes_ = 0;
  continuations_ = 0;
  Verdict verdict = TakesHeaders(frame, now);
  if (frame.stream <= last_call_) {  // trailers of an earlier call
    verdict.wait = std::max(verdict.wait, carries_nothing_.Take(1, now));
    return verdict;
  }
  last_call_ = frame.stream;
  calls_.try_emplace(frame.stream);
  Add(1, 0);
  if (verdict.fault == nullptr) verdict.fault = OverLimit();
  return verdict;
}

FrameGuard::Verdict FrameGuard::TakesHeaders(const FrameHeader& frame, Clock::time_point now) {
  headers_bytes_ += frame.length;
  if (headers_bytes_ > limits_.headers_bytes || continuations_ > limits_.continuations) {
    return {.wait = {}, .fault = kHeadersTooLarge};
  }
  return {.wait = address_->calls.Take(std::max(1.0, frame.length / kHeadersBytesOfCall), now)};
}

FrameGuard::Verdict FrameGuard::Resets(const FrameHeader& frame, Clock::time_point now) {
  EndCall(frame.stream);
  if (own_resets_.Take(1, now) > Clock::duration::zero()) {
    return {.wait = {}, .fault = kTooManyResets};
  }
  return {.wait = address_->resets.Take(1, now)};
}

const char* FrameGuard::TakesData(uint32_t stream, std::string_view payload) {
  const auto call = calls_.find(stream);
  if (call == calls_.end()) return nullptr;  // it has ended
  Message& message = call->second;
  while (!payload.empty()) {
    if (message.prefix < kMessagePrefix) {
      const auto byte = static_cast<uint8_t>(payload.front());
      if (message.prefix > 0) message.length = message.length << 8 | byte;  // the first is a flag
      ++message.prefix;
      payload.remove_prefix(1);
    } else {
      const auto size =
          std::min(static_cast<int64_t>(payload.size()), message.length - message.come);
      message.come += size;
      Add(0, size);
      payload.remove_prefix(static_cast<size_t>(size));
    }
    if (message.prefix == kMessagePrefix && message.come == message.length) {
      Add(0, -message.come);
      message = {};
    }
  }
  return OverLimit();
}

void FrameGuard::Add(int64_t calls, int64_t message_bytes) {
  for (OpenLoad* const each : {&open_, &address_->open, &port_}) {
    each->calls += calls;
    each->message_bytes += message_bytes;
  }
}

const char* FrameGuard::OverLimit() const {
  const char* fault = Exceeds(open_, limits_.of_connection);
  if (fault == nullptr) fault = Exceeds(address_->open, limits_.of_address);
  return fault != nullptr ? fault : Exceeds(port_, limits_.in_all);
}

void FrameGuard::EndCall(uint32_t stream) {
  const auto call = calls_.find(stream);
  if (call == calls_.end()) return;
  Add(-1, -call->second.come);
  calls_.erase(call);
}

}  // namespace sinkd
