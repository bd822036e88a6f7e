# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contractions: every role of dims, layouts, paths, dtypes and sizes around register blocks."""

import numpy as np
from oracle_programs import case, normal, other, rectangles, rows, together, weights
from oracle_programs_more import sentences


def others(*features, dtype="f4"):
    """Samples of the second length."""
    make = rows(*features, dtype=dtype)
    return lambda rng, lengths: make(rng, [other(n) for n in lengths])


def kept(args):
    """Arguments around 2: a sum of one cell that cancels has no digits to compare."""

    def shifted(x):
        if isinstance(x, list):
            return [shifted(y) for y in x]
        x = np.asarray(x)
        return (x + 2).astype(x.dtype) if x.dtype.kind == "f" else x

    return lambda rng, lengths: [shifted(x) for x in args(rng, lengths)]


def contract(name, equation, types, result, args, batch=False, shared=False, **options):
    """One contraction, checked against np.einsum too."""
    names = ", ".join(f"%x{k}: {t}" for k, t in enumerate(types))
    operands = ", ".join(f"%x{k}" for k in range(len(types)))
    word = " batch" if batch else ""
    plain = None if batch else (lambda *x: (np.einsum(equation, *x),))
    case(
        "contract_" + name,
        f"""func.func @f({names}) -> {result} {{
  %r = ragged.contract "{equation}" {operands}{word} : {", ".join(types)} -> {result}
  return %r : {result} }}""",
        kept(args),
        plain,
        batch=batch or shared,
        **options,
    )


# Products of two values of a sample.
contract("scores", "nc,mc->nm", ["<N, 24>", "<M, 24>"], "<N, M>", together(rows(24), others(24)))
contract("self", "nc,mc->nm", ["<N, 40>", "<N, 40>"], "<N, N>", together(rows(40), rows(40)))
contract("values", "nm,mc->nc", ["<N, M>", "<M, 70>"], "<N, 70>",
         together(rectangles(), others(70)))  # fmt: skip
contract("square", "ij,jc->ic", ["<N, N>", "<N, 5>"], "<N, 5>", together(
    lambda rng, lengths: [normal(rng, n, n) for n in lengths], rows(5)))  # fmt: skip
contract("transposed", "mn,mc->cn", ["<M, N>", "<M, 9>"], "<9, N>", together(
    lambda rng, lengths: [normal(rng, other(n), n) for n in lengths], others(9)))  # fmt: skip
contract("gram", "nk,nm->km", ["<N, 33>", "<N, 70>"], "<33, 70>", together(rows(33), rows(70)))
contract("dense_per_sample", "nk,kc->nc", ["<N, 17>", "<17, 20>"], "<N, 20>", together(
    rows(17), lambda rng, lengths: [normal(rng, 17, 20) for _ in lengths]))  # fmt: skip
contract("shared_ragged", "nm,kc->nmkc", ["<N, M>", "tensor<2x3xf32>"], "<N, M, 2, 3>",
         together(rectangles(), weights(2, 3)), long=60)  # fmt: skip
contract("heads", "nhc,mhc->nmh", ["<N, 3, 16>", "<M, 3, 16>"], "<N, M, 3>",
         together(rows(3, 16), others(3, 16)))  # fmt: skip
contract("head_values", "nmh,mhc->nhc", ["<N, M, 3>", "<M, 3, 20>"], "<N, 3, 20>",
         together(rectangles(3), others(3, 20)))  # fmt: skip
contract("triangle", "ikc,jkc->ijc", ["<N, N, 5>", "<N, N, 5>"], "<N, N, 5>", together(
    *[lambda rng, lengths: [normal(rng, n, n, 5) for n in lengths]] * 2), long=40)  # fmt: skip
contract("triangle_lanes", "kic,kjc->ijc", ["<N, N, 33>", "<N, N, 33>"], "<N, N, 33>", together(
    *[lambda rng, lengths: [normal(rng, n, n, 33) for n in lengths]] * 2), long=30)  # fmt: skip
contract("three_levels", "ijk,kc->ijc", ["<N, N, M>", "<M, 6>"], "<N, N, 6>", together(
    lambda rng, lengths: [normal(rng, n, n, other(n)) for n in lengths], others(6)),
    long=30)  # fmt: skip
contract("deep", "nhc,mhc->nm", ["<N, 3, 8>", "<M, 3, 8>"], "<N, M>",
         together(rows(3, 8), others(3, 8)))  # fmt: skip
contract("deep_apart", "nhc,hmc->nm", ["<N, 3, 8>", "<3, M, 8>"], "<N, M>", together(
    rows(3, 8), lambda rng, lengths: [normal(rng, 3, other(n), 8) for n in lengths]))  # fmt: skip
