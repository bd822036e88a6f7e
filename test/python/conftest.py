# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests share. Run with PYTHONPATH=<build>/python."""

import os

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("default", deadline=None, max_examples=25, derandomize=True)
settings.register_profile("long", deadline=None, max_examples=300)
settings.load_profile("long" if os.environ.get("NESTED_LONG") else "default")


@pytest.fixture
def rng():
    return np.random.default_rng(1016)
