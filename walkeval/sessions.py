"""Search sessions with their ranked lists and clicks, as the TREC Session track gives them, and their judgements.

A session is a user's work on one topic: queries, the ranked list that answered each (an *interaction*), and the ranks
clicked on it in order. Judgements are keyed by topic, not by session: several sessions share a topic.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from xml.parsers import expat
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from walkeval.errors import EvidenceError, InputError, ParameterError
from walkeval.seeds import generator
from walkeval.trec import Qrels, whole_file

MOVES = ("p", "q", "r", "s")
"""On to the next document, back to the previous one, on to the next query, end of the session."""
PLACES = ("first", "inner", "last", "only")
"""Where in its list a document stands, as far as that decides which moves there are."""
_ALLOWED = np.array([[1, 0, 1, 1], [1, 1, 1, 1], [0, 1, 1, 1], [0, 0, 1, 1]], dtype=np.bool_)
WALKS = ("steps", "clicks")
ENDINGS = ("recorded", "last list")


@dataclass(frozen=True)
class Interaction:
    """One query: the documents of its list from rank 1 on, and the clicked ranks in the order of the clicks."""

    query: str
    documents: tuple[str, ...]
    clicks: tuple[int, ...]


@dataclass(frozen=True)
class Session:
    """One session; ``continued`` says that one more query followed, whose list is not in the file."""

    name: str
    topic: str
    interactions: tuple[Interaction, ...]
    continued: bool


@dataclass(frozen=True)
class SessionEvidence:
    """The checked files of a session collection, or the sentence that says what is missing."""

    title: str
    kind: str
    """``real`` or ``synthetic``."""
    sessions: str = ""
    qrels: str = ""
    missing: str = ""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write as JSON."""
        with whole_file(path) as file:
            file.write((json.dumps(asdict(self), indent=1, sort_keys=True) + "\n").encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SessionEvidence:
        """Read what `save` wrote."""
        try:
            return cls(**json.loads(Path(path).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise InputError(path, f"is not a record of sessions ({error}); remove it and run again") from error


def refuse_lost_sessions(evidence: SessionEvidence, published: str | os.PathLike[str], edition: str) -> None:
    """Refuse to go on where the published table of sessions holds some that are missing now."""
    published = Path(published)
    if evidence.missing and published.exists() and len(published.read_text(encoding="utf-8").splitlines()) > 1:
        raise EvidenceError(
            f"the results of {edition} stand on {evidence.title}, which is missing now ({evidence.missing}); "
            f"supply it, or write elsewhere with --config results=FOLDER"
        )


# --- reading --------------------------------------------------------------------------------------------------------


class _Track:
    """What the XML parser tells about a file of the track, turned into sessions."""

    TEXTS = ("query", "clueweb12id", "rank")
    LONGEST_TEXT = 10_000

    def __init__(self, path: str | os.PathLike[str]):
        self.path = path
        self.found: list[Session] = []
        self.names: set[str] = set()
        self.inside: str | None = None  # the session that is open
        self.interacting = False
        self.text: list[str] | None = None
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.open_element
        self.parser.EndElementHandler = self.close_element
        self.parser.CharacterDataHandler = self.characters
        # Entities can be made to grow without bound or to name other files: sessions have no use for them.
        self.parser.StartDoctypeDeclHandler = self.refuse
        self.parser.EntityDeclHandler = self.refuse

    def wrong(self, sentence: str) -> InputError:
        return InputError(self.path, sentence, self.parser.CurrentLineNumber)

    def refuse(self, *_: object) -> None:
        raise self.wrong("document type and entity declarations are not accepted")

    def open_element(self, name: str, attributes: dict[str, str]) -> None:
        if name == "session":
            self.inside = attributes.get("num", "")
            if not self.inside or self.inside in self.names:
                raise self.wrong(f"the session number {self.inside!r} is empty or was there before")
            self.names.add(self.inside)
            self.topic, self.continued = "", False
            self.interactions: list[Interaction] = []
        elif name == "topic" and self.inside is not None:
            self.topic = attributes.get("num", "")
        elif name == "currentquery":
            self.continued = True
        elif name == "interaction":
            if self.inside is None:
                raise self.wrong("an interaction outside of a session")
            self.interacting = True
            self.query = ""
            self.documents: list[str] = []
            self.clicks: list[int] = []
        elif name == "result" and self.interacting:
            if attributes.get("rank") != str(len(self.documents) + 1):
                raise self.wrong(f"rank {attributes.get('rank')!r} where {len(self.documents) + 1} belongs")
            self.wanted = len(self.documents) + 1
        if name in self.TEXTS and self.interacting:
            self.text = []

    def characters(self, data: str) -> None:
        if self.text is not None:
            self.text.append(data)
            if sum(map(len, self.text)) > self.LONGEST_TEXT:
                raise self.wrong(f"a text of more than {self.LONGEST_TEXT} characters")

    def close_element(self, name: str) -> None:
        if name in self.TEXTS and self.text is not None:
            text, self.text = " ".join("".join(self.text).split()), None
            if name == "query":
                self.query = text
            elif name == "clueweb12id":
                self.documents.append(text)
            elif text.isascii() and text.isdigit() and 1 <= int(text) <= len(self.documents):
                self.clicks.append(int(text))
            else:
                raise self.wrong(f"a click on rank {text!r} of a list of {len(self.documents)} documents")
        elif name == "result" and self.interacting:
            if len(self.documents) != self.wanted or not self.documents[-1]:
                raise self.wrong(f"the result at rank {self.wanted} does not name one document")
        elif name == "interaction":
            self.interacting = False
            self.interactions.append(Interaction(self.query, tuple(self.documents), tuple(self.clicks)))
        elif name == "session" and self.inside is not None:
            if not self.topic:
                raise self.wrong(f"session {self.inside} has no topic")
            self.found.append(Session(self.inside, self.topic, tuple(self.interactions), self.continued))
            self.inside = None


def read_sessions(path: str | os.PathLike[str]) -> list[Session]:
    """Read the file of the TREC Session track (2013). Declarations of types and entities are refused."""
    track = _Track(path)
    try:
        with Path(path).open("rb") as file:
            track.parser.ParseFile(file)
    except expat.ExpatError as error:
        problem = expat.errors.messages[error.code]
        raise InputError(path, f"is not well-formed XML ({problem})", error.lineno) from None
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}") from None
    if not track.found:
        raise InputError(path, "has no session in it; expected a file of the TREC Session track")
    return track.found


# --- judging --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class JudgedSession:
    """A session and, for each of its lists, the grade by rank; None for a document that nobody judged."""

    session: Session
    grades: tuple[tuple[int | None, ...], ...]
    topic_judged: bool

    @property
    def lists(self) -> list[tuple[int | None, ...]]:
        """The lists that have documents: the queries of the session as a measure sees them."""
        return [one for one in self.grades if one]

    def gains(self, length: int | None = None, new_only: bool = False) -> NDArray[np.float64]:
        """Gains by document (row) and query (column): the grade, and 0 for spam (negative grades) and for what is not
        judged. Lists are cut at ``length``, shorter ones are filled with 0; without it the longest list decides.
        With ``new_only`` a document counts the first time that the session shows it, and never again.
        """
        shown = [one for one in self.session.interactions if one.documents]
        length = max((len(one.documents) for one in shown), default=0) if length is None else length
        table = np.zeros((length, len(shown)))
        seen: set[str] = set()
        for column, (interaction, grades) in enumerate(zip(shown, self.lists, strict=True)):
            for row, (document, grade) in enumerate(zip(interaction.documents[:length], grades, strict=False)):
                if not (new_only and document in seen):
                    table[row, column] = max(grade or 0, 0)
                seen.add(document)
        return table


def judge_sessions(sessions: Sequence[Session], qrels: Qrels) -> list[JudgedSession]:
    """Look up every document of every list among the judgements of the session's topic.

    >>> one = Session("1", "7", (Interaction("walks", ("A", "B", "C"), (2,)),), continued=False)
    >>> judged = judge_sessions([one], Qrels.from_records([("7", "A", 2), ("7", "B", -2)]))
    >>> judged[0].grades, judged[0].gains().ravel().tolist()
    (((2, -2, None),), [2.0, 0.0, 0.0])
    """
    by_topic = {}
    for number, topic in enumerate(qrels.topics):
        part = slice(qrels.topic_start[number], qrels.topic_start[number + 1])
        names = (name.decode("utf-8", "replace") for name in qrels.document[part].tolist())
        by_topic[topic] = dict(zip(names, qrels.grade[part].tolist(), strict=True))
    return [
        JudgedSession(
            one,
            tuple(
                tuple(by_topic.get(one.topic, {}).get(document) for document in interaction.documents)
                for interaction in one.interactions
            ),
            one.topic in by_topic,
        )
        for one in sessions
    ]


# --- parameters from clicks -----------------------------------------------------------------------------------------


def _place(rank: int, length: int) -> int:
    if length == 1:
        return 3
    return 0 if rank == 1 else 2 if rank == length else 1


def count_moves(sessions: Sequence[Session], walk: str = "steps", ending: str = "recorded") -> NDArray[np.int64]:
    """Moves of the users by session, place (`PLACES`) and kind (`MOVES`).

    A user starts every list at rank 1 and goes from click to click; a second click on the same rank is no move. With
    ``walk="steps"`` a way over several ranks is that many moves, one rank each, which is how the chain of MsM walks;
    with ``"clicks"`` it is one. Then comes the next query. After the last list comes, with ``ending="recorded"``, the
    next query where the file says that one followed, and otherwise the end; with ``"last list"`` always the end.
    Lists without documents have no place to move from, and are left out.

    >>> one = Session("1", "7", (Interaction("walks", ("A", "B", "C"), (3, 2)),), continued=False)
    >>> count_moves([one]).sum(axis=(0, 1)).tolist(), count_moves([one], "clicks").sum(axis=(0, 1)).tolist()
    ([2, 1, 0, 1], [1, 1, 0, 1])
    """
    for name, value, known in (("walk", walk, WALKS), ("ending", ending, ENDINGS)):
        if value not in known:
            raise ParameterError(f"{name} must be one of {', '.join(known)}; got {value!r}")
    counts = np.zeros((len(sessions), len(PLACES), len(MOVES)), dtype=np.int64)
    for session, count in zip(sessions, counts, strict=True):
        shown = [one for one in session.interactions if one.documents]
        for number, interaction in enumerate(shown, start=1):
            length, here = len(interaction.documents), 1
            for there in interaction.clicks:
                step = int(np.sign(there - here))
                ranks = range(here, there, step) if step and walk == "steps" else [here] * abs(step)
                for rank in ranks:
                    count[_place(rank, length), 0 if step > 0 else 1] += 1
                here = there
            goes_on = number < len(shown) or (session.continued and ending == "recorded")
            count[_place(here, length), 2 if goes_on else 3] += 1
    return counts


def estimate_moves(counts: NDArray[np.int64], iterations: int = 2000) -> NDArray[np.float64]:
    """The maximum-likelihood p, q, r, s for counts by place and kind (leading axes are kept).

    First and last documents lack a move, and the others are rescaled there, so the likelihood is that of a choice among
    those available. It is climbed by ``w_m <- n_m / sum over places with m of (n_place / sum of the w there)`` (Hunter,
    The Annals of Statistics 2004), which never goes down.

    >>> estimate_moves(np.array([[0, 0, 0, 0], [60, 10, 20, 10], [0, 0, 0, 0], [0, 0, 0, 0]])).round(6).tolist()
    [0.6, 0.1, 0.2, 0.1]
    """
    counts = np.asarray(counts, dtype=np.float64)
    moves, places = counts.sum(axis=-2), counts.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        weight = moves / moves.sum(axis=-1, keepdims=True)
        for _ in range(iterations):
            rate = np.where(places > 0, places / (weight @ _ALLOWED.T), 0.0)
            now = np.where(moves > 0, moves / (rate @ _ALLOWED), 0.0)
            now /= now.sum(axis=-1, keepdims=True)
            moved = np.nanmax(np.abs(now - weight), initial=0.0)
            weight = now
            if moved < 1e-13:
                break
    return weight


# --- synthetic sessions ---------------------------------------------------------------------------------------------


def write_synthetic_sessions(
    sessions_path: str | os.PathLike[str],
    qrels_path: str | os.PathLike[str],
    name: str,
    steps: tuple[float, float, float, float],
    sessions: int = 120,
    topics: int = 40,
    length: int = 10,
    most_lists: int = 8,
) -> None:
    """Generate sessions and judgements in the formats of the track: users walk by ``steps`` (p, q, r, s), and click on
    every document that they come to. After ``most_lists`` lists the file ends, and says that one more query followed.
    """
    draws = generator(name)
    grades = draws.choice(5, size=(topics, 200), p=(0.7, 0.2, 0.06, 0.03, 0.01))
    lines = ["<sessions>", " <!-- SYNTHETIC sessions, generated -->"]
    for number in range(1, sessions + 1):
        topic = int(draws.integers(topics)) + 1
        lines += [f' <session num="{number}">', f'  <topic num="{topic}"></topic>']
        goes_on, lists = True, 0
        while goes_on and lists < most_lists:
            lists += 1
            # Better documents stand a little higher, as in a real list.
            score = draws.normal(size=200) + 0.7 * grades[topic - 1]
            order = np.argsort(-score, kind="stable")[:length]
            clicks, goes_on = _walk(draws, length, steps)
            lines.append(f'  <interaction num="{lists}"><query>{escape(f"synthetic query {lists}")}</query><results>')
            lines += [
                f'   <result rank="{rank}"><clueweb12id>{_document(topic, one)}</clueweb12id></result>'
                for rank, one in enumerate(order, start=1)
            ]
            lines.append("  </results><clicked>")
            lines += [f"   <click><rank>{rank}</rank></click>" for rank in clicks]
            lines.append("  </clicked></interaction>")
        if goes_on:
            lines.append("  <currentquery><query>one more</query></currentquery>")
        lines.append(" </session>")
    lines.append("</sessions>")
    with whole_file(sessions_path) as file:
        file.write(("\n".join(lines) + "\n").encode())
    with whole_file(qrels_path) as file:
        for topic in range(1, topics + 1):
            for one in range(200):
                file.write(f"{topic} 0 {_document(topic, one)} {grades[topic - 1, one]}\n".encode())


def _document(topic: int, number: int) -> str:
    return f"synthetic-{topic:03d}-{number:03d}"


def _walk(draws: np.random.Generator, length: int, steps: Sequence[float]) -> tuple[list[int], bool]:
    """The ranks of one user's walk down a list, and whether another query follows."""
    clicks = [1]
    while True:
        weight = np.array(steps) * _ALLOWED[_place(clicks[-1], length)]
        move = int(draws.choice(len(MOVES), p=weight / weight.sum()))
        if move > 1:
            return clicks, move == 2
        clicks.append(clicks[-1] + (1 if move == 0 else -1))
