# OR-Tools 9, which is loaded at run time and never linked: it carries its own HiGHS and protobuf. So all that is
# needed is where the library lies, and protozero to write its messages. The major version is the one in the name.
# For a wheel of Python not even that: it will lie in the package ortools.
include(TuttiSolver)
include(FindPackageHandleStandardArgs)

find_path(TuttiOrtools_INCLUDE NAMES protozero/pbf_builder.hpp NO_CACHE)
find_library(TuttiOrtools_LIBRARY NAMES libortools.so.9 NO_CACHE)
if(NOT TuttiOrtools_LIBRARY)
  find_library(TuttiOrtools_LIBRARY NAMES libortools.so.9 PATHS ${TUTTI_DEPS_DIR}/ortools/ortools/.libs
               NO_DEFAULT_PATH NO_CACHE)
endif()
set(TuttiOrtools_IS_OF_PIP FALSE)
if(SKBUILD AND NOT TuttiOrtools_LIBRARY)
  set(TuttiOrtools_LIBRARY libortools.so.9)
  set(TuttiOrtools_IS_OF_PIP TRUE)
endif()
if(TuttiOrtools_INCLUDE)
  set(TuttiOrtools_NOT_FOUND_MESSAGE
      "neither on the system nor in ${TUTTI_DEPS_DIR}/ortools: scripts/setup brings it")
else()
  set(TuttiOrtools_NOT_FOUND_MESSAGE "the headers of protozero are missing (Debian: libprotozero-dev)")
endif()

# What an installed tree carries of the wheel: the library, and those in two folders that it needs.
file(GLOB TuttiOrtools_FILES ${TUTTI_DEPS_DIR}/ortools/ortools/.libs/*.so* ${TUTTI_DEPS_DIR}/ortools/ortools.libs/*.so*)
set(TuttiOrtools_WHEEL ortools/.libs)
file(GLOB TuttiOrtools_LICENCE ${TUTTI_DEPS_DIR}/ortools/ortools-*.dist-info/licenses/LICENSE)

find_package_handle_standard_args(TuttiOrtools REQUIRED_VARS TuttiOrtools_LIBRARY TuttiOrtools_INCLUDE)
if(TuttiOrtools_FOUND AND NOT TARGET Tutti::TuttiOrtools)
  add_library(Tutti::TuttiOrtools INTERFACE IMPORTED)
  set_target_properties(Tutti::TuttiOrtools PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${TuttiOrtools_INCLUDE}"
    INTERFACE_COMPILE_DEFINITIONS
      "TUTTI_ORTOOLS_LIBRARY=\"${TuttiOrtools_LIBRARY}\";TUTTI_ORTOOLS_NAME=\"libortools.so.9\"")
endif()
