#include "client/cli/input/json_cursor.h"

#include <algorithm>

#include "client/error_report.h"
#include "server/base/utf8.h"

namespace sinkd::cli {

void JsonCursor::Advance() {
  constexpr std::string_view kBetween = " \t\r\n,:";
  constexpr std::string_view kAfterWord = " \t\r\n,:]}";
  begin_ = std::min(text_.find_first_not_of(kBetween, end_), text_.size());
  if (begin_ == text_.size()) {
    end_ = begin_;
    return;
  }
  const char first = text_[begin_];
  if (first == '"') {
    end_ = begin_ + 1;
    while (end_ < text_.size() && text_[end_] != '"') {
      end_ += text_[end_] == '\\' ? size_t{2} : size_t{1};
    }
    end_ = std::min(end_ + 1, text_.size());
  } else if (std::string_view("{}[]").find(first) != std::string_view::npos) {
    end_ = begin_ + 1;
  } else {
    end_ = std::min(text_.find_first_of(kAfterWord, begin_), text_.size());
  }
}

int64_t ColumnAt(std::string_view text, size_t offset) {
  int64_t column = 1;
  for (size_t i = 0; i < std::min(offset, text.size()); ++column) {
    i += ReadCodePoint(text.substr(i)).bytes;
  }
  return column;
}

std::string JsonFault(std::string_view text, size_t offset, std::string_view what) {
  // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error while ..."
  if (const size_t column = what.find("column "); column != std::string_view::npos) {
    what.remove_prefix(std::min(what.find(": ", column) + 2, what.size()));
  }
  std::string message = "not JSON: " + client::MakePrintable(CutUtf8(what, 300));
  const std::string_view rest = text.substr(std::min(offset, text.size()));
  if (rest.starts_with('\'')) {
    message += "; strings take double quotes";
  } else if (!rest.empty() && std::string_view("NIai").find(rest[0]) != std::string_view::npos) {
    message += "; JSON has no NaN or Infinity";
  }
  return message;
}

}  // namespace sinkd::cli
