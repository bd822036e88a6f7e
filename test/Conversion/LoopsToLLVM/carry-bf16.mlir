// RUN: nested-opt %s --pass-pipeline='builtin.module(llvm.func(carry-bf16))' | FileCheck %s

// Constants keep their bits: 1.0 is 0x3f80. Memory, vectors and arguments of blocks have another type.
// CHECK-LABEL: llvm.func @choose
// CHECK-SAME: %[[P:.*]]: !llvm.ptr, %[[C:.*]]: i1
llvm.func @choose(%p: !llvm.ptr, %c: i1) {
  // CHECK: %[[ONE:.*]] = llvm.mlir.constant(16256 : i16) : i16
  %one = llvm.mlir.constant(1.0 : bf16) : bf16
  // CHECK: llvm.mlir.constant(dense<16384> : vector<4xi16>) : vector<4xi16>
  %two = llvm.mlir.constant(dense<2.0> : vector<4xbf16>) : vector<4xbf16>
  // CHECK: llvm.getelementptr %[[P]][3] : (!llvm.ptr) -> !llvm.ptr, i16
  %q = llvm.getelementptr %p[3] : (!llvm.ptr) -> !llvm.ptr, bf16
  // CHECK: %[[X:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i16
  %x = llvm.load %q : !llvm.ptr -> bf16
  llvm.store %two, %p : vector<4xbf16>, !llvm.ptr
  // CHECK: llvm.cond_br %[[C]], ^bb1(%[[ONE]] : i16), ^bb1(%[[X]] : i16)
  llvm.cond_br %c, ^next(%one : bf16), ^next(%x : bf16)
// CHECK: ^bb1(%[[Y:.*]]: i16):
^next(%y: bf16):
  // CHECK-NOT: llvm.bitcast
  // CHECK: llvm.store %[[Y]], %{{.*}} : i16, !llvm.ptr
  %bits = llvm.bitcast %y : bf16 to i16
  llvm.store %bits, %q : i16, !llvm.ptr
  llvm.return
}
