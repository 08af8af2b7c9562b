# verve_room(NAME SOURCES ... [LINKS rooms...] [PRIVATE libraries...])
#
# A room is a static library that sees the public headers, its own and those of the rooms it links: each room's
# headers are reached through a link of their own in the build tree, so an upward include does not compile.
function(verve_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;LINKS;PRIVATE" ${ARGN})
  set(target verve_${name})
  set(view ${PROJECT_BINARY_DIR}/rooms/${name})
  file(MAKE_DIRECTORY ${view})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${view}/${name} SYMBOLIC)

  add_library(${target} STATIC ${ROOM_SOURCES})
  add_library(verve::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  if(NOT EMSCRIPTEN)  # where every call and every access would go through a table
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${view}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  verve_compile_options(${target})
  verve_precompile(${target} verve_base)
  foreach(room IN LISTS ROOM_LINKS)
    target_link_libraries(${target} PUBLIC verve_${room})
  endforeach()
  foreach(library IN LISTS ROOM_PRIVATE)
    target_link_libraries(${target} PRIVATE ${library})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY VERVE_ROOMS ${target})
endfunction()

# verve_precompile(TARGET OWNER [headers...]): TARGET shares the precompiled headers of OWNER, which may be TARGET itself:
# those that all are to have, and the given ones. A compiler reads the standard library and our interface in two thirds of
# a second, for each of hundreds of files. (Files with commands that differ in more than the level of optimisation or in
# definitions that no header takes notice of have to be left out: SKIP_PRECOMPILE_HEADERS.)
function(verve_precompile target owner)
  if(NOT VERVE_PRECOMPILE)
    return()
  endif()
  if(target STREQUAL owner)
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <map>
      <memory> <optional> <span> <string> <string_view> <utility> <vector> <verve/scene.h> <verve/simulation.h> ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # what <string> turns off by pragmas, which gcc does not keep with the rest
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
endfunction()

# (-Wno-restrict: gcc 12 sees overlaps in std::string that are not there.)
# Same bits everywhere on one machine: no contraction into fused multiply-adds behind our back.
function(verve_compile_options target)
  target_compile_options(${target} PRIVATE -ffp-contract=off -fno-math-errno -Wall -Wextra -Wpedantic)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-restrict)
  elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")  # masks of packs and plain conditions are written alike
    target_compile_options(${target} PRIVATE -Wno-bitwise-instead-of-logical)
  endif()
  if(VERVE_SANITIZE)
    target_compile_options(${target} PRIVATE -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined)
    target_link_options(${target} PUBLIC -fsanitize=address,undefined)
  endif()
endfunction()

# Sources made of SIMD registers are optimised in every configuration: without, each operation is a call, a hundred times
# slower, and gcc 12 stores 32-byte temporaries at addresses that are not aligned.
# (As WebAssembly they alone may use SIMD: of other files clang 14 makes instructions that mix up lanes. And clang flattens
# by one call only: without the threshold the polar decomposition goes through memory, 5 % of a frame of hippo.)
function(verve_simd_sources)
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -O2)
  set_property(SOURCE ${ARGN} PROPERTY SKIP_PRECOMPILE_HEADERS ON)  # those are of files without
  if(EMSCRIPTEN)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -msimd128 -O3 -mllvm -inline-threshold=3000)
  endif()
endfunction()

# Sources that run once per scene, or wait for files: in half the time of -O3 the compiler makes them fast enough.
function(verve_cold_sources)
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O1>)
endfunction()
