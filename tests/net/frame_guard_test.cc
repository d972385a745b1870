#include "server/net/frame_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/net/h2_frame.h"

namespace sinkd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using Clock = FrameGuard::Clock;

class FrameGuardTest : public testing::Test {
 protected:
  std::unique_ptr<FrameGuard> NewGuard() {
    return std::make_unique<FrameGuard>(address_, port_, limits_);
  }

  // What a guard has to say to these bytes of its client: the longest wait, the first fault.
  FrameGuard::Verdict Receive(FrameGuard& guard, const std::string& bytes) {
    std::string_view rest = bytes;
    FrameReader reader;
    FrameGuard::Verdict all;
    while (const auto piece = reader.Next(rest)) {
      const FrameGuard::Verdict verdict = guard.Received(*piece, now_);
      all.wait = std::max(all.wait, verdict.wait);
      if (all.fault == nullptr) all.fault = verdict.fault;
    }
    return all;
  }
  static void Send(FrameGuard& guard, const std::string& bytes) {
    std::string_view rest = bytes;
    FrameReader reader;
    while (const auto piece = reader.Next(rest)) guard.Sent(*piece);
  }
  static std::string Call(uint32_t stream, uint8_t flags = kEndHeaders) {
    return H2Frame(FrameType::kHeaders, flags, stream, "headers");
  }
  static std::string Reset(uint32_t stream) {
    return H2Frame(FrameType::kRstStream, 0, stream, std::string(4, '\0'));
  }

  FrameLimits limits_;
  OpenLoad port_;
  std::shared_ptr<AddressLoad> address_ = std::make_shared<AddressLoad>();
  Clock::time_point now_ = Clock::time_point() + std::chrono::hours(1);
};

TEST_F(FrameGuardTest, LetsThousandsOfQuickCallsASecondThrough) {
  const auto guard = NewGuard();
  uint32_t stream = 1;
  for (int second = 0; second < 10; ++second) {
    for (int i = 0; i < 4000; ++i, stream += 2) {
      const std::string message = GrpcMessage(3, "abc");
      const FrameGuard::Verdict verdict =
          Receive(*guard, Call(stream) + H2Frame(FrameType::kData, kEndStream, stream, message) +
                              H2Frame(FrameType::kWindowUpdate, 0, 0, "1234"));
      ASSERT_EQ(verdict.wait, Clock::duration::zero()) << stream;
      ASSERT_EQ(verdict.fault, nullptr) << stream;
      Send(*guard, H2Frame(FrameType::kHeaders, kEndHeaders, stream, "h") +
                       H2Frame(FrameType::kHeaders, kEndHeaders | kEndStream, stream, "trailers"));
    }
    now_ += seconds(1);
  }
  EXPECT_EQ(guard->open().calls, 0);
  EXPECT_EQ(address_->open.message_bytes, 0);
}

TEST_F(FrameGuardTest, CallsThatComeTooFastWaitAndAreNoFault) {
  const auto guard = NewGuard();
  FrameGuard::Verdict last;
  for (uint32_t i = 0; i < 6000; ++i) {
    last = Receive(*guard, Call(2 * i + 1));
    ASSERT_EQ(last.fault, nullptr);
    Send(*guard, H2Frame(FrameType::kHeaders, kEndStream, 2 * i + 1, "trailers"));
  }
  // 1,000 over what may come at once, 5,000 a second.
  EXPECT_NEAR(std::chrono::duration<double>(last.wait).count(), 0.2, 1e-3);
  now_ += milliseconds(250);
  EXPECT_EQ(Receive(*guard, Call(20001)).wait, Clock::duration::zero());
}

TEST_F(FrameGuardTest, AnotherConnectionOfTheAddressGivesNoNewAllowance) {
  for (uint32_t i = 0; i < 6000; ++i) {
    const auto guard = NewGuard();
    Receive(*guard, Call(1));
  }
  const auto guard = NewGuard();
  EXPECT_GT(Receive(*guard, Call(1)).wait, milliseconds(100));
  const auto stranger = std::make_shared<AddressLoad>();
  FrameGuard other(stranger, port_, limits_);
  EXPECT_EQ(Receive(other, Call(1)).wait, Clock::duration::zero());
}

TEST_F(FrameGuardTest, ResetsThatGoOnEndTheConnection) {
  const auto guard = NewGuard();
  uint32_t calls = 0;
  FrameGuard::Verdict verdict;
  while (verdict.fault == nullptr && calls < 60000) {
    ++calls;
    verdict = Receive(*guard, Call(2 * calls - 1) + Reset(2 * calls - 1));
  }
  EXPECT_THAT(verdict.fault, HasSubstr("reset"));
  EXPECT_EQ(calls, 501u);
}

