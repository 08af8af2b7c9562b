# What the live page is made of; the viewer, the camera and the plots are those of reports.
set(web_folder ${CMAKE_CURRENT_LIST_DIR})
set(web_files)
foreach(name index.html live.css icon.svg thumbnails.webp scenes.js backends.js hands.js panel.js curves.js live.js)
  list(APPEND web_files ${web_folder}/${name})
endforeach()
foreach(name mesh_math.js camera.js viewer.js plots.js)
  list(APPEND web_files ${web_folder}/../src/record/report/${name})
endforeach()
