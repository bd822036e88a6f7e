# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of many shapes and types against numpy. Arguments: names of groups (all),
then --OPTION=VALUE for the lowering."""

import sys

import harness
import numpy as np
from program import TYPES, Kernel

CASES = []
rng = np.random.default_rng(1)
ROWS = 113


class Case:
    def __init__(self, group, kernel, inputs, outputs, expected, units=ROWS, tolerance=1e-5):
        self.group, self.kernel, self.inputs, self.outputs = group, kernel, inputs, outputs
        self.expected, self.units, self.tolerance = expected, units, tolerance
        CASES.append(self)


def values(shape, dtype):
    if TYPES[dtype]().dtype.kind == "i":
        return rng.integers(-9, 10, shape).astype(TYPES[dtype])
    return rng.uniform(-1, 1, shape).astype(TYPES[dtype])


def wide(array):
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def tolerance_of(dtype):
    return 1e-12 if dtype == "f64" else 1e-5


def add(dtype):
    return "arith.addf" if dtype[0] == "f" else "arith.addi"


# --- Reductions over features that come back -----------------------------------------


def norm(c, dtype):
    k = Kernel(f"norm_{c}_{dtype}")
    x = k.load((c,), dtype)
    gamma = k.shared((c,), dtype)
    k.constant(1.0, dtype), k.constant(1.0 / c, dtype), k.constant(1e-5, dtype)
    inv, eps, one = k.constant(1.0 / c, dtype), k.constant(1e-5, dtype), k.constant(1.0, dtype)
    row, full = k.rows(()), k.rows((c,))
    total = k.generic(
        ["ij", "i"],
        [(x, full, dtype)],
        (row, dtype),
        f"%y = arith.addf {{0}}, {{acc}} : {dtype}",
        "j",
        k.fill(0.0, row, dtype),
    )
    d = k.generic(
        ["ij", "i", "ij"],
        [(x, full, dtype), (total, row, dtype)],
        (full, dtype),
        f"%m = arith.mulf {{1}}, {inv} : {dtype}\n%y = arith.subf {{0}}, %m : {dtype}",
    )
    square = k.generic(
        ["ij", "i"],
        [(d, full, dtype)],
        (row, dtype),
        f"%m = arith.mulf {{0}}, {{0}} : {dtype}\n%y = arith.addf %m, {{acc}} : {dtype}",
        "j",
        k.fill(0.0, row, dtype),
    )
    rstd = k.generic(
        ["i", "i"],
        [(square, row, dtype)],
        (row, dtype),
        f"%a = arith.mulf {{0}}, {inv} : {dtype}\n%b = arith.addf %a, {eps} : {dtype}\n"
        f"%c = math.sqrt %b : {dtype}\n%y = arith.divf {one}, %c : {dtype}",
    )
    y = k.generic(
        ["ij", "i", "j", "ij"],
        [(d, full, dtype), (rstd, row, dtype), (gamma, (c,), dtype)],
        (full, dtype),
        f"%m = arith.mulf {{0}}, {{1}} : {dtype}\n%y = arith.mulf %m, {{2}} : {dtype}",
    )
    k.store(y, (c,), dtype)
    X, G = values((ROWS, c), dtype), values(c, dtype)
    D = wide(X) - wide(X).mean(-1, keepdims=True)
    want = D / np.sqrt((D * D).mean(-1, keepdims=True) + 1e-5) * wide(G)
    Case("norm", k, [X, G], [((ROWS, c), TYPES[dtype])], [want], tolerance=10 * tolerance_of(dtype))


for c in (1, 3, 5, 16, 100, 128, 384, 520, 1000, 4096):
    norm(c, "f32")
norm(12, "f64")
norm(100, "f64")
norm(1000, "f64")


def softmax(shape, dtype="f32"):
    """Over all features of a row, of any rank."""
    name = "x".join(map(str, shape))
    k = Kernel(f"softmax_{name}", tile=16)
    letters = "ijklm"[: len(shape) + 1]
    x = k.load(shape, dtype)
    full, row = k.rows(shape), k.rows(())
    low = k.constant(-1e30, dtype) and k.fill(-1e30, row, dtype)
    top = k.generic(
        [letters, "i"],
        [(x, full, dtype)],
        (row, dtype),
        f"%y = arith.maximumf {{0}}, {{acc}} : {dtype}",
        letters[1:],
        low,
    )
    e = k.generic(
        [letters, "i", letters],
        [(x, full, dtype), (top, row, dtype)],
        (full, dtype),
        f"%d = arith.subf {{0}}, {{1}} : {dtype}\n%y = math.exp %d : {dtype}",
    )
    total = k.generic(
        [letters, "i"],
        [(e, full, dtype)],
        (row, dtype),
        f"%y = arith.addf {{0}}, {{acc}} : {dtype}",
        letters[1:],
        k.fill(0.0, row, dtype),
    )
    y = k.generic(
        [letters, "i", letters],
        [(e, full, dtype), (total, row, dtype)],
        (full, dtype),
        f"%y = arith.divf {{0}}, {{1}} : {dtype}",
    )
    k.store(y, shape, dtype)
    X = values((ROWS, *shape), dtype)
    E = np.exp(wide(X))
    want = E / E.sum(tuple(range(1, X.ndim)), keepdims=True)
    Case("softmax", k, [X], [(X.shape, TYPES[dtype])], [want])


for shape in ((5,), (100,), (1000,), (3, 5), (3, 384), (7, 100), (100, 3), (2, 3, 4)):
    softmax(shape)


# --- Contractions --------------------------------------------------------------------


def linear(depth, columns, dtype="f32", acc=None, transposed=False, tile=48, relu=True):
    acc = acc or dtype
    k = Kernel(f"linear_{depth}_{columns}_{dtype}_{acc}{'_t' * transposed}_{tile}", tile=tile)
    x = k.load((depth,), dtype)
    shape = (columns, depth) if transposed else (depth, columns)
    w = k.shared(shape, dtype)
    b = k.shared((columns,), acc)
    full = k.rows((columns,))
    zero = k.fill(0 if acc[0] == "i" else 0.0, full, acc)
    kind = "i" if acc[0] == "i" else "f"
    if transposed or dtype != acc:
        cast = ""
        left, right = "{0}", "{1}"
        if dtype != acc:
            op = "arith.extsi" if acc[0] == "i" else "arith.extf"
            cast = f"%l = {op} {{0}} : {dtype} to {acc}\n%r = {op} {{1}} : {dtype} to {acc}\n"
            left, right = "%l", "%r"
        h = k.generic(
            ["ik", "jk" if transposed else "kj", "ij"],
            [(x, k.rows((depth,)), dtype), (w, shape, dtype)],
            (full, acc),
            f"{cast}%m = arith.mul{kind} {left}, {right} : {acc}\n"
            f"%y = arith.add{kind} {{acc}}, %m : {acc}",
            "k",
            zero,
        )
    else:
        h = k.matmul(x, w, zero, tile, columns, depth, dtype)
    top = k.constant(0 if kind == "i" else 0.0, acc)
    clamp = f"%y = arith.max{'si' if kind == 'i' else 'imumf'} %s, {top} : {acc}"
    y = k.generic(
        ["ij", "j", "ij"],
        [(h, full, acc), (b, (columns,), acc)],
        (full, acc),
        f"%s = {add(acc)} {{0}}, {{1}} : {acc}\n{clamp}",
    )
    k.store(y, (columns,), acc)
    X, W, B = values((ROWS, depth), dtype), values(shape, dtype), values(columns, acc)
    M = W.T if transposed else W
    product = wide(X) @ wide(M) if kind == "f" else X.astype(TYPES[acc]) @ M.astype(TYPES[acc])
    want = np.maximum(product + wide(B), 0)
    Case(
        "linear",
        k,
        [X, W, B],
        [((ROWS, columns), TYPES[acc])],
        [want],
        tolerance=tolerance_of(dtype),
    )


for depth, columns in (
    (384, 128),
    (3, 5),
    (100, 100),
    (7, 1),
    (128, 36),
    (5, 47),
    (1, 16),
    (600, 300),
):
    linear(depth, columns)
linear(64, 96, "f64")
linear(33, 12, "f64")
linear(20, 70, "i32")
linear(20, 70, "i64")
linear(64, 48, "i8", "i32")
linear(384, 128, transposed=True)
linear(5, 300, transposed=True)
linear(48, 33, "f64", transposed=True)
linear(24, 40, tile=1)
linear(24, 40, tile=7)


def middle():
    """(row, s, k) x (k, n): a static dim between rows and features."""
    k = Kernel("middle", tile=16)
    x = k.load((3, 20), "f32")
    w = k.shared((20, 40), "f32")
    full = k.rows((3, 40))
    h = k.generic(
        ["isk", "kn", "isn"],
        [(x, k.rows((3, 20)), "f32"), (w, (20, 40), "f32")],
        (full, "f32"),
        "%m = arith.mulf {0}, {1} : f32\n%y = arith.addf {acc}, %m : f32",
        "k",
        k.fill(0.0, full, "f32"),
    )
    y = k.generic(
        ["isn", "isn"], [(h, full, "f32")], (full, "f32"), "%y = arith.mulf {0}, {0} : f32"
    )
    k.store(y, (3, 40), "f32")
    X, W = values((ROWS, 3, 20), "f32"), values((20, 40), "f32")
    Case("linear", k, [X, W], [((ROWS, 3, 40), np.float32)], [(wide(X) @ wide(W)) ** 2])


def heads():
    """(row, k) x (k, h, d), then per row (row, h, d) x (row, g, d): no shared operand."""
    k = Kernel("heads", tile=16)
    x = k.load((24,), "f32")
    w = k.shared((24, 4, 20), "f32")
    full, scores = k.rows((4, 20)), k.rows((4, 4))
    product = "%m = arith.mulf {0}, {1} : f32\n%y = arith.addf {acc}, %m : f32"
    q = k.generic(
        ["ik", "khn", "ihn"],
        [(x, k.rows((24,)), "f32"), (w, (24, 4, 20), "f32")],
        (full, "f32"),
        product,
        "k",
        k.fill(0.0, full, "f32"),
    )
    s = k.generic(
        ["ihn", "ign", "ihg"],
        [(q, full, "f32"), (q, full, "f32")],
        (scores, "f32"),
        product,
        "n",
        k.fill(0.0, scores, "f32"),
    )
    k.store(s, (4, 4), "f32")
    X, W = values((ROWS, 24), "f32"), values((24, 4, 20), "f32")
    Q = np.einsum("rk,khn->rhn", wide(X), wide(W))
    Case("linear", k, [X, W], [((ROWS, 4, 4), np.float32)], [np.einsum("rhn,rgn->rhg", Q, Q)])


def residual():
    """Loads as init of a contraction and in its epilogue, an unused contraction."""
    k = Kernel("residual")
    x = k.load((32,), "f32")
    v = k.load((32,), "f32")
    w = k.shared((32, 32), "f32")
    full = k.rows((32,))
    a = k.matmul(x, w, x, 48, 32, 32, "f32")
    k.matmul(v, w, x, 48, 32, 32, "f32")
    b = k.generic(
        ["ij", "ij", "ij"],
        [(a, full, "f32"), (v, full, "f32")],
        (full, "f32"),
        "%y = arith.mulf {0}, {1} : f32",
    )
    c = k.matmul(b, w, b, 48, 32, 32, "f32")
    k.store(b, (32,), "f32")
    k.store(c, (32,), "f32")
    X, V, W = values((ROWS, 32), "f32"), values((ROWS, 32), "f32"), values((32, 32), "f32")
    B = (wide(X) + wide(X) @ wide(W)) * wide(V)
    shapes = [((ROWS, 32), np.float32)] * 2
    Case("linear", k, [X, V, W], shapes, [B, B + B @ wide(W)])


def division():
    """An integer division behind a contraction must not meet the rows behind the live ones."""
    k = Kernel("division")
    x = k.load((8,), "i64")
    w = k.shared((8, 24), "i64")
    full = k.rows((24,))
    h = k.matmul(x, w, k.fill(0, full, "i64"), 48, 24, 8, "i64")
    y = k.generic(
        ["ij", "ij"],
        [(h, full, "i64")],
        (full, "i64"),
        f"%n = arith.ori {{0}}, {k.constant(1, 'i64')} : i64\n%q = arith.divsi {k.constant(1000, 'i64')}, %n : i64\n"
        "%y = arith.addi %q, {0} : i64",
    )
    k.store(y, (24,), "i64")
    X, W = values((ROWS, 8), "i64"), values((8, 24), "i64")
    H = X @ W
    N = H | 1
    want = np.sign(N) * (1000 // np.abs(N)) + H
    Case("linear", k, [X, W], [((ROWS, 24), np.int64)], [want])


def attention_gate():
    """Per-row factor in an epilogue: rows broadcast over columns of a block."""
    k = Kernel("gate")
    x = k.load((16,), "f32")
    w = k.shared((16, 64), "f32")
    full, row = k.rows((64,)), k.rows(())
    total = k.generic(
        ["ij", "i"],
        [(x, k.rows((16,)), "f32")],
        (row, "f32"),
        "%y = arith.addf {0}, {acc} : f32",
        "j",
        k.fill(0.0, row, "f32"),
    )
    h = k.matmul(x, w, k.fill(0.0, full, "f32"), 48, 64, 16, "f32")
    y = k.generic(
        ["ij", "i", "ij"],
        [(h, full, "f32"), (total, row, "f32")],
        (full, "f32"),
        "%y = arith.mulf {0}, {1} : f32",
    )
    k.store(y, (64,), "f32")
    X, W = values((ROWS, 16), "f32"), values((16, 64), "f32")
    want = (wide(X) @ wide(W)) * wide(X).sum(-1, keepdims=True)
    Case("linear", k, [X, W], [((ROWS, 64), np.float32)], [want])


middle(), heads(), residual(), division(), attention_gate()


# --- Rows ----------------------------------------------------------------------------


def scalars():
    k = Kernel("scalars")
    x = k.load((), "f32")
    row = k.rows(())
    y = k.generic(
        ["i", "i"],
        [(x, row, "f32")],
        (row, "f32"),
        "%e = math.exp {0} : f32\n%y = arith.addf %e, {0} : f32",
    )
    k.store(y, (), "f32")
    X = values((ROWS,), "f32")
    Case("rows", k, [X], [((ROWS,), np.float32)], [np.exp(wide(X)) + wide(X)])


def permuted(dtype):
    """Transposed static dims, and indices of dims."""
    k = Kernel(f"permuted_{dtype}")
    x = k.load((3, 20), dtype)
    full = k.rows((20, 3))
    y = k.generic(
        ["iba", "iab"],
        [(x, k.rows((3, 20)), dtype)],
        (full, dtype),
        f"%p = linalg.index 1 : index\n%q = arith.index_cast %p : index to {dtype}\n"
        f"%y = arith.addi {{0}}, %q : {dtype}",
    )
    k.store(y, (20, 3), dtype)
    X = values((ROWS, 3, 20), dtype)
    want = X.transpose(0, 2, 1) + np.arange(20, dtype=TYPES[dtype])[None, :, None]
    Case("rows", k, [X], [((ROWS, 20, 3), TYPES[dtype])], [want])


def gathered():
    """Rows by number, with repetitions; what is made of them is used early and late."""
    k = Kernel("gathered")
    table = k.argument(("?",), "i64")
    rows = k.index_rows(table)
    u = k.gather((20,), "f32", rows)
    v = k.load((20,), "f32")
    w = k.shared((20, 20), "f32")
    full = k.rows((20,))
    p = k.generic(
        ["ij", "ij", "ij"],
        [(u, full, "f32"), (v, full, "f32")],
        (full, "f32"),
        "%y = arith.addf {0}, {1} : f32",
    )
    h = k.matmul(p, w, k.fill(0.0, full, "f32"), 48, 20, 20, "f32")
    y = k.generic(
        ["ij", "ij", "ij", "ij"],
        [(h, full, "f32"), (u, full, "f32"), (p, full, "f32")],
        (full, "f32"),
        "%a = arith.mulf {0}, {1} : f32\n%y = arith.addf %a, {2} : f32",
    )
    k.store(y, (20,), "f32")
    T = rng.integers(0, 9, ROWS)
    U, V, W = values((9, 20), "f32"), values((ROWS, 20), "f32"), values((20, 20), "f32")
    P = wide(U)[T] + wide(V)
    Case("rows", k, [T, U, V, W], [((ROWS, 20), np.float32)], [(P @ wide(W)) * wide(U)[T] + P])


def shared_work():
    """Ops without rows in the loop, and a product of rows with their result."""
    k = Kernel("shared_work")
    x = k.load((16,), "f32")
    w = k.shared((16, 600), "f32")
    g = k.shared((16,), "f32")
    scaled = k.generic(
        ["ab", "a", "ab"],
        [(w, (16, 600), "f32"), (g, (16,), "f32")],
        ((16, 600), "f32"),
        "%y = arith.mulf {0}, {1} : f32",
    )
    full = k.rows((600,))
    y = k.matmul(x, scaled, k.fill(0.0, full, "f32"), 48, 600, 16, "f32")
    k.store(y, (600,), "f32")
    X, W, G = values((ROWS, 16), "f32"), values((16, 600), "f32"), values(16, "f32")
    Case(
        "rows", k, [X, W, G], [((ROWS, 600), np.float32)], [wide(X) @ (wide(W) * wide(G)[:, None])]
    )


def views():
    k = Kernel("views", tile=16)
    x = k.load((4, 6), "f32")
    flat = k.emit(
        f"tensor.collapse_shape {x} [[0], [1, 2]] : {'tensor<16x4x6xf32>'} into tensor<16x24xf32>"
    )
    w = k.shared((24, 12), "f32")
    full = k.rows((12,))
    h = k.matmul(flat, w, k.fill(0.0, full, "f32"), 16, 12, 24, "f32")
    part = k.emit(
        f"tensor.extract_slice {h}[0, 2] [16, 8] [1, 1] : tensor<16x12xf32> to tensor<16x8xf32>"
    )
    big = k.emit(
        f"tensor.expand_shape {part} [[0], [1, 2]] output_shape [16, 4, 2] : tensor<16x8xf32> into tensor<16x4x2xf32>"
    )
    y = k.generic(
        ["iab", "iba"],
        [(big, k.rows((4, 2)), "f32")],
        (k.rows((2, 4)), "f32"),
        "%y = arith.addf {0}, {0} : f32",
    )
    k.store(y, (2, 4), "f32")
    X, W = values((ROWS, 4, 6), "f32"), values((24, 12), "f32")
    H = (wide(X).reshape(ROWS, 24) @ wide(W))[:, 2:10].reshape(ROWS, 4, 2)
    Case("rows", k, [X, W], [((ROWS, 2, 4), np.float32)], [2 * H.transpose(0, 2, 1)])


scalars(), permuted("i8"), permuted("i64"), gathered(), shared_work(), views()


# --- Folds ---------------------------------------------------------------------------

LENGTHS = [5, 64, 1, 37, 100, 3, 48, 2]


def segment(shape, kind, dtype="f32"):
    """Sums, or the largest element and its row, of all rows of a sample."""
    name = "x".join(map(str, shape)) or "scalar"
    k = Kernel(f"segment_{kind}_{name}_{dtype}")
    k.segments = k.argument(("?",), "i64")
    flush = k.index_rows(k.argument(("?",), "i64"))
    sizes = k.load((), "i64")
    x = k.load(shape, dtype)
    full = k.rows(shape)
    rows = sum(LENGTHS)
    X = values((rows, *shape), dtype)
    starts = harness.offsets(LENGTHS)
    F = np.full(rows, -1, np.int64)
    F[starts[1:] - 1] = np.arange(len(LENGTHS))
    N = np.repeat(LENGTHS, LENGTHS).astype(np.int64)
    parts = [wide(X[a:b]) for a, b in zip(starts, starts[1:])]
    if kind == "mean":
        k.fold(
            [(x, full, dtype)],
            [(0.0, dtype)],
            [(shape, dtype)],
            flush,
            [(sizes, k.rows(()), "i64")],
            f"^bb0(%x: {dtype}, %a: {dtype}):\n%0 = arith.addf %a, %x : {dtype}\nragged.yield %0 : {dtype}",
            f"^bb0(%a: {dtype}, %n: i64):\n%0 = arith.sitofp %n : i64 to {dtype}\n"
            f"%1 = arith.divf %a, %0 : {dtype}\nragged.yield %1 : {dtype}",
        )
        outputs, want = (
            [((len(LENGTHS), *shape), TYPES[dtype])],
            [np.stack([p.mean(0) for p in parts])],
        )
    else:
        letters = "ijk"[: len(shape) + 1]
        number = k.generic(
            ["i", letters],
            [(k.load((), "i64"), k.rows(()), "i64")],
            (full, "i64"),
            f"%y = arith.addi {{0}}, {k.constant(0, 'i64')} : i64",
        )
        k.fold(
            [(x, full, dtype), (number, full, "i64")],
            [(-1e30, dtype), (-1, "i64")],
            [(shape, dtype), (shape, "i64")],
            flush,
            [],
            f"^bb0(%x: {dtype}, %i: i64, %a: {dtype}, %b: i64):\n"
            f"%g = arith.cmpf ogt, %x, %a : {dtype}\n%0 = arith.select %g, %x, %a : {dtype}\n"
            f"%1 = arith.select %g, %i, %b : i64\nragged.yield %0, %1 : {dtype}, i64",
            f"^bb0(%a: {dtype}, %b: i64):\nragged.yield %a, %b : {dtype}, i64",
        )
        outputs = [((len(LENGTHS), *shape), TYPES[dtype]), ((len(LENGTHS), *shape), np.int64)]
        want = [np.stack([p.max(0) for p in parts]), np.stack([p.argmax(0) for p in parts])]
    inputs = [starts, F, N, X]
    if kind != "mean":
        inputs.append(np.concatenate([np.arange(n) for n in LENGTHS]).astype(np.int64))
    Case("fold", k, inputs, outputs, want, units=len(LENGTHS), tolerance=tolerance_of(dtype))


for shape in ((), (1,), (5,), (100,), (128,), (1000,), (3, 384)):
    segment(shape, "mean")
    segment(shape, "argmax")
segment((12,), "mean", "f64")


def main():
    groups = [a for a in sys.argv[1:] if not a.startswith("--")]
    options = " ".join(a[2:] for a in sys.argv[1:] if a.startswith("--"))
    cases = [c for c in CASES if not groups or c.group in groups or c.kernel.name in groups]
    text = "\n".join(c.kernel.text() for c in cases)
    library, scratch = harness.build(text, harness.workspace(), "cases", options)
    for case in cases:
        name = case.kernel.name
        kernel = harness.Kernel(library, name, scratch[name])
        try:
            harness.check(
                kernel,
                case.inputs,
                case.outputs,
                case.units,
                case.expected,
                tolerance=case.tolerance,
            )
        except SystemExit as problem:
            raise SystemExit(f"{name}: {problem}") from None
    print(f"{len(cases)} kernels: ok")


main()
