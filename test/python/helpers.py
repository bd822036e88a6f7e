# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""References: the same Python function on each sample, in float64."""

import linecache
import traceback

import numpy as np
import pytest

import nested


def normal(rng, *shape, dtype=np.float32, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype(dtype)


def batch_of(rng, lengths, *features, dtype=np.float32):
    """A batch [N, features] with the given lengths."""
    dims = ("N", *features)
    xs = [normal(rng, n, *features, dtype=dtype) for n in lengths]
    return nested.from_list(xs, dims=dims, dtype=dtype)


def unnamed(batch):
    """The batch without names of the user."""
    return nested.from_list(batch.to_list(), dtype=batch.dtype) if len(batch) else batch


def widened(x):
    """Arrays as float64, in nests too."""
    if isinstance(x, dict):
        return {k: widened(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return type(x)(widened(v) for v in x)
    if isinstance(x, (np.ndarray, np.generic)) and np.asarray(x).dtype.kind == "f":
        return np.asarray(x, np.float64)[()]
    return x


def flat(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def check(function, *args, tolerance=1e-5, jitted=None):
    """Compiled results against the function on each sample in float64."""
    compiled = flat((jitted or nested.jit(function))(*args))
    batches = [a for a in args if isinstance(a, nested.NestedTensor)]
    for i in range(len(batches[0])):
        sample = [a[i] if isinstance(a, nested.NestedTensor) else a for a in args]
        with np.errstate(all="ignore"):
            expected = flat(function(*widened(sample)))
        assert len(expected) == len(compiled)
        for got, want in zip(compiled, expected):
            assert isinstance(got, nested.NestedTensor)
            close(got[i], want, tolerance, f"sample {i}")
    return compiled


def close(got, want, tolerance=1e-5, what=""):
    """Within a tolerance relative to the largest number."""
    want = np.asarray(want)
    assert got.shape == want.shape, what
    if want.dtype.kind in "bi":
        np.testing.assert_array_equal(got, want, err_msg=what)
        return
    finite = want[np.isfinite(want)]
    largest = max(float(np.abs(finite).max(initial=0)), 1e-30)
    np.testing.assert_allclose(
        np.asarray(got, np.float64), want, rtol=0, atol=tolerance * largest, err_msg=what
    )


def same_bits(a, b):
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    assert a.dtype == b.dtype and a.shape == b.shape
    assert a.tobytes() == b.tobytes()


class Raised:
    """``with raises(Error, "text", line="x + y") as e``: the message has the text, the traceback
    ends at a line of the caller's file with that source, and shows no frame of the package."""

    def __init__(self, error, *texts, line=None):
        self.error, self.texts, self.line = error, texts, line

    def __enter__(self):
        self.context = pytest.raises(self.error)
        self.info = self.context.__enter__()
        return self.info

    def __exit__(self, *exception):
        swallowed = self.context.__exit__(*exception)
        for text in self.texts:
            assert text in str(self.info.value)
        if not isinstance(self.info.value, nested.NestedError):
            return swallowed
        frames = traceback.extract_tb(self.info.value.__traceback__)
        for frame in frames:
            assert "/nested/_" not in frame.filename, frame
        if self.line is not None:
            last = frames[-1]
            source = last.line or linecache.getline(last.filename, last.lineno)
            assert self.line in source, source
        return swallowed


raises = Raised
