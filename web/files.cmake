# What the live page is made of; the viewer, the camera and the plots are those of reports. As a script (cmake -P) it
# prints the files, for scripts/build-page.
set(web_folder ${CMAKE_CURRENT_LIST_DIR})
set(web_files)
foreach(name index.html live.css icon.svg card.jpg thumbnails.webp scenes.js backends.js hands.js panel.js curves.js
    supports.js views.js gallery.js share.js moments.js lessons.js lesson.js how.js live.js)
  list(APPEND web_files ${web_folder}/${name})
endforeach()
foreach(name mesh_math.js camera.js viewer.js plots.js)
  get_filename_component(path ${web_folder}/../src/record/report/${name} ABSOLUTE)
  list(APPEND web_files ${path})
endforeach()
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  foreach(file IN LISTS web_files)
    message("${file}")
  endforeach()
endif()
