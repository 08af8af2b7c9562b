option(VERVE_JOIN "Compile sources several at a time: less work in all, but more for a change of one" ON)

# verve_group(OUT NAME COUNT): which of COUNT groups NAME is in, whatever else there is.
function(verve_group out name count)
  string(MD5 digest ${name})
  string(SUBSTRING ${digest} 0 7 digest)
  math(EXPR group "0x${digest} % ${count}")
  set(${out} ${group} PARENT_SCOPE)
endfunction()

# verve_join(OUT NAME PART COUNT sources...): OUT are COUNT sources that include the given ones as "NAME/source", since
# headers and templates that they share take as long to compile as what they do with them. Which of them includes a file
# depends on the file's name alone: a new file changes one. Names in unnamed namespaces have to differ between the sources
# of a room; those that do not (each reader of meshes has a `read`), and those with commands of their own, are to be left
# out. PART tells several calls for one NAME apart.
function(verve_join out name part count)
  if(NOT VERVE_JOIN)
    set(${out} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  math(EXPR last "${count} - 1")
  foreach(source IN LISTS ARGN)
    verve_group(group ${source} ${count})
    string(APPEND text_${group} "#include \"${name}/${source}\"\n")
  endforeach()
  set(joined "")
  foreach(group RANGE ${last})
    if(DEFINED text_${group})
      set(file ${CMAKE_CURRENT_BINARY_DIR}/${name}${part}_${group}.cpp)
      file(CONFIGURE OUTPUT ${file} CONTENT "${text_${group}}" @ONLY)
      list(APPEND joined ${file})
    endif()
  endforeach()
  set(${out} ${joined} PARENT_SCOPE)
endfunction()

# verve_view(OUT NAME): OUT is a folder of includes with NAME in it, a link to the sources here.
function(verve_view out name)
  set(view ${PROJECT_BINARY_DIR}/rooms/${name})
  file(MAKE_DIRECTORY ${view})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${view}/${name} SYMBOLIC)
  set(${out} ${view} PARENT_SCOPE)
endfunction()

# verve_room(NAME [SOURCES number files...] [COLD number files...] [ALONE files...] [LINKS rooms...] [PRIVATE libraries...])
#
# A room is a static library that sees the public headers, its own and those of the rooms it links: each room's
# headers are reached through a link of their own in the build tree, so an upward include does not compile.
#
# Of SOURCES and COLD the number says in how many pieces they are compiled (verve_join); COLD ones run once per scene, or
# wait for files: in half the time of -O3 the compiler makes them fast enough.
function(verve_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;COLD;ALONE;LINKS;PRIVATE" ${ARGN})
  set(target verve_${name})
  if(ROOM_SOURCES)
    list(POP_FRONT ROOM_SOURCES count)
    verve_join(ROOM_SOURCES ${name} "" ${count} ${ROOM_SOURCES})
  endif()
  if(ROOM_COLD)
    list(POP_FRONT ROOM_COLD count)
    verve_join(ROOM_COLD ${name} _cold ${count} ${ROOM_COLD})
    verve_cold_sources(${ROOM_COLD})
  endif()
  verve_view(view ${name})

  add_library(${target} STATIC ${ROOM_SOURCES} ${ROOM_COLD} ${ROOM_ALONE})
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
    if(VERVE_JOIN)  # types of unnamed namespaces in files that others include: those of verve_join
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
  elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")  # masks of packs and plain conditions are written alike
    target_compile_options(${target} PRIVATE -Wno-bitwise-instead-of-logical)
  endif()
  if(VERVE_FUZZ)
    target_compile_options(${target} PRIVATE -O1 -gline-tables-only -fsanitize=fuzzer-no-link,address,undefined
      -fno-sanitize-recover=undefined)
    target_link_options(${target} PUBLIC -fsanitize=address,undefined)
  elseif(VERVE_SANITIZE)
    target_compile_options(${target} PRIVATE -O1 -g1 -fsanitize=${VERVE_SANITIZE})
    if(VERVE_SANITIZE MATCHES "undefined")
      target_compile_options(${target} PRIVATE -fno-sanitize-recover=undefined)
    endif()
    target_link_options(${target} PUBLIC -fsanitize=${VERVE_SANITIZE})
  endif()
endfunction()

set(VERVE_SIMD_SETS all CACHE STRING "Sets of instructions to compile for: all, to be chosen from at run time, or those of this machine, in half the time")
set_property(CACHE VERVE_SIMD_SETS PROPERTY STRINGS all machine)
set(VERVE_LEFT_OUT_SETS "")
if(VERVE_SIMD_SETS STREQUAL "machine" AND EXISTS /proc/cpuinfo)
  file(STRINGS /proc/cpuinfo flags REGEX "^flags" LIMIT_COUNT 1)
  if(flags MATCHES " avx512f .* avx512bw avx512vl ")
    set(VERVE_LEFT_OUT_SETS "(HWY_AVX2|HWY_SSE4)")
  elseif(flags MATCHES " fma .* avx2 ")
    set(VERVE_LEFT_OUT_SETS "(HWY_AVX3|HWY_SSE4)")
  endif()
elseif(NOT VERVE_SIMD_SETS MATCHES "^(all|machine)$")
  message(FATAL_ERROR "VERVE_SIMD_SETS: found ${VERVE_SIMD_SETS}, expected all or machine")
endif()

# Sources made of SIMD registers are optimised in every configuration: without, each operation is a call, a hundred times
# slower, and gcc 12 stores 32-byte temporaries at addresses that are not aligned.
# (As WebAssembly they alone may use SIMD: of other files clang 14 makes instructions that mix up lanes. And clang flattens
# by one call only: without the threshold the polar decomposition goes through memory, 5 % of a frame of hippo.)
function(verve_simd_sources)
  if(VERVE_LEFT_OUT_SETS)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_DEFINITIONS "VERVE_LEFT_OUT_SETS=${VERVE_LEFT_OUT_SETS}")
  endif()
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -O2)
  set_property(SOURCE ${ARGN} PROPERTY SKIP_PRECOMPILE_HEADERS ON)  # those are of files without
  if(EMSCRIPTEN)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -msimd128 -O3 -mllvm -inline-threshold=3000)
  endif()
endfunction()

function(verve_cold_sources)
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O1>)
endfunction()
