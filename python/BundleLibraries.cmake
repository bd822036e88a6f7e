# Install script: copies every library that nested._core needs, but those of the C
# and C++ toolchain, to nested/lib, and their licences beside ours. Wheels have no
# symbolic links, so each file is named as it is looked for.

# Paths, and files by the names under which they are looked for.
file(GET_RUNTIME_DEPENDENCIES
  LIBRARIES "${nested_core}"
  RESOLVED_DEPENDENCIES_VAR libraries
  UNRESOLVED_DEPENDENCIES_VAR missing
  PRE_EXCLUDE_REGEXES
    "^ld-linux.*" "^linux-vdso.*" "^libc\\.so.*" "^libm\\.so.*" "^libdl\\.so.*"
    "^libpthread\\.so.*" "^librt\\.so.*" "^libutil\\.so.*" "^libgcc_s\\.so.*"
    "^libstdc\\+\\+\\.so.*")
if(missing)
  message(FATAL_ERROR "nested._core needs libraries that are not here: ${missing}")
endif()

find_program(NESTED_DPKG_QUERY dpkg-query)
set(folder "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/nested/lib")
file(MAKE_DIRECTORY "${folder}")
foreach(library IN LISTS libraries)
  cmake_path(GET library FILENAME name)
  file(REAL_PATH "${library}" file)
  message(STATUS "Bundling: ${name}")
  file(COPY_FILE "${file}" "${folder}/${name}" ONLY_IF_DIFFERENT)

  # libMLIR and libLLVM name a place relative to their own, as "$ORIGIN/../lib".
  unset(runpath)
  unset(rpath)
  file(READ_ELF "${folder}/${name}" RUNPATH runpath RPATH rpath)
  foreach(place IN LISTS runpath rpath)
    if(NOT place MATCHES "^\\$ORIGIN")
      message(FATAL_ERROR "${file} looks for libraries in ${place}, outside of the wheel")
    endif()
    if(NOT place STREQUAL "$ORIGIN")
      file(RPATH_CHANGE FILE "${folder}/${name}" OLD_RPATH "${place}" NEW_RPATH "$ORIGIN")
    endif()
  endforeach()

  # Debian keeps the licence of a library with its package.
  if(licenses AND NESTED_DPKG_QUERY)
    cmake_path(GET file FILENAME real_name)
    execute_process(COMMAND "${NESTED_DPKG_QUERY}" --search "*/${real_name}"
                    OUTPUT_VARIABLE owner ERROR_QUIET)
    string(REGEX MATCH "^[^:, ]+" package "${owner}")
    set(licence "/usr/share/doc/${package}/copyright")
    if(package AND EXISTS "${licence}")
      configure_file("${licence}" "${licenses}/${package}" COPYONLY)
    endif()
  endif()
endforeach()
