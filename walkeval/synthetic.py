"""Synthetic collections: runs and judgements that behave like those of TREC, at any size.

The demo edition has no real runs, and scale tests need collections of any size. Both get them here, written
as ordinary TREC files that pass through the same reader as real ones.

The model. Each topic has a fixed number of candidate documents, some of them truly relevant. A run gives a
document the score

    appeal + [relevant] (strength + focus * obviousness) + site noise + run noise

where *appeal* (of the document) is what all systems see alike, *strength* adds up how easy the topic is, how good
the run is, and how well the topic suits its site and the run itself, *obviousness* says how plainly a relevant
document is relevant, *focus* how much more a run gains from the plain ones (early precision against recall),
and *site noise* is shared by the runs of one site, which makes them near duplicates. The runs are then pooled as
at TREC: what the first runs of each site have in their top ranks is judged, and only what is judged can count as
relevant. Some runs are shallow, some stop early on some topics, some have coarse scores and so many ties. No run misses
a topic: the papers use only runs that retrieve something for each.

Every number derives from the collection's name: no state, and runs can be made one site at a time, whatever
the size of the collection.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from walkeval.errors import InputError, ParameterError, UnknownNameError
from walkeval.seeds import generator
from walkeval.yaml_files import read_yaml

SCORE_UNITS = 10_000
"""Scores are whole numbers of 1/10000, so that files hold exactly what was generated."""
SCORE_OFFSET = 30
"""Added to every score to make it positive."""
TIE_STEPS = (100, 500, 1_000, 2_500, 5_000)
"""How coarse, in score units, the scores of a run with ties are."""


@dataclass(frozen=True)
class SyntheticSpecification:
    """What a synthetic collection is to look like. The defaults are those calibrated on TREC 8."""

    name: str
    """Name of the collection; all randomness derives from it."""
    topics: int
    """Number of topics."""
    runs: int
    """Number of runs."""
    relevant: tuple[int, float, int]
    """Minimum, mean and maximum number of relevant documents over the topics: met exactly."""
    depth: int = 500
    """Documents retrieved by a full list."""
    first_topic: int = 401
    """Number of the first topic."""
    runs_per_site: int = 3
    """Mean number of runs of one site."""
    candidates: int = 6000
    """Documents of each topic from which all runs retrieve; raised where depth or relevance asks for more."""
    pool_depth: int = 100
    """How many top documents of a pooled run are judged."""
    pooled_per_site: int = 1
    """How many runs of each site are pooled."""
    unfound: float = 0.1
    """Truly relevant documents beyond those judged relevant, as a share of these."""
    highly_relevant: float = 0.0
    """Share of the relevant documents with grade 2; the others have grade 1."""
    relevant_spread: float = 1.0
    """Spread over topics of the logarithm of the number of relevant documents."""
    strength: float = 1.72
    """How far above the others a middling run scores the relevant documents of a middling topic."""
    topic_spread: float = 0.55
    """How much topics differ in difficulty."""
    crowding: float = 0.8
    """How much harder topics with many relevant documents are, per unit of their number's logarithm."""
    site_spread: float = 0.1
    """How much good and bad sites differ."""
    poor_sites: float = 0.4
    """How far poor sites trail behind: scale of a tail towards low quality."""
    run_spread: float = 0.04
    """How much the runs of one site differ."""
    site_topic_spread: float = 0.45
    """How much a topic suits one site better than another."""
    run_topic_spread: float = 0.16
    """How much a topic suits one run of a site better than another."""
    focus: float = 0.4
    """How much more than the others the plainly relevant documents gain."""
    focus_spread: float = 0.2
    """How much runs differ in that."""
    appeal_spread: float = 0.65
    """Spread of what all systems see alike in a document."""
    site_noise: float = 0.75
    """Spread of what only the runs of one site see in a document."""
    run_noise: float = 0.55
    """Spread of what only one run sees in a document."""
    shallow_runs: float = 0.02
    """Share of runs that retrieve few documents for every topic."""
    short_runs: float = 0.1
    """Share of runs that retrieve fewer documents for some topics."""
    tied_runs: float = 0.2
    """Share of runs with coarse scores, hence many ties."""

    def __post_init__(self) -> None:
        if isinstance(self.relevant, list):  # as YAML gives it
            object.__setattr__(self, "relevant", tuple(self.relevant))
        _check(self)

    @property
    def total_relevant(self) -> int:
        """Relevant documents over all topics."""
        return round(self.relevant[1] * self.topics)


