# tutti_backend(NAME SOURCES PACKAGE VERSION): adds a backend to tutti_models if its solver is here and wanted.
#
# The user decides with TUTTI_WITH_<NAME>: AUTO (if found), ON (or it is an error), OFF. Find<PACKAGE>.cmake gives
# the target Tutti::<PACKAGE>. A backend left out leaves its reason in the registry, for `tutti doctor` to tell.
function(tutti_backend name sources package version)
  set(TUTTI_WITH_${name} AUTO CACHE STRING "The ${name} backend: AUTO (if found), ON (required) or OFF")
  set_property(CACHE TUTTI_WITH_${name} PROPERTY STRINGS AUTO ON OFF)
  set(wanted "${TUTTI_WITH_${name}}")

  if(NOT wanted STREQUAL "AUTO" AND NOT wanted)
    set(absence "left out when it was configured (TUTTI_WITH_${name}=${wanted})")
  else()
    find_package(${package} ${version} QUIET)
    if(NOT ${package}_FOUND)
      set(absence "not found when it was configured: ${${package}_NOT_FOUND_MESSAGE}")
    endif()
  endif()

  if(NOT DEFINED absence)
    message(STATUS "Backend ${name}: ${${package}_LIBRARY}")
    string(TOLOWER tutti_backend_${name} target)
    add_library(${target} OBJECT ${sources}) # its own target: no other source gets to see the solver's headers
    target_link_libraries(${target} PRIVATE tutti_core Tutti::${package})
    target_link_libraries(tutti_models PRIVATE ${target})
  elseif(wanted STREQUAL "AUTO" OR NOT wanted)
    message(STATUS "Backend ${name}: ${absence}")
    set_property(SOURCE backends/registry.cpp APPEND PROPERTY
                 COMPILE_DEFINITIONS "TUTTI_WITHOUT_${name}=\"${absence}\"")
  else()
    message(FATAL_ERROR "Backend ${name} is required (TUTTI_WITH_${name}=${wanted}) but ${absence}")
  endif()
endfunction()
