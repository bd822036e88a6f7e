// RUN: nested-opt %s --split-input-file --verify-llvm-phase --verify-diagnostics

llvm.func @fine(%x: i64) -> i64 {
  llvm.return %x : i64
}

// -----

llvm.func @leftover(%x: i64) -> i64 {
  // expected-error @below {{'arith.addi' op is not an operation of the LLVM dialect; it cannot be left in the llvm phase}}
  %r = arith.addi %x, %x : i64
  llvm.return %r : i64
}
