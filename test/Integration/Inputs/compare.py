"""Compares the arrays of two .npz files: integers exactly, floats relative to the largest.

usage: compare.py A.npz B.npz TOLERANCE
"""

import sys

import numpy as np

a, b, tolerance = np.load(sys.argv[1]), np.load(sys.argv[2]), float(sys.argv[3])
if sorted(a) != sorted(b):
    sys.exit(f"differ: {sorted(a)} and {sorted(b)}")
for name in sorted(a):
    x, y = a[name], b[name]
    print(f"{name}: {x.tolist() if x.dtype.kind == 'i' else f'{x.shape[0] if x.ndim else 1} rows'}")
    if x.shape != y.shape or x.dtype != y.dtype:
        print(f"differ: {name} is {x.shape} {x.dtype} and {y.shape} {y.dtype}")
        sys.exit(1)
    difference = np.abs(x.astype("f8") - y).max(initial=0)
    if difference > tolerance * np.abs(y).max(initial=0):
        print(f"differ: {name} by {difference}")
        sys.exit(1)
print("equal")
