#include "client/cli/input/sample_reader.h"

#include <filesystem>

#include <fmt/format.h>

#include "client/channel.h"
#include "client/cli/input/jsonl_sample.h"
#include "server/base/utf8.h"

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r") == std::string_view::npos;
}

// By the file's name; nullopt when that says nothing.
std::optional<bool> JsonlByName(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".jsonl" || extension == ".ndjson" || extension == ".json") return true;
  if (extension == ".txt" || extension == ".md" || extension == ".text") return false;
  return std::nullopt;
}

}  // namespace

std::string InputError::Describe() const {
  std::string place = source;
  if (line > 0) place += fmt::format(":{}", line);
  if (line > 0 && column > 0) place += fmt::format(":{}", column);
  return place + ": " + message;
}

SampleReader::SampleReader(InputOptions options) : options_(std::move(options)) {
  int64_t total = 0;
  for (const std::string& text : options_.texts) total += static_cast<int64_t>(text.size());
  for (const std::string& path : options_.files) {
    const std::optional<int64_t> size = RegularFileSize(path);
    if (!size) return;
    total += *size;
  }
  total_bytes_ = total;
}

absl::Status SampleReader::Check() const {
  for (const std::string& path : options_.files) {
    if (absl::Status status = CheckReadable(path); !status.ok()) return status;
  }
  return absl::OkStatus();
}

std::optional<int64_t> SampleReader::CountPieces() const {
  constexpr int64_t kMostBytes = int64_t{1} << 30;
  if (!total_bytes_ || *total_bytes_ > kMostBytes) return std::nullopt;
  SampleReader counter(options_);
  counter.only_counts_ = true;
  while (counter.Next()) continue;
  return counter.pieces_;
}

std::optional<InputItem> SampleReader::Next() {
  std::optional<InputItem> item = NextPiece();
  if (!item) return item;
  ++pieces_;
  if (auto* sample = std::get_if<InputSample>(&*item)) sample->origin.number = pieces_;
  return item;
}

std::optional<InputItem> SampleReader::NextPiece() {
  while (!stop_.stopped()) {
    if (next_text_ < options_.texts.size()) return NextText();
    if (!open_) {
      if (next_file_ == options_.files.size()) return std::nullopt;
      if (auto error = OpenNext()) return *std::move(error);
    }
    if (auto item = NextOfFile()) return item;
  }
  return std::nullopt;
}

bool SampleReader::Restart() {
  if (!total_bytes_) return false;
  open_.reset();
  next_text_ = next_file_ = 0;
  bytes_before_ = end_bytes_ = pieces_ = 0;
  return true;
}

std::optional<InputItem> SampleReader::NextText() {
  const std::string& text = options_.texts[next_text_++];
  end_bytes_ += static_cast<int64_t>(text.size());
  bytes_before_ = end_bytes_;
  return MakeTextItem(text, 0);
}

std::optional<InputError> SampleReader::OpenNext() {
  ++next_file_;
  absl::StatusOr<ByteStream> stream = ByteStream::Open(file(), &stop_);
  if (!stream.ok()) return MakeError(std::string(stream.status().message()));
  LineReader reader(*std::move(stream));
  std::optional<bool> jsonl = JsonlByName(file());
  if (options_.format != InputFormat::kAuto) jsonl = options_.format == InputFormat::kJsonl;
  if (!jsonl) {
    const absl::StatusOr<std::optional<char>> first = reader.PeekFirst();
    if (!first.ok()) return MakeError(std::string(first.status().message()));
    jsonl = *first == '{';
  }
  open_.emplace(OpenInput{std::move(reader), *jsonl});
  return std::nullopt;
}

// The next item of the open file; nullopt at its end.
std::optional<InputItem> SampleReader::NextOfFile() {
  if (!open_->jsonl && !options_.lines) return NextWhole();
  while (true) {
    const absl::StatusOr<std::optional<Line>> line = open_->reader.Next();
    // A stop ends the stream wherever it is: what was read of the line is no line.
    if (stop_.stopped()) return std::nullopt;
    if (!line.ok()) {
      CloseFile();
      return MakeError(std::string(line.status().message()));
    }
    if (!line->has_value()) {
      CloseFile();
      return std::nullopt;
    }
    end_bytes_ = bytes_before_ + (*line)->end_offset;
    if (!(*line)->too_long && IsBlank((*line)->text)) continue;
    return MakeLineItem(**line);
  }
}

std::optional<InputItem> SampleReader::NextWhole() {
  if (only_counts_) {
    CloseFile();
    return InputSample();
  }
  const auto text = open_->reader.ReadAll(client::kMaxSampleBytes);
  const std::optional<int64_t> size = RegularFileSize(file());
  end_bytes_ += size.value_or(0);
  CloseFile();
  if (stop_.stopped()) return std::nullopt;
  if (!text.ok()) return MakeError(std::string(text.status().message()));
  if (!text->has_value()) {
    return MakeError(
        fmt::format("the text is longer than {} bytes, the most a sample may have; "
                    "--lines takes each line as a sample",
                    client::kMaxSampleBytes));
  }
  std::string_view whole = **text;
  // The newline that ends a text file is not part of the text, as in a shell's $(...).
  if (whole.ends_with('\n')) whole.remove_suffix(1);
  if (whole.ends_with('\r')) whole.remove_suffix(1);
  if (whole.empty()) return MakeError("the input is empty");
  return MakeTextItem(whole, 0);
}

void SampleReader::CloseFile() {
  open_.reset();
  bytes_before_ = end_bytes_;
}

InputItem SampleReader::MakeLineItem(const Line& line) const {
  if (only_counts_) return InputSample();
  if (line.too_long) {
    return MakeError(fmt::format("the line is longer than {} bytes", kMaxLineBytes), line.number);
  }
  if (!open_->jsonl) return MakeTextItem(line.text, line.number);
  InputSample item;
  if (auto error = ParseJsonlSample(line.text, options_.ignore_unknown_keys, item.sample)) {
    return MakeError(std::move(error->message), line.number, error->column);
  }
  item.origin = {static_cast<int32_t>(next_file_) - 1, line.number, end_bytes_};
  return item;
}

InputItem SampleReader::MakeTextItem(std::string_view text, int64_t line) const {
  if (const auto bad = FirstInvalidUtf8(text)) {
    return MakeError(fmt::format("byte 0x{:02x} at offset {} is not UTF-8; convert the text",
                                 static_cast<unsigned char>(text[*bad]), *bad),
                     line);
  }
  InputSample item;
  item.sample.mutable_text()->set_text(std::string(text));
  const bool whole_file = next_file_ > 0 && line == 0;
  if (whole_file && file() != "-") {
    const std::string name = std::filesystem::path(file()).filename().string();
    if (!FirstInvalidUtf8(name)) item.sample.set_sample_id(name);
  }
  if (auto problem = CheckSampleSize(item.sample)) return MakeError(*std::move(problem), line);
  item.origin = {static_cast<int32_t>(next_file_) - 1, line, end_bytes_};
  return item;
}

InputError SampleReader::MakeError(std::string message, int64_t line, int64_t column) const {
  return {next_file_ == 0 ? "--text" : InputName(file()), line, column, std::move(message)};
}

std::string SampleReader::Describe(const Origin& origin) const {
  if (origin.source < 0) return "--text";
  const std::string name = InputName(options_.files[static_cast<size_t>(origin.source)]);
  return origin.line > 0 ? fmt::format("{}:{}", name, origin.line) : name;
}

}  // namespace sinkd::cli
