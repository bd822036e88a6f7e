# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled programs as PyTorch operators, beside the same function written with torch per sample."""

import numpy as np
import pytest
from helpers import raises

import nested

torch = pytest.importorskip("torch")
from nested.torch import Ragged, compile  # noqa: E402

LENGTHS = [(3, 5, 1), (), (0,), (4, 0, 2, 7), (1,), (6, 6)]


def block(x, w):
    p = (x @ w["u"])[:, None, :] + (x @ w["v"])[None, :, :]
    p = p / (1 + np.exp(-p))
    return x + nested.mean(p, axis=1) @ w["g"], p


def block_of_torch(x, w):
    p = (x @ w["u"])[:, None, :] + (x @ w["v"])[None, :, :]
    p = p / (1 + torch.exp(-p))
    mean = p.mean(1) if len(x) else p.sum(1)
    return x + mean @ w["g"], p


def weights(dtype=torch.float64):
    made = torch.Generator().manual_seed(3)
    sizes = {"u": (6, 4), "v": (6, 4), "g": (4, 6)}
    return {k: torch.randn(s, generator=made, dtype=dtype).requires_grad_()
            for k, s in sizes.items()}  # fmt: skip


def samples(lengths, dtype=torch.float64):
    made = torch.Generator().manual_seed(len(lengths))
    return [torch.randn(n, 6, generator=made, dtype=dtype).requires_grad_() for n in lengths]


def loss_of(single, pair):
    """An eager loss of outputs of different rank."""
    return (single**2).sum() + (pair.abs() * 0.5).sum()


compiled = compile(block)


@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
@pytest.mark.parametrize("dtype, tolerance", [(torch.float64, 1e-12), (torch.float32, 1e-4)])
def test_gradients_of_singles_and_pairs(lengths, dtype, tolerance):
    w, xs = weights(dtype), samples(lengths, dtype)
    batch = Ragged.from_list(xs, dims=("N", 6))
    batch.values = batch.values.to(dtype)
    single, pair = compiled(batch, w)
    assert single.dims == ("N", 6) and pair.dims == ("N", "N", 4)
    assert pair.lengths.tolist() == [[n, n] for n in lengths]
    loss = loss_of(single.values, pair.values)
    want = sum(loss_of(*block_of_torch(x, w)) for x in xs) if xs else torch.zeros((), dtype=dtype)
    torch.testing.assert_close(loss, want, rtol=tolerance, atol=tolerance)
    leaves = [*xs, *w.values()]
    got = torch.autograd.grad(loss, leaves, allow_unused=True)
    if not xs:
        return  # Nothing reaches the weights.
    for a, b in zip(got, torch.autograd.grad(want, leaves)):
        torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("used", [0, 1])
def test_an_output_that_no_loss_uses(used):
    w, xs = weights(), samples((3, 5))
    out = compiled(Ragged.from_list(xs, dims=("N", 6)), w)[used]
    got = torch.autograd.grad((out.values**2).sum(), w["u"])
    want = torch.autograd.grad(sum((block_of_torch(x, w)[used] ** 2).sum() for x in xs), w["u"])
    torch.testing.assert_close(got, want, rtol=1e-12, atol=1e-12)


def test_only_some_arguments_need_gradients():
    w, xs = weights(), samples((3, 5))
    fixed = {k: v.detach() for k, v in w.items()} | {"u": w["u"]}
    single, _ = compiled(Ragged.from_list([x.detach() for x in xs], dims=("N", 6)), fixed)
    single.values.sum().backward()
    want = torch.autograd.grad(sum(block_of_torch(x, w)[0].sum() for x in xs), w["u"])[0]
    torch.testing.assert_close(w["u"].grad, want, rtol=1e-12, atol=1e-12)


