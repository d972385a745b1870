#include "tests/client/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace sinkd::testing {
namespace {

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

Pipe MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
  return {ends[0], ends[1]};
}

void Close(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

pid_t Start(const std::vector<std::string>& command, const ProcessOptions& options, int in, int out,
            int err) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child != 0) return child;
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
  execv(arguments[0], arguments.data());
  _exit(127);
}

// VmHWM of a process, in bytes; 0 when it is gone.
int64_t PeakMemory(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  std::string word;
  while (status >> word) {
    int64_t kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

// Feeds and drains the program until it has closed its outputs.
class Exchange {
 public:
  Exchange(pid_t child, const ProcessOptions& options, int in, int out, int err)
      : child_(child), options_(options), in_(in), out_(out), err_(err) {
    fcntl(in_, F_SETFL, O_NONBLOCK);
  }

  ProcessResult Run() {
    while (out_ >= 0 || err_ >= 0) {
      FeedOrClose();
      pollfd wait[] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}, {in_, POLLOUT, 0}};
      if (fed_ == options_.input.size()) wait[2].fd = -1;
      poll(wait, 3, -1);
      if (wait[0].revents != 0) Drain(out_, result_.out);
      if (wait[1].revents != 0) Drain(err_, result_.err);
      if (wait[2].revents != 0) Feed();
      if (options_.close_output_after > 0 && result_.out.size() >= options_.close_output_after) {
        Close(out_);
      }
      SignalOnce();
      // Only the last reading: before its exec the child has the memory of this process.
      if (const int64_t peak = PeakMemory(child_); peak > 0) result_.peak_memory = peak;
    }
    Close(in_);
    int status = 0;
    waitpid(child_, &status, 0);
    result_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return result_;
  }

 private:
  void FeedOrClose() {
    if (fed_ == options_.input.size() && !options_.keep_input_open) Close(in_);
  }

  void Feed() {
    const ssize_t count = write(in_, options_.input.data() + fed_, options_.input.size() - fed_);
    if (count < 0) {
      fed_ = options_.input.size();  // the program reads no more
    } else {
      fed_ += static_cast<size_t>(count);
    }
  }

  void Drain(int& descriptor, std::string& text) {
    char buffer[4096];
    const ssize_t count = read(descriptor, buffer, sizeof(buffer));
    if (count <= 0) {
      Close(descriptor);
    } else {
      text.append(buffer, static_cast<size_t>(count));
    }
  }

  void SignalOnce() {
    const bool seen = result_.out.find(options_.signal_when) != std::string::npos ||
                      result_.err.find(options_.signal_when) != std::string::npos;
    if (options_.signal == 0 || signalled_ || !seen) return;
    signalled_ = true;
    kill(child_, options_.signal);
  }

  pid_t child_;
  const ProcessOptions& options_;
  int in_;
  int out_;
  int err_;
  size_t fed_ = 0;
  bool signalled_ = false;
  ProcessResult result_;
};

}  // namespace

ProcessResult RunProcess(const std::vector<std::string>& command, const ProcessOptions& options) {
  signal(SIGPIPE, SIG_IGN);
  Pipe in = MakePipe();
  Pipe out = MakePipe();
  Pipe err = MakePipe();
  const pid_t child = Start(command, options, in.read_end, out.write_end, err.write_end);
  Close(in.read_end);
  Close(out.write_end);
  Close(err.write_end);
  return Exchange(child, options, in.write_end, out.read_end, err.read_end).Run();
}

ProcessResult RunOnTerminal(const std::vector<std::string>& command,
                            const ProcessOptions& options) {
  signal(SIGPIPE, SIG_IGN);
  Pipe in = MakePipe();
  int master = -1;
  int slave = -1;
  winsize size{};
  size.ws_col = 100;
  size.ws_row = 50;
  if (openpty(&master, &slave, nullptr, nullptr, &size) != 0) std::abort();
  fcntl(master, F_SETFD, FD_CLOEXEC);
  const pid_t child = Start(command, options, in.read_end, slave, slave);
  Close(in.read_end);
  Close(slave);
  return Exchange(child, options, in.write_end, master, -1).Run();
}

}  // namespace sinkd::testing
