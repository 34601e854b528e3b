# HiGHS with the header of its C API. The wheel is built with the old std::string ABI: its C++ API is not for us.
#
# A distribution's HiGHS is called libhighs.so.1, as is the one that the wheel of OR-Tools carries. The loader would
# give OR-Tools the first of that name, whose version it cannot use; the wheel of HiGHS has no number in its name.
include(TuttiSolver)
include(FindPackageHandleStandardArgs)

tutti_find_solver(TuttiHighs DEPS highs WHEEL highsbox/highs_dist LIBRARY highs HEADER interfaces/highs_c_api.h INCLUDE_SUFFIXES highs
                  VERSION_HEADER HConfig.h MAJOR HIGHS_VERSION_MAJOR MINOR HIGHS_VERSION_MINOR
                  CLASH ${TUTTI_DEPS_DIR}/ortools/ortools/.libs/libhighs.so.1)
find_package_handle_standard_args(TuttiHighs REQUIRED_VARS TuttiHighs_LIBRARY TuttiHighs_INCLUDE)
tutti_import_solver(TuttiHighs)

# What an installed tree carries of the wheel. The OpenBLAS beside it is for an interior-point solver that we do not ask.
set(TuttiHighs_FILES ${TuttiHighs_LIBRARY})
set(TuttiHighs_LICENCE ${TUTTI_DEPS_DIR}/highs/share/doc/HIGHS/LICENSE.txt)
set(TuttiHighs_WHEEL highsbox/highs_dist/lib)
