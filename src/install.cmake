# `cmake --install`: the command, the library, the solvers' modules and the package that find_package(tutti) finds.
# The installed tree can be moved: everything in it finds the rest relative to itself.
#
# The library is one shared libtutti.so with every room but cli. Shared, because then it knows at run time where it
# lies, and so finds the modules for a program that lies anywhere else; and because its user needs none of the libraries
# that the rooms are built on. The command is linked from the rooms as before: it starts faster without libtutti.so.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY TUTTI_LIBRARIES)
list(REMOVE_ITEM libraries tutti_cli)
list(TRANSFORM libraries REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
add_library(tutti_library SHARED ${objects})
add_library(tutti::tutti ALIAS tutti_library)
target_link_libraries(tutti_library PRIVATE ${libraries})  # for the libraries that they link: their own code is there
target_link_libraries(tutti_library INTERFACE nlohmann_json::nlohmann_json)  # io/json_view.hpp includes it
target_compile_features(tutti_library INTERFACE cxx_std_20)
target_include_directories(tutti_library INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tutti>)
# Before 1.0 every minor version may change the interface.
set_target_properties(tutti_library PROPERTIES OUTPUT_NAME tutti EXPORT_NAME tutti LINKER_LANGUAGE CXX
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
add_dependencies(tutti_library tutti_modules tutti_solver)

install(TARGETS tutti)
install(TARGETS tutti_library EXPORT tutti)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/tutti)
install(EXPORT tutti NAMESPACE tutti:: FILE tuttiTargets.cmake DESTINATION ${package})
configure_package_config_file(src/tuttiConfig.cmake.in tuttiConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(tuttiConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tuttiConfig.cmake ${PROJECT_BINARY_DIR}/tuttiConfigVersion.cmake
  DESTINATION ${package})

# tutti.hpp and what it includes, found when it is installed, and what emitted C++ and CUDA programs include: no other header is for users.
install(CODE "
  include(\"${PROJECT_SOURCE_DIR}/src/included_headers.cmake\")
  tutti_included_headers(headers \"${PROJECT_SOURCE_DIR}\" src/tutti.hpp src/emit/rank_program.hpp
    src/emit/gpu_program.hpp)
  foreach(header IN LISTS headers)
    string(REGEX REPLACE \"^src/\" \"\" place \"\${header}\")
    cmake_path(GET place PARENT_PATH folder)
    file(INSTALL \"${PROJECT_SOURCE_DIR}/\${header}\"
         DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/tutti/\${folder}\")
  endforeach()")

install(DIRECTORY python/tutti DESTINATION ${CMAKE_INSTALL_DATADIR}/tutti/python PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY instances/schema DESTINATION ${CMAKE_INSTALL_DATADIR}/tutti)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
