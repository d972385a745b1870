// JsonCursor: where in its text a JSON parser is, told by the tokens the parser reports.
//
// nlohmann's SAX parser reports values without their place; this follows it through the text.
// Thread-safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sinkd::cli {

class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : text_(text) {}

  // Moves past the next token of the text. Only for text the parser has accepted so far.
  void Advance();

  // Byte offset of the token that was moved past last.
  size_t token_begin() const { return begin_; }
  size_t token_end() const { return end_; }  // of the first byte behind it

 private:
  std::string_view text_;
  size_t begin_ = 0;
  size_t end_ = 0;
};

// Column of a byte offset: characters from 1.
int64_t ColumnAt(std::string_view text, size_t offset);

// What is wrong with `text` at the byte `offset`, where the parser ended with the exception `what`.
std::string JsonFault(std::string_view text, size_t offset, std::string_view what);

}  // namespace sinkd::cli
