# verve_embed(TARGET FILE...): compiles text files into TARGET and gives its sources the header "TARGET_files.h":
#
#   namespace verve::TARGET_files {
#   struct File { std::string_view name, text; };   // name without folders; the text is followed by a zero byte
#   std::span<const File> all();                    // in the order given
#   std::string_view find(std::string_view name);   // empty when there is no such file
#   }
#
# Paths are relative to the current source directory. Files are turned into bytes, not into string literals: no length
# limit, no characters to escape. Editing a file rebuilds what depends on it.
#
# Run as a script (cmake -DLIST=... -P VerveEmbed.cmake) this same file does the conversion at build time.

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  include(${LIST})  # EMBED_TARGET, EMBED_FILES, EMBED_OUTPUT
  set(source "// Made by cmake/VerveEmbed.cmake.\n#include \"${EMBED_TARGET}_files.h\"\n\n")
  string(APPEND source "namespace verve::${EMBED_TARGET}_files {\nnamespace {\n")
  set(entries "")
  set(index 0)
  foreach(file IN LISTS EMBED_FILES)
    file(READ "${file}" bytes HEX)
    file(SIZE "${file}" size)
    get_filename_component(name "${file}" NAME)
    string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND source "const unsigned char data_${index}[] = {\n${bytes}0};\n")
    string(APPEND entries "    {\"${name}\", {reinterpret_cast<const char*>(data_${index}), ${size}}},\n")
    math(EXPR index "${index} + 1")
  endforeach()
  string(APPEND source "}  // namespace\n\n"
    "std::span<const File> all() {\n  static const File files[] = {\n${entries}  };\n"
    "  return files;\n}\n\nstd::string_view find(std::string_view name) {\n"
    "  for (const File& file : all())\n    if (file.name == name) return file.text;\n  return {};\n}\n\n"
    "}  // namespace verve::${EMBED_TARGET}_files\n")
  file(WRITE "${EMBED_OUTPUT}" "${source}")
  return()
endif()

set(VERVE_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE} CACHE INTERNAL "")

function(verve_embed target)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_files)
  set(files "")
  foreach(file IN LISTS ARGN)
    get_filename_component(file "${file}" ABSOLUTE)
    list(APPEND files "${file}")
  endforeach()
  if(NOT files)
    message(FATAL_ERROR "verve_embed(${target}): found no files, expected at least one")
  endif()

  file(CONFIGURE OUTPUT ${folder}/list.cmake @ONLY CONTENT
"set(EMBED_TARGET [==[@target@]==])
set(EMBED_FILES [==[@files@]==])
set(EMBED_OUTPUT [==[@folder@/@target@_files.cpp]==])
")
  file(CONFIGURE OUTPUT ${folder}/${target}_files.h @ONLY CONTENT
"// Made by cmake/VerveEmbed.cmake.
#pragma once

#include <span>
#include <string_view>

namespace verve::@target@_files {

struct File {
  std::string_view name, text;
};
std::span<const File> all();
std::string_view find(std::string_view name);

}  // namespace verve::@target@_files
")
  add_custom_command(OUTPUT ${folder}/${target}_files.cpp
    COMMAND ${CMAKE_COMMAND} -DLIST=${folder}/list.cmake -P ${VERVE_EMBED_SCRIPT}
    DEPENDS ${files} ${folder}/list.cmake ${VERVE_EMBED_SCRIPT}
    COMMENT "Embedding files into ${target}" VERBATIM)
  target_sources(${target} PRIVATE ${folder}/${target}_files.cpp)
  target_include_directories(${target} PRIVATE ${folder})
endfunction()
