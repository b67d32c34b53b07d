"""Markov Precision (Ferrante, Ferro and Maistro, SIGIR 2014).

User model: a user walks for ever among the ranks of a list, forward and back, by a Markov chain. Of what they
visit only the relevant documents count, and the precision at each is weighted by how often it is visited in the long
run: ``MP = sum over relevant ranks i of pi_i P(i)``.

A model has three parts: the *connectedness* (GL: from any rank to any other; LO: only between neighbors), the
*state space* (AD: the chain runs over all documents and is watched at the relevant ones; OR: it runs over the relevant
ones only) and the *kernel*, the weight alpha of a step as a function of its distance.

Why no linear system is solved here: alpha is symmetric, so the chain is a random walk on a weighted graph. It is
reversible, and its invariant law is the normalized row sum of alpha. The chain watched at the relevant ranks (the
paper's system 8) has as its invariant law the restriction of that law, renormalized. Hence, up to normalization,

- GL_AD: ``w_i = A(i-1) + A(T-i)`` with A the prefix sum of the kernel over distances;
- LO_AD: ``w = 1, 2, 2, ..., 2, 1`` whatever the kernel, for all its steps have distance 1;
- GL_OR: ``w_i = sum over the other relevant ranks j of alpha(|i-j|)``;
- LO_OR: the same over the relevant neighbors before and after.

One relevant document has weight 1; a list that retrieves none scores 0. In continuous time the user stays at rank i for
an exponential time with parameter mu_i, and the weight is ``w_i / mu_i``. ``rescale="recall"`` (the paper's @Rec(T)) multiplies
by r/RB.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from walkeval.errors import ParameterError, UnknownNameError
from walkeval.measures.base import Measure, parameter, register
from walkeval.measures.classical import divide
from walkeval.ranked import RankedLists

CONNECTEDNESS = ("GL", "LO")
STATE_SPACE = ("AD", "OR")


@dataclass(frozen=True)
class Kernel:
    """The weight of a step as a function of its distance (1, 2, ...), up to a constant factor.

    A user model of one's own is a kernel with a name of its own:

    >>> import walkeval
    >>> square = Kernel("SQ", lambda distance: 1 / distance**2)
    >>> walkeval.evaluate("MP", [1, 0, 1, 1], model="GL_OR", kernel=square)
    0.7448979591836734
    """

    name: str
    weight: Callable[[NDArray[np.float64]], NDArray[np.float64]]

    def table(self, longest: int) -> NDArray[np.float64]:
        """Weights of the distances 0 to ``longest``; a step of distance 0 is no step and weighs 0."""
        distance = np.arange(1, longest + 1, dtype=np.float64)
        value = np.broadcast_to(np.asarray(self.weight(distance), dtype=np.float64), distance.shape)
        if not (np.isfinite(value).all() and (value > 0).all()):
            raise ParameterError(f"kernel {self.name} must be finite and above 0 at every distance from 1 to {longest}")
        return np.concatenate(([0.0], value))


INVERSE_DISTANCE = Kernel("ID", lambda distance: 1 / (distance + 1))
"""ID, equation (9): ``1 / (d + 1)``."""

CONSTANT = Kernel("constant", np.ones_like)
"""Section 4.2: every step is as likely as any other. Times recall, GL_AD and GL_OR are then average precision."""


def logarithmic_inverse_distance(offset: float = 2.0, outside: float = 0.0) -> Kernel:
    """LID: ``1 / (outside + log10(d + offset))``.

    The paper prints no formula. An offset of 2, which is the logarithm of one more than ID's ``d + 1``, is the reading under
    which Table 3 comes out to its last digit; the convention search compares it with the others.
    """
    if not outside + np.log10(1 + offset) > 0:
        raise ParameterError(f"LID: offset={offset!r} makes the weight of a step to the neighbor infinite or negative")
    return Kernel("LID", lambda distance: 1 / (outside + np.log10(distance + offset)))


KERNELS = ("ID", "LID", "constant")


@register
@dataclass(frozen=True)
class MP(Measure):
    """Markov Precision.

    >>> import walkeval
    >>> round(walkeval.evaluate('MP(model="GL_AD_ID")', [1, 1, 1, 1, 0, 0, 0, 1, 0, 0]), 4)  # Table 4
    0.9205
    >>> walkeval.evaluate('MP(model="GL_AD_constant",rescale="recall")', [1, 0, 1], recall_base=2)  # this is AP
    0.8333333333333333
    """

    model: str = parameter("GL_AD_ID", "connectedness, state space and kernel, such as LO_OR_LID", named=True)
    rescale: str | None = parameter(None, "'recall' multiplies by the recall of the list", choices=("recall",))
    offset: float = parameter(2.0, "offset c in the LID kernel 1 / (outside + log10(d + c))", above=-1)
    outside: float = parameter(0.0, "constant outside the logarithm of the LID kernel", low=0)
    holding: Sequence[float] | None = field(
        default=None, metadata={"meaning": "parameter mu_i of the time spent at each rank, for continuous time"}
    )
    kernel: Kernel | None = field(default=None, metadata={"meaning": "a kernel of one's own; the model then names none"})

    user_model = "Walks for ever forward and back through the list, and counts the precision where a document is relevant."
    citation = "ferrante2014"
    monotone = None
    binary = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.holding is not None:
            try:
                object.__setattr__(self, "holding", tuple(float(one) for one in self.holding))
            except (TypeError, ValueError):
                raise ParameterError(f"MP: holding must be a list of numbers, one a rank; got {self.holding!r}") from None
            for rank, one in enumerate(self.holding, start=1):
                if not (np.isfinite(one) and one > 0):
                    raise ParameterError(f"MP: holding must be finite and above 0; got {one!r} at rank {rank}")
        self.model_parts()

    def model_parts(self) -> tuple[str, str, Kernel]:
        """Connectedness (GL or LO), state space (AD or OR) and kernel that the name of this model stands for.

        >>> connectedness, space, kernel = MP(model="LO_OR_ID").model_parts()
        >>> connectedness, space, kernel.name
        ('LO', 'OR', 'ID')
        """
        parts = self.model.split("_")
        wanted = 2 if self.kernel is not None else 3
        names = KERNELS if self.kernel is None else (self.kernel.name,)
        if len(parts) != wanted or parts[0] not in CONNECTEDNESS or parts[1] not in STATE_SPACE:
            raise UnknownNameError("model of MP", self.model, model_names(names if wanted == 3 else ("",)))
        if self.kernel is not None:
            return parts[0], parts[1], self.kernel
        if parts[2] not in KERNELS:
            raise UnknownNameError("model of MP", self.model, model_names(names))
        if parts[2] == "LID":
            return parts[0], parts[1], logarithmic_inverse_distance(self.offset, self.outside)
        return parts[0], parts[1], INVERSE_DISTANCE if parts[2] == "ID" else CONSTANT

    def weights(self, lists: RankedLists) -> NDArray[np.float64]:
        """The long-run weight of each relevant document, up to a factor per list."""
        connectedness, space, kernel = self.model_parts()
        found = lists.relevant
        table = kernel.table(int(lists.length.max(initial=1)))
        if space == "AD":
            length = lists.length[found.list_index]
            if connectedness == "LO":
                weight = 2.0 - (found.rank == 1) - (found.rank == length)
            else:
                reach = np.cumsum(table)
                weight = reach[found.rank - 1] + reach[length - found.rank]
            # A list of one document has no step to take; its user stays there.
            weight = np.where(length == 1, 1.0, weight)
        else:
            weight = (_neighbor_sums if connectedness == "LO" else _pair_sums)(lists, table)
            weight = np.where(found.count[found.list_index] == 1, 1.0, weight)
        if self.holding is not None:
            mu = np.asarray(self.holding)
            if len(mu) < found.rank.max(initial=0):
                raise ParameterError(
                    f"MP: holding has {len(mu)} ranks, but a relevant document stands at rank {found.rank.max()}"
                )
            weight = weight / mu[found.rank - 1]
        return weight

    def fixed_weights(self, lists: RankedLists) -> NDArray[np.float64] | None:
        """The weights, up to a factor per list, if they do not depend on which others are relevant; else None."""
        connectedness, space, kernel = self.model_parts()
        if space == "AD":
            return self.weights(lists)
        if connectedness == "GL" and kernel is CONSTANT:
            return MP(model="GL_AD_constant", holding=self.holding).weights(lists)
        return None

    def score(self, lists: RankedLists) -> NDArray[np.float64]:
        key = MP, self.model, self.offset, self.outside, self.holding, self.kernel
        if key not in lists.memo:
            weight = self.weights(lists)
            lists.memo[key] = divide(lists.sum_relevant(weight * lists.relevant.precision), lists.sum_relevant(weight))
        if self.rescale is None:
            return lists.memo[key].copy()
        return lists.memo[key] * divide(lists.relevant.count, lists.recall_base)


def model_names(kernels: Sequence[str] = KERNELS) -> list[str]:
    """The names of all models with these kernels, in the paper's order.

    >>> model_names(["ID"])
    ['GL_AD_ID', 'GL_OR_ID', 'LO_AD_ID', 'LO_OR_ID']
    """
    return [
        "_".join(filter(None, (connectedness, space, kernel)))
        for connectedness in CONNECTEDNESS
        for space in STATE_SPACE
        for kernel in kernels
    ]


def _neighbor_sums(lists: RankedLists, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum of the kernel over the relevant neighbors before and after each relevant document."""
    found = lists.relevant
    same_list = found.list_index[1:] == found.list_index[:-1]
    step = np.where(same_list, table[np.where(same_list, np.diff(found.rank), 0)], 0.0)
    return np.concatenate((step, [0.0]))[: len(found.rank)] + np.concatenate(([0.0], step))[: len(found.rank)]


