# Google Highway for WebAssembly: its headers are all that a build for one set of instructions needs. They are reached
# through a link of their own, so that the compiler sees no other header of this system; include/ adds the doubles that
# they lack.
set(hwy_VERSION 1.0)
find_path(VERVE_HWY_INCLUDE hwy/highway.h PATHS /usr/include /usr/local/include NO_CMAKE_FIND_ROOT_PATH NO_DEFAULT_PATH REQUIRED)
if(NOT TARGET hwy::hwy)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/highway)
  file(CREATE_LINK ${VERVE_HWY_INCLUDE}/hwy ${CMAKE_BINARY_DIR}/highway/hwy SYMBOLIC)
  add_library(hwy::hwy INTERFACE IMPORTED GLOBAL)
  target_include_directories(hwy::hwy SYSTEM INTERFACE ${CMAKE_CURRENT_LIST_DIR}/include ${CMAKE_BINARY_DIR}/highway)
endif()
