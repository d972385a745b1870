#include "server/base/json.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <absl/strings/ascii.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

using Json = nlohmann::json;
using Member = std::function<absl::Status(const std::string& key, const Json& value)>;

constexpr char kNotJson[] = "is not valid JSON";
constexpr size_t kEventsBetweenStops = 1024;

bool IsWordPart(char c) {
  return c == '-' || absl::ascii_isalpha(static_cast<unsigned char>(c));
}

// The beginning of the word at `offset` if that is a non-number that JSON does not have, such as
// NaN; otherwise the end of the text.
size_t NonNumberAt(std::string_view text, size_t offset) {
  constexpr std::string_view kNames[] = {"-Infinity", "Infinity", "NaN", "-inf", "inf", "nan"};
  if (offset >= text.size()) return text.size();
  size_t begin = offset;
  while (begin > 0 && offset - begin < 9 && IsWordPart(text[begin - 1])) --begin;
  for (const std::string_view name : kNames) {
    if (text.substr(begin).starts_with(name)) return begin;
  }
  return text.size();
}

absl::Status Fault(std::string_view text, size_t offset, std::string_view what) {
  const std::string_view before = text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t column = offset - (before.rfind('\n') + 1);  // npos + 1 is 0
  return absl::InvalidArgumentError(
      StrCat(kNotJson, " at line ", line, ", column ", column + 1, ": ", what));
}

// Builds the tree, or one member after another, as the parser reports them.
class TreeBuilder final : public nlohmann::json_sax<Json> {
 public:
  TreeBuilder(std::string_view text, const JsonLimits& limits, std::stop_token stop,
              const Member* member)
      : text_(text), limits_(limits), stop_(std::move(stop)), member_(member) {}

  bool null() override { return Put(nullptr); }
  bool boolean(bool value) override { return Put(value); }
  bool number_integer(number_integer_t value) override { return Put(value); }
  bool number_unsigned(number_unsigned_t value) override { return Put(value); }
  bool number_float(number_float_t value, const string_t&) override { return Put(value); }
  bool string(string_t& value) override { return Put(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return Open(Json::object()); }
  bool end_object() override { return Close(); }
  bool start_array(size_t) override { return Open(Json::array()); }
  bool end_array() override { return Close(); }

  bool key(string_t& name) override {
    const auto [place, added] = open_.back()->get_ref<Json::object_t&>().try_emplace(name);
    if (!added && limits_.unique_keys) return Fail(StrCat("names ", Shorten(name), " twice"));
    value_ = &place->second;
    if (InMember()) {
      name_ = std::move(name);
      values_ = 0;
    }
    return true;
  }

  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    const size_t offset = std::min(position - std::min<size_t>(position, 1), text_.size());
    const size_t word = NonNumberAt(text_, offset);
    if (word < text_.size()) {
      status_ = Fault(text_, word, "JSON has no NaN or Infinity; write a number or null");
      return false;
    }
    std::string_view what = error.what();
    // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error while ..."
    for (const std::string_view part : {"] ", "column ", ": "}) {
      const size_t found = what.find(part);
      if (found == std::string_view::npos) break;
      what.remove_prefix(found + part.size());
    }
    status_ = Fault(text_, offset, what.substr(0, what.find("; last read")));
    return false;
  }

  absl::Status status() const { return status_; }
  Json&& root() { return std::move(root_); }

 private:
  bool InMember() const { return member_ != nullptr && open_.size() == 1; }

  bool Fail(std::string_view what) {
    status_ = absl::InvalidArgumentError(std::string(what));
    return false;
  }

  // Adds to the open container. The address is valid until the container gets another value.
  Json* Place(Json value) {
    if (open_.empty()) return &(root_ = std::move(value));
    if (open_.back()->is_object()) return &(*value_ = std::move(value));
    open_.back()->push_back(std::move(value));
    return &open_.back()->back();
  }

  bool Count() {
    if (++values_ > limits_.values) return Fail(StrCat("holds over ", limits_.values, " values"));
    if (++events_ % kEventsBetweenStops != 0 || !stop_.stop_requested()) return true;
    status_ = Cancelled("the reading of JSON was cancelled");
    return false;
  }

  bool Put(Json value) {
    if (!Count()) return false;
    Place(std::move(value));
    return Completed();
  }

  bool Open(Json container) {
    if (!Count()) return false;
    if (open_.size() >= limits_.depth) {
      return Fail(StrCat("is nested deeper than ", limits_.depth, " levels"));
    }
    open_.push_back(Place(std::move(container)));
    return true;
  }

  bool Close() {
    open_.pop_back();
    return Completed();
  }

  bool Completed() {
    if (!InMember() || !root_.is_object()) return true;
    status_ = (*member_)(name_, root_.begin().value());
    root_.clear();
    return status_.ok();
  }

  const std::string_view text_;
  const JsonLimits& limits_;
  const std::stop_token stop_;
  const Member* const member_;  // null: the whole tree
  Json root_;
  std::vector<Json*> open_;
  Json* value_ = nullptr;  // of the key read last
  std::string name_;       // of the member being read
  size_t values_ = 0;
  size_t events_ = 0;
  absl::Status status_;
};

absl::StatusOr<Json> Build(std::string_view text, const JsonLimits& limits, std::stop_token stop,
                           const Member* member) {
  // The parser would take it for the end of the text.
  const size_t zero = text.find('\0');
  if (zero != std::string_view::npos) return Fault(text, zero, "a zero byte");
  TreeBuilder builder(text, limits, std::move(stop), member);
  Json::sax_parse(text.begin(), text.end(), &builder);
  if (!builder.status().ok()) return builder.status();
  return std::move(builder.root());
}

}  // namespace

absl::StatusOr<Json> ParseJson(std::string_view text, const JsonLimits& limits,
                               std::stop_token stop) {
  return Build(text, limits, std::move(stop), nullptr);
}

absl::Status ReadJsonMembers(std::string_view text, const JsonLimits& limits, std::stop_token stop,
                             const Member& member) {
  SINKD_ASSIGN_OR_RETURN(const Json rest, Build(text, limits, std::move(stop), &member));
  return rest.is_object() ? absl::OkStatus()
                          : absl::InvalidArgumentError("does not hold a JSON object");
}

}  // namespace sinkd
