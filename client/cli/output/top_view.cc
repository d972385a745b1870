#include "client/cli/output/top_view.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <google/protobuf/util/time_util.h>

#include "client/cli/output/model_view.h"
#include "client/cli/output/names.h"
#include "client/cli/output/number_format.h"
#include "client/cli/output/table.h"
#include "client/error_report.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

// What happened between two moments.
class Between {
 public:
  Between(const v1::ServerStatus* before, const v1::ServerStatus& status)
      : before_(before != nullptr && before->start_time() == status.start_time() ? before
                                                                                 : nullptr),
        seconds_(std::max(
            1e-3, Seconds(before_ ? before_->time() : status.start_time(), status.time()))) {}

  double Rate(int64_t now, int64_t (v1::WorkCounts::*count)() const) const {
    return static_cast<double>(now - (before_ ? (before_->counts().*count)() : 0)) / seconds_;
  }

  std::string Span() const {
    return before_ ? fmt::format("in {}", Duration(seconds_)) : std::string("since the start");
  }

  double Busy(const v1::DeviceStatus& device) const {
    double before = 0;
    if (before_) {
      for (const v1::DeviceStatus& each : before_->devices()) {
        if (each.name() == device.name()) before = each.busy_seconds();
      }
    }
    return std::clamp((device.busy_seconds() - before) / seconds_, 0.0, 1.0);
  }

 private:
  const v1::ServerStatus* before_;
  double seconds_;
};

std::string Memory(const v1::DeviceStatus& device) {
  const int64_t held = device.weight_bytes() + device.loading_bytes() + device.running_bytes();
  if (device.budget_bytes() == 0) return Bytes(held);
  return Bytes(held) + " of " + Bytes(device.budget_bytes());
}

std::string RunningText(const v1::DeviceStatus& device) {
  if (device.running().empty()) return "idle";
  const v1::RunningWork& work = device.running(0);
  return fmt::format("{}, {} for {:.1f} s", client::MakePrintable(work.caller()),
                     WordOf(work.lane()), work.seconds());
}

std::string Devices(const v1::ServerStatus& status, const Between& between,
                    const Terminal& terminal) {
  Table table(
      {{"DEVICE", Align::kLeft}, {"BUSY"}, {"MEMORY"}, {"LONGEST WAIT"}, {"RUNS", Align::kLeft}});
  for (const v1::DeviceStatus& device : status.devices()) {
    table.AddRow({Cell(client::MakePrintable(device.name()), Style::kBold),
                  fmt::format("{:.0f}%", 100 * between.Busy(device)), Memory(device),
                  fmt::format("{:.1f} s", device.longest_wait_seconds()), RunningText(device)});
  }
  return table.empty() ? "  no device has been used yet\n" : table.Render(terminal);
}

std::string Callers(const v1::ServerStatus& status, const Terminal& terminal) {
  Table table({{"CALLER", Align::kLeft},
               {"LANE", Align::kLeft},
               {"DEVICE", Align::kLeft},
               {"STREAMS"},
               {"WAITING"},
               {"DEVICE TIME"}});
  for (const v1::DeviceStatus& device : status.devices()) {
    std::vector<v1::CallerShare> callers(device.callers().begin(), device.callers().end());
    std::erase_if(callers, [](const v1::CallerShare& caller) { return caller.streams() == 0; });
    std::sort(callers.begin(), callers.end(),
              [](const auto& a, const auto& b) { return a.device_seconds() > b.device_seconds(); });
    for (const v1::CallerShare& caller : callers) {
      table.AddRow({Cell(client::MakePrintable(caller.caller()), Style::kBold),
                    WordOf(caller.lane()), client::MakePrintable(device.name()),
                    Grouped(caller.streams()), Grouped(caller.waiting_streams()),
                    Duration(caller.device_seconds())});
    }
  }
  return table.empty() ? "  nobody has a stream open\n" : table.Render(terminal);
}

