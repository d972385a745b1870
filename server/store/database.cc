#include "server/store/database.h"

#include <algorithm>
#include <utility>

#include "server/base/containment.h"
#include "server/base/status.h"
#include "server/store/store_errors.h"

namespace sinkd {
namespace {

// An exception that went on would leave a transaction open, or take a reader along.
absl::Status Perform(const Database::Action& action, Connection& connection) {
  return Contained([&] { return action(connection); });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const Connect& connect_writer,
                                                         const Connect& connect_reader,
                                                         int readers) {
  SINKD_ASSIGN_OR_RETURN(std::unique_ptr<Connection> writer, connect_writer());
  return std::unique_ptr<Database>(
      new Database(std::move(writer), connect_reader, std::max(readers, 1)));
}

Database::Database(std::unique_ptr<Connection> writer, Connect connect_reader, int readers)
    : writer_(std::move(writer)),
      connect_reader_(std::move(connect_reader)),
      readers_to_open_(readers) {}

absl::Status Database::Write(const Action& action, Room room) {
  const std::lock_guard lock(writer_mutex_);
  const absl::Status status = Transact(action, room);
  if (!IsStoreFull(status) || !writer_->MakeRoom(room)) return status;
  return Transact(action, room);
}

absl::Status Database::Transact(const Action& action, Room room) {
  SINKD_RETURN_IF_ERROR(writer_->Begin(room));
  absl::Status status = Perform(action, *writer_);
  if (status.ok()) status = writer_->Commit();
  if (!status.ok()) writer_->Rollback();
  return status;
}

absl::Status Database::Maintain(const Action& action) {
  const std::lock_guard lock(writer_mutex_);
  const absl::Status status = Perform(action, *writer_);
  if (!IsStoreFull(status) || !writer_->MakeRoom(Room::kReserved)) return status;
  return Perform(action, *writer_);
}

absl::Status Database::Read(const Action& action) {
  return ReadUnchecked([&](Connection& connection) -> absl::Status {
    SINKD_RETURN_IF_ERROR(connection.CheckFiles());
    return action(connection);
  });
}

absl::Status Database::ReadUnchecked(const Action& action) {
  SINKD_ASSIGN_OR_RETURN(std::unique_ptr<Connection> reader, TakeReader());
  absl::Status status = Perform(action, *reader);
  if (!status.ok() && reader->lost()) {
    status = reader->Reconnect();
    if (status.ok()) status = Perform(action, *reader);
  }
  GiveBackReader(std::move(reader));
  return status;
}

absl::StatusOr<std::unique_ptr<Connection>> Database::TakeReader() {
  {
    std::unique_lock lock(readers_mutex_);
    reader_is_back_.wait(lock, [&] { return !idle_readers_.empty() || readers_to_open_ > 0; });
    if (!idle_readers_.empty()) {
      std::unique_ptr<Connection> reader = std::move(idle_readers_.back());
      idle_readers_.pop_back();
      return reader;
    }
    --readers_to_open_;
  }
  absl::StatusOr<std::unique_ptr<Connection>> reader = connect_reader_();
  if (!reader.ok()) {
    const std::lock_guard lock(readers_mutex_);
    ++readers_to_open_;
    reader_is_back_.notify_one();
  }
  return reader;
}

void Database::GiveBackReader(std::unique_ptr<Connection> reader) {
  const std::lock_guard lock(readers_mutex_);
  idle_readers_.push_back(std::move(reader));
  reader_is_back_.notify_one();
}

}  // namespace sinkd
