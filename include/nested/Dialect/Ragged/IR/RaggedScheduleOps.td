//===- RaggedScheduleOps.td - the schedule of an entry -*- tablegen -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RAGGED_SCHEDULE_OPS
#define NESTED_RAGGED_SCHEDULE_OPS

// From the structure phase on every entry is a `ragged.schedule`: what the runtime does, step by step. It is not
// lowered further but written out as the manifest of the artifact (docs/Artifact.md, section 2).

include "nested/Dialect/Ragged/IR/RaggedBase.td"

def Ragged_ScheduleOp : Ragged_Op<"schedule", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "the steps of one entry, for the runtime";
  let description = [{
    `signature` keeps the ragged signature of the entry as data: `{symbols = [...], args = [...],
    results = [...], checks = [...]}` with the fields of the manifest.

    ```mlir
    ragged.schedule @f signature {} {
      %n = ragged.table extent <N> path [B]
      %x = ragged.buffer arg 0 : !ragged.buffer<128xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, DictionaryAttr:$signature);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `signature` $signature attr-dict-with-keyword $body";
}

class Ragged_ScheduleStepOp<string mnemonic, list<Trait> traits = []>
    : Ragged_Op<mnemonic, traits # [HasParent<"ScheduleOp">]>;

// Not pure: results of the signature refer to tables by number.
def Ragged_TableOp : Ragged_ScheduleStepOp<"table"> {
  let summary = "a structure table";
  let description = [{
    `extent`, `offsets`: of an extent over a path; if that comes from data, `ragged.bound` is the number of the table of offsets whose total its own
    is at most. `base`: first rows of argument `arg`. `parent`: of a path. `row_splits`: level `level` of `extents`.

    ```mlir
    %o = ragged.table offsets <N * N> path [B]
    %b = ragged.table base arg 0 path [B]
    %s = ragged.table row_splits path [B] extents [N, N] level 1
    ```
  }];
  let arguments = (ins Ragged_TableKindAttr:$kind, OptionalAttr<Ragged_ExtentAttr>:$extent, OptionalAttr<I64Attr>:$arg,
      Ragged_PathAttr:$path, OptionalAttr<Ragged_ExtentArrayAttr>:$extents, OptionalAttr<I64Attr>:$level);
  let results = (outs Ragged_TableType:$result);
  let assemblyFormat = [{
    `` $kind `` custom<OptionalExtent>($extent) (`arg` $arg^)? `path` custom<Path>($path) (`extents` custom<Extents>($extents)^ `level` $level)? attr-dict
  }];
}

def Ragged_BufferOp : Ragged_ScheduleStepOp<"buffer"> {
  let summary = "memory of an argument, of a result, or a temporary";
  let description = [{
    `kind` is `arg`, `result` or `temp`. A temporary has `rows`: the total of an offsets table, divided by `chunk` rounding up when that is there,
    or a constant. Its lifetime is from its first use to its last.

    ```mlir
    %x = ragged.buffer arg 0 : !ragged.buffer<128xf32>
    %u = ragged.buffer temp total %o : !ragged.buffer<128xf32>
    %p = ragged.buffer temp total %o chunk 4096 : !ragged.buffer<128xf32>
    %c = ragged.buffer temp rows 1 : !ragged.buffer<128xf32>
    ```
  }];
  let arguments = (ins StrAttr:$kind, OptionalAttr<I64Attr>:$index, Optional<Ragged_TableType>:$total,
      OptionalAttr<I64Attr>:$chunk, OptionalAttr<I64Attr>:$rows);
  let results = (outs Ragged_BufferType:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Ragged_AliasOp : Ragged_ScheduleStepOp<"alias", [Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "the same memory under another structure";
  let description = [{
    ```mlir
    %y = ragged.alias %x : !ragged.buffer<128xf32>
    ```
  }];
  let arguments = (ins Ragged_BufferType:$source);
  let results = (outs Ragged_BufferType:$result);
  let assemblyFormat = "$source attr-dict `:` qualified(type($source))";

}

def Ragged_LaunchOp : Ragged_ScheduleStepOp<"launch", [AttrSizedOperandSegments]> {
  let summary = "run a kernel over all its units";
  let description = [{
    `memrefs` are buffers and tables in the order of the kernel's memref arguments; with `errors`, an error
    record follows them. `scalars` are totals of offsets tables, in the order of the kernel's scalar
    arguments. `unit_table` and `row_table` are as in the manifest.

    `per_sample`: of what steps write, a unit of a sample reads and writes that sample only, so the runtime may run steps for some samples
    before it runs them for the next.

    ```mlir
    ragged.launch @k units groups row_table %r unit_table %u memrefs(%x, %o : !ragged.buffer<128xf32>, !ragged.table)
        scalars(%r) {tile_rows = 48 : i64, flops_per_row = 2 : i64, bytes_per_row = 512 : i64}
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Ragged_UnitKindAttr:$units, OptionalAttr<I64Attr>:$chunk,
      Ragged_TableType:$row_table, Optional<Ragged_TableType>:$unit_table,
      Variadic<AnyTypeOf<[Ragged_BufferType, Ragged_TableType]>>:$memrefs, Variadic<Ragged_TableType>:$scalars,
      I64Attr:$tile_rows, I64Attr:$flops_per_row, I64Attr:$bytes_per_row, OptionalAttr<StrArrayAttr>:$errors, UnitAttr:$per_sample);
  let assemblyFormat = [{
    $kernel `units` `` $units (`chunk` $chunk^)? `row_table` $row_table (`unit_table` $unit_table^)?
    `memrefs` `(` ($memrefs^ `:` type($memrefs))? `)` (`scalars` `(` $scalars^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

def Ragged_BindOp : Ragged_ScheduleStepOp<"bind"> {
  let summary = "lengths of a symbol from data";
  let description = [{
    ```mlir
    ragged.bind "K" path [B] upper <N> from %counts : !ragged.buffer<i64>
    ```
  }];
  let arguments = (ins StrAttr:$symbol, Ragged_PathAttr:$path, OptionalAttr<Ragged_ExtentAttr>:$upper, Ragged_BufferType:$counts);
  let assemblyFormat = "$symbol `path` custom<Path>($path) (`upper` $upper^)? `from` $counts attr-dict `:` qualified(type($counts))";
}

def Ragged_CheckOp : Ragged_ScheduleStepOp<"check"> {
  let summary = "compares two extents, sample by sample, after symbols were bound from data";
  let description = [{
    With `sum_over` the left side is the sum over the last component of that path.

    ```mlir
    ragged.check eq <N> <M> path [B] what "x + y" where "f.py:3"
    ```
  }];
  let arguments = (ins Ragged_CheckKindAttr:$kind, Ragged_ExtentAttr:$lhs, Ragged_ExtentAttr:$rhs, Ragged_PathAttr:$path,
      StrAttr:$what, StrAttr:$where, OptionalAttr<Ragged_PathAttr>:$sum_over);
  let assemblyFormat = [{
    `` $kind $lhs $rhs `path` custom<Path>($path) `what` $what `where` $where (`sum_over` custom<Path>($sum_over)^)? attr-dict
  }];
}

def Ragged_CopyOp : Ragged_ScheduleStepOp<"copy", [AllTypesMatch<["source", "dest"]>]> {
  let summary = "all rows of one buffer into another";
  let description = [{
    `path` and `rows` (extent of one instance) say which rows; a source that is an argument may have gaps.

    ```mlir
    ragged.copy %x to %y rows <N> path [B] : !ragged.buffer<128xf32>
    ```
  }];
  let arguments = (ins Ragged_BufferType:$source, Ragged_BufferType:$dest, Ragged_ExtentAttr:$rows, Ragged_PathAttr:$path);
  let assemblyFormat = "$source `to` $dest `rows` $rows `path` custom<Path>($path) attr-dict `:` qualified(type($source))";
}

def Ragged_StoreTableOp : Ragged_ScheduleStepOp<"store_table"> {
  let summary = "a table, or the total of one, as an i64 result";
  let description = [{
    ```mlir
    ragged.store_table %o to %r : !ragged.buffer<i64>
    ragged.store_table %o total to %t : !ragged.buffer<i64>
    ```
  }];
  let arguments = (ins Ragged_TableType:$table, UnitAttr:$total, Ragged_BufferType:$dest);
  let assemblyFormat = "$table (`total` $total^)? `to` $dest attr-dict `:` qualified(type($dest))";
}

def Ragged_HostCallOp : Ragged_ScheduleStepOp<"host_call", [AttrSizedOperandSegments]> {
  let summary = "locate or linearize, done by the runtime";
  let description = [{
    ```mlir
    ragged.host_call "locate" extents [N, N] path [B] ins(%rows : !ragged.buffer<i64>)
        outs(%i, %a, %b : !ragged.buffer<i64>, !ragged.buffer<i64>, !ragged.buffer<i64>)
    ```
  }];
  let arguments = (ins StrAttr:$function, Ragged_ExtentArrayAttr:$extents, Ragged_PathAttr:$path,
      Variadic<Ragged_BufferType>:$inputs, Variadic<Ragged_BufferType>:$outputs);
  let assemblyFormat = [{
    $function `extents` custom<Extents>($extents) `path` custom<Path>($path) `ins` `(` $inputs `:` type($inputs) `)`
    `outs` `(` $outputs `:` type($outputs) `)` attr-dict
  }];
}

#endif // NESTED_RAGGED_SCHEDULE_OPS