std::string Models(const v1::ServerStatus& status, const Terminal& terminal) {
  Table table({{"MODEL", Align::kLeft},
               {"STATE", Align::kLeft},
               {"DEVICE", Align::kLeft},
               {"MEMORY"},
               {"USERS"},
               {"PINNED", Align::kLeft}});
  for (const v1::Model& model : status.models()) {
    table.AddRow({Cell(client::MakePrintable(ModelId(model.name())), Style::kBold),
                  WordOf(model.state()), client::MakePrintable(model.device()),
                  model.has_weight_bytes() ? Bytes(model.weight_bytes()) : kAbsent,
                  Grouped(model.users()), model.pinned() ? "yes" : "no"});
  }
  return table.empty() ? "  no model is in memory\n" : table.Render(terminal);
}

}  // namespace

double Seconds(const google::protobuf::Timestamp& from, const google::protobuf::Timestamp& to) {
  using google::protobuf::util::TimeUtil;
  return static_cast<double>(TimeUtil::DurationToMicroseconds(to - from)) / 1e6;
}

std::string DescribeTop(const v1::ServerStatus& first, const v1::ServerStatus& last) {
  const double seconds = Seconds(first.time(), last.time());
  if (first.start_time() != last.start_time()) {
    return fmt::format("the server started again within the {} that this looked at it",
                       Duration(seconds));
  }
  const int64_t samples = last.counts().samples_ok() - first.counts().samples_ok();
  const int64_t tokens = last.counts().tokens() - first.counts().tokens();
  const int64_t failed = last.counts().samples_failed() - first.counts().samples_failed();
  return fmt::format("within {} the server analysed {} samples of {} tokens, and {} failed",
                     Duration(seconds), Grouped(samples), Grouped(tokens), Grouped(failed));
}

std::string RenderTop(const v1::ServerStatus& status, const v1::ServerStatus* before,
                      const Terminal& terminal) {
  const Between between(before, status);
  const v1::WorkCounts& counts = status.counts();
  const int64_t ended = counts.samples_ok() + counts.samples_failed() + counts.samples_cancelled();
  std::string text = fmt::format(
      "{}  up {}, {}\n", Paint(terminal.color_out, Style::kBold, "sinkd " + status.version()),
      Duration(Seconds(status.start_time(), status.time())),
      status.serving() ? Paint(terminal.color_out, Style::kGreen, "serving")
                       : Paint(terminal.color_out, Style::kYellow, "not serving"));
  text += fmt::format("  streams {} of {}, samples waiting {}, resident memory {}\n",
                      Grouped(status.streams()), Grouped(status.max_streams()),
                      Grouped(status.waiting_samples()), Bytes(status.resident_bytes()));
  text += fmt::format("  {:.1f} samples/s, {:.0f} tokens/s {}; {} samples so far, {} failed\n\n",
                      between.Rate(counts.samples_ok(), &v1::WorkCounts::samples_ok),
                      between.Rate(counts.tokens(), &v1::WorkCounts::tokens), between.Span(),
                      Grouped(ended), Grouped(counts.samples_failed()));
  text += Devices(status, between, terminal) + '\n' + Callers(status, terminal) + '\n' +
          Models(status, terminal);
  return text;
}

CsvTable TopCsv(bool raw) {
  return CsvTable(
      "time=,device=name,busy_seconds,longest_wait_seconds,budget_bytes,weight_bytes,loading_bytes,"
      "running_bytes,streams,waiting_samples,samples_ok=counts.samples_ok,"
      "samples_failed=counts.samples_failed,samples_cancelled=counts.samples_cancelled,"
      "tokens=counts.tokens,records_sent=counts.records_sent",
      raw);
}

std::string TopRows(const v1::ServerStatus& status, const CsvTable& csv) {
  const std::string time = google::protobuf::util::TimeUtil::ToString(status.time());
  std::string rows;
  for (const v1::DeviceStatus& device : status.devices()) {
    rows += csv.Row({&device, &status}, {time});
  }
  return rows;
}

}  // namespace sinkd::cli
