# Writes the bytes of a file as a C++ array: cmake -DIN=... -DOUT=... -DNAME=... -P embed.cmake
file(READ ${IN} _hex HEX)
string(REGEX REPLACE "(................................)" "\\1\n" _lines "${_hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," _bytes "${_lines}")
file(WRITE ${OUT} "#include <string_view>\n\nnamespace sinkd {\nnamespace {\n\n"
  "constexpr unsigned char kBytes[] = {\n${_bytes}};\n\n}  // namespace\n\n"
  "std::string_view ${NAME}() {\n"
  "  return {reinterpret_cast<const char*>(kBytes), sizeof(kBytes)};\n}\n\n}  // namespace sinkd\n")