@dataclass(frozen=True)
class SyntheticRun:
    """One run: for each topic its documents, best first; beyond ``length`` the arrays mean nothing."""

    name: str
    document: NDArray[np.int64]
    """Number of the document among the topic's candidates, by topic and rank."""
    score: NDArray[np.int64]
    """Its score in units of 1/10000, by topic and rank; never increases down a list."""
    length: NDArray[np.int64]
    """Documents retrieved for each topic, at least 1."""
    pooled: bool
    """Whether the run's top documents are judged."""


@dataclass(frozen=True)
class SyntheticCollection:
    """A whole collection in memory."""

    topics: list[str]
    runs: list[SyntheticRun]
    grade: NDArray[np.int8]
    """By topic and candidate: -1 not judged, 0 not relevant, 1 relevant, 2 highly relevant."""

    def grades(self, run: int) -> NDArray[np.int8]:
        """Grades by topic and rank of a run in trec_eval's order (score, then docno, descending); -2 beyond its end."""
        one = self.runs[run]
        missing = np.arange(one.document.shape[1]) >= one.length[:, None]
        order = np.lexsort((-one.document, np.where(missing, 1, -one.score)))
        grade = np.take_along_axis(self.grade, np.take_along_axis(one.document, order, 1), 1)
        return np.where(missing, np.int8(-2), grade)


def document_name(topic: str, number: int, candidates: int) -> str:
    """Name of a topic's candidate document.

    >>> document_name("401", 27, 4000)
    'SYN401-0027'
    """
    return f"SYN{topic}-{number:0{len(str(candidates - 1))}d}"


def read_specifications(path: str | Path) -> dict[str, SyntheticSpecification]:
    """Read the specifications of several collections from a YAML file: a mapping from name to parameters."""
    content = read_yaml(path)
    if not all(isinstance(one, dict) for one in content.values()):
        raise InputError(path, "must map the name of each collection to its parameters")
    known = [one.name for one in fields(SyntheticSpecification) if one.name != "name"]
    specifications = {}
    for name, parameters in content.items():
        for key in parameters:
            if key not in known:
                raise UnknownNameError(f"parameter of the synthetic collection {name}", str(key), known)
        try:
            specifications[str(name)] = SyntheticSpecification(name=str(name), **parameters)
        except (TypeError, ParameterError) as error:
            raise InputError(path, f"collection {name}: {error}") from None
    return specifications


def generate(specification: SyntheticSpecification, folder: str | Path) -> None:
    """Write a collection as TREC files: ``qrels.txt`` and ``runs/<run>.txt`` in ``folder``.

    The folder appears under its name only when it is complete; an earlier one of the same kind is replaced.
    """
    folder = Path(folder)
    if folder.exists() and not {one.name for one in folder.iterdir()} <= {"qrels.txt", "runs"}:
        raise InputError(folder, "holds other files than a synthetic collection; choose another folder")
    partial = folder.with_name(folder.name + ".partial")
    if partial.exists():
        shutil.rmtree(partial)
    (partial / "runs").mkdir(parents=True)
    model = _Model(specification)
    heads = np.array(
        [
            [f"{topic} Q0 {document_name(topic, number, model.candidates)} " for number in range(model.candidates)]
            for topic in model.topics
        ],
        dtype=bytes,
    )
    for run in model.runs():
        (partial / "runs" / f"{run.name}.txt").write_bytes(_run_text(run, heads))
    (partial / "qrels.txt").write_text(_qrels_text(model), encoding="ascii")
    if folder.exists():
        shutil.rmtree(folder)
    partial.rename(folder)


