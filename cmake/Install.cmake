# What `cmake --install BUILD --component COMPONENT` puts under a prefix:
#   sinkctl  bin/sinkctl
#   static   the same from target sinkctl_static
#   sinkd    bin/sinkd, and libtorch's CPU half with the two libraries of CUDA that it links
#   cuda     what `--device cuda:0` needs beside that; the wheel's NVIDIA packages must be installed
# Under lib/sinkd, torch's and NVIDIA's folders lie as in site-packages, where their libraries look for
# each other.
set(_packages lib/sinkd)
cmake_path(GET LIBTORCH_ROOT PARENT_PATH _site_packages)

install(TARGETS sinkctl COMPONENT sinkctl)
if(TARGET sinkctl_static)
  install(PROGRAMS $<TARGET_FILE:sinkctl_static> DESTINATION bin RENAME sinkctl
          COMPONENT static EXCLUDE_FROM_ALL)
endif()
install(TARGETS sinkd COMPONENT sinkd)
set_target_properties(sinkd PROPERTIES INSTALL_RPATH "$ORIGIN/../${_packages}/torch/lib")

foreach(_library libc10.so libtorch_cpu.so libgomp.so.1)
  install(FILES ${LIBTORCH_ROOT}/lib/${_library} DESTINATION ${_packages}/torch/lib COMPONENT sinkd)
endforeach()
foreach(_library libcudart.so.13 libcupti.so.13)
  install(FILES ${_site_packages}/nvidia/cu13/lib/${_library}
          DESTINATION ${_packages}/nvidia/cu13/lib COMPONENT sinkd)
endforeach()

foreach(_library libtorch_cuda.so libtorch_cuda_linalg.so libtorch_nvshmem.so libc10_cuda.so
    libcaffe2_nvrtc.so)
  install(FILES ${LIBTORCH_ROOT}/lib/${_library} DESTINATION ${_packages}/torch/lib
          COMPONENT cuda EXCLUDE_FROM_ALL)
endforeach()
# Some of these are loaded by name at run time, so that all are taken but those for other programs:
# profilers, solvers on several GPUs, transfers between machines, and drop-in replacements.
install(DIRECTORY ${_site_packages}/nvidia DESTINATION ${_packages} COMPONENT cuda EXCLUDE_FROM_ALL
        FILES_MATCHING PATTERN "lib/*.so*"
        PATTERN "include" EXCLUDE
        PATTERN "*.alt.so*" EXCLUDE
        PATTERN "libcheckpoint.so" EXCLUDE
        PATTERN "libcufftw.so*" EXCLUDE
        PATTERN "libcufile_rdma.so*" EXCLUDE
        PATTERN "libcusolverMg.so*" EXCLUDE
        PATTERN "libnvblas.so*" EXCLUDE
        PATTERN "libnvperf_*.so" EXCLUDE
        PATTERN "libnvtx3interop.so*" EXCLUDE
        PATTERN "libpcsamplingutil.so" EXCLUDE
        PATTERN "nvshmem_*.so*" EXCLUDE)
