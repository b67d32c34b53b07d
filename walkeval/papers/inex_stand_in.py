"""A stand-in for the INEX 2005 collection, which is not public: XML trees, assessments and runs, all generated.

The documents have the shape of scientific articles: front matter, a body of sections with paragraphs or subsections,
references. Paragraphs hold short inline elements, or none at all in a second kind of trees: how far down one can go
decides what randomized runs look like, and nobody here knows it of INEX. Lengths are in characters. For each topic
some articles hold ideal elements, most of them paragraphs and sections, which do not overlap, each with a probability
of idealism. The parameters were chosen by hand, from what such articles look like, without any published curve to fit.
They were not fixed beforehand: after first curves had been seen, the number of documents was raised and the second
kind of trees was added, because the first alone made a result look general that depends on the trees. Nothing here is
compared with the paper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from walkeval.errors import UnknownNameError
from walkeval.seeds import generator

TREES = ("inline elements", "leaf paragraphs")
"""The two kinds of trees: with inline elements in paragraphs, and without."""
DOCUMENTS = (4, 20)
"""Least and largest number of articles of a topic that hold ideal elements."""
IDEAL_PER_DOCUMENT = (1, 4)
IDEAL_KINDS = {"paragraph": 0.6, "subsection": 0.15, "section": 0.2, "article": 0.05}
IDEALISM = {1.0: 0.4, 0.75: 0.2, 0.5: 0.2, 0.25: 0.2}
"""Probabilities of idealism, and how often they are given."""


@dataclass(frozen=True, eq=False)
class Topic:
    """The articles of one topic, one after the other, with the ideal elements in the order of an ideal run."""

    name: str
    parent: NDArray[np.int64]
    """Parent of each element; -1 for an article."""
    start: NDArray[np.int64]
    """First character; articles follow each other, so elements of different articles never overlap."""
    end: NDArray[np.int64]
    child_start: NDArray[np.int64]
    """Where the children of each element begin in ``child``; one entry more than there are elements."""
    child: NDArray[np.int64]
    ideal: NDArray[np.int64]
    """Ideal elements, by decreasing idealism."""
    idealism: NDArray[np.float64]
    documents: int

    def spans(self, elements: NDArray[np.int64]) -> list[tuple[float, float]]:
        """First and last character of these elements."""
        return list(zip(self.start[elements].tolist(), self.end[elements].tolist(), strict=True))

    def randomized(self, move: float, random: np.random.Generator) -> NDArray[np.int64]:
        """The ideal run with every element moved as section 7 describes.

        A direction is chosen with equal probability, and steps to the parent or to a random child follow, each with
        probability ``move``; at an article or a leaf there is no step left.
        """
        run = self.ideal.copy()
        for place, element in enumerate(run):
            up = random.random() < 0.5
            while random.random() < move:
                low, high = self.child_start[element : element + 2]
                if up and self.parent[element] >= 0:
                    element = self.parent[element]
                elif not up and high > low:
                    element = self.child[random.integers(low, high)]
                else:
                    break
            run[place] = element
        return run


def generate_topics(topics: int, trees: str = TREES[0]) -> list[Topic]:
    """So many topics with trees of one kind; their names seed them."""
    if trees not in TREES:
        raise UnknownNameError("kind of trees", trees, TREES)
    return [_topic(f"sigir2006/stand-in/{trees}/{number}", trees == TREES[0]) for number in range(1, topics + 1)]


class _Articles:
    """Elements of the articles of a topic, as they are made."""

    def __init__(self, random: np.random.Generator, inline: bool) -> None:
        self.random = random
        self.inline = inline
        self.parent: list[int] = []
        self.kind: list[str] = []
        self.start: list[int] = []
        self.end: list[int] = []
        self.position = 0

    def open(self, kind: str, parent: int) -> int:
        self.parent.append(parent)
        self.kind.append(kind)
        self.start.append(self.position)
        self.end.append(self.position)
        return len(self.parent) - 1

    def close(self, element: int) -> None:
        self.end[element] = self.position

    def leaf(self, kind: str, parent: int, length: int) -> None:
        element = self.open(kind, parent)
        self.position += length
        self.close(element)

    def between(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def paragraph(self, parent: int) -> None:
        element = self.open("paragraph", parent)
        length = int(np.clip(self.random.lognormal(np.log(450), 0.6), 60, 3000))
        inline = min(self.between(0, 6), length // 60) if self.inline else 0
        for _ in range(inline):
            self.position += (length // inline) // 2
            self.leaf("inline", element, min(self.between(3, 60), (length // inline) // 2))
        self.position = self.start[element] + length
        self.close(element)

    def block(self, kind: str, parent: int, paragraphs: tuple[int, int]) -> int:
        element = self.open(kind, parent)
        self.leaf("title", element, self.between(10, 60))
        for _ in range(self.between(*paragraphs)):
            self.paragraph(element)
        return element

    def article(self) -> None:
        article = self.open("article", -1)
        front = self.block("front matter", article, (1, 3))
        self.close(front)
        body = self.open("body", article)
        for _ in range(self.between(4, 9)):
            section = self.block("section", body, (2, 8))
            if self.random.random() < 0.4:
                for _ in range(self.between(2, 4)):
                    self.close(self.block("subsection", section, (2, 6)))
            self.close(section)
        self.close(body)
        back = self.open("back matter", article)
        for _ in range(self.between(5, 30)):
            self.leaf("reference", back, self.between(80, 250))
        self.close(back)
        self.close(article)
        self.position += 1


def _topic(name: str, inline: bool) -> Topic:
    random = generator(name)
    articles = _Articles(random, inline)
    documents = articles.between(*DOCUMENTS)
    ideal: list[int] = []
    for _ in range(documents):
        first = len(articles.parent)
        articles.article()
        ideal += _ideal_elements(articles, first)
    start, end = np.array(articles.start), np.array(articles.end)
    idealism = random.choice(list(IDEALISM), size=len(ideal), p=list(IDEALISM.values()))
    # Somebody must find something ideal at every level of satisfaction, or no list could be perfect.
    idealism[int(random.integers(len(ideal)))] = max(IDEALISM)
    order = np.argsort(-idealism, kind="stable")
    parent = np.array(articles.parent)
    child = np.argsort(parent, kind="stable")[int((parent < 0).sum()) :]
    counts = np.bincount(parent[parent >= 0], minlength=len(parent))
    return Topic(
        name=name,
        parent=parent,
        start=start,
        end=end,
        child_start=np.concatenate(([0], np.cumsum(counts))),
        child=child,
        ideal=np.array(ideal)[order],
        idealism=idealism[order],
        documents=documents,
    )


def _ideal_elements(articles: _Articles, first: int) -> list[int]:
    """Elements of the last article that do not overlap; where a kind has none left, a paragraph."""
    chosen: list[int] = []
    for _ in range(articles.between(*IDEAL_PER_DOCUMENT)):
        kind = str(articles.random.choice(list(IDEAL_KINDS), p=list(IDEAL_KINDS.values())))
        free = _free(articles, first, kind, chosen) or _free(articles, first, "paragraph", chosen)
        if free:
            chosen.append(free[int(articles.random.integers(len(free)))])
    return chosen


def _free(articles: _Articles, first: int, kind: str, chosen: list[int]) -> list[int]:
    """Elements of a kind that overlap none of those already chosen."""
    return [
        element
        for element in range(first, len(articles.parent))
        if articles.kind[element] == kind
        and all(
            articles.end[element] <= articles.start[other] or articles.end[other] <= articles.start[element]
            for other in chosen
        )
    ]
