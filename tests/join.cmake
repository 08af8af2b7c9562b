# cmake -D out=FILE -D "sources=FILE..." -P join.cmake: one source of several, since headers and templates that tests share
# take a third of their time to compile. Headers first, so that each source can have a namespace of its own, in which the
# names of the others are no matter.
get_filename_component(place ${out} DIRECTORY)
set(headers "")
set(bodies "")
foreach(source IN LISTS sources)
  file(STRINGS ${source} includes REGEX "^#include ")
  list(APPEND headers ${includes})
  get_filename_component(name ${source} NAME_WE)
  file(RELATIVE_PATH path ${place} ${source})  # the same in every folder, for the compiler's cache
  string(APPEND bodies "namespace of_${name} {\n#include \"${path}\"\n}\n")
endforeach()
list(REMOVE_DUPLICATES headers)
list(JOIN headers "\n" headers)
file(WRITE ${out} "${headers}\n${bodies}")
