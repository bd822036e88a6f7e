# Install script: copies every library that nested._core needs, but those of the C
# and C++ toolchain, to nested/lib. Wheels have no symbolic links, so each file is
# named as it is looked for.

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

set(folder "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/nested/lib")
file(MAKE_DIRECTORY "${folder}")
foreach(library IN LISTS libraries)
  cmake_path(GET library FILENAME name)
  file(REAL_PATH "${library}" file)
  message(STATUS "Bundling: ${name}")
  file(COPY_FILE "${file}" "${folder}/${name}" ONLY_IF_DIFFERENT)
endforeach()
