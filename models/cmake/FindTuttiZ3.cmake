# Z3 with its C++ header z3++.h.
include(TuttiSolver)
include(FindPackageHandleStandardArgs)

tutti_find_solver(TuttiZ3 DEPS z3 WHEEL z3 LIBRARY z3 HEADER z3++.h INCLUDE_SUFFIXES z3
                  VERSION_HEADER z3_version.h MAJOR Z3_MAJOR_VERSION MINOR Z3_MINOR_VERSION)
find_package_handle_standard_args(TuttiZ3 REQUIRED_VARS TuttiZ3_LIBRARY TuttiZ3_INCLUDE)
tutti_import_solver(TuttiZ3)

# What an installed tree carries of the wheel, which has the library twice and its licence not at all.
file(GLOB TuttiZ3_FILES ${TUTTI_DEPS_DIR}/z3/lib/libz3.so.*)
set(TuttiZ3_LICENCE ${CMAKE_CURRENT_LIST_DIR}/z3-licence.txt)
set(TuttiZ3_WHEEL z3/lib)
