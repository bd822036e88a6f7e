# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiler for ragged tensors: programs written for one sample, run on batches of samples of
different sizes, packed, without padding.

    @nested.jit
    def block(x, w):                                   # one sample: (N, 384); shared weights
        p = (x @ w["u"])[:, None, :] + (x @ w["v"])[None, :, :]
        return x + nested.mean(p, axis=1) @ w["g"], p

    batch = nested.from_list([np.zeros((n, 384), "f4") for n in (17, 230, 0, 64)])
    single, pair = block(batch, w)
"""

from . import batch, eager, losses, nn, optim, random
from ._attention import attention
from ._collate import batches as _batches
from ._collate import collate as _collate
from ._dims import Dim
from ._dtypes import bfloat16
from ._errors import (
    ArgumentError,
    ArtifactError,
    CompileError,
    DataError,
    NestedError,
    OutOfMemoryError,
    RequirementError,
    ShapeError,
    StructureError,
    TraceError,
)
from ._errors import public as _public
from ._gradient import checkpoint, custom_vjp, grad, stop_gradient, value_and_grad, vjp
from ._jit import Compiled, Exported, JitFunction, Lowered, Spec, export, jit, spec
from ._load import LoadedFunction, Module, load
from ._prepare import Prepared
from ._program import Cost, Plan
from ._structure import Structure
from ._tensor import NestedTensor, _install_operators
from ._tensor import from_list as _from_list
from ._tensor import from_padded as _from_padded
from ._tensor import from_values as _from_values
from ._threads import get_num_threads, set_num_threads
from ._tracer import Tracer
from .elementwise import *  # noqa: F403
from .functions import *  # noqa: F403
from .interop import from_awkward, from_torch, to_awkward, to_torch
from .movement import *  # noqa: F403
from .ordered import *  # noqa: F403
from .reductions import *  # noqa: F403

_install_operators()

__version__ = "0.1.0"

from_list = _public(_from_list)
from_values = _public(_from_values)
from_padded = _public(_from_padded)
collate = _public(_collate)
batches = _public(_batches)

__all__ = [
    "ArgumentError", "ArtifactError", "CompileError", "Compiled", "Cost", "DataError", "Dim",
    "Exported", "JitFunction", "LoadedFunction", "Lowered", "Module", "NestedError",
    "NestedTensor", "OutOfMemoryError", "Plan", "Prepared", "RequirementError", "ShapeError", "Spec",
    "Structure", "StructureError", "TraceError", "Tracer", "attention", "batch", "batches", "bfloat16", "collate", "eager",
    "export", "from_awkward", "from_list", "from_padded", "from_torch", "from_values", "get_num_threads",
    "jit", "load", "nn", "random", "set_num_threads", "spec", "to_awkward", "to_torch",
    "checkpoint", "custom_vjp", "grad", "losses", "optim", "stop_gradient", "value_and_grad", "vjp",
]  # fmt: skip
