"""How replicates and samples are divided among jobs."""

from __future__ import annotations

from walkeval.errors import ParameterError


def shard_of(number: int, shards: int, total: int) -> range:
    """What one of the shards computes. They are of equal cost: their sizes differ by one at most.

    >>> [shard_of(number, 3, 10) for number in range(3)]
    [range(0, 3), range(3, 6), range(6, 10)]
    """
    if not 0 <= number < shards:
        raise ParameterError(f"there is no shard {number} of {shards}")
    return range(number * total // shards, (number + 1) * total // shards)
