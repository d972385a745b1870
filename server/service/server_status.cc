#include "server/service/server_status.h"

#include <map>
#include <utility>

#include "server/service/calls/codec_lane.h"
#include "server/service/models/codec_model.h"
#include "server/service/runs/codec_run.h"

namespace sinkd {
namespace {

namespace v1 = ::sinks::v1;

using Devices = std::map<std::string, v1::DeviceStatus>;

void AddWork(const ExecutorSnapshot& snapshot, v1::DeviceStatus& out) {
  for (const ExecutorSnapshot::Running& job : snapshot.running) {
    v1::RunningWork& running = *out.add_running();
    running.set_caller(job.account.caller);
    running.set_lane(EncodeLane(job.account.lane));
    running.set_seconds(job.seconds);
  }
  out.set_busy_seconds(snapshot.busy_seconds);
  out.set_longest_wait_seconds(snapshot.longest_wait_seconds);
  for (const FairOrder::Caller& caller : snapshot.callers) {
    v1::CallerShare& share = *out.add_callers();
    share.set_caller(caller.name);
    share.set_lane(EncodeLane(caller.lane));
    share.set_streams(caller.streams);
    share.set_waiting_streams(caller.waiting);
    share.set_device_seconds(caller.seconds);
  }
}

void AddMemory(const MemorySnapshot& snapshot, v1::DeviceStatus& out) {
  out.set_budget_bytes(snapshot.budget_bytes);
  out.set_weight_bytes(snapshot.weight_bytes);
  out.set_loading_bytes(snapshot.loading_bytes);
  out.set_running_bytes(snapshot.running_bytes);
}

Devices GatherDevices(const StatusSources& sources) {
  Devices devices;
  for (const ExecutorSnapshot& snapshot : sources.devices.Snapshot()) {
    AddWork(snapshot, devices[snapshot.name]);
  }
  for (const MemorySnapshot& snapshot : sources.catalog.Memory()) {
    AddMemory(snapshot, devices[snapshot.device]);
  }
  return devices;
}

void EncodeCounts(const WorkTotals& totals, v1::WorkCounts* out) {
  out->set_samples_ok(totals.samples_ok);
  out->set_samples_failed(totals.samples_failed);
  out->set_samples_cancelled(totals.samples_cancelled);
  out->set_tokens(totals.tokens);
  out->set_records_sent(totals.records_sent);
}

StoreTime ToStoreTime(std::chrono::system_clock::time_point time) {
  return std::chrono::time_point_cast<StoreTime::duration>(time);
}

}  // namespace

v1::ServerStatus GatherStatus(const StatusSources& sources) {
  v1::ServerStatus status;
  status.set_version(sources.version);
  EncodeTime(ToStoreTime(sources.start), status.mutable_start_time());
  EncodeTime(ToStoreTime(std::chrono::system_clock::now()), status.mutable_time());
  status.set_serving(sources.health.serving());
  status.set_streams(sources.admission.streams());
  status.set_max_streams(sources.admission.max_streams());
  const WorkTotals totals = sources.metrics.Totals();
  status.set_waiting_samples(totals.waiting_samples);
  status.set_resident_bytes(totals.resident_bytes);
  EncodeCounts(totals, status.mutable_counts());
  for (auto& [name, device] : GatherDevices(sources)) {
    device.set_name(name);
    *status.add_devices() = std::move(device);
  }
  for (const ModelEntry& entry : sources.catalog.List()) {
    const bool idle = entry.state == ModelState::kAvailable || entry.state == ModelState::kFailed;
    if (!idle) *status.add_models() = EncodeModel(entry);
  }
  return status;
}

}  // namespace sinkd