def generate_in_memory(specification: SyntheticSpecification) -> SyntheticCollection:
    """The same collection as `generate` writes, as arrays.

    >>> tiny = SyntheticSpecification("tiny", topics=2, runs=3, relevant=(1, 2, 3), depth=10)
    >>> collection = generate_in_memory(tiny)
    >>> (collection.grade > 0).sum(axis=1).tolist() in ([1, 3], [3, 1])
    True
    """
    model = _Model(specification)
    runs = list(model.runs())
    return SyntheticCollection(model.topics, runs, model.judge())


class _Model:
    """The latent truth about topics and sites, and what the pooling has found so far."""

    def __init__(self, specification: SyntheticSpecification):
        self.specification = one = specification
        self.topics = [str(one.first_topic + number) for number in range(one.topics)]
        self.relevant = _relevant_counts(one)
        true_relevant = np.ceil(self.relevant * (1 + one.unfound)).astype(np.int64)
        # Judged nonrelevant documents are needed too, so never let the relevant ones fill the candidates.
        self.candidates = max(one.candidates, 2 * one.depth, 2 * int(true_relevant.max()))
        shape = (one.topics, self.candidates)
        random = generator(f"synthetic/{one.name}/topics")
        size = np.log(self.relevant / one.relevant[1])
        self.ease = one.topic_spread * random.standard_normal(one.topics) - one.crowding * size
        self.appeal = one.appeal_spread * random.standard_normal(shape)
        # Which candidates are relevant must not show in their names: names break ties between equal scores.
        order = random.permuted(np.broadcast_to(np.arange(self.candidates), shape), axis=1)
        self.true = np.zeros(shape, dtype=bool)
        for topic, count in enumerate(true_relevant):
            self.true[topic, order[topic, :count]] = True
        self.true_topic = np.nonzero(self.true)[0]
        self.obviousness = random.standard_normal(len(self.true_topic))
        self.best_rank = np.full(shape, np.iinfo(np.int64).max)

    def runs(self) -> Iterator[SyntheticRun]:
        """All runs, site after site; pooling happens on the way."""
        one = self.specification
        sizes = _site_sizes(one)
        digits = len(str(len(sizes)))
        for site, size in enumerate(sizes, start=1):
            random = generator(f"synthetic/{one.name}/site {site}")
            # Student's t with 3 degrees: a few sites stand out, as those with manual runs do at TREC.
            quality = one.site_spread * random.standard_t(3) - one.poor_sites * random.standard_exponential()
            affinity = one.site_topic_spread * random.standard_normal(one.topics)
            focus = one.focus_spread * random.standard_normal()
            shared = self.appeal + one.site_noise * random.standard_normal(self.appeal.shape)
            for number in range(size):
                strength = (
                    one.strength
                    + quality
                    + one.run_spread * random.standard_normal()
                    + self.ease
                    + affinity
                    + one.run_topic_spread * random.standard_normal(one.topics)
                )
                score = shared + one.run_noise * random.standard_normal(shared.shape)
                own_focus = one.focus + focus + one.focus_spread * random.standard_normal()
                score[self.true] += strength[self.true_topic] + own_focus * self.obviousness
                run = self._retrieve(f"syn{site:0{digits}d}{_letters(number)}", score, random, number)
                if run.pooled:
                    self._pool(run)
                yield run

    def _retrieve(
        self, name: str, score: NDArray[np.float64], random: np.random.Generator, number: int
    ) -> SyntheticRun:
        one = self.specification
        top = np.argpartition(-score, one.depth - 1, axis=1)[:, : one.depth]
        value = np.take_along_axis(score, top, 1)
        order = np.argsort(-value, axis=1)
        document = np.take_along_axis(top, order, 1)
        value = np.take_along_axis(value, order, 1)
        step = int(random.choice(TIE_STEPS)) if random.random() < one.tied_runs else 1
        units = np.maximum(np.rint((value + SCORE_OFFSET) * (SCORE_UNITS / step)).astype(np.int64), 0) * step
        return SyntheticRun(name, document, units, _lengths(one, random), number < one.pooled_per_site)

    def _pool(self, run: SyntheticRun) -> None:
        depth = min(self.specification.pool_depth, run.document.shape[1])
        top = run.document[:, :depth]
        rank = np.broadcast_to(np.arange(1, depth + 1), top.shape)
        rank = np.where(rank <= run.length[:, None], rank, np.iinfo(np.int64).max)
        best = np.minimum(np.take_along_axis(self.best_rank, top, 1), rank)
        np.put_along_axis(self.best_rank, top, best, 1)

    def judge(self) -> NDArray[np.int8]:
        """Grades of all candidates, once all runs are pooled; -1 is not judged.

        The truly relevant documents that runs ranked best are judged relevant, as many as the specification
        says; the assessor takes the others in the pool for nonrelevant. Where a small pool does not hold
        enough relevant documents, the assessor finds the rest by other means.
        """
        one = self.specification
        grade = np.where(self.best_rank <= one.pool_depth, 0, -1).astype(np.int8)
        random = generator(f"synthetic/{one.name}/judgements")
        for topic, count in enumerate(self.relevant):
            true = np.flatnonzero(self.true[topic])
            order = np.argsort(self.best_rank[topic, true], kind="stable")
            chosen = true[order[:count]]
            grade[topic, chosen] = 1 + (random.random(count) < one.highly_relevant)
        return grade