def _pair_sums(lists: RankedLists, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum of the kernel over all other relevant documents of the same list.

    Lists with few relevant documents take their pairs one by one; for the others the sum is a convolution of the kernel
    with where the relevant documents stand, and the fast Fourier transform costs less.
    """
    found = lists.relevant
    many = found.count**2 > CONVOLUTION_FROM * lists.length
    total = np.zeros(len(found.rank))
    chosen = np.flatnonzero(~many[found.list_index])
    total[chosen] = _sums_by_lag(found.list_index[chosen], found.rank[chosen], found.ordinal[chosen], found.count, table)
    for first in range(0, int(many.sum()), 256):
        rows = np.flatnonzero(many)[first : first + 256]
        total[_positions(found.start[rows], found.count[rows])] = _sums_by_convolution(lists, rows, table)
    return total


CONVOLUTION_FROM = 8
"""From r^2 > 8 T relevant documents on, the transform is the faster way (measured at T = 100 to 5000)."""


def _positions(start: NDArray[np.int64], count: NDArray[np.int64]) -> NDArray[np.int64]:
    """The positions of several slices, one after the other."""
    return np.repeat(start - (np.cumsum(count) - count), count) + np.arange(count.sum())


def _sums_by_lag(
    list_index: NDArray, rank: NDArray, ordinal: NDArray, count: NDArray, table: NDArray[np.float64]
) -> NDArray[np.float64]:
    """One pass for each lag m takes all pairs (k-th, (k+m)-th relevant document) of all lists at once.

    Documents are sorted by how many follow them in their list, so the pairs of a lag are a prefix.
    """
    following = count[list_index] - ordinal
    by_following = np.argsort(-following, kind="stable")
    pairs_of_lag = np.searchsorted(-following[by_following], -np.arange(1, following.max(initial=0) + 1), side="right")
    total = np.zeros(len(rank))
    for lag, pairs in enumerate(pairs_of_lag, start=1):
        early = by_following[:pairs]
        late = early + lag
        value = table[rank[late] - rank[early]]
        total[early] += value
        total[late] += value
    return total


def _sums_by_convolution(lists: RankedLists, rows: NDArray[np.intp], table: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.fft import irfft, next_fast_len, rfft

    found = lists.relevant
    depth = int(lists.length[rows].max())
    size = next_fast_len(2 * depth, real=True)
    around = np.zeros(size)
    around[:depth] = table[:depth]
    around[size - depth + 1 :] += table[depth - 1 : 0 : -1]
    where = _positions(found.start[rows], found.count[rows])
    row, column = np.repeat(np.arange(len(rows)), found.count[rows]), found.rank[where] - 1
    stands = np.zeros((len(rows), size))
    stands[row, column] = 1.0
    # Rounding may leave a sum that should be next to nothing a little below it.
    return np.maximum(irfft(rfft(stands) * rfft(around), n=size)[row, column], 0.0)


def stationary_law(matrix: ArrayLike) -> NDArray[np.float64]:
    """The invariant law of a transition matrix, by the method of Grassmann, Taksar and Heyman.

    The elimination never subtracts, so small probabilities keep their relative accuracy. A matrix that is not square
    or not stochastic, or whose chain falls apart into parts that cannot all reach each other, is refused.

    >>> stationary_law([[0.5, 0.5], [1.0, 0.0]]).round(6).tolist()
    [0.666667, 0.333333]
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    chain = np.array(matrix, dtype=np.float64)
    if chain.ndim != 2 or chain.shape[0] != chain.shape[1] or not chain.size:
        raise ParameterError(f"transition matrix must be square and not empty; got the shape {chain.shape}")
    if not np.isfinite(chain).all() or (chain < 0).any():
        raise ParameterError("transition matrix must hold finite numbers that are not negative")
    sums = chain.sum(axis=1)
    if not np.allclose(sums, 1, rtol=0, atol=1e-9):
        row = int(np.argmax(np.abs(sums - 1)))
        raise ParameterError(f"transition matrix: row {row + 1} must sum to 1; it sums to {sums[row]:.12g}")
    parts, label = connected_components(csr_array(chain > 0), connection="strong")
    if parts > 1:
        apart = [int(np.flatnonzero(label == part)[0]) + 1 for part in range(parts)][:2]
        raise ParameterError(
            f"transition matrix is reducible: states {apart[0]} and {apart[1]} cannot both be reached from each other, "
            "so there is no unique long-run law"
        )
    for last in range(len(chain) - 1, 0, -1):
        chain[:last, last] /= chain[last, :last].sum()
        chain[:last, :last] += np.outer(chain[:last, last], chain[last, :last])
    law = np.zeros(len(chain))
    law[0] = 1
    for state in range(1, len(chain)):
        law[state] = law[:state] @ chain[:state, state]
    return law / law.sum()


@register
@dataclass(frozen=True)
class MPChain(Measure):
    """Markov Precision of any chain over the first ranks, given by its transition matrix, such as one learned from clicks.

    The chain runs over as many ranks as the matrix has rows and is watched at the relevant ones; documents below are
    not visited. A list shorter than the matrix is taken to go on with nonrelevant documents.

    >>> import walkeval
    >>> walkeval.evaluate("MPChain", [1, 0], matrix=[[0.5, 0.5], [1.0, 0.0]])
    1.0
    """

    matrix: Sequence[Sequence[float]] | None = field(
        default=None, metadata={"meaning": "transition probabilities: row i, column j is from rank i to rank j"}
    )
    rescale: str | None = parameter(None, "'recall' multiplies by the recall of the list", choices=("recall",))
    holding: Sequence[float] | None = field(
        default=None, metadata={"meaning": "parameter mu_i of the time spent at each rank, for continuous time"}
    )

    user_model = "Walks for ever through the first ranks by a chain that was given or learned."
    citation = "ferrante2014"
    monotone = None
    binary = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.matrix is None:
            raise ParameterError("MPChain needs its parameter matrix: the transition probabilities between ranks")
        law = stationary_law(self.matrix)
        if self.holding is not None:
            mu = np.asarray(self.holding, dtype=np.float64)
            if mu.shape != law.shape or not (np.isfinite(mu).all() and (mu > 0).all()):
                raise ParameterError(f"MPChain: holding must be {len(law)} finite numbers above 0; got {self.holding!r}")
            law = law / mu
        object.__setattr__(self, "matrix", tuple(tuple(map(float, row)) for row in self.matrix))
        object.__setattr__(self, "_weights", law / law.sum())

    def fixed_weights(self, lists: RankedLists) -> NDArray[np.float64]:
        """The long-run weight of each relevant document, which does not depend on the others; 0 below the chain."""
        found = lists.relevant
        weight = np.zeros(len(found.rank))
        visited = found.rank <= len(self.matrix)
        weight[visited] = self._weights[found.rank[visited] - 1]
        return weight

    def score(self, lists: RankedLists) -> NDArray[np.float64]:
        found = lists.relevant
        weight = self.fixed_weights(lists)
        value = divide(lists.sum_relevant(weight * found.precision), lists.sum_relevant(weight))
        if self.rescale == "recall":
            value = value * divide(lists.relevant.count, lists.recall_base)
        return value
