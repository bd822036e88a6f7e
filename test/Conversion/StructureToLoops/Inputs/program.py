# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds kernels of the structure phase as text.

A `Kernel` has a tile loop over the rows [begin, end): every row is a unit, or, with
`lengths`, the units are samples and a table of offsets says which rows they have.
"""

import numpy as np

TYPES = {"f32": np.float32, "f64": np.float64, "i64": np.int64, "i32": np.int32, "i8": np.int8}


def tensor(shape, dtype):
    return f"tensor<{'x'.join([*map(str, shape), dtype])}>"


def memref(shape, dtype):
    return f"memref<{'x'.join([*map(str, shape), dtype])}>"


def loops(texts):
    """The letters of all subscripts in order, with "i", the rows, first if there."""
    return sorted(set("".join(texts)), key=lambda x: (x != "i", x))


def maps(*texts):
    """Subscripts like "ij" with loops named by letters."""
    letters = loops(texts)
    dims = ", ".join(letters)
    return "[" + ", ".join(f"affine_map<({dims}) -> ({', '.join(t)})>" for t in texts) + "]"


class Kernel:
    def __init__(self, name, tile=48, segments=False):
        self.name, self.tile, self.segments = name, tile, segments
        self.arguments, self.body, self.before = [], [], []
        self.carried = []
        self.constants = {}
        self.count = 0

    # --- Pieces of text ---------------------------------------------------------

    def fresh(self):
        self.count += 1
        return f"%v{self.count}"

    def emit(self, text):
        result = self.fresh()
        self.body.append(f"{result} = {text}")
        return result

    def constant(self, value, dtype):
        if dtype[0] == "f":
            value = f"{float(value):.17e}"
        key = (str(value), dtype)
        if key not in self.constants:
            self.constants[key] = f"%k{len(self.constants)}"
        return self.constants[key]

    def rows(self, shape):
        return (self.tile, *shape)

    # --- Arguments --------------------------------------------------------------

    def argument(self, shape, dtype):
        name = f"%arg{len(self.arguments)}"
        self.arguments.append((name, memref(shape, dtype)))
        return name

    def load(self, shape, dtype):
        """The rows of a new argument."""
        name = self.argument(("?", *shape), dtype)
        return self.emit(
            f"ragged.tile_load {name}[%t] live %live : {memref(('?', *shape), dtype)} -> "
            f"{tensor(self.rows(shape), dtype)}"
        )

    def gather(self, shape, dtype, rows):
        name = self.argument(("?", *shape), dtype)
        return self.emit(
            f"ragged.tile_gather {name}[{rows}] live %live : {memref(('?', *shape), dtype)}, "
            f"tensor<{self.tile}xindex> -> {tensor(self.rows(shape), dtype)}"
        )

    def shared(self, shape, dtype):
        name = self.argument(shape, dtype)
        return self.emit(
            f"bufferization.to_tensor {name} restrict : {memref(shape, dtype)} to "
            f"{tensor(shape, dtype)}"
        )

    def store(self, value, shape, dtype):
        name = self.argument(("?", *shape), dtype)
        self.body.append(
            f"ragged.tile_store {value}, {name}[%t] live %live : "
            f"{tensor(self.rows(shape), dtype)}, {memref(('?', *shape), dtype)}"
        )

    # --- Ops --------------------------------------------------------------------

    def empty(self, shape, dtype):
        return self.emit(f"tensor.empty() : {tensor(shape, dtype)}")

    def fill(self, value, shape, dtype):
        empty = self.empty(shape, dtype)
        constant = self.constant(value, dtype)
        return self.emit(
            f"linalg.fill ins({constant} : {dtype}) outs({empty} : {tensor(shape, dtype)}) -> "
            f"{tensor(shape, dtype)}"
        )

    def generic(self, subscripts, inputs, result, body, reduce="", init=None):
        """inputs: (value, shape, dtype), result: (shape, dtype). The body is text with
        {0}, {1}... for the inputs and {acc} for the output; its last line defines %y."""
        shape, dtype = result
        init = init or self.empty(shape, dtype)
        letters = loops(subscripts)
        kinds = ", ".join('"reduction"' if x in reduce else '"parallel"' for x in letters)
        names = [f"%x{i}" for i in range(len(inputs))]
        text = body.format(*names, acc="%acc")
        arguments = ", ".join(
            [f"{n}: {d}" for n, (_, _, d) in zip(names, inputs)] + [f"%acc: {dtype}"]
        )
        ins = ""
        if inputs:
            values = ", ".join(v for v, _, _ in inputs)
            types = ", ".join(tensor(s, d) for _, s, d in inputs)
            ins = f"ins({values} : {types}) "
        return self.emit(
            f"linalg.generic {{indexing_maps = {maps(*subscripts)}, iterator_types = [{kinds}]}} "
            f"{ins}outs({init} : {tensor(shape, dtype)}) {{\n^bb0({arguments}):\n{text}\n"
            f"linalg.yield %y : {dtype}\n}} -> {tensor(shape, dtype)}"
        )

    def matmul(self, a, b, c, m, n, k, dtype, acc=None):
        acc = acc or dtype
        types = f"{tensor((m, k), dtype)}, {tensor((k, n), dtype)}"
        return self.emit(
            f"linalg.matmul ins({a}, {b} : {types}) outs({c} : {tensor((m, n), acc)}) -> "
            f"{tensor((m, n), acc)}"
        )

    def index_rows(self, table):
        """tensor<TILExindex> of table[t + i]."""
        empty = self.emit(f"tensor.empty() : tensor<{self.tile}xindex>")
        return self.emit(
            f"""scf.for %i = %c0 to %live step %c1 iter_args(%r = {empty}) -> (tensor<{self.tile}xindex>) {{
  %p = arith.addi %t, %i : index
  %q = memref.load {table}[%p] : memref<?xi64>
  %w = arith.index_cast %q : i64 to index
  %s = tensor.insert %w into %r[%i] : tensor<{self.tile}xindex>
  scf.yield %s : tensor<{self.tile}xindex>
}}"""
        )

    def fold(self, inputs, inits, dests, flush, aux, combine, finalize):
        """inputs: (value, shape, dtype); inits: (value, dtype) constants; dests: (shape, dtype)."""
        shape = inputs[0][1][1:]
        types = [tensor(shape, d) for _, d in inits]
        names, starts = [], []
        for (value, dtype), kind in zip(inits, types):
            start, empty = self.fresh(), self.fresh()
            self.before.append(f"{empty} = tensor.empty() : {kind}")
            self.before.append(
                f"{start} = linalg.fill ins({self.constant(value, dtype)} : {dtype}) "
                f"outs({empty} : {kind}) -> {kind}"
            )
            names.append(f"%carried{len(self.carried)}")
            starts.append(start)
            self.carried.append([names[-1], start, kind, None])
        arguments = [self.argument(("?", *s), d) for s, d in dests]
        first = len(self.carried) - len(inits)
        result = self.fresh()
        many = len(inits) > 1
        types_of = lambda pairs: ", ".join(tensor(s, d) for _, s, d in pairs)  # noqa: E731
        memrefs = ", ".join(memref(("?", *s), d) for s, d in dests)
        aux_text = ""
        if aux:
            aux_text = f"aux({', '.join(v for v, _, _ in aux)} : {types_of(aux)}) "
        self.body.append(
            f"{result}{':' + str(len(inits)) if many else ''} = ragged.tile_fold "
            f"ins({', '.join(v for v, _, _ in inputs)} : {types_of(inputs)}) "
            f"acc({', '.join(names)} : {', '.join(types)}) init({', '.join(starts)} : {', '.join(types)}) "
            f"flush {flush} : tensor<{self.tile}xindex> into({', '.join(arguments)} : {memrefs}) "
            f"{aux_text}live %live combine {{\n{combine}\n}} finalize {{\n{finalize}\n}} -> {', '.join(types)}"
        )
        for i in range(len(inits)):
            self.carried[first + i][3] = f"{result}#{i}" if many else result

    # --- The function -----------------------------------------------------------

    def text(self):
        arguments = ", ".join(f"{n}: {t}" for n, t in self.arguments)
        lines = [
            f"func.func @{self.name}({arguments}, %begin: index, %end: index) attributes {{ragged.kernel}} {{",
            "%c0 = arith.constant 0 : index",
            "%c1 = arith.constant 1 : index",
            f"%tile = arith.constant {self.tile} : index",
        ]
        for (value, dtype), name in self.constants.items():
            lines.append(f"{name} = arith.constant {value} : {dtype}")
        lines += self.before
        first, last = "%begin", "%end"
        if self.segments:
            for name, unit in (("%first", "%begin"), ("%last", "%end")):
                lines.append(f"{name}i = memref.load {self.segments}[{unit}] : memref<?xi64>")
                lines.append(f"{name} = arith.index_cast {name}i : i64 to index")
            first, last = "%first", "%last"
        carry = kinds = results = ""
        if self.carried:
            carry = " iter_args(" + ", ".join(f"{n} = {s}" for n, s, _, _ in self.carried) + ")"
            kinds = " -> (" + ", ".join(k for _, _, k, _ in self.carried) + ")"
            results = f"%loop:{len(self.carried)} = "
        lines.append(f"{results}scf.for %t = {first} to {last} step %tile{carry}{kinds} {{")
        lines.append(f"%left = arith.subi {last}, %t : index")
        lines.append("%live = arith.minsi %left, %tile : index")
        lines += self.body
        if self.carried:
            values = ", ".join(r for _, _, _, r in self.carried)
            lines.append(f"scf.yield {values} : {', '.join(k for _, _, k, _ in self.carried)}")
        lines += ["} {ragged.tile_loop}", "return", "}"]
        return "\n".join(lines)
