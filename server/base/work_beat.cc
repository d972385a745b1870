#include "server/base/work_beat.h"

namespace sinkd {
namespace {

thread_local WorkBeat* beat_of_this_thread = nullptr;

}  // namespace

WorkBeat::Job::Job(WorkBeat& beat) : beat_(beat), outer_(beat_of_this_thread) {
  beat_of_this_thread = &beat;
  ++beat_.beats_;
  beat_.working_ = true;
}

WorkBeat::Job::~Job() {
  beat_.working_ = false;
  ++beat_.beats_;
  beat_of_this_thread = outer_;
}

WorkBeat::Helper::Helper(WorkBeat* beat) : outer_(beat_of_this_thread) {
  beat_of_this_thread = beat;
}

WorkBeat::Helper::~Helper() {
  beat_of_this_thread = outer_;
}

WorkBeat* WorkBeat::OfThisThread() {
  return beat_of_this_thread;
}

void Beat() {
  if (beat_of_this_thread != nullptr) ++beat_of_this_thread->beats_;
}

}  // namespace sinkd
