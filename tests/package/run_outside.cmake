# Configures, builds and runs an example that is a project of its own, with the installed Verve: program COMMAND... in
# `build`. `needs`: a package of CMake without which it is left out, which is said.
file(REMOVE_RECURSE ${build})
execute_process(COMMAND ${CMAKE_COMMAND} -S ${example} -B ${build} -G ${generator} -DCMAKE_BUILD_TYPE=Release
  -DCMAKE_CXX_COMPILER=${compiler} -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_DISABLE_FIND_PACKAGE_Eigen3=ON
  "-DCMAKE_CXX_COMPILER_LAUNCHER=${launcher}" "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Werror"
  OUTPUT_QUIET ERROR_VARIABLE log RESULT_VARIABLE failed)
if(failed AND needs AND log MATCHES "Could not find a package configuration file provided by \"${needs}\"")
  message("NOT TESTED: ${needs} is not here (scripts/install-deps playground)")
  return()
endif()
if(failed)
  message(FATAL_ERROR "${log}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${build} OUTPUT_VARIABLE log ERROR_VARIABLE log RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "the example does not build:\n${log}")
endif()
string(REPLACE "\\;" ";" program "${program}")
execute_process(COMMAND ${build}/${program} WORKING_DIRECTORY ${build} RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${program} ended with ${failed}")
endif()
