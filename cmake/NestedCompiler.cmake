# Compiler flags, build types, ccache and sanitizers, for everything below.

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type." FORCE)
endif()

# NDEBUG is defined in *every* build type: Debian's LLVM is built with it, and
# the layout of some of its classes depends on it. RelWithDebInfo, the default,
# is tuned for short compile times.
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O1 -gline-tables-only -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -gline-tables-only -DNDEBUG")
set(CMAKE_C_FLAGS_DEBUG "-O0 -g -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g -DNDEBUG")
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  string(REPLACE "-gline-tables-only" "-g1" CMAKE_C_FLAGS_RELWITHDEBINFO
                 "${CMAKE_C_FLAGS_RELWITHDEBINFO}")
  string(REPLACE "-gline-tables-only" "-g1" CMAKE_CXX_FLAGS_RELWITHDEBINFO
                 "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
endif()

add_compile_options(-Wall -Wextra -Wno-unused-parameter -fdiagnostics-color=auto)
if(NESTED_WERROR)
  add_compile_options(-Werror)
endif()

# The linker that came with clang is several times faster than GNU ld.
find_program(NESTED_LLD NAMES ld.lld-22 ld.lld)
if(NESTED_LLD AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_link_options("--ld-path=${NESTED_LLD}")
endif()

# ccache: paths below the checkout are hashed relative to it, so that all build
# trees in all clones share results.
find_program(NESTED_CCACHE ccache)
if(NESTED_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(launcher "${CMAKE_COMMAND}" -E env
      "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1
      "CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime"
      "${NESTED_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

if(NESTED_SANITIZE)
  add_compile_options(-fsanitize=${NESTED_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${NESTED_SANITIZE})
endif()

set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
