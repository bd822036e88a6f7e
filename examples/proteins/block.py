# Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The single-pair-single block, written for one protein.

    python3 block.py FOLDER     writes FOLDER/block.so and FOLDER/block.weights

On NumPy arrays `block` is an ordinary function of one protein; exported, it runs on batches of
proteins of any lengths. examples/proteins/README.md describes both files.
"""

import struct
import sys
from pathlib import Path

import numpy as np

import nested

RESIDUES = "ACDEFGHIKLMNPQRSTVWYX"  # token of a letter: its place; X is any other residue
SINGLE, PAIR, HIDDEN = 384, 128, 512  # sizes of the features; HIDDEN: 4 * PAIR

SHAPES = {
    "table": (len(RESIDUES), SINGLE),
    "u": (SINGLE, PAIR),
    "v": (SINGLE, PAIR),
    "scale": (PAIR,),
    "offset": (PAIR,),
    "gate": (PAIR, HIDDEN),
    "up": (PAIR, HIDDEN),
    "down": (HIDDEN, PAIR),
    "g": (PAIR, SINGLE),
}


def block(tokens, w):
    """One protein of N residues: tokens (N,) -> singles (N, 384), pairs (N, N, 128)."""
    x = w["table"][tokens]
    return update(x, x, w)


def update(rows, x, w):
    """New singles and pairs of some rows of a protein; `rows` is `x` for all of them."""
    p = (rows @ w["u"])[:, None, :] + (x @ w["v"])[None, :, :]
    p = p + nested.nn.swiglu(nested.layer_norm(p, w["scale"], w["offset"]), w)
    return rows + np.mean(p, axis=1) @ w["g"], p


def make_weights(seed=0):
    """Weights by name, f32; the same whenever the seed is."""
    random = np.random.default_rng(seed)
    w = {}
    for name, shape in SHAPES.items():
        values = random.standard_normal(shape)
        if name in ("scale", "offset"):
            values = 0.1 * values + (name == "scale")
        elif name != "table":
            values /= np.sqrt(shape[0])
        w[name] = values.astype(np.float32)
    return w


def tokens_of(sequence):
    """Tokens of a text of one-letter codes."""
    places = {c: i for i, c in enumerate(RESIDUES)}
    return np.array([places.get(c, places["X"]) for c in sequence], np.int64)


def export():
    """The block as an artifact; no data is needed for it, only sizes."""
    weights = {name: nested.spec(*shape) for name, shape in SHAPES.items()}
    return nested.export(block, nested.spec("N", dtype=np.int64), weights)


def save_weights(path, weights):
    """Writes arrays for run_block.c; README.md has the format."""
    arrays = {"residues": np.frombuffer(RESIDUES.encode(), np.uint8)}
    arrays |= {f"w.{name}": array for name, array in weights.items()}
    head, data = [b"weights1", struct.pack("<q", len(arrays))], []
    offset = -(-(16 + 96 * len(arrays)) // 64) * 64
    for name, array in arrays.items():
        shape = array.shape + (0,) * (4 - array.ndim)
        dtype = {"uint8": 6, "float32": 12}[array.dtype.name]  # nested_dtype of nested/runtime.h
        head.append(struct.pack("<32s8q", name.encode(), dtype, array.ndim, *shape, offset,
                                array.nbytes))  # fmt: skip
        data.append(array.tobytes().ljust(-(-array.nbytes // 64) * 64, b"\0"))
        offset += len(data[-1])
    head = b"".join(head)
    Path(path).write_bytes(head.ljust(-(-len(head) // 64) * 64, b"\0") + b"".join(data))


def load_weights(path):
    """The weights in a file of save_weights, by name."""
    raw, weights = Path(path).read_bytes(), {}
    for k in range(struct.unpack_from("<q", raw, 8)[0]):
        name, _, rank, *rest = struct.unpack_from("<32s8q", raw, 16 + 96 * k)
        name, shape, offset = name.rstrip(b"\0").decode(), rest[:rank], rest[4]
        if name.startswith("w."):
            array = np.frombuffer(raw, np.float32, int(np.prod(shape)), offset)
            weights[name[2:]] = array.reshape(shape)
    return weights


def main():
    folder = Path(sys.argv[1])
    export().save(folder / "block.so")
    save_weights(folder / "block.weights", make_weights())


if __name__ == "__main__":
    main()