def test_gradcheck():
    def f(x, scale):
        return nested.softmax(x * scale, axis=0), nested.batch.mean(x, axis=None)

    made = compile(f)
    lengths = torch.tensor([[2], [0], [3]])

    def call(values, scale):
        soft, mean = made(Ragged(values, lengths, ("N", 2)), scale)
        return soft.values, mean

    values = torch.randn(5, 2, dtype=torch.float64, requires_grad=True)
    scale = torch.tensor([1.5, -0.5], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(call, (values, scale))


def test_operators_are_registered_well():
    w = weights()
    batch = Ragged.from_list(samples((3, 0, 5)), dims=("N", 6))
    compiled(batch, w)
    from nested.torch import _programs

    number = next(k for k, p in enumerate(_programs) if p.jitted is compiled._jitted)
    tensors = [batch.values.detach().requires_grad_(), batch.lengths, *(w[k] for k in sorted(w))]
    passed = torch.library.opcheck(torch.ops.nested.run.default, (number, tensors))
    assert set(passed.values()) == {"SUCCESS"} and len(passed) >= 4
    cotangents = [torch.ones_like(batch.values.detach()), batch.lengths]
    arguments = (number, [t.detach() for t in tensors], cotangents, [0], [0, 2])
    passed = torch.library.opcheck(torch.ops.nested.run_backward.default, arguments)
    assert set(passed.values()) == {"SUCCESS"}


def test_inside_torch_compile():
    """One graph for all lengths: no break, no new program of ours, gradients through it."""
    torch._dynamo.reset()
    made = compile(block)

    def step(x, w):
        single, pair = made(x, w)
        return loss_of(torch.relu(single.values), pair.values)

    graph = torch.compile(step, fullgraph=True, backend="aot_eager", dynamic=True)
    w = weights()
    from nested.torch import _programs

    for lengths in ((3, 5), (4, 2, 7), (8,), (1, 9, 3, 3)):
        batch = Ragged.from_list([x.detach() for x in samples(lengths)], dims=("N", 6))
        got, want = graph(batch, w), step(batch, w)
        torch.testing.assert_close(got, want)
        for a, b in zip(torch.autograd.grad(got, [*w.values()]),
                        torch.autograd.grad(want, [*w.values()])):  # fmt: skip
            torch.testing.assert_close(a, b)
    assert sum(p.jitted is made._jitted for p in _programs) == 1


def test_layouts_and_dtypes():
    def f(a, b, k):
        return a.sum(1), np.argmax(b, axis=0), {"double": a + a, "k": k}

    made = compile(f)
    a = [torch.randn(3, n, 2) for n in (4, 0, 1)]
    b = [torch.randint(9, (n, 2)) for n in (1, 2, 3)]
    sums, best, rest = made(Ragged.from_list(a, dims=(3, "N", 2)),
                            Ragged.from_list(b, dims=("M", 2)), 7)  # fmt: skip
    assert rest["k"] == 7 and best.dtype == torch.int64 and best.dims == (2,)
    for i in range(3):
        torch.testing.assert_close(sums.unbind()[i], a[i].sum(1))
        assert best.unbind()[i].tolist() == b[i].argmax(0).tolist()
        assert rest["double"].unbind()[i].equal(2 * a[i])
    assert [s.shape for s in rest["double"].unbind()] == [s.shape for s in a]


def test_memory_is_shared():
    x = nested.from_list([np.ones((n, 3)) for n in (2, 3)])
    ragged = Ragged.from_nested(x)
    assert ragged.nested() == x and np.shares_memory(ragged.nested().values, x.values)


def test_strided_tensors():
    made = compile(lambda x, w: x @ w)
    values, w = torch.randn(6, 10)[:, ::2], torch.randn(7, 5).T
    out = made(Ragged(values, torch.tensor([[2], [4]]), ("N", 5)), w)
    torch.testing.assert_close(out.values, values @ w)


def test_unbind_has_derivatives():
    xs = samples((3, 0, 2))
    parts = Ragged.from_list(xs, dims=("N", 6)).unbind()
    assert all(p.equal(x) for p, x in zip(parts, xs))
    sum(p.sum() * (i + 1) for i, p in enumerate(parts)).backward()
    assert [x.grad.unique().tolist() for x in xs] == [[1], [], [3]]


def test_errors():
    w = weights()
    good = Ragged.from_list(samples((3, 5)), dims=("N", 6))
    with raises(nested.ArgumentError, "argument `0` has values of shape (8, 6): expected (9, 6)"):
        compiled(Ragged(good.values, torch.tensor([[3], [6]]), ("N", 6)), w)
    with raises(nested.StructureError, "sample 1 has shape (5, 7): expected (N, 6)"):
        Ragged.from_list([torch.ones(3, 6), torch.ones(5, 7)], dims=("N", 6))
    with raises(nested.ArgumentError, "argument `1.g` is on meta, but programs run on the CPU"):
        compiled(good, w | {"g": w["g"].detach().to("meta")})
    with raises(nested.TraceError, "dtype complex64 is not supported"):
        compile(lambda x: x)(
            Ragged(torch.ones(3, dtype=torch.complex64), torch.tensor([[3]]), ("N",))
        )
    with raises(nested.ShapeError, "6", "5"):
        compiled(Ragged(torch.ones(3, 5, dtype=torch.float64), torch.tensor([[3]]), ("N", 5)), w)
    with raises(nested.TraceError, "returns nothing that depends on its arguments"):
        compile(lambda x: 3)(good)


def test_second_derivatives_are_refused():
    x = Ragged.from_list(samples((3,)), dims=("N", 6))
    out = compile(lambda x: x * x)(x)
    first = torch.autograd.grad(out.values.sum(), x.values, create_graph=True)[0]
    with pytest.raises(RuntimeError, match="nested.run_backward"):
        first.sum().backward()
