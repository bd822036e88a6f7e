# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bfloat16 without the package ml_dtypes: a declared dtype of 16 bits."""

import importlib.util
import os
import pickle
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
from oracle import LIBRARIES
from test_halves import edges, integers, nearest, nearest_to

import nested
from nested import _dtypes

NATIVE = np.dtype(ml_dtypes.bfloat16)


@pytest.fixture
def declared(monkeypatch):
    """The module of dtypes as it is without ml_dtypes."""
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    spec = importlib.util.spec_from_file_location("nested._declared_dtypes", _dtypes.__file__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.IS_DECLARED
    return module


def bits(array):
    return array.view(np.uint16)


def test_conversion(declared):
    """Rounded once, from every dtype; exact to wider ones."""
    every = np.arange(2**16, dtype=np.uint16)
    for wide in ("f4", "f8"):
        back = declared.convert(every.view(declared.bfloat16), np.dtype(wide))
        np.testing.assert_array_equal(back, every.view(NATIVE).astype(wide))
    x = edges(NATIVE)
    for given in (x, x.astype("f4")):
        got, want = (
            bits(declared.convert(given, declared.bfloat16)),
            nearest(given.astype("f8"), NATIVE),
        )
        nan = np.isnan(given)
        np.testing.assert_array_equal(got[~nan], bits(want)[~nan])
        assert np.isnan(got[nan].view(NATIVE).astype("f4")).all()
    for signed in (True, False):
        for width in (8, 16, 32, 64):
            x = integers("bf16", signed, width)
            want = np.array([nearest_to(int(n), 8) for n in x], "f8").astype(NATIVE)
            np.testing.assert_array_equal(bits(declared.convert(x, declared.bfloat16)), bits(want))
    assert declared.convert(1.5, declared.bfloat16).shape == ()
    half = declared.convert(np.float16(0.1), declared.bfloat16)
    assert bits(half) == bits(np.float16(0.1).astype(NATIVE))


def test_promotion(declared):
    """As with ml_dtypes, where that has a rule."""
    other = {declared.bfloat16: NATIVE}
    for partner in ("?", "i1", "u1", "i2", "i4", "i8", "f2", "f4", "f8"):
        pair = (declared.bfloat16, np.dtype(partner))
        want = np.add.resolve_dtypes((NATIVE, pair[1], None))[2]
        got = declared.result_type(*pair)
        assert other.get(got, got) == want, partner
        assert _dtypes.result_type(NATIVE, pair[1]) == want, partner
        got = declared.loop_dtypes(np.add, (*pair, None))
        assert [other.get(d, d) for d in got] == [want] * 3, partner
    for number in (True, 2, 2.5):
        assert declared.result_type(declared.bfloat16, number) == declared.bfloat16
    assert declared.loop_dtypes(np.less, (declared.bfloat16, float, None)) == (
        declared.bfloat16, declared.bfloat16, np.dtype(bool))  # fmt: skip
    with pytest.raises(TypeError):
        declared.loop_dtypes(np.bitwise_and, (declared.bfloat16, int, None))


def test_pickles_go_both_ways():
    """A batch is pickled as bits."""
    x = nested.from_list([np.arange(n, dtype=NATIVE) for n in (3, 0, 2)])
    text = pickle.dumps(x)
    assert b"ml_dtypes" not in text
    assert pickle.loads(text) == x


PROGRAM = """
import pickle
import sys

sys.modules["ml_dtypes"] = None
import numpy as np

import nested

half = nested.bfloat16
x = np.linspace(-3, 3, 40).reshape(20, 2)
plain = nested.astype(x, half)
assert plain.dtype == half and half.itemsize == 2
exact = nested.astype(plain, "f8")
np.testing.assert_allclose(exact, x, rtol=2.0**-8)
batch = nested.from_list([plain[:7], plain[7:7], plain[7:]])
assert batch.dtype == half and "bfloat16" in repr(batch)
assert nested.from_list([x], dtype=half) == nested.from_values(plain, [20])
assert nested.from_list([x], dtype="bfloat16").dtype == half
assert pickle.loads(pickle.dumps(batch)) == batch != batch * 2
assert (batch.to_padded(1.5).view("u2")[1] == 0x3FC0).all()


def f(x):
    return (
        np.exp(x) * 2 + 1, nested.sum(x, axis=0), np.where(x > 0, x, 0), nested.layer_norm(x),
        nested.softmax(x, axis=0), np.full_like(x, 1.5), np.concatenate([x, x], axis=1),
        np.tril(x.T @ x), nested.pad(x, ((1, 0), (0, 0)), constant_values=0.5), np.clip(x, -1, 1.0),
        nested.masked_fill(x, x > 1, 0.25), x @ np.eye(2, dtype="f4"), x > 0, x.astype(np.float32),
        np.degrees(x) * 0, np.nan_to_num(x), nested.random.uniform(3, x.shape).astype(half),
    )


results = nested.jit(f)(batch)
wide = nested.jit(f)(batch.astype("f4"))
for k, (a, b) in enumerate(zip(results, wide)):
    assert a.dtype == {11: np.float32, 12: bool, 13: np.float32}.get(k, half), k
    a, b = (v.astype("f4").values for v in (a, b))
    largest = np.abs(b).max(initial=0)
    np.testing.assert_allclose(a, b, rtol=0, atol=3 * 2.0**-8 * largest, err_msg=f"result {k}")
slope = nested.grad(lambda x: nested.batch.sum(x * x, axis=None))(batch)
assert slope.dtype == half and slope == batch * 2
assert (batch + batch) == batch * 2  # eager
out = nested.jit(lambda x, w: x * w)(batch, plain[0])
np.testing.assert_allclose(out.astype("f4").values, exact * exact[0], rtol=2.0**-7)
assert nested.ones((2,), half).view("u2").tolist() == [0x3F80] * 2
assert nested.ones_like(plain).view("u2").min() == 0x3F80
assert nested.full_like(plain, 0.1).view("u2").max() == 0x3DCD
try:
    nested.jit(lambda x: x & 1)(batch)
except nested.TraceError as error:
    assert "not defined for bfloat16, int64" in str(error), error
else:
    raise AssertionError("bits of a float")
try:
    plain + 1
except TypeError:
    pass
else:
    raise AssertionError("NumPy computes with bits")
"""


def test_programs(tmp_path):
    """Everything that batches and programs do with the dtype."""
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": str(LIBRARIES.parent / "python")}
    run = subprocess.run([sys.executable, "program.py"], capture_output=True, text=True, cwd=tmp_path,
                         env=environment)  # fmt: skip
    assert run.returncode == 0, run.stderr
