# Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares rows that run_block kept with the same Python function, run by NumPy in float64.

    python3 check_rows.py BLOCK.weights ROWS [--map MAP --picture PICTURE.png]

Exits with 1 if a number is off by more than 1e-5 of its protein's largest.
"""

import argparse
import struct
import sys
import time
import zlib
from pathlib import Path

import block
import numpy as np

TOLERANCE = 1e-5
CHUNK_BYTES = 32 << 20  # of one hidden tensor of the reference

# Colours of the picture, from small values to large ones.
COLOURS = [(13, 8, 84), (84, 2, 163), (156, 23, 158), (204, 71, 120), (237, 121, 83),
           (253, 180, 47), (240, 249, 33)]  # fmt: skip


class Reader:
    """Numbers, texts and arrays of a file of run_block, one after the other."""

    def __init__(self, path, magic):
        self.data, self.at = np.memmap(path, np.uint8, "r"), 8
        if bytes(self.data[:8]) != magic:
            raise SystemExit(f"check_rows: {path} is no file of run_block")

    def array(self, dtype, *shape):
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if self.at + size > len(self.data):
            raise SystemExit("check_rows: the file is truncated")
        self.at += size
        return self.data[self.at - size : self.at].view(dtype).reshape(shape)

    def number(self):
        return int(self.array("<i8", 1)[0])

    def text(self):
        return bytes(self.array(np.uint8, self.number())).decode()

    def done(self):
        return self.at == len(self.data)


def compare(name, sequence, rows, singles, pairs, weights):
    """Largest error of some rows of a protein, relative to the largest value of its rows."""
    tokens = block.tokens_of(sequence)
    if len(rows) == len(tokens):
        wanted = [block.block(tokens, weights)]
        chunks = [slice(None)]
    else:
        x = weights["table"][tokens]
        step = max(1, CHUNK_BYTES // (len(tokens) * block.HIDDEN * 8))
        chunks = [slice(k, k + step) for k in range(0, len(rows), step)]
        wanted = (block.update(x[rows[c]], x, weights) for c in chunks)
    errors, largest, begin = [], [1e-300, 1e-300], time.monotonic()
    for chunk, results in zip(chunks, wanted):
        for kind, (got, want) in enumerate(zip((singles, pairs), results)):
            if want.size:
                largest[kind] = max(largest[kind], float(np.max(np.abs(want))))
                errors.append((kind, np.max(np.abs(got[chunk] - want))))
        if time.monotonic() - begin > 2 and chunk is not chunks[-1]:
            end = "\r" if sys.stderr.isatty() else "\n"
            print(f"  {name}: {chunk.stop} of {len(rows)} rows ", end=end, file=sys.stderr)
            begin = time.monotonic()
    ratios = [error / largest[kind] for kind, error in errors]
    return float(np.max(ratios, initial=0.0))  # NaN if any is


def check(path, weights):
    """Prints the table; returns names of proteins that are off."""
    file, off, worst, number = Reader(path, b"rows0001"), [], 0.0, 0
    print(f"  {'protein':28} {'length':>6} {'pair cells':>10} {'checked':>9} {'error':>8}")
    while not file.done():
        batch, name, sequence = file.number(), file.text(), file.text()
        n, count = len(sequence), file.number()
        rows = file.array("<i8", count)
        singles = file.array("<f4", count, block.SINGLE)
        pairs = file.array("<f4", count, n, block.PAIR)
        if batch != number:
            number = batch
            print(f"  -- batch {batch}")
        error = compare(name, sequence, rows, singles, pairs, weights)
        note = "" if error <= TOLERANCE else "  WRONG"
        print(f"  {name:28.28} {n:6} {n * n:10} {count:4} rows {error:8.1e}{note}", flush=True)
        worst = np.fmax(worst, error)
        if note:
            off.append(name)
    print(f"  largest error: {worst:.1e} of the protein's largest value (allowed: {TOLERANCE:.0e})")
    return off


def write_png(path, image):
    """image: uint8 (height, width, 3)."""

    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data
                + struct.pack(">I", zlib.crc32(kind + data)))  # fmt: skip

    height, width, _ = image.shape
    lines = np.zeros((height, 1 + 3 * width), np.uint8)  # a zero first: no filter
    lines[:, 1:] = image.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    Path(path).write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(lines.tobytes(), 6)) + chunk(b"IEND", b"")
    )  # fmt: skip


def draw(source, path):
    """The pair map of run_block as a picture of 600 to 1200 pixels."""
    file = Reader(source, b"pairmap1")
    name, n = file.text(), file.number()
    if n == 0:
        return
    values = np.sqrt(file.array("<f4", n, n).astype(np.float64))
    values = values[:: 1 + n // 1200, :: 1 + n // 1200]
    low, high = np.percentile(values, [1, 99])
    places = np.clip((values - low) / max(high - low, 1e-12), 0, 1)
    steps = np.linspace(0, 1, len(COLOURS))
    image = np.stack([np.interp(places, steps, c) for c in np.transpose(COLOURS)], -1)
    zoom = max(1, 900 // len(values))
    write_png(path, image.astype(np.uint8).repeat(zoom, 0).repeat(zoom, 1))
    print(f"  picture of the pair map of {name}: {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("weights")
    parser.add_argument("rows")
    parser.add_argument("--map")
    parser.add_argument("--picture")
    options = parser.parse_args()
    weights = block.load_weights(options.weights)
    off = check(options.rows, {name: w.astype(np.float64) for name, w in weights.items()})
    if options.map and options.picture:
        draw(options.map, options.picture)
    if off:
        raise SystemExit(f"check_rows: wrong: {', '.join(off)}")


if __name__ == "__main__":
    main()
