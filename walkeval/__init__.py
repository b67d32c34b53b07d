"""walkeval: measures that follow a user who walks forward and back through a ranked list.

>>> evaluate('MP(model="GL_OR_ID")', [1, 0, 0, 1])
0.75
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__version__ = "0.1.0"


def evaluate(
    name: str,
    gains: Sequence[float | None] | Sequence[Sequence[float]],
    recall_base: int | None = None,
    *,
    nonrelevant_base: int | None = None,
    scores: Sequence[float] | None = None,
    max_gain: float | None = None,
    **parameters: Any,
) -> float:
    """Score one ranked list, given as the gain at each rank, from the top.

    ``name`` is a measure such as ``AP``, ``P@10`` or ``RBP(p=0.8)``; parameters may be given in it or as keywords. A gain of
    0 is a document judged not relevant, None is an unjudged one. Without ``recall_base`` every relevant document
    is taken to be in the list. ``scores`` are the system's own, for measures that look at ties. For measures of sessions
    (MsM, sDCG) gains may be a table: a row for each rank, a column for each query.

    >>> evaluate("AP", [1, 0, 1], recall_base=4)
    0.41666666666666663
    """
    import numpy as np

    from walkeval.errors import ParameterError
    from walkeval.measures import parse_measure
    from walkeval.ranked import RankedLists

    measure = parse_measure(name, **parameters)
    if any(isinstance(row, (Sequence, np.ndarray)) for row in gains):
        if not hasattr(measure, "score_session"):
            raise ParameterError(f"{measure.name} scores one ranked list; got a table of gains, which is a session")
        return float(measure.score_session(gains))
    lists = RankedLists.from_gains(
        [gains],
        recall_base=recall_base,
        nonrelevant_base=nonrelevant_base,
        scores=None if scores is None else [scores],
        max_gain=max_gain,
    )
    return float(measure.score(lists)[0])


__all__ = ["__version__", "evaluate"]
