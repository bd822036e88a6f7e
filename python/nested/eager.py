# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on NestedTensors outside of ``nested.jit``: one small compiled program each.

``x + 1``, ``np.exp(x)``, ``nested.softmax(x, axis=0)``, ``x.sum(axis=0)`` and ``x[:, 1:]`` of a
NestedTensor compute every sample as the same expression does for an array. The programs are
cached by operation, dtypes and static sizes, never by lengths. Several operations in one
function compiled by ``nested.jit`` are faster: they are fused.
"""

from ._eager import clear, compilations, forbid

__all__ = ["clear", "compilations", "forbid"]
