# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All families of operations of random programs: importing this registers them."""

import random_ops  # noqa: F401
import random_ops_index  # noqa: F401
import random_ops_more  # noqa: F401
import random_ops_move  # noqa: F401
import random_ops_order  # noqa: F401
import random_ops_product  # noqa: F401
