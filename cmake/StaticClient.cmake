# sinkctl_static: sinkctl as one static executable, libc included, for an image that holds nothing else. Not
# with sanitizers, which need libc shared.
#
# gRPC, Protobuf and what they link come from the archives of Debian's -dev packages. gRPC resolves names by
# c-ares, which needs no shared library; what glibc would load at run time - other name services, character
# sets - sinkctl does not use.
if(SINKD_SANITIZE)
  return()
endif()
pkg_check_modules(grpc_archives grpc++ protobuf)
set(_archives)
foreach(_archive sinkd_cli sinkd_client sinkd_base sinkd_proto sinkd_described sinkd_page)
  # By file: the targets would bring the shared libraries along.
  list(APPEND _archives $<TARGET_FILE:${_archive}>)
endforeach()

add_executable(sinkctl_static main.cc ${CMAKE_CURRENT_LIST_DIR}/fmt_archive.cc)
target_include_directories(sinkctl_static PRIVATE
  ${CMAKE_SOURCE_DIR} $<TARGET_PROPERTY:sinkd_cli,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_definitions(sinkctl_static PRIVATE
  $<TARGET_PROPERTY:sinkd_cli,INTERFACE_COMPILE_DEFINITIONS>)
target_link_libraries(sinkctl_static PRIVATE
  -static -Wl,--start-group ${_archives} ${grpc_archives_STATIC_LIBRARIES} -Wl,--end-group)
add_dependencies(sinkctl_static sinkd_cli sinkd_client sinkd_base sinkd_proto sinkd_described sinkd_page)
