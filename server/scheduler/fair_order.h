// FairOrder: schedules the streams that share a device by the time that each has used.
//
// Start-time fair queueing (Goyal, Vin, Cheng 1996) on three levels: the two lanes, the callers of
// a lane by weight, and the streams of a caller equally. On each level, the one that has used least
// for its weight is next. One that returns after a pause starts level with the others, so unused
// time is not saved up. Ties go to the one that has waited longest.
//
// The interactive lane has seven times the weight of the batch lane: a request that needs less than
// 7/8 of the device always goes ahead of batch work, and batch work never gets less than 1/8.
//
// Thread-safety: none; its owner locks.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sinkd {

enum class Lane { kInteractive, kBatch };
inline constexpr std::array kLanes = {Lane::kInteractive, Lane::kBatch};

std::string_view LaneName(Lane lane);  // "interactive", "batch"

// Who is charged for work.
struct Account {
  std::string caller;
  double weight = 1;  // over 0; relative to other callers of the lane
  Lane lane = Lane::kInteractive;
};

class FairOrder {
 public:
  // A node of the tree; streams are leaves.
  struct Place {
    Place* parent = nullptr;
    double weight = 1;
    double used = 0;      // seconds
    double tag = 0;       // virtual time at which its next turn starts
    double clock = 0;     // virtual time of its children
    int64_t waiting = 0;  // waiting children; 0 or 1 for a leaf
    uint64_t served = 0;  // sequence number of its last turn
    std::vector<Place*> children;
  };

  struct Caller {
    std::string name;
    Lane lane;
    int64_t streams;
    int64_t waiting;  // of them
    double seconds;   // used since it came
  };

  FairOrder();
  FairOrder(const FairOrder&) = delete;
  FairOrder& operator=(const FairOrder&) = delete;

  // `leaf` is borrowed until Leave.
  void Enter(Place& leaf, const Account& account);
  void Leave(Place& leaf);

  void SetWaiting(Place& leaf, bool waiting);
  bool waiting() const { return root_.waiting > 0; }  // whether any leaf is

  // The waiting leaf whose turn it is; null if none waits.
  Place* Next();

  // Charges `seconds` to `leaf`, its caller and its lane; negative to refund.
  static void Charge(Place& leaf, double seconds);

  std::vector<Caller> callers() const;

 private:
  struct CallerPlace : Place {
    Account account;
  };

  CallerPlace& FindCaller(const Account& account);
  void ForgetIdleCallers();

  Place root_;
  std::array<Place, kLanes.size()> lanes_;
  std::vector<std::unique_ptr<CallerPlace>> callers_;
  uint64_t turns_ = 0;
};

}  // namespace sinkd