TEST_F(FrameGuardTest, ResetsOfManyConnectionsWaitForEachOther) {
  Clock::duration longest{};
  for (int connection = 0; connection < 10; ++connection) {
    const auto guard = NewGuard();
    for (uint32_t i = 0; i < 100; ++i) {
      const FrameGuard::Verdict verdict = Receive(*guard, Call(2 * i + 1) + Reset(2 * i + 1));
      ASSERT_EQ(verdict.fault, nullptr);
      longest = std::max(longest, verdict.wait);
    }
  }
  // 500 over what may come at once, 250 a second.
  EXPECT_NEAR(std::chrono::duration<double>(longest).count(), 2, 1e-3);
}

TEST_F(FrameGuardTest, AClientThatCancelsAllItsCallsIsNotBlamed) {
  const auto guard = NewGuard();
  std::string cancelled;
  for (uint32_t i = 0; i < 500; ++i) {
    ASSERT_EQ(Receive(*guard, Call(2 * i + 1)).fault, nullptr);
    cancelled += Reset(2 * i + 1);
  }
  EXPECT_EQ(Receive(*guard, cancelled).fault, nullptr);
  EXPECT_EQ(guard->open().calls, 0);
}

TEST_F(FrameGuardTest, OpenCallsAreBoundedByConnectionAddressAndPort) {
  limits_.of_connection.calls = 4;
  limits_.of_address.calls = 6;
  limits_.in_all.calls = 8;
  const auto one = NewGuard();
  EXPECT_EQ(Receive(*one, Call(1) + Call(3) + Call(5) + Call(7)).fault, nullptr);
  EXPECT_THAT(Receive(*one, Call(9)).fault, HasSubstr("too many calls"));
  Send(*one, H2Frame(FrameType::kHeaders, kEndStream | kEndHeaders, 1, "trailers"));
  Send(*one, H2Frame(FrameType::kRstStream, 0, 3, "0000"));
  Send(*one, H2Frame(FrameType::kRstStream, 0, 3, "0000"));  // once more, which ends no other
  EXPECT_EQ(one->open().calls, 3);

  const auto two = NewGuard();
  EXPECT_EQ(Receive(*two, Call(1) + Call(3) + Call(5)).fault, nullptr);
  EXPECT_THAT(Receive(*two, Call(7)).fault, HasSubstr("too many calls"));

  const auto stranger = std::make_shared<AddressLoad>();
  FrameGuard three(stranger, port_, limits_);
  EXPECT_EQ(Receive(three, Call(1)).fault, nullptr);
  EXPECT_THAT(Receive(three, Call(3)).fault, HasSubstr("too many calls"));
}

TEST_F(FrameGuardTest, AConnectionThatEndsGivesBackWhatItHadOpen) {
  {
    const auto guard = NewGuard();
    Receive(*guard, Call(1) + H2Frame(FrameType::kData, 0, 1, GrpcMessage(100, "half")));
    EXPECT_EQ(port_.calls, 1);
    EXPECT_EQ(address_->open.message_bytes, 4);
  }
  EXPECT_EQ(port_.calls, 0);
  EXPECT_EQ(port_.message_bytes, 0);
  EXPECT_EQ(address_->open.calls, 0);
  EXPECT_EQ(address_->open.message_bytes, 0);
}

TEST_F(FrameGuardTest, CountsTheBytesOfMessagesUntilTheyAreWhole) {
  limits_.of_address.message_bytes = 1000;
  const auto one = NewGuard();
  const auto two = NewGuard();
  const std::string half = GrpcMessage(800, std::string(400, 'x'));
  // Whole messages before it, and its prefix in two frames.
  const std::string whole = GrpcMessage(2, "ab") + GrpcMessage(0, "");
  EXPECT_EQ(Receive(*one, Call(1) + H2Frame(FrameType::kData, 0, 1, whole + half.substr(0, 3)) +
                              H2Frame(FrameType::kData, 0, 1, half.substr(3)))
                .fault,
            nullptr);
  EXPECT_EQ(one->open().message_bytes, 400);
  EXPECT_EQ(Receive(*two, Call(1) + H2Frame(FrameType::kData, 0, 1, half)).fault, nullptr);
  EXPECT_EQ(Receive(*one, H2Frame(FrameType::kData, 0, 1, std::string(200, 'x'))).fault, nullptr);
  EXPECT_THAT(Receive(*two, H2Frame(FrameType::kData, 0, 1, "x")).fault,
              HasSubstr("incomplete messages"));
  EXPECT_EQ(Receive(*one, H2Frame(FrameType::kData, 0, 1, std::string(200, 'x'))).fault, nullptr);
  EXPECT_EQ(one->open().message_bytes, 0);
  EXPECT_EQ(address_->open.message_bytes, 401);
  Send(*two, H2Frame(FrameType::kHeaders, kEndStream, 1, "refused"));
  EXPECT_EQ(address_->open.message_bytes, 0);
  // What comes for it afterwards is nobody's.
  Receive(*two, H2Frame(FrameType::kData, 0, 1, std::string(500, 'x')));
  EXPECT_EQ(address_->open.message_bytes, 0);
}

