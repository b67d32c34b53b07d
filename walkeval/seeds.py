"""Randomness that depends on names alone, so that results do not depend on cores, order or machine."""

from __future__ import annotations

import hashlib

import numpy as np


def generator(name: str) -> np.random.Generator:
    """The random generator of this name.

    >>> int(generator("trec08/replicate 1").integers(1000)) == int(generator("trec08/replicate 1").integers(1000))
    True
    """
    return np.random.default_rng(int.from_bytes(hashlib.sha256(name.encode()).digest(), "big"))