def _run_text(run: SyntheticRun, heads: NDArray[np.bytes_]) -> bytes:
    """The lines of a run file, assembled from tables of fixed-width pieces: no formatting line by line."""
    depth = run.document.shape[1]
    kept = np.arange(depth) < run.length[:, None]
    topic, rank = np.nonzero(kept)
    whole, fraction = np.divmod(run.score[kept], SCORE_UNITS)
    pieces = [
        heads[topic, run.document[kept]],
        np.array([f"{one} " for one in range(1, depth + 1)], dtype=bytes)[rank],
        np.array([f"{one}." for one in range(int(whole.max()) + 1)], dtype=bytes)[whole],
        _fractions()[fraction],
        np.array([f"{run.name}\n"], dtype=bytes).repeat(len(topic)),
    ]
    line = np.empty(len(topic), dtype=[(str(number), piece.dtype) for number, piece in enumerate(pieces)])
    for number, piece in enumerate(pieces):
        line[str(number)] = piece
    text = line.view(np.uint8)
    return text[text != 0].tobytes()


@cache
def _fractions() -> NDArray[np.bytes_]:
    """What stands behind the decimal point, and the space after it."""
    return np.array([f"{one:04d} " for one in range(SCORE_UNITS)], dtype=bytes)


def _qrels_text(model: _Model) -> str:
    grade = model.judge()
    lines = []
    for topic, name in enumerate(model.topics):
        judged = np.flatnonzero(grade[topic] >= 0)
        for number, value in zip(judged.tolist(), grade[topic, judged].tolist(), strict=True):
            lines.append(f"{name} 0 {document_name(name, number, model.candidates)} {value}\n")
    return "".join(lines)


def _relevant_counts(one: SyntheticSpecification) -> NDArray[np.int64]:
    """Numbers of relevant documents per topic, log-normal in shape, with exactly the given extremes and total."""
    low, _, high = one.relevant
    if one.topics == 1:
        return np.array([low])
    random = generator(f"synthetic/{one.name}/relevant")
    shape = one.relevant_spread * random.standard_normal(one.topics)
    order = np.argsort(shape)

    def counts(shift: float) -> NDArray[np.int64]:
        value = np.clip(np.rint(np.exp(shape + shift)), low, high).astype(np.int64)
        value[order[0]], value[order[-1]] = low, high
        return value

    # The total grows with the shift: halve the interval, then settle the last few documents one by one.
    below, above = np.log(low) - 50.0, np.log(high) + 50.0
    for _ in range(60):
        middle = (below + above) / 2
        below, above = (middle, above) if counts(middle).sum() <= one.total_relevant else (below, middle)
    value = counts(below)
    while value.sum() < one.total_relevant:
        for topic in order[1:-1]:
            if value[topic] < high and value.sum() < one.total_relevant:
                value[topic] += 1
    return value


