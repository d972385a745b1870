// Database: one connection for writes and a few for reads, so that reads do not wait for writes.
//
// Thread-safety: all methods may be called from any thread; they wait their turn.
// Errors: those of the action, and its exceptions as errors (base/containment.h).
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/store/connection.h"

namespace sinkd {

class Database {
 public:
  using Action = std::function<absl::Status(Connection&)>;

  // Opens the writer. Readers are opened when first needed, at most `readers`.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const Connect& connect_writer,
                                                        const Connect& connect_reader, int readers);

  // One transaction, durable on OK and without effect on an error, except that its effect is
  // unknown after UNAVAILABLE. If the disk is full, the connection makes room and the action runs a
  // second time, so it must first clear what it fills.
  absl::Status Write(const Action& action, Room room = Room::kOrdinary);
  // The writer outside a transaction, with the reserve for removals; may also run twice.
  absl::Status Maintain(const Action& action);
  // The action runs twice if the connection was lost, so it must first clear what it fills.
  absl::Status Read(const Action& action);
  // The same without checking the files, since what is still open can be read.
  absl::Status ReadUnchecked(const Action& action);

 private:
  Database(std::unique_ptr<Connection> writer, Connect connect_reader, int readers);
  absl::Status Transact(const Action& action, Room room);
  absl::StatusOr<std::unique_ptr<Connection>> TakeReader();
  void GiveBackReader(std::unique_ptr<Connection> reader);

  std::mutex writer_mutex_;
  const std::unique_ptr<Connection> writer_;
  const Connect connect_reader_;
  std::mutex readers_mutex_;
  std::condition_variable reader_is_back_;
  std::vector<std::unique_ptr<Connection>> idle_readers_;
  int readers_to_open_;
};

}  // namespace sinkd
