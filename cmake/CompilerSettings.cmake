# sinkd_warnings: every target of ours links it and gets warnings as errors.
add_library(sinkd_warnings INTERFACE)
target_compile_options(sinkd_warnings INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion
                                                -Wno-missing-field-initializers)
# GCC 12 sees overlaps in std::string where there are none (bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(sinkd_warnings INTERFACE -Wno-restrict)
endif()
if(SINKD_WARNINGS_AS_ERRORS)
  target_compile_options(sinkd_warnings INTERFACE -Werror)
endif()
target_include_directories(sinkd_warnings INTERFACE ${CMAKE_SOURCE_DIR})

if(SINKD_SANITIZE)
  add_compile_options(-fsanitize=${SINKD_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SINKD_SANITIZE})
endif()

find_program(SINKD_CCACHE ccache)
if(SINKD_CCACHE)
  # A precompiled header changes its time stamp, not its meaning.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      # Build trees of one checkout share what they compile.
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      ${SINKD_CCACHE})
  add_compile_options(-fpch-preprocess)
endif()

find_program(SINKD_MOLD mold)
if(SINKD_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# What a library needs whose sources hold coroutines of Asio.
function(sinkd_coroutines library)
  # GCC inlines one half of how a coroutine's frame is allocated and freed, and takes them for strangers.
  target_compile_options(${library} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-mismatched-new-delete>)
  # ThreadSanitizer does not know fences. Asio's queues, which it sees, are locked.
  if(SINKD_SANITIZE MATCHES thread)
    target_compile_definitions(${library} PRIVATE BOOST_ASIO_DISABLE_FENCED_BLOCK)
  endif()
endfunction()
