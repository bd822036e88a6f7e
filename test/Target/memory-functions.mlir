// memset and memcpy may be left to the host: every process has them.
// RUN: nested-compile %s -o %t.so
// RUN: llvm-readobj --dyn-symbols %t.so | FileCheck %s
// CHECK: Name: memset
// CHECK: Section: Undefined

module attributes {ragged.phase = "llvm"} {
  llvm.func @fill(%frame: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) attributes {ragged.kernel} {
    %zero = llvm.mlir.constant(0 : i8) : i8
    "llvm.intr.memset"(%scratch, %zero, %end) <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()
    llvm.return
  }
}
