# The modules of the solvers, and what the program knows of them.
include(GNUInstallDirs)
include(${PROJECT_SOURCE_DIR}/src/interface_hash.cmake)

# Where an installed tree keeps the modules, and the solvers that scripts/setup brought.
set(TUTTI_INSTALL_MODULES ${CMAKE_INSTALL_LIBDIR}/tutti/modules)
set(TUTTI_INSTALL_SOLVERS ${CMAKE_INSTALL_LIBDIR}/tutti/solvers)
set(TUTTI_INSTALL_HELPERS ${CMAKE_INSTALL_LIBEXECDIR}/tutti)

# tutti_backend_interface(): tells the program and the modules what they must agree on (backends/module_interface.hpp),
# and the program where installed modules lie.
function(tutti_backend_interface)
  tutti_interface_hash(hash models/backends/registry.hpp)
  file(RELATIVE_PATH from_bin /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${TUTTI_INSTALL_MODULES})
  file(RELATIVE_PATH from_libexec /prefix/${TUTTI_INSTALL_HELPERS} /prefix/${TUTTI_INSTALL_MODULES})
  set_property(SOURCE backends/module.cpp backends/module_entry.cpp APPEND PROPERTY
               COMPILE_DEFINITIONS "TUTTI_BACKEND_INTERFACE=\"${hash}\"")
  set_property(SOURCE backends/module.cpp APPEND PROPERTY COMPILE_DEFINITIONS
               "TUTTI_MODULES_FROM_BIN=\"${from_bin}\"" "TUTTI_MODULES_FROM_LIBEXEC=\"${from_libexec}\"")
endfunction()

# tutti_backend(NAME SOURCES PACKAGE VERSION): builds the module tutti_<name>.so if its solver is here and wanted.
#
# The user decides with TUTTI_WITH_<NAME>: AUTO (if found), ON (or it is an error), OFF. Find<PACKAGE>.cmake gives
# the target Tutti::<PACKAGE>. A module left out leaves its reason in the registry, for `tutti doctor` to tell.
function(tutti_backend name sources package version)
  set(TUTTI_WITH_${name} AUTO CACHE STRING "The ${name} backend: AUTO (if found), ON (required) or OFF")
  set_property(CACHE TUTTI_WITH_${name} PROPERTY STRINGS AUTO ON OFF)
  set(wanted "${TUTTI_WITH_${name}}")

  set(absence "")
  if(NOT wanted STREQUAL "AUTO" AND NOT wanted)
    set(absence "left out when it was configured (TUTTI_WITH_${name}=${wanted})")
  else()
    find_package(${package} ${version} QUIET)
    if(NOT ${package}_FOUND)
      set(absence "not found when it was configured: ${${package}_NOT_FOUND_MESSAGE}")
    endif()
  endif()

  if(absence STREQUAL "")
    message(STATUS "Backend ${name}: ${${package}_LIBRARY}")
    tutti_module(${name} "${sources}" ${package})
  elseif(wanted STREQUAL "AUTO" OR NOT wanted)
    message(STATUS "Backend ${name}: ${absence}")
  else()
    set(remedy "")
    if(SKBUILD)
      string(CONCAT remedy "\npip itself brings Z3 and HiGHS to build with, unless --no-build-isolation forbids it or there are no wheels for "
                           "this machine. scripts/setup brings them, too. A package without this one is built with "
                           "--config-settings=cmake.define.TUTTI_WITH_${name}=OFF")
    endif()
    message(FATAL_ERROR "Backend ${name} is required (TUTTI_WITH_${name}=${wanted}) but ${absence}${remedy}")
  endif()
  set_property(SOURCE backends/registry.cpp APPEND PROPERTY
               COMPILE_DEFINITIONS "TUTTI_WITHOUT_${name}=\"${absence}\"")
endfunction()

# tutti_module(NAME SOURCES PACKAGE): the module itself. It finds its solver by its own RUNPATH: in the build tree where
# the solver was found, installed in a folder beside the module's if scripts/setup brought it, else where it was found.
# In a wheel of Python that is in the solver's own package (PACKAGE_WHEEL: a folder of site-packages).
function(tutti_module name sources package)
  string(TOLOWER ${name} lower)
  set(target tutti_module_${lower})
  add_library(${target} MODULE backends/module_entry.cpp ${sources})
  target_link_libraries(${target} PRIVATE tutti_options tutti_models_program Tutti::${package})
  target_link_options(${target} PRIVATE LINKER:--version-script=${CMAKE_CURRENT_SOURCE_DIR}/cmake/module.map)
  cmake_path(GET ${package}_LIBRARY PARENT_PATH found)
  set(installed ${found})
  cmake_path(IS_PREFIX TUTTI_DEPS_DIR "${found}" NORMALIZE ours)
  if(${package}_IS_OF_PIP)
    set(installed "\$ORIGIN/../../${${package}_WHEEL}")
  elseif(ours)
    # Within a solver's folder everything stays where it is, because its libraries find each other by such paths.
    cmake_path(RELATIVE_PATH found BASE_DIRECTORY ${TUTTI_DEPS_DIR} OUTPUT_VARIABLE folder)
    set(installed "\$ORIGIN/../solvers/${folder}" "\$ORIGIN/../../${${package}_WHEEL}")
    foreach(file IN LISTS ${package}_FILES)
      cmake_path(GET file PARENT_PATH folder)
      cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${TUTTI_DEPS_DIR})
      install(FILES ${file} DESTINATION ${TUTTI_INSTALL_SOLVERS}/${folder})
    endforeach()
    install(FILES ${${package}_LICENCE} DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences RENAME ${lower}.txt)
  endif()
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME tutti_${lower} SUFFIX .so
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/modules
    LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cmake/module.map
    BUILD_RPATH "${found}" INSTALL_RPATH "${installed}")
  install(TARGETS ${target} LIBRARY DESTINATION ${TUTTI_INSTALL_MODULES})
  add_dependencies(tutti_modules ${target})
  set_property(GLOBAL APPEND PROPERTY TUTTI_MODULES ${target})
endfunction()