def _site_sizes(one: SyntheticSpecification) -> list[int]:
    """Runs of each site: between one and twice the mean less one, until all runs are placed."""
    random = generator(f"synthetic/{one.name}/sites")
    sizes: list[int] = []
    while sum(sizes) < one.runs:
        size = int(random.integers(1, 2 * one.runs_per_site))
        sizes.append(min(size, one.runs - sum(sizes)))
    return sizes


def _lengths(one: SyntheticSpecification, random: np.random.Generator) -> NDArray[np.int64]:
    """Documents retrieved for each topic."""
    kind = random.random()
    share = random.random(one.topics)
    if kind < one.shallow_runs:
        share = random.uniform(0.1, 0.8) * (0.5 + share)
    elif kind < one.shallow_runs + one.short_runs:
        share = np.where(random.random(one.topics) < 0.2, share, 1.0)
    else:
        share = np.ones(one.topics)
    return np.clip(np.rint(share * one.depth), 1, one.depth).astype(np.int64)


def _letters(number: int) -> str:
    """a, b, ..., z, ba, bb, ...: which run of its site."""
    first, last = divmod(number, 26)
    return (_letters(first) if first else "") + chr(ord("a") + last)


_WHOLE = ("topics", "runs", "depth", "first_topic", "runs_per_site", "candidates", "pool_depth", "pooled_per_site")
_SHARES = ("highly_relevant", "shallow_runs", "short_runs", "tied_runs")


def _check(one: SyntheticSpecification) -> None:
    """Refuse what cannot be generated, naming the parameter and its value."""
    if not isinstance(one.name, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", one.name):
        raise ParameterError(f"name must be of letters, digits, '.', '_' and '-'; got {one.name!r}")
    for key in _WHOLE:
        value = getattr(one, key)
        if not _is_number(value, whole=True) or value < 1:
            raise ParameterError(f"{key} must be a whole number of at least 1; got {value!r}")
    for one_field in fields(one):
        value = getattr(one, one_field.name)
        if one_field.name in ("name", "relevant", *_WHOLE):
            continue
        if not _is_number(value) or not 0 <= value < 10:
            raise ParameterError(f"{one_field.name} must be a number from 0 to below 10; got {value!r}")
        if one_field.name in _SHARES and value > 1:
            raise ParameterError(f"{one_field.name} is a share and must not exceed 1; got {value!r}")
    three = isinstance(one.relevant, tuple) and len(one.relevant) == 3
    if not three or not all(_is_number(value) for value in one.relevant):
        raise ParameterError(f"relevant must be three numbers (minimum, mean, maximum); got {one.relevant!r}")
    low, mean, high = one.relevant
    if not (_is_number(low, whole=True) and _is_number(high, whole=True) and low >= 1):
        raise ParameterError(f"relevant must have whole numbers of at least 1 as extremes; got {one.relevant!r}")
    if not low <= mean <= high:
        raise ParameterError(f"relevant must have its mean between minimum and maximum; got {one.relevant!r}")
    if abs(mean * one.topics - one.total_relevant) > 1e-6:
        raise ParameterError(f"relevant must have a mean that gives a whole number over {one.topics} topics: {mean}")
    if one.topics == 1 and low != high:
        raise ParameterError(f"relevant must have equal minimum, mean and maximum for one topic; got {one.relevant!r}")
    least, most = low * (one.topics - 1) + high, low + high * (one.topics - 1)
    if not least <= one.total_relevant <= most:
        raise ParameterError(
            f"relevant must leave room for its extremes: with {one.topics} topics the mean lies between "
            f"{least / one.topics:g} and {most / one.topics:g}; got {mean}"
        )


def _is_number(value: Any, whole: bool = False) -> bool:
    kinds = int if whole else (int, float)
    return isinstance(value, kinds) and not isinstance(value, bool)