contract("ragged_deep", "nmc,nme->ce", ["<N, M, 7>", "<N, M, 12>"], "<7, 12>",
         together(rectangles(7), rectangles(12)))  # fmt: skip
contract("permuted", "cn,cm->nm", ["<24, N>", "<24, M>"], "<N, M>", together(
    lambda rng, lengths: [normal(rng, 24, n) for n in lengths],
    lambda rng, lengths: [normal(rng, 24, other(n)) for n in lengths]))  # fmt: skip
contract("order", "mnc,me->nce", ["<M, N, 4; f32; order = [1, 0, 2]>", "<M, 6>"], "<N, 4, 6>",
         together(lambda rng, lengths: [normal(rng, other(n), n, 4) for n in lengths],
                  others(6)))  # fmt: skip

# Sums without a product of matrices, and operands that repeat.
contract("vector", "nm,m->n", ["<N, M>", "<M>"], "<N>", together(rectangles(), others()))
contract("dot", "n,n->", ["<N>", "<N>"], "<>", together(rows(), rows()))
contract("rows_dot", "nc,nc->n", ["<N, 9>", "<N, 9>"], "<N>", together(rows(9), rows(9)))
contract("outer", "n,m->nm", ["<N>", "<M>"], "<N, M>", together(rows(), others()))
contract("one", "nmc->cn", ["<N, M, 4>"], "<4, N>", together(rectangles(4)))
contract("diagonal", "iic->ic", ["<N, N, 3>"], "<N, 3>", together(
    lambda rng, lengths: [normal(rng, n, n, 3) for n in lengths]))  # fmt: skip
contract("trace", "ii->", ["<N, N>"], "<>", together(
    lambda rng, lengths: [normal(rng, n, n) for n in lengths]))  # fmt: skip
