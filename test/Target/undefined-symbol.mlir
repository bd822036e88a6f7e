// Code that needs something from its host is refused, by name.
// RUN: not nested-compile %s -o %t.so 2>&1 | FileCheck %s
// RUN: not ls %t.so
// CHECK: compiled code needs the symbol 'cblas_sgemm', but an artifact may take nothing from its host

module attributes {ragged.phase = "llvm"} {
  llvm.func @cblas_sgemm()
  llvm.func @k(%frame: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) attributes {ragged.kernel} {
    llvm.call @cblas_sgemm() : () -> ()
    llvm.return
  }
}
