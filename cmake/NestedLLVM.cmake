# Finds LLVM and MLIR 22 and sets things up so that both are linked *once*, as
# shared libraries. The static archives are installed beside them; a program
# with both has every type id and every option twice.

set(NESTED_LLVM_VERSION 22)

find_program(NESTED_LLVM_CONFIG NAMES llvm-config-${NESTED_LLVM_VERSION})
if(NESTED_LLVM_CONFIG AND NOT MLIR_DIR)
  execute_process(COMMAND "${NESTED_LLVM_CONFIG}" --prefix
                  OUTPUT_VARIABLE llvm_prefix
                  OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  set(MLIR_DIR "${llvm_prefix}/lib/cmake/mlir" CACHE PATH "Where MLIRConfig.cmake is.")
endif()

find_package(MLIR CONFIG QUIET)
if(NOT MLIR_FOUND OR NOT LLVM_VERSION_MAJOR EQUAL NESTED_LLVM_VERSION)
  message(FATAL_ERROR
    "MLIR ${NESTED_LLVM_VERSION} is missing. On Debian install it with\n"
    "  apt-get install llvm-22-dev libmlir-22-dev mlir-22-tools llvm-22-tools "
    "clang-22 lld-22 liblld-22-dev\n"
    "or run scripts/setup, which does that. Elsewhere pass "
    "-DMLIR_DIR=<prefix>/lib/cmake/mlir.")
endif()
message(STATUS "Using MLIR ${LLVM_PACKAGE_VERSION} from ${MLIR_DIR}")

foreach(lib LLVM MLIR)
  if(NOT TARGET ${lib})
    message(FATAL_ERROR "This MLIR has no shared lib${lib}; build it with LLVM_BUILD_LLVM_DYLIB.")
  endif()
endforeach()

set(MLIR_LINK_MLIR_DYLIB ON)
set(LLVM_LINK_LLVM_DYLIB ON)

# The programs of LLVM that the build and the tests call.
set(NESTED_LLVM_TOOLS_DIR "${LLVM_TOOLS_BINARY_DIR}")
set(LLVM_EXTERNAL_LIT "${LLVM_TOOLS_BINARY_DIR}/lit" CACHE FILEPATH "The lit program.")

list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# Directory-wide on purpose: mlir_tablegen takes its include path from here.
include_directories("${CMAKE_SOURCE_DIR}/include" "${CMAKE_BINARY_DIR}/include")
include_directories(SYSTEM ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})

separate_arguments(llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
list(REMOVE_ITEM llvm_definitions "-D_DEBUG" "-UNDEBUG")
add_definitions(${llvm_definitions})
