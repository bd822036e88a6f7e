# The functions that every CMakeLists.txt of this project uses.
#
# TableGen (in include/nested/...):
#
#   set(LLVM_TARGET_DEFINITIONS RaggedOps.td)
#   mlir_tablegen(RaggedOps.h.inc -gen-op-decls)
#   mlir_tablegen(RaggedOps.cpp.inc -gen-op-defs)
#   nested_add_tablegen_target(NestedRaggedOpsIncGen)
#
# Headers are written to the same place under <build>/include, so that
# `#include "nested/Dialect/Ragged/IR/RaggedOps.h.inc"` works. Every library
# waits for every tablegen target: no DEPENDS is needed for them.
#
# Libraries (in lib/...), static, position independent, linked against
# libMLIR.so and libLLVM.so (so do not name MLIR or LLVM libraries):
#
#   nested_add_library(NestedRaggedIR
#     RaggedDialect.cpp
#     RaggedOps.cpp
#     LINK NestedSupport)             # our own libraries, PUBLIC
#
# Tools (in tools/<name>/), written to <build>/bin:
#
#   nested_add_tool(nested-opt nested-opt.cpp LINK NestedRaggedIR NestedPipelines)
#
# Unit tests with GoogleTest, written to <build>/bin and run by CTest as
# `unit.<name>`; names end in Tests:
#
#   nested_add_unittest(ExtentTests ExtentTest.cpp LINK NestedRaggedIR)
#   nested_add_unittest(PlanTests PlanTest.cpp NO_MLIR LINK nested_runtime)
#
# Any other test (labels `slow` and `long`: see test/CMakeLists.txt):
#
#   nested_add_check(demo-small COMMAND ${Python_EXECUTABLE} examples/demo.py --small)
#
# Options of the first three: DEPENDS <targets> (other generated files), EXCEPTIONS
# (C++ exceptions are off by default in code that uses MLIR, as in LLVM),
# NO_MLIR (neither include nor link MLIR), DEFINES <macros> (private).

add_custom_target(nested-headers)
# Everything that lit tests need; `ninja nested-test-depends` builds it.
add_custom_target(nested-test-depends)

macro(nested_add_tablegen_target name)
  add_public_tablegen_target(${name})
  add_dependencies(nested-headers ${name})
endmacro()

# What libraries, tools and tests have in common.
function(_nested_configure_target name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "EXCEPTIONS;NO_MLIR" "" "DEPENDS;LINK;DEFINES")
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  if(ARG_DEFINES)
    target_compile_definitions(${name} PRIVATE ${ARG_DEFINES})
  endif()
  if(ARG_LINK)
    target_link_libraries(${name} PUBLIC ${ARG_LINK})
  endif()
  if(NOT ARG_NO_MLIR)
    add_dependencies(${name} nested-headers mlir-headers mlir-generic-headers)
    target_link_libraries(${name} PUBLIC MLIR LLVM)
    if(NOT ARG_EXCEPTIONS)
      target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
      nested_use_pch(${name})
    endif()
  endif()
endfunction()

function(nested_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "EXCEPTIONS;NO_MLIR" "" "DEPENDS;LINK;DEFINES")
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  list(REMOVE_ITEM ARGN ${ARG_UNPARSED_ARGUMENTS})
  _nested_configure_target(${name} ${ARGN})
  set_property(GLOBAL APPEND PROPERTY NESTED_LIBRARIES ${name})
endfunction()

function(nested_add_tool name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "EXCEPTIONS;NO_MLIR" "" "DEPENDS;LINK;DEFINES")
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  list(REMOVE_ITEM ARGN ${ARG_UNPARSED_ARGUMENTS})
  _nested_configure_target(${name} ${ARGN})
  add_dependencies(nested-test-depends ${name})
endfunction()

function(nested_add_unittest name)
  if(NOT NESTED_ENABLE_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 ARG "EXCEPTIONS;NO_MLIR" "" "DEPENDS;LINK;DEFINES")
  find_package(GTest REQUIRED)
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  list(REMOVE_ITEM ARGN ${ARG_UNPARSED_ARGUMENTS})
  _nested_configure_target(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE GTest::gtest GTest::gtest_main)
  add_test(NAME unit.${name} COMMAND ${name})
  set_tests_properties(unit.${name} PROPERTIES TIMEOUT 300)
endfunction()

# nested_add_check(<name> COMMAND ... [LABELS ...] [TIMEOUT <s>] [CPUS <n>]
#                  [ENVIRONMENT A=B ...])
# adds a CTest entry that runs in the source folder.
function(nested_add_check name)
  if(NOT NESTED_ENABLE_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "TIMEOUT;CPUS" "LABELS;COMMAND;ENVIRONMENT")
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  if(NOT ARG_CPUS)
    set(ARG_CPUS 1)
  endif()
  add_test(NAME ${name} COMMAND ${ARG_COMMAND} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  set_tests_properties(${name} PROPERTIES
    TIMEOUT ${ARG_TIMEOUT} PROCESSORS ${ARG_CPUS} LABELS "${ARG_LABELS}"
    ENVIRONMENT "${ARG_ENVIRONMENT}")
endfunction()
