# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests share. Run with PYTHONPATH=<build>/python."""

import os

# Tests compile what they test.
os.environ["NESTED_CACHE_MB"] = "0"

import numpy as np  # noqa: E402
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

settings.register_profile("default", deadline=None, max_examples=25, derandomize=True)
settings.register_profile("long", deadline=None, max_examples=300)
settings.load_profile("long" if os.environ.get("NESTED_LONG") else "default")


@pytest.fixture
def rng():
    return np.random.default_rng(1016)
