"""Prints the block of the demo in the tensor phase.

usage: demo_block.py SOURCE_DIR
"""

import sys

sys.path.insert(0, sys.argv[1] + "/examples/proteins")

import block  # noqa: E402
import numpy as np  # noqa: E402

import nested  # noqa: E402

weights = {name: nested.spec(*shape) for name, shape in block.SHAPES.items()}
print(nested.jit(block.block).lower(nested.spec("N", dtype=np.int64), weights).text("tensor"))
