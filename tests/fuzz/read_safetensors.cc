// Tells of many files at once whether SafetensorsFile takes them: reads paths from standard input,
// one a line, and answers each with a line "accepted" or "refused: WHY".
#include <iostream>
#include <string>

#include "server/engine/checkpoint/safetensors.h"

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string path; std::getline(std::cin, path);) {
    const auto file = sinkd::SafetensorsFile::Open(path);
    if (file.ok()) {
      std::cout << "accepted\n";
    } else {
      std::cout << "refused: " << file.status().message() << '\n';
    }
  }
}
