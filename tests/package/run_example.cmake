# Configures, builds and runs the example in a fresh directory.
file(REMOVE_RECURSE ${build})
set(options -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=${compiler} -DVERVE_FROM=${from}
  -DFETCHCONTENT_BASE_DIR=${build})
if(from STREQUAL "package")
  # Finding it by accident would hide that a consumer needs it.
  list(APPEND options -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_DISABLE_FIND_PACKAGE_Eigen3=ON)
else()
  # Whether it builds and runs is the question here, not how fast: unoptimised and without SIMD, which is a way to build
  # it as well. What has been compiled with the same options and does not depend on SIMD is taken from there.
  list(APPEND options "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG" -DVERVE_SIMD=OFF)
  if(python AND generator STREQUAL "Ninja")
    set(reuse ${build}/same)
    list(PREPEND launcher sh ${CMAKE_CURRENT_LIST_DIR}/reuse.sh ${reuse})
  endif()
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -S ${example} -B ${build} -G ${generator} ${options}
  "-DCMAKE_CXX_COMPILER_LAUNCHER=${launcher}" OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
if(reuse)
  execute_process(COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/reuse.py ${verve} ${build} ${reuse}
    COMMAND_ERROR_IS_FATAL ANY)
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${build} OUTPUT_VARIABLE log ERROR_VARIABLE log RESULT_VARIABLE failed)
if(failed)
  message("${log}")
  message(FATAL_ERROR "the example does not build")
endif()

file(GLOB_RECURSE programs ${build}/verve ${build}/test_*)
if(programs)
  message(FATAL_ERROR "built besides the library: ${programs}")
endif()

execute_process(COMMAND ${build}/hello OUTPUT_VARIABLE out COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[0-9]+: +-?[0-9.]+ J\n" lines "${out}")
list(LENGTH lines count)
if(NOT count EQUAL 60)
  message(FATAL_ERROR "expected 60 lines with an energy, found ${count}:\n${out}")
endif()
# The dial halves the energy after frame 29: the last line shows it, to the digits of a converged step.
list(GET lines 29 before)
list(GET lines 59 after)
string(REGEX REPLACE ".*: +([0-9.]+) J.*" "\\1" before "${before}")
string(REGEX REPLACE ".*: +([0-9.]+) J.*" "\\1" after "${after}")
execute_process(COMMAND awk "BEGIN { r = ${after} / ${before}; exit !(r > 0.49 && r < 0.51) }" RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "the dial asked for half of ${before} J, the run ended at ${after} J")
endif()
