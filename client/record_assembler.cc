#include "client/record_assembler.h"

#include <utility>

#include <fmt/format.h>

namespace sinkd::client {

absl::Status RecordAssembler::CheckIndex(int64_t sample_index) const {
  if (open_ && open_->sample_index() != sample_index) {
    return absl::InternalError(
        fmt::format("the server broke off the record of sample {} with an answer to sample {}",
                    open_->sample_index(), sample_index));
  }
  if (sample_index <= last_index_) {
    return absl::InternalError(fmt::format(
        "the server answered sample {} after sample {}; answers must come in the order sent",
        sample_index, last_index_));
  }
  return absl::OkStatus();
}

absl::Status RecordAssembler::AddPart(sinks::v1::SampleRecord part, sinks::v1::SampleRecord& record,
                                      bool& complete) {
  complete = false;
  if (absl::Status status = CheckIndex(part.sample_index()); !status.ok()) return status;
  const bool last = !part.continued();
  if (!open_) {
    open_ = std::move(part);
  } else {
    for (sinks::v1::Sink& sink : *part.mutable_sinks()) *open_->add_sinks() = std::move(sink);
  }
  if (!last) return absl::OkStatus();
  record = *std::move(open_);
  record.clear_continued();
  open_.reset();
  last_index_ = record.sample_index();
  ++answered_;
  complete = true;
  return absl::OkStatus();
}

absl::Status RecordAssembler::AddError(int64_t sample_index) {
  if (open_) {
    return absl::InternalError(
        fmt::format("the server broke off the record of sample {} with an error for sample {}",
                    open_->sample_index(), sample_index));
  }
  if (absl::Status status = CheckIndex(sample_index); !status.ok()) return status;
  last_index_ = sample_index;
  ++answered_;
  return absl::OkStatus();
}

absl::Status RecordAssembler::Finish() const {
  if (!open_) return absl::OkStatus();
  return absl::InternalError(
      fmt::format("the record of sample {} ends in the middle", open_->sample_index()));
}

}  // namespace sinkd::client
