# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs that are measured, and their data."""

import numpy as np

SINGLE, PAIR, HIDDEN = 384, 128, 512
BLOCK_SHAPES = {
    "u": (SINGLE, PAIR), "u_bias": (PAIR,), "v": (SINGLE, PAIR), "v_bias": (PAIR,),
    "scale": (PAIR,), "offset": (PAIR,), "gate": (PAIR, HIDDEN), "up": (PAIR, HIDDEN),
    "down": (HIDDEN, PAIR), "out": (PAIR, SINGLE), "out_bias": (SINGLE,),
}  # fmt: skip


def block(x, w, y=None):
    """The single-pair-single block of one sample: (..., N, 384) -> (..., N, 384), (..., N, M, 128);
    columns of the pairs from y (M, 384), or from x itself."""
    import nested

    u = nested.linear(x, w["u"], w["u_bias"])
    v = nested.linear(x if y is None else y, w["v"], w["v_bias"])
    p = u[..., :, None, :] + v[..., None, :, :]
    p = p + nested.nn.swiglu(nested.layer_norm(p, w["scale"], w["offset"]), w)
    return x + nested.linear(nested.mean(p, axis=-2), w["out"], w["out_bias"]), p


def block_singles(x, w, y=None):
    """The block where only the singles are used."""
    return block(x, w, y)[0]


def block_flops(lengths):
    """Of the dense products, as ../shared/bench counts them."""
    n = np.asarray(lengths, np.int64)
    return int(2 * (3 * SINGLE * PAIR * n.sum() + 3 * HIDDEN * PAIR * (n * n).sum()))


def weights(shapes, seed=0):
    random = np.random.default_rng(seed)
    return {
        name: aligned(random.standard_normal(shape) / np.sqrt(shape[0] if len(shape) > 1 else 1))
        for name, shape in shapes.items()
    }


def aligned(array):
    """A copy in f32 at a multiple of 64 bytes."""
    memory = empty(np.shape(array))
    memory[...] = array
    return memory


def empty(shape, dtype=np.float32):
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.zeros(size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(dtype).reshape(shape)


def batch(lengths, features, dims=("N",), seed=0):
    """Random values; dims name the ragged axes, which have the same length."""
    import nested

    n = np.asarray(lengths, np.int64)
    shape = (int((n ** len(dims)).sum()), features)
    values = aligned(np.random.default_rng(seed).standard_normal(shape, np.float32))
    return nested.from_values(values, n, dims=(*dims, features))


# ---- memory-bound ops: function, number of ragged axes of each argument, and how many floats
# it has to read and write for R rows, P pairs and N samples of C features ----------------------


def add(x, y):
    return x + y


def silu(x):
    import nested

    return nested.nn.silu(x)


def ragged_sum(x):
    import nested

    return nested.sum(x, axis=0)


def ragged_mean(x):
    import nested

    return nested.mean(x, axis=0)


def ragged_max(x):
    import nested

    return nested.max(x, axis=0)


def layer_norm(x):
    import nested

    return nested.layer_norm(x)


def pair_add(u, v):
    return u[:, None, :] + v[None, :, :]


def pair_mean(p):
    import nested

    return nested.mean(p, axis=1)


MEMORY_OPS = {
    "add": (add, (1, 1), lambda r, p, n: 3 * r),
    "silu": (silu, (1,), lambda r, p, n: 2 * r),
    "ragged sum": (ragged_sum, (1,), lambda r, p, n: r + n),
    "ragged mean": (ragged_mean, (1,), lambda r, p, n: r + n),
    "ragged max": (ragged_max, (1,), lambda r, p, n: r + n),
    "layer norm": (layer_norm, (1,), lambda r, p, n: 2 * r),
    "pair add": (pair_add, (1, 1), lambda r, p, n: p + 2 * r),
    "pair mean": (pair_mean, (2,), lambda r, p, n: p + r),
}


def matmul(x, w):
    return x @ w


def double(x):
    return x * 2
