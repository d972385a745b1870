# Everything from outside, found once.
find_package(Threads REQUIRED)
find_package(absl CONFIG REQUIRED)
# Newer protobuf and gRPC bring config packages; Debian 12's protobuf has CMake's own module.
find_package(Protobuf CONFIG QUIET)
if(NOT Protobuf_FOUND)
  find_package(Protobuf REQUIRED)
endif()
find_package(gRPC CONFIG REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED)
find_package(spdlog CONFIG REQUIRED)
find_package(fmt CONFIG REQUIRED)
find_package(CLI11 CONFIG REQUIRED)
find_package(nlohmann_json CONFIG REQUIRED)
# As headers: its config package in Debian links a shared library.
find_path(SINKD_TOML_INCLUDE_DIR toml++/toml.h REQUIRED)
find_package(Boost REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto SSL)
find_package(SQLite3 REQUIRED)
find_package(yaml-cpp CONFIG REQUIRED)
find_package(PkgConfig REQUIRED)
# CMake's own module asks for the PostgreSQL server's headers too.
pkg_check_modules(libpq REQUIRED IMPORTED_TARGET libpq)
find_package(LibTorch REQUIRED)
