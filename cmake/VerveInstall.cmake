# cmake --install: the library for find_package(verve), its headers, the program and the schema of scene files.
include(CMakePackageConfigHelpers)

get_property(rooms GLOBAL PROPERTY VERVE_ROOMS)
install(TARGETS verve ${rooms} EXPORT verveTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/verve DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library
  FILES_MATCHING PATTERN "*.h")

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/verve)
install(EXPORT verveTargets NAMESPACE verve:: DESTINATION ${package_dir} COMPONENT library)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/verveConfig.cmake.in ${PROJECT_BINARY_DIR}/verveConfig.cmake
  INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/verveConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/verveConfig.cmake ${PROJECT_BINARY_DIR}/verveConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT library)

install(FILES ${PROJECT_SOURCE_DIR}/scenes/schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/verve COMPONENT library)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)
if(TARGET verve_c)
  install(TARGETS verve_c LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT shared)
endif()
if(VERVE_BUILD_CLI)
  install(TARGETS verve_cli verve_measure RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  if(VERVE_PETSC)
    install(TARGETS verve_distributed_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  endif()
endif()
