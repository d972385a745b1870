#include <unistd.h>

#include <deque>
#include <optional>
#include <utility>

#include "client/cli/commands/call_setup.h"
#include "client/cli/commands/commands.h"
#include "client/cli/flags/flag_values.h"
#include "client/cli/input/byte_stream.h"
#include "client/cli/output/json_parts.h"
#include "client/cli/output/top_view.h"
#include "client/service_client.h"
#include "sinks/v1/server.grpc.pb.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

// The alternate screen of a terminal, so that what was there before comes back.
constexpr char kEnterScreen[] = "\x1b[?1049h\x1b[?25l";
constexpr char kLeaveScreen[] = "\x1b[?25h\x1b[?1049l";
// Rates are of so long, since a pass may take many seconds and counts at its end.
constexpr double kRateSeconds = 30;

constexpr char kHome[] = "\x1b[H";
constexpr char kEraseBelow[] = "\x1b[J";

// Lines that were longer before leave nothing behind.
std::string ForScreen(const std::string& text) {
  std::string out = kHome;
  for (const char c : text) {
    if (c == '\n') out += "\x1b[K";
    out += c;
  }
  return out + kEraseBelow;
}

class TopWriter {
 public:
  TopWriter(const GlobalOptions& global, bool live, const Terminal& terminal, Output& output)
      : format_(global.output),
        csv_(TopCsv(global.csv_raw)),
        live_(live),
        terminal_(terminal),
        output_(output) {
    if (live_) output_.Write(kEnterScreen);
    if (format_ == OutputFormat::kCsv) output_.Write(csv_.Header());
  }
  ~TopWriter() {
    if (live_) output_.Write(kLeaveScreen);
  }

  void Write(v1::ServerStatus status) {
    if (format_ == OutputFormat::kCsv) {
      output_.Write(TopRows(status, csv_));
    } else if (format_ != OutputFormat::kTable) {
      output_.Write(ToJson(status) + '\n');
    } else {
      const std::string text =
          RenderTop(status, seen_.empty() ? nullptr : &seen_.front(), terminal_);
      output_.Write(live_ ? ForScreen(text + "\n  Ctrl-C to quit\n") : text);
    }
    if (!first_) first_ = status;
    seen_.push_back(std::move(status));
    while (Seconds(seen_.front().time(), seen_.back().time()) > kRateSeconds) seen_.pop_front();
  }

  // What the server did while this looked; empty unless it did so twice.
  std::string Closing() const {
    return first_ && Seconds(first_->time(), seen_.back().time()) > 0
               ? DescribeTop(*first_, seen_.back())
               : std::string();
  }

 private:
  const OutputFormat format_;
  const CsvTable csv_;
  const bool live_;
  const Terminal terminal_;
  Output& output_;
  std::optional<v1::ServerStatus> first_;
  std::deque<v1::ServerStatus> seen_;  // in the time that rates are of
};

ExitCode RunTop(const Invocation& invocation) {
  const GlobalOptions& global = invocation.global;
  const TopOptions& options = invocation.top;
  const Terminal terminal = DetectTerminal(global);
  const bool again = !options.once && (terminal.out_is_terminal || options.interval);
  const bool live = again && terminal.out_is_terminal && global.output == OutputFormat::kTable;
  StopSignal stop;
  std::string closing;
  const ExitCode code = RunCalls(
      global,
      [&](const std::shared_ptr<grpc::Channel>& channel, const client::CallOptions& call,
          Output& output) -> absl::Status {
        const client::ServiceClient<v1::ServerService> server(channel);
        TopWriter writer(global, live, terminal, output);
        absl::Status result;
        do {
          auto response = server.Call(&v1::ServerService::StubInterface::GetServerStatus, {}, call);
          result = stop.stopped() ? absl::OkStatus() : response.status();
          if (!response.ok()) break;
          writer.Write(std::move(*response->mutable_status()));
          result = output.Flush();
        } while (result.ok() && again && !stop.WaitFor(options.interval.value_or(kTopInterval)));
        closing = writer.Closing();
        return result;
      },
      [&stop] { stop.Stop(); });
  if (again && !closing.empty() && !global.quiet) Say(closing);
  // Ctrl-C is how it ends.
  return again && code == kExitInterrupted ? kExitOk : code;
}

}  // namespace

void AddTopCommand(CLI::App& app, Invocation& invocation) {
  CLI::App* top = AddCommand(
      app, invocation, "top",
      "What the server is doing: devices, callers, models, rates; live on a terminal", RunTop);
  TopOptions& options = invocation.top;
  top->add_flag("--once", options.once, "Show it once; the default where output is not a terminal");
  AddDuration(*top, "--interval",
              "Time between two updates; default 2s. Repeats also where output is not a terminal",
              [&options](std::chrono::milliseconds time) { options.interval = time; });
  top->footer(
      "Examples:\n  sinkctl top\n  sinkctl top --once\n  sinkctl top --interval 10s -o csv");
}

}  // namespace sinkd::cli