contract("alone", "nm,kc->nc", ["<N, M>", "<K, 4>"], "<N, 4>", together(
    rectangles(), lambda rng, lengths: [normal(rng, n // 2, 4) for n in lengths]))  # fmt: skip
contract("three", "nc,mc,me->ne", ["<N, 8>", "<M, 8>", "<M, 6>"], "<N, 6>",
         together(rows(8), others(8), others(6)))  # fmt: skip
contract("weights", "nhc,hcd->nhd", ["<N, 3, 8>", "tensor<3x8x16xf32>"], "<N, 3, 16>",
         together(rows(3, 8), weights(3, 8, 16)))  # fmt: skip
contract("dense", "ij,kj->ki", ["tensor<5x40xf32>", "tensor<70x40xf32>"], "tensor<70x5xf32>",
         together(weights(5, 40), weights(70, 40)), shared=True)  # fmt: skip

# Paths.
case(
    "contract_path",
    """func.func @f(%x: <N, 4>, %n: <S; i64>, %c: <4, 9>, %w: <N, 9>) -> (<T, T; f32; path = [B, S]>, <T, 9; f32; path = [B, S]>) {
  %y = ragged.nest %x, %n : <N, 4>, <S; i64> -> <T, 4; f32; path = [B, S]>
  %s = ragged.contract "tc,uc->tu" %y, %y : <T, 4; f32; path = [B, S]>, <T, 4; f32; path = [B, S]> -> <T, T; f32; path = [B, S]>
  %g = ragged.contract "nc,nd->cd" %w, %w : <N, 9>, <N, 9> -> <9, 9>
  %d = ragged.contract "tc,cd,de->te" %y, %c, %g : <T, 4; f32; path = [B, S]>, <4, 9>, <9, 9> -> <T, 9; f32; path = [B, S]>
  return %s, %d : <T, T; f32; path = [B, S]>, <T, 9; f32; path = [B, S]> }""",
    kept(lambda rng, lengths: [*sentences(rng, lengths), [normal(rng, 4, 9) for _ in lengths],
                               rows(9)(rng, lengths)]),
)  # fmt: skip

# Types. The first of f64 is long enough for several parts of the depth.
for dtype, numpy in (("f64", "f8"), ("i32", "i4"), ("i8", "i1"), ("i64", "i8")):
    contract(f"scores_{dtype}", "nc,mc->nm", [f"<N, 12; {dtype}>", f"<M, 12; {dtype}>"],
             f"<N, M; {dtype}>", together(rows(12, dtype=numpy), others(12, dtype=numpy)))  # fmt: skip
    contract(f"values_{dtype}", "nm,nc->mc", [f"<N, N; {dtype}>", f"<N, 19; {dtype}>"],
             f"<N, 19; {dtype}>", together(
                 lambda rng, lengths, t=numpy: [
                     normal(rng, n, n, dtype=t) if t == "f8" else rng.integers(-9, 9, (n, n)).astype(t)
                     for n in lengths], rows(19, dtype=numpy)))  # fmt: skip
    contract(f"batch_{dtype}", "nk,nm->km", [f"<N, 5; {dtype}>", f"<N, 20; {dtype}>"],
             f"tensor<5x20x{dtype}>", together(rows(5, dtype=numpy), rows(20, dtype=numpy)),
             batch=True)  # fmt: skip
contract("any", "nk,km->nm", ["<N, K; i1>", "<K, M; i1>"], "<N, M; i1>", together(
    lambda rng, lengths: [rng.random((n, n // 2)) < 0.2 for n in lengths],
    lambda rng, lengths: [rng.random((n // 2, other(n))) < 0.2 for n in lengths]))  # fmt: skip
contract("any_batch", "nk,nm->km", ["<N, 3; i1>", "<N, 4; i1>"], "tensor<3x4xi1>", together(
    lambda rng, lengths: [rng.random((n, 3)) < 0.1 for n in lengths],
    lambda rng, lengths: [rng.random((n, 4)) < 0.1 for n in lengths]), batch=True)  # fmt: skip

# Sums over the batch.
contract("batch", "nk,nm->km", ["<N, 40>", "<N, 70>"], "tensor<40x70xf32>",
         together(rows(40), rows(70)), batch=True)  # fmt: skip
contract("batch_pairs", "nmk,nmc->kc", ["<N, M, 6>", "<N, M, 8>"], "tensor<6x8xf32>",
         together(rectangles(6), rectangles(8)), batch=True)  # fmt: skip
contract("batch_mixed", "nmk,mnc->ck", ["<N, M, 6>", "<M, N, 8>"], "tensor<8x6xf32>", together(
    rectangles(6), lambda rng, lengths: [normal(rng, other(n), n, 8) for n in lengths]),
    batch=True)  # fmt: skip
contract("batch_heads", "nhk,nhm->hkm", ["<N, 2, 6>", "<N, 2, 18>"], "tensor<2x6x18xf32>",
         together(rows(2, 6), rows(2, 18)), batch=True)  # fmt: skip
contract("batch_deep", "nhk,nhm->km", ["<N, 2, 6>", "<N, 2, 18>"], "tensor<6x18xf32>",
         together(rows(2, 6), rows(2, 18)), batch=True)  # fmt: skip
contract("batch_dense", "k,m->km", ["<7>", "<9>"], "tensor<7x9xf32>", together(
    lambda rng, lengths: [normal(rng, 7) for _ in lengths],
    lambda rng, lengths: [normal(rng, 9) for _ in lengths]), batch=True)  # fmt: skip
contract("batch_vector", "nk,n->k", ["<N, 7>", "<N>"], "tensor<7xf32>", together(rows(7), rows()),
         batch=True)  # fmt: skip

case(
    "contract_made",
    """func.func @f(%x: <N, 12>, %y: <N, 12>) -> (tensor<12x12xf32>, <N, N>) {
  %a = ragged.map ins(%x, %y : <N, 12>, <N, 12>) {
  ^bb0(%u: f32, %v: f32):
    %s = arith.addf %u, %v : f32
    ragged.yield %s : f32 } -> <N, 12>
  %w = ragged.contract "nk,nm->km" %a, %y batch : <N, 12>, <N, 12> -> tensor<12x12xf32>
  %h = ragged.slice %a dim 1 start <:0> size <:5> : <N, 12> -> <N, 5>
  %t = ragged.slice %y dim 1 start <:7> size <:5> : <N, 12> -> <N, 5>
  %s = ragged.contract "nc,mc->nm" %h, %t : <N, 5>, <N, 5> -> <N, N>
  return %w, %s : tensor<12x12xf32>, <N, N> }""",
    kept(together(rows(12), rows(12))),
    batch=True,
)

case(
    "contract_slices",
    """func.func @f(%x: <N, 12>, %y: <N, 6>) -> <N, N - min(N, 1)> {
  %r = ragged.slice %x dim 0 start <:min(N, 1)> size <:N - min(N, 1)> : <N, 12> -> <N - min(N, 1), 12>
  %t = ragged.slice %r dim 1 start <:3> size <:6> : <N - min(N, 1), 12> -> <N - min(N, 1), 6>
  %s = ragged.contract "nc,mc->nm" %y, %t : <N, 6>, <N - min(N, 1), 6> -> <N, N - min(N, 1)>
  return %s : <N, N - min(N, 1)> }""",
    kept(together(rows(12), rows(6))),
    lambda x, y: (y @ x[1:, 3:9].T,),
)
