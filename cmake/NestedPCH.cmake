# One precompiled header with LLVM's and MLIR's, shared by everything that uses
# MLIR: a source then compiles in about a second instead of eight. Turn it off
# with -DNESTED_PCH=OFF, as the asan preset does: that build finds an include
# that a source forgot and got from here.

option(NESTED_PCH "Precompile the headers of LLVM and MLIR." ON)
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  set(NESTED_PCH OFF)
endif()

if(NESTED_PCH)
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/pch/nested-pch.cpp" CONTENT "// Empty.\n")
  add_library(nested-pch OBJECT "${CMAKE_BINARY_DIR}/pch/nested-pch.cpp")
  target_compile_options(nested-pch PRIVATE -fno-exceptions)
  # Never cached: it names files of this build tree.
  set_target_properties(nested-pch PROPERTIES CXX_COMPILER_LAUNCHER "")
  target_precompile_headers(nested-pch PRIVATE
    <optional> <string> <vector>
    <llvm/ADT/DenseMap.h>
    <llvm/ADT/SetVector.h>
    <llvm/ADT/SmallVector.h>
    <llvm/ADT/StringExtras.h>
    <llvm/ADT/TypeSwitch.h>
    <llvm/Support/raw_ostream.h>
    <mlir/Dialect/Affine/IR/AffineOps.h>
    <mlir/Dialect/Arith/IR/Arith.h>
    <mlir/Dialect/Bufferization/IR/Bufferization.h>
    <mlir/Dialect/Func/IR/FuncOps.h>
    <mlir/Dialect/GPU/IR/GPUDialect.h>
    <mlir/Dialect/LLVMIR/LLVMDialect.h>
    <mlir/Dialect/Linalg/IR/Linalg.h>
    <mlir/Dialect/Math/IR/Math.h>
    <mlir/Dialect/MemRef/IR/MemRef.h>
    <mlir/Dialect/SCF/IR/SCF.h>
    <mlir/Dialect/Tensor/IR/Tensor.h>
    <mlir/Dialect/Vector/IR/VectorOps.h>
    <mlir/IR/Builders.h>
    <mlir/IR/BuiltinOps.h>
    <mlir/IR/DialectImplementation.h>
    <mlir/IR/IRMapping.h>
    <mlir/IR/ImplicitLocOpBuilder.h>
    <mlir/IR/Matchers.h>
    <mlir/IR/OpImplementation.h>
    <mlir/IR/PatternMatch.h>
    <mlir/Parser/Parser.h>
    <mlir/Pass/Pass.h>
    <mlir/Pass/PassManager.h>
    <mlir/Transforms/DialectConversion.h>
    <mlir/Transforms/GreedyPatternRewriteDriver.h>
  )

  set(NESTED_PCH_FILE "${CMAKE_BINARY_DIR}/CMakeFiles/nested-pch.dir/cmake_pch.hxx.pch")

  # ccache hashes this file in place of the precompiled header, whose bytes
  # depend on where the build tree is (see CCACHE_PCH_EXTSUM).
  get_target_property(headers nested-pch PRECOMPILE_HEADERS)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  string(SHA256 sum "${headers};${LLVM_PACKAGE_VERSION};${CMAKE_CXX_COMPILER_VERSION};\
${CMAKE_CXX_FLAGS};${CMAKE_CXX_FLAGS_${type}};${NESTED_SANITIZE}")
  file(CONFIGURE OUTPUT "${NESTED_PCH_FILE}.sum" CONTENT "${sum}\n")
endif()

# Makes the C++ sources of a target use the precompiled header.
# target_precompile_headers(... REUSE_FROM ...) would do, but it passes one path
# in a form that ccache does not make relative, so that clones share nothing.
function(nested_use_pch target)
  if(NOT NESTED_PCH)
    return()
  endif()
  add_dependencies(${target} nested-pch)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    if(source MATCHES "[.]cpp$")
      set_property(SOURCE "${source}" APPEND PROPERTY OBJECT_DEPENDS "${NESTED_PCH_FILE}")
    endif()
  endforeach()
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include-pch ${NESTED_PCH_FILE}>" -Winvalid-pch)
  # Programs would get -fPIE, which the precompiled header does not have.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC)
endfunction()