TEST_F(FrameGuardTest, HeadersAreBoundedWhateverFramesTheyComeIn) {
  const std::string large(16384, 'h');
  const auto one = NewGuard();
  EXPECT_EQ(Receive(*one, H2Frame(FrameType::kHeaders, kEndHeaders, 1, large)).fault, nullptr);
  const std::string more = H2Frame(FrameType::kContinuation, 0, 3, large);
  EXPECT_EQ(Receive(*one, H2Frame(FrameType::kHeaders, 0, 3, large) + more + more + more).fault,
            nullptr);
  EXPECT_THAT(Receive(*one, more).fault, HasSubstr("headers"));

  const auto two = NewGuard();
  std::string bits = H2Frame(FrameType::kHeaders, 0, 1, "");
  for (int i = 0; i < 16; ++i) bits += H2Frame(FrameType::kContinuation, 0, 1, "");
  EXPECT_EQ(Receive(*two, bits).fault, nullptr);
  EXPECT_THAT(Receive(*two, H2Frame(FrameType::kContinuation, 0, 1, "")).fault,
              HasSubstr("headers"));
}

TEST_F(FrameGuardTest, LargeHeadersArePaidForAsManyCalls) {
  const auto guard = NewGuard();
  const std::string large(32768, 'h');
  FrameGuard::Verdict last;
  for (uint32_t i = 0; i < 100; ++i) {
    last = Receive(*guard, H2Frame(FrameType::kHeaders, kEndHeaders, 2 * i + 1, large));
  }
  // 64 calls each, 1,400 over what may come at once.
  EXPECT_NEAR(std::chrono::duration<double>(last.wait).count(), 0.28, 1e-3);
}

TEST_F(FrameGuardTest, FramesThatCarryNothingWait) {
  for (const std::string& frame :
       {H2Frame(FrameType::kPing, 0, 0, "12345678"), H2Frame(FrameType::kSettings, 0, 0),
        H2Frame(FrameType::kPriority, 0, 1, "12345"), H2Frame(FrameType::kData, 0, 1),
        H2Frame(FrameType::kGoaway, 0, 0, "12345678"),
        H2Frame(static_cast<FrameType>(0xa), 0, 0)}) {
    const auto guard = NewGuard();
    Receive(*guard, Call(1));
    Clock::duration wait{};
    for (int i = 0; i < 2000; ++i) wait = Receive(*guard, frame).wait;
    EXPECT_LT(wait, milliseconds(300));  // by their bytes
    for (int i = 0; i < 1000; ++i) wait = Receive(*guard, frame).wait;
    EXPECT_GT(wait, milliseconds(999)) << static_cast<int>(frame[3]);
  }
}

TEST_F(FrameGuardTest, TheLastFramesOfCallsAreNotThoseThatCarryNothing) {
  const auto guard = NewGuard();
  for (uint32_t i = 0; i < 5000; ++i) {
    ASSERT_EQ(
        Receive(*guard, Call(2 * i + 1) + H2Frame(FrameType::kData, kEndStream, 2 * i + 1)).wait,
        Clock::duration::zero());
    Send(*guard, H2Frame(FrameType::kHeaders, kEndStream, 2 * i + 1, "trailers"));
  }
}

TEST_F(FrameGuardTest, LargeSettingsAreRefused) {
  const auto guard = NewGuard();
  EXPECT_THAT(Receive(*guard, H2Frame(FrameType::kSettings, 0, 0, std::string(70000, 's'))).fault,
              HasSubstr("frame"));
}

}  // namespace
}  // namespace sinkd
