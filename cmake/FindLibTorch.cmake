# Finds libtorch inside the torch wheel of a Python environment. The wheel's own TorchConfig.cmake
# asks for a CUDA toolkit, which neither the build nor a CPU run needs.
#
# In:  SINKD_PYTHON, or LIBTORCH_ROOT (the wheel's torch folder, holding include/ and lib/).
# Out: target LibTorch::LibTorch; LIBTORCH_ROOT, LIBTORCH_VERSION.
if(NOT LIBTORCH_ROOT)
  file(GLOB _candidates ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch)
  if(SINKD_PYTHON)
    get_filename_component(_bin ${SINKD_PYTHON} DIRECTORY)
    file(GLOB _candidates ${_bin}/../lib/python3*/site-packages/torch)
  endif()
  if(_candidates)
    list(GET _candidates 0 _found)
    set(LIBTORCH_ROOT ${_found} CACHE PATH "The torch wheel's folder")
  endif()
endif()

if(EXISTS "${LIBTORCH_ROOT}/version.py")
  get_filename_component(LIBTORCH_ROOT ${LIBTORCH_ROOT} REALPATH)
  file(STRINGS ${LIBTORCH_ROOT}/version.py _line REGEX "^__version__")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" LIBTORCH_VERSION "${_line}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
  REQUIRED_VARS LIBTORCH_ROOT LIBTORCH_VERSION VERSION_VAR LIBTORCH_VERSION
  REASON_FAILURE_MESSAGE "run `make setup`, or set LIBTORCH_ROOT to the torch folder of an installed wheel")

if(NOT TARGET LibTorch::LibTorch)
  add_library(LibTorch::LibTorch INTERFACE IMPORTED)
  target_include_directories(LibTorch::LibTorch SYSTEM INTERFACE
    ${LIBTORCH_ROOT}/include ${LIBTORCH_ROOT}/include/torch/csrc/api/include)
  # The CUDA half is loaded at run time, server/engine/memory/device.cc.
  foreach(_library torch_cpu c10)
    add_library(LibTorch::${_library} SHARED IMPORTED)
    set_target_properties(LibTorch::${_library} PROPERTIES
      IMPORTED_LOCATION ${LIBTORCH_ROOT}/lib/lib${_library}.so)
    target_link_libraries(LibTorch::LibTorch INTERFACE LibTorch::${_library})
  endforeach()
endif()
