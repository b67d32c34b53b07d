"""Bollmann and Raghavan, SIGIR 1988: the examples and axioms of expected search length, and what ties do to TREC runs.

Everything of the paper is recomputed in fractions. Its examples and its numbers are known only through the claims:
what an example starts from stands in the claim's words as ``given name = (...)``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import combinations, product
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from walkeval.audit import Reproduction, Verdict, count_verdicts, judge_claims, number
from walkeval.claims import Claim
from walkeval.correlation import kendall
from walkeval.errors import ParameterError
from walkeval.judging import JudgedCollection
from walkeval.measures.classical import AP
from walkeval.measures.search_length import ESL, WeakOrder, convolve_laws
from walkeval.ranked import RankedLists
from walkeval.seeds import generator
from walkeval.tables import escape_markdown, write_everywhere, write_table

PAPER = "sigir1988-search-length"
WANTED = (1, 5, 10)
"""Numbers of relevant documents wanted, in the tables on TREC runs."""
CURVE = range(1, 21)
"""The same, in the figure."""
CHECKS = 200
"""Random cases of each axiom."""

NUMERALS = ("naught", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

Law = tuple[Fraction, ...]
"""Probability of each number of nonrelevant documents, from 0 on; the last one is above 0."""


def given(claim: Claim, name: str) -> str:
    """What an example starts from, as the claim's words give it.

    >>> given(Claim("c", "p", "w", "esl of an order; given order = (+-|+)", "1/2", "number", "nothing"), "order")
    '+-|+'
    """
    found = re.search(rf"\bgiven {re.escape(name)} = \(([^()]*)\)", claim.what)
    if found is None:
        raise ParameterError(f"{claim.claim} gives no {name!r}: {claim.what!r}")
    return found[1].strip()


# --- laws, exactly --------------------------------------------------------------------------------------------------


def trimmed(law: Iterable[Fraction]) -> Law:
    """The law without the zeros at its end."""
    law = list(law)
    while law and not law[-1]:
        law.pop()
    return tuple(law)


def exact_law(order: WeakOrder, wanted: int) -> Law:
    """Law of the nonrelevant documents read before the wanted-th relevant one, by counting orders of the ties.

    All nonrelevant documents of earlier groups are read, whatever their order; so only the group where the search ends
    is counted out. With too few relevant documents all nonrelevant ones are read.

    >>> exact_law(WeakOrder.from_text("+-|+--|++---"), 2)
    (Fraction(0, 1), Fraction(1, 3), Fraction(1, 3), Fraction(1, 3))
    """
    found = read = 0
    for relevant, nonrelevant in zip(order.relevant, order.nonrelevant, strict=True):
        if found + relevant >= wanted:
            counts = [0] * (nonrelevant + 1)
            for places in combinations(range(relevant + nonrelevant), relevant):
                last = places[wanted - found - 1]
                counts[last - (wanted - found - 1)] += 1
            return trimmed([Fraction(0)] * read + [Fraction(count, sum(counts)) for count in counts])
        found += relevant
        read += nonrelevant
    return point_mass(read)


def point_mass(number_of_documents: int) -> Law:
    """The law of a result where this number is certain (the paper's P_k)."""
    return (Fraction(0),) * number_of_documents + (Fraction(1),)


def expectation(law: Law, value: Callable[[int], Fraction | int] = lambda k: k) -> Fraction:
    """E(f, P) = sum of f(x_k) P(x_k); by default the expected number of documents."""
    return sum((value(k) * probability for k, probability in enumerate(law) if probability), Fraction(0))


def mixture(weight: Fraction, first: Law, second: Law) -> Law:
    """The convex combination ``weight * first + (1 - weight) * second``."""
    size = max(len(first), len(second))
    one, other = (law + (Fraction(0),) * (size - len(law)) for law in (first, second))
    return tuple(weight * a + (1 - weight) * b for a, b in zip(one, other, strict=True))


def convolution(first: Law, second: Law) -> Law:
    """Law of the sum of two independent numbers with these laws."""
    result = [Fraction(0)] * (len(first) + len(second) - 1)
    terms = [(t, right) for t, right in enumerate(second) if right]
    for r, left in enumerate(first):
        if left:
            for t, right in terms:
                result[r + t] += left * right
    return tuple(result)


def is_law(law: Law) -> bool:
    """Whether these are probabilities that sum to exactly 1."""
    return sum(law) == 1 and all(probability >= 0 for probability in law)


def retrieval_result(law: Law, wanted: int | None = None) -> tuple[WeakOrder, int] | None:
    """A weak order with this law, and how many relevant documents are wanted of it; None if there is none at all.

    No search is needed. With R relevant and M nonrelevant documents in the group where the search ends, s of the R
    still wanted and d = R - s, neighboring probabilities have the ratio ``P(x+1)/P(x) = (x+s)(M-x) / ((x+1)(M-x+d))``,
    so no number between the least and the largest one has probability 0, and M is their distance. The first two ratios
    are linear equations in s and d: for M >= 2 they have at most one solution. For M = 1 the ratio is s/(1+d), which
    can be any positive fraction. Documents in other groups only move the law, and those after the group do nothing.

    >>> retrieval_result(exact_law(WeakOrder.from_text("-|++---"), 1))
    (WeakOrder(relevant=(0, 2), nonrelevant=(1, 3)), 1)
    """
    law = trimmed(law)
    least = next(k for k, probability in enumerate(law) if probability)
    inner = law[least:]
    if not all(inner):
        return None
    nonrelevant = len(inner) - 1
    if nonrelevant == 0:
        s, d = Fraction(1), Fraction(0)
    elif nonrelevant == 1:
        ratio = inner[1] / inner[0]
        s, d = Fraction(ratio.numerator), Fraction(ratio.denominator - 1)
    else:
        first, second = inner[1] / inner[0], inner[2] / inner[1]
        m = nonrelevant
        slope = 2 * second - Fraction(m - 1, m) * first
        if slope == 0:
            return None
        d = ((m - 1) * (first + 1) - 2 * second * (m - 1)) / slope
        s = first * (m + d) / m
    if s.denominator != 1 or d.denominator != 1 or s < 1 or d < 0:
        return None
    needed = int(s)
    groups = [(0, least)] if least else []
    groups.append((needed + int(d), nonrelevant))
    if wanted is not None:
        if needed > wanted:
            return None
        if wanted > needed:
            groups.insert(0, (wanted - needed, 0))
            needed = wanted
    order = WeakOrder.from_groups(groups)
    return (order, needed) if exact_law(order, needed) == law else None


def weak_orders(relevant: int, nonrelevant: int) -> Iterator[WeakOrder]:
    """All weak orders of at most so many relevant and nonrelevant documents, the empty one left out."""

    def grow(groups: list[tuple[int, int]], plus: int, minus: int) -> Iterator[list[tuple[int, int]]]:
        if groups:
            yield groups
        for r, n in product(range(plus + 1), range(minus + 1)):
            if r or n:
                yield from grow([*groups, (r, n)], plus - r, minus - n)

    return (WeakOrder.from_groups(groups) for groups in grow([], relevant, nonrelevant))


# --- the examples ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Example:
    """One recomputed claim: exactly, and by the library where it computes such a thing."""

    claim: str
    exact: Fraction | bool
    library: float = math.nan
    note: str = ""

    @property
    def value(self) -> str:
        if isinstance(self.exact, bool):
            return "holds" if self.exact else "fails"
        return number(float(self.exact))


def _fractions(text: str) -> Law:
    return tuple(Fraction(one) for one in text.split())


def examples(claims: Mapping[str, Claim]) -> list[Example]:
    """Every example of the paper, from what its words give."""
    return [
        *_examples_of_section_2(claims),
        *_example_31(claims),
        *_example_32(claims),
        *_example_34(claims),
        *_example_41(claims),
    ]


def _examples_of_section_2(claims: Mapping[str, Claim]) -> Iterator[Example]:
    order = WeakOrder.from_text(given(claims["sigir1988/example-2.1/documents"], "order"))
    relevant, nonrelevant = sum(order.relevant), sum(order.nonrelevant)
    first = exact_law(order, 1)
    yield Example("sigir1988/example-2.1/documents", Fraction(relevant + nonrelevant))
    word = claims["sigir1988/example-2.1/relevant"].printed
    yield Example("sigir1988/example-2.1/relevant", NUMERALS.index(word) == relevant)
    yield Example("sigir1988/example-2.1/nonrelevant", Fraction(nonrelevant))
    yield Example("sigir1988/example-2.1/first-relevant", first[0], float(order.law(1)[0]))
    yield Example("sigir1988/example-2.1/first-nonrelevant", 1 - first[0], 1 - float(order.law(1)[0]))
    yield Example("sigir1988/example-2.1/esl1", expectation(first), order.expected(1))
    law, library = exact_law(order, 2), order.law(2)
    for k in range(4):
        yield Example(f"sigir1988/example-2.2/p{k}", law[k], float(library[k]))
    yield Example("sigir1988/example-2.2/p4", sum(law[4:], Fraction(0)), float(library[4:].sum()))
    yield Example("sigir1988/example-2.2/esl2", expectation(law), order.expected(2))
    # The sentence needs one exception only; a reader may take it as "may have".
    equal = WeakOrder.from_text("+|+|-")
    yield Example(
        "sigir1988/section-2/esl-differs",
        expectation(exact_law(equal, 1)) != expectation(exact_law(equal, 2)),
        note=(
            "as a sentence about every weak order it is false: in +|+|- both esl_1 and esl_2 are 0; read as 'may "
            "differ' it is true, and nothing is built on it"
        ),
    )


def _example_31(claims: Mapping[str, Claim]) -> Iterator[Example]:
    order = WeakOrder.from_text(given(claims["sigir1988/example-3.1/p0"], "order"))
    law, library = exact_law(order, 1), order.law(1)
    printed = trimmed(Fraction(claims[f"sigir1988/example-3.1/p{k}"].printed) for k in range(6))
    only = retrieval_result(printed, wanted=1)
    unique = only is not None and only[0] == order
    for k in range(6):
        value = law[k] if k < len(law) else Fraction(0)
        shown = float(library[k]) if k < len(library) else 0.0
        note = f"the printed law has one weak order up to what follows its last group; it is the given one: {unique}"
        yield Example(f"sigir1988/example-3.1/p{k}", value, shown, note if k == 0 else "")
    chosen = [int(one) for one in given(claims["sigir1988/example-3.1/simple"], "A").split()]
    yield Example(
        "sigir1988/example-3.1/simple", sum((law[k] for k in chosen), Fraction(0)), float(library[chosen].sum())
    )


def _example_32(claims: Mapping[str, Claim]) -> Iterator[Example]:
    law = _fractions(given(claims["sigir1988/example-3.2/tied"], "law"))
    largest = len(law) - 1
    # Why this search is exhaustive. What follows the group of the first relevant document changes nothing: leave it
    # out. The largest number with a probability above 0 is that of all nonrelevant documents up to and in the group,
    # so there are at most `largest`. The least one has probability R / (R + M) in a group of R relevant and M
    # nonrelevant documents; from that, R = M P / (1 - P), and there are no other relevant documents. One more of each
    # is a margin.
    least = next(probability for probability in law if probability)
    relevant = math.ceil(largest * least / (1 - least))
    orders = [one for one in weak_orders(relevant + 1, largest + 1) if sum(one.relevant)]
    laws = {order: exact_law(order, 1) for order in orders}
    hits = [order for order, one in laws.items() if one == law]
    inside = [order for order, one in laws.items() if len(one) <= len(law)]

    def tied(order: WeakOrder) -> int:
        return next(n for r, n in zip(order.relevant, order.nonrelevant, strict=True) if r)

    possible = sorted({tied(order) for order in inside if tied(order)})
    cases = [int(one) for one in given(claims["sigir1988/example-3.2/cases"], "cases").split()]
    alone = {len([p for p in laws[order] if p]) for order in inside if not tied(order)}
    none = retrieval_result(law) is None
    searched = (
        f"all {len(orders)} weak orders of at most {relevant + 1} relevant and {largest + 1} nonrelevant documents; "
        f"any other one puts probability above {largest}, or not {least} on its least number, or only adds documents "
        "that are not read"
    )
    yield Example("sigir1988/example-3.2/tied", alone == {1}, note="without a tie the number is certain")
    yield Example("sigir1988/example-3.2/cases", possible == cases, note=searched)
    proof = "and by equation: for any number of wanted documents the law of a weak order has no gap" if none else ""
    yield Example("sigir1988/example-3.2/no-result", not hits and none, note=f"{searched}; {proof}")
    # A user who wants one nonrelevant document has read exactly one when it is found.
    literal = point_mass(1)
    yield Example(
        "sigir1988/example-3.2/wanted",
        literal == law,
        note=(
            "a slip of the pen for 'relevant': a user who wants one nonrelevant document reads exactly one, and x_j "
            "is defined by relevant documents wanted; the argument that follows is right with 'relevant'"
        ),
    )
    yield Example("sigir1988/section-3/converse", not hits and none, note="example 3.2 is one")


def _example_34(claims: Mapping[str, Claim]) -> Iterator[Example]:
    bad, middle, good = (point_mass(int(given(claims["sigir1988/example-3.4/order"], name))) for name in "PQR")
    weight = Fraction(given(claims["sigir1988/example-3.4/better"], "weight"))
    yield Example("sigir1988/example-3.4/order", expectation(good) < expectation(middle) < expectation(bad))
    mixed = mixture(weight, bad, good)
    even = (expectation(middle) - expectation(good)) / (expectation(bad) - expectation(good))
    note = (
        f"{number(float(expectation(mixed)))} nonrelevant documents are expected instead of "
        f"{number(float(expectation(middle)))}; up to a probability of {even} the mixture is better"
    )
    yield Example("sigir1988/example-3.4/better", expectation(mixed) < expectation(middle), note=note)
    yield Example("sigir1988/example-3.4/rest", 1 - weight)
    small = expectation(mixed) < expectation(middle)
    yield Example(
        "sigir1988/example-3.4/symbol",
        not small,
        note=(
            "condition iii and the sentence after it call the small probability of the bad result beta; alpha is the "
            "large one, which makes the mixture worse; nothing else depends on the letter"
        ),
    )


def _example_41(claims: Mapping[str, Claim]) -> Iterator[Example]:
    first, second = (_fractions(given(claims["sigir1988/example-4.1/x0"], name)) for name in "PQ")
    both = convolution(first, second)
    library = convolve_laws([float(one) for one in first], [float(one) for one in second])
    whole = ", ".join(map(str, both))
    known = {name: retrieval_result(law) is not None for name, law in (("P", first), ("Q", second), ("P * Q", both))}
    results = ", ".join(f"{name} {'is' if yes else 'is not'}" for name, yes in known.items())
    note = f"the whole law is {whole}; of a retrieval result: {results}"
    yield Example("sigir1988/example-4.1/x0", both[0], float(library[0]), note)
    yield Example("sigir1988/example-4.1/x1-first", first[0] * second[1])
    yield Example("sigir1988/example-4.1/x1-second", first[1] * second[0])
    yield Example("sigir1988/example-4.1/x1", both[1], float(library[1]))


# --- axioms ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Preference:
    """Laws are compared by a number: the larger, the better."""

    name: str
    value: Callable[[Law], Fraction]

    def weakly(self, first: Law, second: Law) -> bool:
        return self.value(first) >= self.value(second)

    def strictly(self, first: Law, second: Law) -> bool:
        return self.value(first) > self.value(second)


def _median(law: Law) -> Fraction:
    total = Fraction(0)
    for k, probability in enumerate(law):
        total += probability
        if 2 * total >= 1:
            return Fraction(-k)
    raise ParameterError("a law must sum to 1")


EXPECTED = Preference("expected search length", lambda law: -expectation(law))
CONTROLS = (
    Preference("control: median", _median),
    Preference("control: worst case", lambda law: Fraction(1 - len(trimmed(law)))),
    Preference("control: expected square", lambda law: -expectation(law, lambda k: k * k)),
)
"""Other users, for whom some axiom must fail: a check that never fails shows nothing."""


@dataclass(frozen=True)
class AxiomCheck:
    """How often an axiom was tried on random laws, and how often it failed."""

    axiom: str
    where: str
    preference: str
    checks: int
    violations: int
    note: str = ""


class _Cases:
    """Seeded random laws and weights of one check."""

    def __init__(self, name: str, longest: int = 8) -> None:
        self.random = generator(f"sigir1988/{name}")
        self.longest = longest

    def law(self) -> Law:
        """A certain number, the law of a random weak order, or any law with small weights."""
        kind = self.random.integers(3)
        if kind == 0:
            return point_mass(int(self.random.integers(self.longest)))
        if kind == 1:
            groups = [(int(r), int(n)) for r, n in self.random.integers(0, 3, size=(3, 2)) if r or n] or [(1, 1)]
            return exact_law(WeakOrder.from_groups(groups), int(self.random.integers(1, 4)))
        weights = self.random.integers(0, 4, size=int(self.random.integers(1, self.longest + 1)))
        weights[-1] += 1
        return trimmed(Fraction(int(one), int(weights.sum())) for one in weights)

    def short_law(self) -> Law:
        """A law of at most two documents, for long convolutions."""
        first, second = (point_mass(int(one)) for one in self.random.integers(3, size=2))
        return trimmed(mixture(self.weight(), first, second))

    def laws(self, count: int) -> list[Law]:
        return [self.law() for _ in range(count)]

    def weight(self) -> Fraction:
        return Fraction(int(self.random.integers(1, 100)), 100)

    def utility(self, points: int = 6) -> list[Fraction]:
        """A random strictly decreasing utility."""
        steps = self.random.integers(1, 6, size=points)
        return [Fraction(-int(one)) for one in np.cumsum(steps)]


def check_axioms(checks: int = CHECKS) -> list[AxiomCheck]:
    """All axioms and properties of sections 2 to 4, on random laws; the weaker users only on what they may violate."""
    result = [_check(name, where, test, EXPECTED, checks) for name, (where, test) in _AXIOMS.items()]
    for control in CONTROLS:
        result += [_check(name, _AXIOMS[name][0], _AXIOMS[name][1], control, checks) for name in _CONTROLLED]
    exceptions, relations = lemma_31()
    result.append(
        AxiomCheck(
            "lemma-3.1", "Lemma 3.1", "all asymmetric relations", relations["asymmetric"], exceptions["asymmetric"],
            "all relations of three elements: the axioms compare at most three, so larger sets add nothing. Without "
            f"asymmetry, which 'strictly prefers' implies, {exceptions['all']} of all {relations['all']} relations "
            "are exceptions",
        )
    )  # fmt: skip
    return result


def _check(
    name: str, where: str, test: Callable[[_Cases, Preference], bool | None], preference: Preference, wanted: int
) -> AxiomCheck:
    """Try cases until so many fulfilled the axiom's condition; None is a case that did not."""
    cases = _Cases(name)
    done = violations = 0
    for _ in range(50 * wanted):
        outcome = test(cases, preference)
        if outcome is None:
            continue
        done += 1
        violations += not outcome
        if done == wanted:
            break
    return AxiomCheck(name, where, preference.name, done, violations)


def _completeness(cases: _Cases, prefer: Preference) -> bool:
    first, second = cases.laws(2)
    return prefer.weakly(first, second) or prefer.weakly(second, first)


def _transitivity(cases: _Cases, prefer: Preference) -> bool | None:
    first, second, third = cases.laws(3)
    if not (prefer.weakly(first, second) and prefer.weakly(second, third)):
        return None
    return prefer.weakly(first, third)


def _asymmetry(cases: _Cases, prefer: Preference) -> bool | None:
    first, second = cases.laws(2)
    return not prefer.strictly(second, first) if prefer.strictly(first, second) else None


def _negative_transitivity(cases: _Cases, prefer: Preference) -> bool | None:
    first, second, third = cases.laws(3)
    if prefer.strictly(first, second) or prefer.strictly(second, third):
        return None
    return not prefer.strictly(first, third)


def _strict_weak_order(cases: _Cases, prefer: Preference) -> bool:
    return _asymmetry(cases, prefer) is not False and _negative_transitivity(cases, prefer) is not False


def _weak_order(cases: _Cases, prefer: Preference) -> bool:
    return _completeness(cases, prefer) and _transitivity(cases, prefer) is not False


def _equivalent_forms(cases: _Cases, prefer: Preference) -> bool:
    """One form follows from the other: strictly better is not weakly worse."""
    first, second = cases.laws(2)
    return prefer.strictly(first, second) == (not prefer.weakly(second, first))


def _independence(cases: _Cases, prefer: Preference) -> bool | None:
    better, worse, third = cases.laws(3)
    if not prefer.strictly(better, worse):
        return None
    weight = cases.weight()
    return prefer.strictly(mixture(weight, better, third), mixture(weight, worse, third))


def _continuity(cases: _Cases, prefer: Preference) -> bool | None:
    worst, middle, best = cases.laws(3)
    if not (prefer.strictly(best, middle) and prefer.strictly(middle, worst)):
        return None
    small = [Fraction(1, 2**n) for n in range(1, 30)]
    matters_not = any(prefer.strictly(mixture(one, worst, best), middle) for one in small)
    return matters_not and any(prefer.strictly(middle, mixture(1 - one, worst, best)) for one in small)


def _indifference(cases: _Cases, prefer: Preference) -> bool:
    k = int(cases.random.integers(1, 60))
    mixed = mixture(Fraction(1, 2), point_mass(k - 1), point_mass(k + 1))
    return prefer.value(mixed) == prefer.value(point_mass(k))


def _monotonicity(cases: _Cases, prefer: Preference) -> bool:
    first, second, third = cases.laws(3)
    return prefer.weakly(first, second) == prefer.weakly(convolution(first, third), convolution(second, third))


def _power(law: Law, n: int) -> Law:
    result = point_mass(0)
    for _ in range(n):
        result = convolution(result, law)
    return result


def _archimedean_printed(cases: _Cases, prefer: Preference) -> bool | None:
    """The same R on both sides: one n serves all R, and n = 1 does."""
    better, worse = cases.laws(2)
    if not prefer.strictly(better, worse):
        return None
    n = 1 + int(cases.random.integers(3))
    return all(
        prefer.weakly(convolution(_power(better, n), one), convolution(_power(worse, n), one)) for one in cases.laws(3)
    )


def _archimedean_uniform(cases: _Cases, prefer: Preference) -> bool | None:
    """R' on the right, and one n for all R and R': whatever n is, a bad enough R refutes it."""
    better, worse = cases.laws(2)
    if not prefer.strictly(better, worse):
        return None
    perfect = point_mass(0)
    for n in range(1, 5):
        bad = point_mass(n * len(worse))
        if prefer.weakly(convolution(_power(better, n), bad), convolution(_power(worse, n), perfect)):
            return True
    return False


def _archimedean(cases: _Cases, prefer: Preference) -> bool | None:
    """R' on the right, and n chosen after R and R'; it is what the difference of the expectations asks for."""
    better, worse, one, other = (cases.short_law() for _ in range(4))
    if not prefer.strictly(better, worse):
        return None
    step = prefer.value(better) - prefer.value(worse)
    n = max(1, math.ceil((prefer.value(other) - prefer.value(one)) / step))
    if n > 5:  # only to keep the fractions short
        return None
    return prefer.weakly(convolution(_power(better, n), one), convolution(_power(worse, n), other))


def _archimedean_step(cases: _Cases, prefer: Preference) -> bool | None:
    """What is printed (R on both sides) against what is concluded from it (R' on the right), for n = 1."""
    better, worse, one, other = cases.laws(4)
    if not prefer.strictly(better, worse):
        return None
    printed = prefer.value(better) + prefer.value(one) >= prefer.value(worse) + prefer.value(one)
    concluded = prefer.value(better) + prefer.value(one) >= prefer.value(worse) + prefer.value(other)
    return concluded if printed else None


def _additivity(cases: _Cases, prefer: Preference) -> bool:
    first, second = cases.laws(2)
    return prefer.value(convolution(first, second)) == prefer.value(first) + prefer.value(second)


def _order_of_mu(cases: _Cases, prefer: Preference) -> bool:
    first, second = cases.laws(2)
    return prefer.weakly(first, second) == (-expectation(first) >= -expectation(second))


def _closed(combine: Callable[[_Cases, Law, Law], Law]) -> Callable[[_Cases, Preference], bool]:
    def test(cases: _Cases, _: Preference) -> bool:
        first, second = cases.laws(2)
        return is_law(combine(cases, first, second))

    return test


def _law_of_result(cases: _Cases, _: Preference) -> bool:
    groups = [(int(r), int(n)) for r, n in cases.random.integers(0, 4, size=(3, 2)) if r or n]
    wanted = int(cases.random.integers(1, 6))
    order = WeakOrder.from_groups(groups)
    law = exact_law(order, wanted)
    library = trimmed_floats(order.law(wanted))
    return is_law(law) and np.allclose([float(one) for one in law], library, rtol=0, atol=1e-12)


def trimmed_floats(law: NDArray[np.float64]) -> NDArray[np.float64]:
    """A law of the library without the zeros at its end."""
    return law[: int(np.flatnonzero(law)[-1]) + 1]


def _unique_utility(cases: _Cases, _: Preference) -> bool | None:
    """Positive linear changes of f keep all preferences; any other decreasing f turns one round, and here it is."""
    f, g = cases.utility(), cases.utility()
    slope, shift = Fraction(int(cases.random.integers(1, 9)), 3), Fraction(int(cases.random.integers(-9, 9)))
    same = [slope * one + shift for one in f]
    laws = [
        mixture(cases.weight(), point_mass(int(a)), point_mass(int(b)))
        for a, b in cases.random.integers(len(f), size=(2, 2))
    ]

    def sign(utility: list[Fraction], first: Law, second: Law) -> int:
        difference = expectation(first, utility.__getitem__) - expectation(second, utility.__getitem__)
        return (difference > 0) - (difference < 0)

    if sign(f, *laws) != sign(same, *laws):
        return False
    last = len(f) - 1
    share = {k: [(u[k] - u[last]) / (u[0] - u[last]) for u in (f, g)] for k in range(1, last)}
    differing = [k for k, (one, other) in share.items() if one != other]
    if not differing:
        return None
    k = differing[0]
    between = mixture(sum(share[k]) / 2, point_mass(0), point_mass(last))
    return sign(f, between, point_mass(k)) == -sign(g, between, point_mass(k)) != 0


def _indifference_decides(cases: _Cases, _: Preference) -> bool:
    """A decreasing f keeps the indifference exactly if it is linear, that is if it orders as -k does."""
    f = cases.utility() if cases.random.integers(2) else [Fraction(-3 * k + 1) for k in range(6)]
    indifferent = all(f[k - 1] + f[k + 1] == 2 * f[k] for k in range(1, len(f) - 1))
    linear = all(f[k] - f[k + 1] == f[0] - f[1] for k in range(len(f) - 1))
    return indifferent == linear


def _unique_mu(cases: _Cases, prefer: Preference) -> bool:
    """a E is additive; a E + b is not, unless b = 0."""
    first, second = cases.laws(2)
    a, b = cases.weight(), cases.weight()
    one, other, both = (prefer.value(law) for law in (first, second, convolution(first, second)))
    return a * both == a * one + a * other and a * both + b != (a * one + b) + (a * other + b)


def _not_closed(cases: _Cases, _: Preference) -> bool | None:
    """Two results, such as two groups with a relevant document among two others, whose convolution is no result."""
    size = 2 + int(cases.random.integers(3))
    law = exact_law(WeakOrder.from_groups([(1, size)]), 1)
    return retrieval_result(law) is not None and retrieval_result(convolution(law, law)) is None


def _mean_is_not_ordinal(cases: _Cases, _: Preference) -> bool:
    """Search lengths of two systems on two topics, whose means change places when the scale changes and order stays."""
    low, step = int(cases.random.integers(0, 5)), int(cases.random.integers(3, 9))
    one, other = (low, low + 2 * step), (low + step - 1, low + step)

    def scale(k: int) -> int:
        return k if k <= low + step else low + step + 1

    kept = all(scale(a) < scale(b) for a, b in product((*one, *other), repeat=2) if a < b)
    return kept and (sum(one) > sum(other)) and sum(map(scale, one)) < sum(map(scale, other))


def lemma_31() -> tuple[dict[str, int], dict[str, int]]:
    """Exceptions to lemma 3.1 among the relations of three elements, and how many there are: all, and asymmetric."""
    exceptions = {"all": 0, "asymmetric": 0}
    relations = {"all": 0, "asymmetric": 0}
    pairs = list(product(range(3), repeat=2))
    triples = list(product(range(3), repeat=3))
    for chosen in product((False, True), repeat=len(pairs)):
        strict = dict(zip(pairs, chosen, strict=True))
        weak = {(a, b): strict[a, b] or (not strict[a, b] and not strict[b, a]) for a, b in pairs}
        asymmetric = not any(strict[a, b] and strict[b, a] for a, b in pairs)
        complete = all(weak[a, b] or weak[b, a] for a, b in pairs)
        transitive = all(weak[a, c] for a, b, c in triples if weak[a, b] and weak[b, c])
        negative = all(not strict[a, c] for a, b, c in triples if not strict[a, b] and not strict[b, c])
        exception = (complete and transitive) != (asymmetric and negative)
        for group in ("all", "asymmetric") if asymmetric else ("all",):
            relations[group] += 1
            exceptions[group] += exception
    return exceptions, relations


def _difference_equation(points: int = 12) -> bool:
    """The second differences leave two dimensions, and the constants and k are in both."""
    rows = np.zeros((points - 2, points))
    for k in range(points - 2):
        rows[k, k : k + 3] = 0.5, -1.0, 0.5
    basis = np.stack([np.ones(points), np.arange(points)])
    return points - np.linalg.matrix_rank(rows) == 2 and not (rows @ basis.T).any()


_AXIOMS: dict[str, tuple[str, Callable[[_Cases, Preference], bool | None]]] = {
    "section-2/probability-measure": ("Section 2", _law_of_result),
    "section-3/completeness": ("Section 3", _completeness),
    "section-3/transitivity": ("Section 3", _transitivity),
    "definition-3.3/asymmetry": ("Definition 3.3", _asymmetry),
    "definition-3.3/negative-transitivity": ("Definition 3.3", _negative_transitivity),
    "definition-3.3/convex-combination": (
        "Definition 3.3",
        _closed(lambda cases, first, second: mixture(cases.weight(), first, second)),
    ),
    "section-3/equivalent-forms": ("Section 3", _equivalent_forms),
    "theorem-3.1/i": ("Theorem 3.1", _strict_weak_order),
    "theorem-3.1/ii": ("Theorem 3.1", _independence),
    "theorem-3.1/iii": ("Theorem 3.1", _continuity),
    "theorem-3.1/unique": ("Theorem 3.1", _unique_utility),
    "section-3/indifference": ("Section 3", _indifference),
    "section-3/necessary-and-sufficient": ("Section 3", _indifference_decides),
    "section-4/simple": ("Section 4", _closed(lambda cases, first, second: convolution(first, second))),
    "section-4/not-closed": ("Section 4", _not_closed),
    "definition-4.1/i": ("Definition 4.1", _weak_order),
    "definition-4.1/ii": ("Definition 4.1", _monotonicity),
    "definition-4.1/iii": ("Definition 4.1", _archimedean_printed),
    "definition-4.1/iii-with-two-results": ("Definition 4.1", _archimedean_uniform),
    "lemma-4.1/additivity": ("Lemma 4.1", _additivity),
    "lemma-4.1/archimedean": ("Lemma 4.1", _archimedean),
    "lemma-4.1/step": ("Lemma 4.1", _archimedean_step),
    "theorem-4.1/i": ("Theorem 4.1", _order_of_mu),
    "theorem-4.1/unique": ("Theorem 4.1", _unique_mu),
    "section-5/mean": ("Section 5", _mean_is_not_ordinal),
}
_CONTROLLED = (
    "theorem-3.1/ii",
    "theorem-3.1/iii",
    "section-3/indifference",
    "definition-4.1/ii",
    "lemma-4.1/additivity",
)

_SAME_CHECK = {
    "lemma-4.1/monotonicity": "definition-4.1/ii",
    "theorem-4.1/ii": "lemma-4.1/additivity",
    "section-3/unique": "section-2/probability-measure",
}
"""Claims that say the same as another one."""

_NOTES = {
    "definition-4.1/iii": (
        "with the same R on both sides the axiom follows from monotonicity (n = 1 will do) and says nothing new; its "
        "interpretation and the end of the proof have R' on the right"
    ),
    "definition-4.1/iii-with-two-results": (
        "with n chosen first no n serves all R and R': a bad enough R refutes it. With n chosen after R and R', as an "
        "Archimedean axiom has it, the axiom holds (lemma-4.1/archimedean): a slip in the order of the quantifiers, "
        "and lemma 4.1 stands"
    ),
    "lemma-4.1/step": (
        "a slip for R' on the right: as printed R cancels, n = 1 always serves, and the conclusion about R' does not "
        "follow; with R' the step is right for n large enough (lemma-4.1/archimedean)"
    ),
    "section-4/not-closed": "decided exactly by `retrieval_result`, without a bound on the size of the weak order",
    "theorem-3.1/i": "one direction: preference by expectation has the property",
    "theorem-3.1/ii": "one direction: preference by expectation has the property",
    "theorem-3.1/iii": "one direction: preference by expectation has the property",
}


def _note(check: AxiomCheck) -> str:
    """What is to be said about an axiom; a control needs no such note."""
    return _NOTES.get(check.axiom, "") if check.preference == EXPECTED.name else ""


def reproductions(found: Sequence[Example], axioms: Sequence[AxiomCheck]) -> list[Reproduction]:
    """What examples and axioms say about the claims."""
    result = [Reproduction(one.claim, one.value, "recomputed in fractions", note=one.note) for one in found]
    by_axiom = {one.axiom: one for one in axioms if one.preference in (EXPECTED.name, "all asymmetric relations")}

    def from_axiom(claim: str, axiom: str) -> Reproduction:
        one = by_axiom[axiom]
        random = "random laws" if one.preference == EXPECTED.name else "relations"
        note = "; ".join(filter(None, (_NOTES.get(claim, ""), one.note)))
        holds = "holds" if one.checks and not one.violations else "fails"
        return Reproduction(
            f"sigir1988/{claim}",
            holds,
            f"{one.checks} exact checks on {random}, {one.violations} violations",
            note=note,
        )

    result += [from_axiom(name, name) for name in by_axiom]
    result += [from_axiom(claim, axiom) for claim, axiom in _SAME_CHECK.items()]
    order = WeakOrder.from_text("--+|-++")
    law = exact_law(order, 2)
    definition = "holds" if float(expectation(law)) == order.expected(2) else "fails"
    linear = "holds" if _difference_equation() else "fails"
    points = all(expectation(point_mass(k), lambda j: -(j**2) + j) == -(k**2) + k for k in range(20))
    slopes = all((gamma * 1 < gamma * 0) == (gamma < 0) for gamma in range(-3, 4))
    convolved = _sum_of_independent()
    # gamma + delta, as announced, is the same for all k.
    announced = [Fraction(-2) + Fraction(1) for _ in range(3)]
    result += [
        Reproduction("sigir1988/definition-3.2/expectation", definition, "the library's closed form against the sum"),
        Reproduction(
            "sigir1988/example-3.3/negation",
            "holds" if expectation(law, lambda k: -k) == -expectation(law) else "fails",
            "recomputed in fractions",
        ),
        Reproduction("sigir1988/section-3/point-mass", "holds" if points else "fails", "recomputed in fractions"),
        Reproduction(
            "sigir1988/section-3/general-solution", linear, "rank of the linear system, and its two solutions"
        ),
        Reproduction("sigir1988/section-3/negative-slope", "holds" if slopes else "fails", "recomputed"),
        Reproduction(
            "sigir1988/section-3/form-of-f",
            "holds" if announced[0] > announced[1] > announced[2] else "fails",
            "recomputed in fractions",
            note="without k this is a constant, which prefers nothing; the derivation that follows has gamma k + delta",
        ),
        Reproduction(
            "sigir1988/example-4.1/formula", "holds" if convolved else "fails", "all pairs of outcomes, counted"
        ),
    ]
    return result


def _sum_of_independent() -> bool:
    """The convolution against the sums of all pairs of equally likely outcomes."""
    first, second = (0, 0, 1, 2), (0, 1, 2)
    counts = [0] * 5
    for one, other in product(first, second):
        counts[one + other] += 1
    laws = [tuple(Fraction(values.count(k), len(values)) for k in range(3)) for values in (first, second)]
    return convolution(*laws) == tuple(Fraction(count, 12) for count in counts)


# --- ties in TREC runs ----------------------------------------------------------------------------------------------


def without_ties(lists: RankedLists) -> RankedLists:
    """The same lists in the order of their ranks, as if no scores were equal."""
    names = [one.name for one in fields(RankedLists) if not one.name.startswith("tie_")]
    return RankedLists(**{name: getattr(lists, name) for name in names})


def critical_groups(lists: RankedLists, wanted: int) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """For each list whether it has so many relevant documents; size and nonrelevant documents of the group they end in.

    Sizes are 0 where there are too few.
    """
    found = lists.relevant
    reached = found.count >= wanted
    size, nonrelevant = np.zeros(len(lists), dtype=np.int64), np.zeros(len(lists), dtype=np.int64)
    first, last = (rank[lists.relevant_position] for rank in (lists.tie_first, lists.tie_last))
    target = (found.start[:-1] + wanted - 1)[reached]
    stride = int(lists.length.max(initial=0)) + 1
    group = found.list_index * stride + first
    relevant = np.searchsorted(group, group[target], "right") - np.searchsorted(group, group[target], "left")
    size[reached] = last[target] - first[target] + 1
    nonrelevant[reached] = size[reached] - relevant
    return reached, size, nonrelevant


def first_relevant_rank(lists: RankedLists) -> NDArray[np.float64]:
    """Rank of the first relevant document; one more than the list is long where there is none."""
    found = lists.relevant
    result = lists.length + 1.0
    some = found.count > 0
    result[some] = found.rank[found.start[:-1][some]]
    return result


@dataclass(frozen=True)
class TieStudy:
    """What ties do to the expected search length of the runs of a collection."""

    collection: str
    synthetic: bool
    ties: list[dict]
    taus: list[dict]
    curve: list[dict]


def study_ties(
    name: str, lists: RankedLists, systems: int, synthetic: bool, variant: str = "b", decimals: int | None = None
) -> TieStudy:
    """Expected search length with the ties that scores really have, against the order that the runs are judged in.

    Lists are those of so many systems, system after system.
    """
    plain = without_ties(lists)

    def means(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return values.reshape(systems, -1).mean(axis=1)

    head = {"collection": name, "data": "SYNTHETIC" if synthetic else "real"}
    average_precision, first_rank = means(AP().score(plain)), means(first_relevant_rank(plain))
    # The smallest collection that these lists and judgements can come from: what is not retrieved follows at random.
    smallest = int((lists.length + lists.recall_base - lists.relevant.count).max(initial=1))
    ties, taus, curve = [], [], []
    for wanted in CURVE:
        tied, ordered = ESL(wanted).score(lists), ESL(wanted).score(plain)
        reached, size, nonrelevant = critical_groups(lists, wanted)
        moved = np.abs(tied - ordered)
        matter = (size > 1) & (nonrelevant > 0) & (nonrelevant < size)
        tau_ap = kendall(-means(tied), average_precision, variant, decimals)
        tau_order = kendall(means(tied), means(ordered), variant, decimals)
        curve.append(
            head
            | {
                "wanted": wanted, "tied_share": float(matter.mean()), "difference": float(moved.mean()),
                "relative_difference": float(moved.sum() / max(ordered.sum(), 1)),
                "tau_ap": tau_ap.value, "tau_order": tau_order.value,
            }
        )  # fmt: skip
        if wanted not in WANTED:
            continue
        # Equal means share a place.
        place = [rankdata(np.round(means(values), 9), "min") for values in (tied, ordered)]
        ties.append(
            head
            | {
                "wanted": wanted, "lists": len(lists), "empty": int((lists.length == 0).sum()),
                "too_few_relevant": float((~reached).mean()),
                "tied_critical_group": float((size > 1).mean()),
                "tied_and_mixed": float(matter.mean()),
                "mean_group_if_mixed": float(size[matter].mean()) if matter.any() else math.nan,
                "esl_with_ties": float(tied.mean()), "esl_of_order": float(ordered.mean()),
                "mean_difference": float(moved.mean()),
                "mean_difference_if_mixed": float(moved[matter].mean()) if matter.any() else math.nan,
                "largest_difference": float(moved.max(initial=0)),
                "largest_change_of_place": int(np.abs(place[0] - place[1]).max(initial=0)),
            }
        )  # fmt: skip
        whole = ESL(wanted, collection_size=smallest).score(lists)
        compared = {
            "AP": average_precision,
            "rank of the first relevant": -first_rank,
            "ESL of the order, no ties": -means(ordered),
            "mean of log2(1 + ESL)": -means(np.log2(1 + tied)),
            "median ESL": -np.median(tied.reshape(systems, -1), axis=1),
        }
        for reading, values in (("retrieved list", tied), (f"collection of {smallest} documents", whole)):
            for other, score in compared.items():
                tau = kendall(-means(values), score, variant, decimals)
                taus.append(
                    head
                    | {
                        "wanted": wanted, "esl_over": reading, "compared_with": other, "tau": tau.value,
                        "systems": systems,
                        "pairs": tau.pairs, "disagreements": tau.disagreements, "ties": tau.ties, "reason": tau.reason,
                    }
                )  # fmt: skip
    return TieStudy(name, synthetic, ties, taus, curve)


_TIES, _TAUS = ("collection", "data", "wanted"), ("collection", "data", "wanted", "compared_with", "tau")
"""First columns, for tables that stay empty because no runs are at hand."""
_SHARES = ("too_few_relevant", "tied_critical_group", "tied_and_mixed")


def plot_ties(stem: str | PathLike[str], studies: Sequence[TieStudy]) -> None:
    """Draw ``stem.svg`` and ``stem.pdf``: what ties change, and tau with AP, by the number of documents wanted."""
    from walkeval import figures  # matplotlib is only needed here

    heading = "What ties do to expected search length"
    synthetic = any(one.synthetic for one in studies)
    if not studies:
        sentence = "No collection of this edition has runs at hand."
        figures.save(figures.message_sheet(heading, sentence, sentence), stem)
        return
    caption = (
        "Top: lists whose search ends in a group of equal scores with relevant and nonrelevant documents, in percent. "
        "Middle: mean absolute difference between ESL with these ties and ESL of trec_eval's order, in documents. "
        "Bottom: Kendall's tau between mean ESL and AP."
    )
    colors = (figures.BLACK, figures.BLUE, figures.VERMILION, figures.GREEN, figures.PURPLE, figures.ORANGE)
    panels = (("tied_share", 100, "tied lists, %"), ("difference", 1, "difference"), ("tau_ap", 1, "tau with AP"))
    with figures.style():
        drawn = figures.sheet(heading, caption, [1.25] * 3, right=0.85, above=0.15, below=0.42, synthetic=synthetic)
        for panel, (column, factor, label) in zip(drawn.panels, panels, strict=True):
            ends = []
            for study, color in zip(studies, colors, strict=False):
                x = [row["wanted"] for row in study.curve]
                y = [factor * row[column] for row in study.curve]
                panel.plot(x, y, color=color, linewidth=1.2, marker="o", markersize=2.8)
                ends.append((y[-1], study.collection, color))
            panel.set_ylabel(label)
            panel.set_xlim(0.5, CURVE[-1] + 0.5)
            panel.set_xticks([1, 5, 10, 15, 20])
            panel.grid(True, axis="y")
            low, high = panel.get_ylim()
            if column != "tau_ap":
                low = 0.0
                panel.set_ylim(low, high * 1.05)
                high *= 1.05
            ends.sort(key=lambda end: end[:2])
            places = figures.spread([(end[0] - low) / (high - low) for end in ends], 0.115)
            for (_, name, color), y in zip(ends, places, strict=True):
                panel.text(1.02, y, name, transform=panel.transAxes, va="center", size=8.5, color=figures.darker(color))
        drawn.panels[-1].set_xlabel("relevant documents wanted")
    figures.save(drawn, stem)


# --- all of it ------------------------------------------------------------------------------------------------------


def write_paper(
    folder: str | PathLike[str],
    claims: Mapping[str, Claim],
    collections: Mapping[str, JudgedCollection],
    synthetic: bool,
    variant: str = "b",
    decimals: int | None = None,
    min_grade: int = 1,
) -> list[Reproduction]:
    """Write all artefacts of the paper into a folder, and return what they say about its claims."""
    folder = Path(folder)
    found, axioms = examples(claims), check_axioms()
    result = reproductions(found, axioms)
    verdicts = {one.claim: one for one in judge_claims(claims, result)}
    table = pd.DataFrame(
        [
            {
                "claim": one.claim, "where": claims[one.claim].where, "what": claims[one.claim].what,
                "printed": claims[one.claim].printed,
                "exact": one.value if isinstance(one.exact, bool) else str(one.exact),
                "library": one.library, "verdict": verdicts[one.claim].verdict, "note": one.note,
            }
            for one in found
        ]
    )  # fmt: skip
    caption = (
        "The examples of the paper, recomputed in fractions; library is what walkeval's measure of search length says."
    )
    write_everywhere(folder / "examples", table, caption, table.drop(columns=["claim", "note"]))
    table = pd.DataFrame(
        [
            {
                "axiom": one.axiom, "where": one.where, "preference": one.preference, "checks": one.checks,
                "violations": one.violations, "holds": "yes" if one.checks and not one.violations else "no",
                "note": "; ".join(filter(None, (_note(one), one.note))),
            }
            for one in axioms
        ]
    )  # fmt: skip
    caption = (
        "Axioms and properties on random laws, in fractions. Preference by expected search length must have them; the "
        "controls are other users, for whom some must fail."
    )
    write_everywhere(folder / "axioms", table, caption, table.drop(columns="note"))
    write_errata(folder / "errata.md", "Bollmann and Raghavan, SIGIR 1988", claims, verdicts.values())
    studies = [
        study_ties(name, one.lists(min_grade=min_grade), len(one.runs), synthetic, variant, decimals)
        for name, one in collections.items()
        if one.runs
    ]
    source = " SYNTHETIC collections, generated; not about any real run." if synthetic else ""
    ties = pd.DataFrame([row for one in studies for row in one.ties], columns=_TIES if not studies else None)
    caption = (
        "Expected search length with the ties of the runs against that of trec_eval's order. tied_critical_group: "
        "lists whose search ends in a group of equal scores; tied_and_mixed: such groups with nonrelevant documents "
        f"too; differences in documents.{source}"
    )
    write_everywhere(folder / "ties", ties, caption, _rounded(ties))
    taus = pd.DataFrame([row for one in studies for row in one.taus], columns=_TAUS if not studies else None)
    caption = (
        "Kendall's tau between systems by mean expected search length (less is better) and by other scores. Over the "
        "retrieved list a search that fails costs only what the list holds; over a collection the rest follows in "
        f"random order, in the smallest collection that the data allow.{source}"
    )
    write_everywhere(folder / "taus", taus, caption, _rounded(taus))
    curve = pd.DataFrame([row for one in studies for row in one.curve], columns=_TIES if not studies else None)
    write_table(folder / "ties-by-wanted.tsv", curve)
    plot_ties(folder / "ties-by-wanted", studies)
    text = _readme(list(verdicts.values()), axioms, studies, synthetic)
    (folder / "README.md").write_text(text, encoding="utf-8")
    return result


def _rounded(table: pd.DataFrame) -> pd.DataFrame:
    """For people: shares in percent, other numbers with three decimals."""
    shown = table.copy()
    for name in shown.columns:
        if shown[name].dtype.kind == "f":
            unit = "{:.1%}" if name in _SHARES else "{:.3f}"
            shown[name] = ["" if math.isnan(value) else unit.format(value) for value in shown[name]]
    return shown


def write_errata(
    path: str | PathLike[str], paper: str, claims: Mapping[str, Claim], verdicts: Iterable[Verdict]
) -> None:
    """Write what does not hold as printed: one section a claim, with what was found and why."""
    wrong = [one for one in verdicts if one.verdict in ("differs", "impossible")]
    lines = [f"# What does not hold as printed: {paper}", ""]
    lines += [f"{len(wrong)} claims. Each note says whether anything depends on it.", ""]
    for one in wrong:
        claim = claims[one.claim]
        lines += [f"## {escape_markdown(claim.where)}: {escape_markdown(claim.what.partition('; given ')[0])}", ""]
        lines += [f"- printed: {escape_markdown(one.printed)}"]
        if one.reproduced not in ("", "fails"):
            lines += [f"- found: {escape_markdown(one.reproduced)}"]
        lines += [f"- {escape_markdown(one.note)}", f"- claim: `{one.claim}`", ""]
    Path(path).write_text("\n".join(lines), encoding="utf-8")


def verdict_lines(verdicts: Sequence[Verdict]) -> list[str]:
    """The verdicts in words, for a README: how many of each, and which claims are not confirmed."""
    counts = count_verdicts(verdicts)
    lines = [
        f"Of {len(verdicts)} claims: " + ", ".join(f"{count} {name}" for name, count in counts.items() if count) + "."
    ]
    for name in ("differs", "impossible", "not checkable"):
        chosen = [one for one in verdicts if one.verdict == name]
        if chosen:
            lines += ["", f"{name.capitalize()}:", ""]
            lines += [
                f"- `{one.claim}` ({escape_markdown(one.printed)}): {escape_markdown(one.note)}" for one in chosen
            ]
    return lines


def _shown(value: float, digits: int = 4) -> str:
    return "undefined" if math.isnan(value) else f"{value:.{digits}f}"


def _readme(verdicts: list[Verdict], axioms: Sequence[AxiomCheck], studies: Sequence[TieStudy], synthetic: bool) -> str:
    own = [one for one in axioms if one.preference == EXPECTED.name]
    controls = [one for one in axioms if one.preference.startswith("control")]
    lines = [
        "# Bollmann and Raghavan, SIGIR 1988: A Utility-Theoretic Analysis of Expected Search Length",
        "",
        "Made by the rule `reproduce_sigir1988`; every number below is computed.",
        "",
        "## The paper itself (no data needed)",
        "",
        "All examples are recomputed in fractions by counting the orders of tied documents (`examples.*`), beside "
        "what the library's closed form gives. That no weak order has the law of example 3.2 is shown by a search "
        "that is exhaustive (the argument is in its note) and, for any number of wanted documents, by solving for the "
        "one order that could have a law. Orders that the paper draws are put down from its words.",
        "",
        "Axioms and properties are tried on seeded random laws, in fractions (`axioms.*`): "
        f"{sum(one.checks for one in own)} checks of {len(own)} properties of preference by expected search length. "
        f"{len(controls)} rows are controls: users who prefer by something else, "
        f"{sum(one.violations > 0 for one in controls)} of which violate the axiom at hand.",
        "",
        *verdict_lines(verdicts),
        "",
        "`errata.md` lists what does not hold as printed.",
        "",
        "## Ties in TREC runs",
        "",
    ]
    if synthetic:
        lines += ["**SYNTHETIC collections, generated: they say nothing about real runs.**", ""]
    if not studies:
        lines += ["No collection of this edition has runs at hand, so the tables are empty.", ""]
    for one in studies:
        for row in one.ties:
            over_list = [
                cell for cell in one.taus if cell["wanted"] == row["wanted"] and cell["esl_over"] == "retrieved list"
            ]
            tau = {cell["compared_with"]: cell["tau"] for cell in over_list}
            lines.append(
                f"- {one.collection}, {row['wanted']} wanted: in {row['tied_and_mixed']:.1%} of {row['lists']} lists "
                f"the search ends in a tie that matters; ESL {row['esl_with_ties']:.2f} with ties, "
                f"{row['esl_of_order']:.2f} in the order of ranks, {row['mean_difference']:.2f} apart on average "
                f"({_shown(row['mean_difference_if_mixed'], 2)} where there is such a tie); tau {_shown(tau['AP'])} "
                f"with AP, {_shown(tau['rank of the first relevant'])} with the rank of the first relevant document, "
                f"{_shown(tau['ESL of the order, no ties'])} with ESL of that order; largest change of a system's "
                f"place: {row['largest_change_of_place']}."
            )
    lines += [
        "",
        "`ties.*` and `taus.*` have all numbers, `ties-by-wanted.*` the figure. Where fewer relevant documents are "
        "retrieved than wanted, the user reads all nonrelevant ones: of the list, or of the smallest collection that "
        "the data allow, which `taus.*` has beside it. The change of scale to log2(1 + ESL) and the median show how "
        "much of an order of systems rests on taking ESL as a ratio scale, which the paper's section 5 warns about.",
        "",
    ]
    return "\n".join(lines)
