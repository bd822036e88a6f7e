//===- Passes.td - From the structure phase to GPU kernels -*- tablegen -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_STRUCTURETOGPU_PASSES
#define NESTED_STRUCTURETOGPU_PASSES

include "mlir/Pass/PassBase.td"

def TileToThreads : Pass<"tile-to-threads", "::mlir::func::FuncOp"> {
  let summary = "Spread tile programs over the threads of a block";
  let description = [{
    The GPU's counterpart of `tile-body`: the same tile loops, cut into the same
    groups (`TileGraph`), but a group is done by all threads of a block together. Works on
    functions with the attribute `ragged.kernel`.

    - *Row ops*: a warp takes a row, its lanes every 32nd column; a value of the
      row lives in registers. A reduction over the row is one partial result per lane,
      then five shuffles. Its order depends on the width only.
    - *Contractions*: a warp takes a block of rows and columns, a lane every 32nd
      column of it, with accumulators in registers and fused multiply-adds in the
      order of the summed index. Elementwise ops that follow work on the accumulators. Rows
      that come from the caller's memory are first copied to workgroup memory.
    - *Folds*: a thread owns a column of the accumulator (every n-th one) and goes
      through the rows in order, so results do not depend on how rows are cut into tiles.
    - Values that another group needs are kept in workgroup memory
      (`memref.alloc` in `#gpu.address_space<workgroup>`); a barrier follows each group.
    - Everything else (searches in tables, row numbers, what is carried from tile to
      tile) is computed by all threads alike; only the first one writes.

    Only live rows of the caller's memory are read or written.

    Requires: as `tile-body`. Scalar code in front of a tile loop does not read what scalar
    code wrote, but to decide about writes.

    Guarantees: no ragged op is left in the loop. Barriers are where all threads pass.

    Not covered: ops on whole tiles that are not row by row. They are reported.
  }];
  let options = [
    Option<"threads", "threads", "int64_t", "256", "Threads of a block, a multiple of 32">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def PlaceWorkgroupMemory : Pass<"place-workgroup-memory", "::mlir::func::FuncOp"> {
  let summary = "Place the buffers of a block in its workgroup memory";
  let description = [{
    Every `memref.alloc` of a kernel in workgroup memory becomes a `memref.view` of
    `gpu.dynamic_shared_memory`, at a multiple of 128 bytes. Buffers share memory when
    a barrier separates the last use of one from the first use of the other. The
    attribute `ragged.workgroup_bytes` says how much is needed.

    Requires: allocs of static size and identity layout, whose contents do not survive an
    iteration of the loop around them; a barrier at the end of every such loop.

    Guarantees: no alloc is left. A kernel that needs more than `max-bytes` is an error.
  }];
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", "166912",
           "What a block may use; the default is what sm_80 offers">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect"
  ];
}

def KernelsToGPU : Pass<"kernels-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Move kernels into a GPU module, with their calling convention";
  let description = [{
    Every function with the attribute `ragged.kernel` becomes a `gpu.func` of the same
    name in `gpu.module @kernels`. Its parameters, all of 8 bytes:

    1. a pointer for each memref (device memory; lengths, offsets and other tables too);
    2. for each memref its leading dimension, as in `nested_frame`;
    3. the scalars;
    4. the first unit, the unit behind the last, and the units of a block.

    Block *b* takes the units from `begin + b * count` on, at most `count`; a block
    behind the end returns at once. The grid is one-dimensional. A block has its
    own error record: 4 words at 4 *b* in the memory that is given for it.

    Pointers do not overlap but for `ragged.may_alias`, and are `readonly` where the
    kernel only reads. `ragged.workgroup_bytes` goes along; that much dynamic memory must be
    given at launch.

    Requires: kernels in scf, memref, arith, vector, gpu, and those ops of math that a
    GPU has instructions for. Anything else is reported.
  }];
  let options = [
    Option<"threads", "threads", "int64_t", "256", "Threads of a block">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"
  ];
}

def KernelsToNVVM : Pass<"kernels-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Convert the kernels of a GPU module to the LLVM and NVVM dialects";
  let description = [{
    As upstream's `convert-gpu-to-nvvm`, but math ops become LLVM intrinsics, for which
    there are instructions, instead of calls into libdevice, which would have to be
    linked.

    Requires: `kernels-to-gpu`, and no structured control flow.

    Guarantees: nothing but LLVM and NVVM ops is left in the module.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif // NESTED_STRUCTURETOGPU_PASSES
