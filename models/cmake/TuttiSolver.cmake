# What the Find modules of the solvers share: the system's copy first, if it is new enough, else the one that
# scripts/setup put into TUTTI_DEPS_DIR. Nothing is cached, so that a solver which comes, goes or moves is noticed.
#
# A wheel of Python (SKBUILD) uses the solvers' own packages, which the extra `solvers` installs; so there it comes first what
# pip has brought as a requirement of the build.

cmake_path(SET tutti_default_deps NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../../build/deps")
set(TUTTI_DEPS_DIR "${tutti_default_deps}" CACHE PATH "Where scripts/setup puts the solvers")

# tutti_find_solver(PACKAGE DEPS <folder> WHEEL <folder> LIBRARY <name> HEADER <file> INCLUDE_SUFFIXES <folder>...
#                   VERSION_HEADER <file> MAJOR <macro> MINOR <macro> [CLASH <file>])
# WHEEL is the folder in site-packages. The system's copy is passed over if CLASH exists. Sets PACKAGE_INCLUDE and
# PACKAGE_LIBRARY, false if not found, PACKAGE_NOT_FOUND_MESSAGE, and PACKAGE_IS_OF_PIP where it is pip's.
function(tutti_find_solver package)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "DEPS;WHEEL;LIBRARY;HEADER;VERSION_HEADER;MAJOR;MINOR;CLASH"
                        "INCLUDE_SUFFIXES")
  set(message "neither on the system nor in ${TUTTI_DEPS_DIR}/${arg_DEPS}: scripts/setup brings it")

  set(${package}_IS_OF_PIP FALSE PARENT_SCOPE)
  set(packages ${CMAKE_PREFIX_PATH})
  list(TRANSFORM packages APPEND /${arg_WHEEL})
  if(SKBUILD AND packages)
    tutti_find_below("${packages}")
    if(include AND library)
      set(${package}_INCLUDE "${include}" PARENT_SCOPE)
      set(${package}_LIBRARY "${library}" PARENT_SCOPE)
      set(${package}_IS_OF_PIP TRUE PARENT_SCOPE)
      return()
    endif()
    unset(include)
    unset(library)
  endif()

  find_path(include NAMES ${arg_HEADER} PATH_SUFFIXES ${arg_INCLUDE_SUFFIXES} NO_CACHE)
  find_library(library NAMES ${arg_LIBRARY} NO_CACHE)
  if(include AND library)
    tutti_header_version(version "${include}/${arg_VERSION_HEADER}" ${arg_MAJOR} ${arg_MINOR})
    if(version VERSION_LESS ${package}_FIND_VERSION)
      set(message "the system's is ${version}, ${${package}_FIND_VERSION} is needed: scripts/setup brings a newer one")
      unset(library)
    elseif(arg_CLASH AND EXISTS "${arg_CLASH}")
      set(message "the system's would clash with ${arg_CLASH}: scripts/setup brings one that does not")
      unset(library)
    endif()
  endif()

  if(NOT include OR NOT library)
    unset(include)
    unset(library)
    tutti_find_below("${TUTTI_DEPS_DIR}/${arg_DEPS}")
  endif()

  set(${package}_INCLUDE "${include}" PARENT_SCOPE)
  set(${package}_LIBRARY "${library}" PARENT_SCOPE)
  set(${package}_NOT_FOUND_MESSAGE "${message}" PARENT_SCOPE)
endfunction()

# The part of tutti_find_solver that looks into folders: `include` and `library`.
macro(tutti_find_below folders)
  set(headers ${folders})
  set(libraries ${folders})
  list(TRANSFORM headers APPEND /include)
  list(TRANSFORM libraries APPEND /lib)
  find_path(include NAMES ${arg_HEADER} PATHS ${headers} PATH_SUFFIXES ${arg_INCLUDE_SUFFIXES} NO_DEFAULT_PATH NO_CACHE)
  find_library(library NAMES ${arg_LIBRARY} PATHS ${libraries} NO_DEFAULT_PATH NO_CACHE)
endmacro()

# tutti_header_version(OUT FILE MAJOR MINOR): "major.minor" from two #defines; "0" if they are not there.
function(tutti_header_version out file major minor)
  set(${out} 0 PARENT_SCOPE)
  if(EXISTS "${file}")
    file(READ "${file}" text)
    if(text MATCHES "#define[ \t]+${major}[ \t]+([0-9]+)")
      set(version ${CMAKE_MATCH_1})
      if(text MATCHES "#define[ \t]+${minor}[ \t]+([0-9]+)")
        set(${out} ${version}.${CMAKE_MATCH_1} PARENT_SCOPE)
      endif()
    endif()
  endif()
endfunction()

# tutti_import_solver(PACKAGE): the target Tutti::PACKAGE, a library to link and headers whose warnings are not ours.
# The wheel of HiGHS exports pieces of an older libstdc++ (std::system_category, std::thread, parts of std::string).
# With the real one first on the linker's line, the loader takes them from there, for us and for every other library.
function(tutti_import_solver package)
  if(${package}_FOUND AND NOT TARGET Tutti::${package})
    add_library(Tutti::${package} UNKNOWN IMPORTED)
    set_target_properties(Tutti::${package} PROPERTIES
      IMPORTED_LOCATION "${${package}_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${${package}_INCLUDE}"
      INTERFACE_LINK_OPTIONS "LINKER:--push-state,--no-as-needed,-lstdc++,--pop-state")
  endif()
endfunction()
