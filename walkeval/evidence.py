"""Evidence weaker than runs: per-run summaries, per-topic scores and means that others have published.

Measures carry the names of trec_eval (map, Rprec, P_10 ...). A name on a published page is not trusted: a mean over t
topics of precision at k is a whole multiple of 1/(k t), so the printed values show which k they can be. NIST's summary
pages call a column P_10 that holds precision at 15.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pandas as pd

from walkeval.datasets import Collection
from walkeval.errors import InputError, ParameterError, SourceError
from walkeval.sources import (
    Credentials,
    Network,
    Refused,
    Unreachable,
    disk,
    nist_credentials,
    part_file,
    relative_path,
)

# The cut-offs that trec_eval prints, which are those that a summary can hold.
CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
RUN_LIMIT = 200_000_000  # bytes of one plain run; the largest of TREC 8 has 4 million

_RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_LINK = re.compile(r"\[\*\*`([A-Za-z]+)`\*\*\]\(([^()\s]*)\)")
_VALUE = re.compile(r"\t(\S+)\s+all\s+(\S+)\s*")
_OLD_NAMES = {"R-prec": "Rprec", "mrr": "recip_rank"}


def plausible_cutoffs(values: Iterable[float], topics: int, decimals: int) -> list[int]:
    """Every k for which the values, printed with so many decimals, look like means over topics of precision at k.

    Precision at k is a multiple of 1/k, its mean over t topics one of 1/(k t). So k is listed when every value is such
    a multiple, rounded, provided that this says something: of 1000 sets of as many different random numbers at most
    one would pass. (From k t = 10^decimals on every number passes, and nothing can be learnt.) Multiples of the true k
    pass as well: the smallest is the one to believe.

    >>> plausible_cutoffs([0.3067, 0.2947, 0.5013], topics=50, decimals=4)[0]
    15
    >>> plausible_cutoffs([0.3067, 0.2947, 0.5012], topics=50, decimals=4)
    []
    """
    if topics < 1 or decimals < 1:
        raise ParameterError(f"topics and decimals must be at least 1, not {topics} and {decimals}")
    value = np.unique(np.fromiter(values, dtype=np.float64))
    if value.size == 0 or not np.all(np.isfinite(value)):
        raise ParameterError("values must be finite numbers, at least one")
    printable = np.arange(10**decimals + 1) / 10**decimals
    return [
        cutoff
        for cutoff in range(1, -(-(10**decimals) // topics))
        if _fits(value, cutoff * topics, decimals).all()
        and _fits(printable, cutoff * topics, decimals).mean() ** value.size <= 0.001
    ]


def _fits(values: np.ndarray, grid: int, decimals: int) -> np.ndarray:
    """Which values are a multiple of 1/grid, rounded to the decimals (a half may go either way)."""
    return np.abs(np.round(values * grid) / grid - values) <= 0.5 * 10.0**-decimals + 1e-12


def read_nist_summary(path: str | os.PathLike[str], topics: int = 50, task: str | None = "adhoc") -> pd.DataFrame:
    """NIST's page of results: one row per run, in the page's order.

    Columns: run, participant (NIST's short name), task, input (link to the protected run), then the measures. A page
    may mix tasks: runs with only a mean reciprocal rank are "homepage", the others "adhoc"; `task` None keeps all.
    The precision columns are named by what their values can be (see plausible_cutoffs), whatever the page calls them;
    `frame.attrs["renamed"]` maps the page's name to the name given.
    """
    rows: list[dict[str, object]] = []
    seen: set[str] = set()
    for number, line in enumerate(_text_lines(path), start=1):
        if line.startswith("#### "):
            name = line[5:].strip()
            if not _RUN_NAME.fullmatch(name):
                raise InputError(path, f"{name!r} cannot be the name of a run", number)
            if name in seen:
                raise InputError(path, f"the run {name!r} occurs twice", number)
            seen.add(name)
            rows.append({"run": name, "participant": "", "task": "", "input": ""})
        elif rows and line.startswith("[**`"):
            links = dict(_LINK.findall(line))
            rows[-1]["input"] = links.get("Input", "")
            rows[-1]["participant"] = links.get("Participants", "").partition("#")[2]
        elif rows and (match := _VALUE.fullmatch(line)):
            rows[-1][_OLD_NAMES.get(match[1], match[1])] = _number(match[2], path, number)
    if not rows:
        raise InputError(path, "has no run: a page of results with lines '#### <run>' was expected")
    for row in rows:
        row["task"] = "adhoc" if "map" in row else "homepage" if "recip_rank" in row else ""
        if not row["task"]:
            raise InputError(path, f"the run {row['run']!r} has neither map nor mrr")
    frame = pd.DataFrame([row for row in rows if task is None or row["task"] == task])
    if frame.empty:
        raise InputError(path, f"has no run of the task {task!r}; known: adhoc, homepage")
    renamed = {}
    for column in [one for one in frame if re.fullmatch(r"P_\d+", one)]:
        cutoff = _true_cutoff(frame[column].dropna(), int(column[2:]), topics)
        if cutoff is None:
            raise InputError(path, f"the column {column} holds no precision over {topics} topics at any usual cut-off")
        if cutoff != int(column[2:]):
            renamed[column] = f"P_{cutoff}"
    frame = frame.rename(columns=renamed)
    if not frame.columns.is_unique:
        raise InputError(path, f"two columns hold the same measure (renamed: {renamed})")
    frame.attrs["renamed"] = renamed
    return frame


def _true_cutoff(values: pd.Series, named: int, topics: int, decimals: int = 4) -> int | None:
    """The cut-off of a column: that of its name unless the values rule it out, else the smallest usual one they allow.

    From cut-off x topics = 10^decimals on the printed digits cannot tell, and the name stands.
    """
    limit = 10**decimals / topics
    candidates = (named, *(one for one in CUTOFFS if one < limit))
    return next((one for one in candidates if _fits(values.to_numpy(), one * topics, decimals).all()), None)


def read_trec_eval_output(path: str | os.PathLike[str]) -> pd.DataFrame:
    """What `trec_eval -q` printed: one row per topic (index, text; the last is "all"), one column per measure.

    Names of old versions become those of today (P10 is P_10, R-prec is Rprec). What a topic lacks is NaN.
    """
    table: dict[str, dict[str, float]] = {}
    for number, line in enumerate(_text_lines(path), start=1):
        words = line.split()
        if not words:
            continue
        if len(words) != 3:
            raise InputError(path, "a line must hold measure, topic and value", number)
        name, topic, text = words
        name = re.sub(r"^P(\d+)$", r"P_\1", _OLD_NAMES.get(name, name))
        if name == "runid":
            continue
        values = table.setdefault(topic, {})
        if name in values:
            raise InputError(path, f"{name} of topic {topic} occurs twice", number)
        values[name] = _number(text, path, number)
    if not table:
        raise InputError(path, "is empty")
    frame = pd.DataFrame.from_dict(table, orient="index")
    topics = sorted((one for one in table if one != "all"), key=lambda one: (len(one), one))
    frame = frame.loc[[*topics, *(["all"] if "all" in table else [])]]
    return frame.rename_axis(index="topic")


def per_topic_scores(paths: Mapping[str, str | os.PathLike[str]], measure: str) -> pd.DataFrame:
    """One measure from the trec_eval output of many runs: rows are topics, columns are runs (the keys of `paths`)."""
    columns = {}
    for run, path in paths.items():
        frame = read_trec_eval_output(path)
        if measure not in frame:
            raise InputError(path, f"has no measure {measure!r}")
        columns[run] = frame.loc[frame.index != "all", measure]
    scores = pd.DataFrame(columns)
    gaps = scores.columns[scores.isna().any()]
    if len(gaps):
        raise InputError(paths[gaps[0]], f"lacks {measure} for a topic that other runs have")
    return scores


def read_anonymous_scores(
    path: str | os.PathLike[str], run_names: Iterable[str], topics: Sequence[int | str]
) -> pd.DataFrame:
    """Per-topic scores whose columns run1, run2 ... are the runs sorted by name without regard to case.

    Rows are the topics in order. Returns topics x runs under the true names; compare the means with known ones
    (`agreeing_means`) before trusting them.
    """
    names = sorted(run_names, key=str.casefold)
    if len({one.casefold() for one in names}) < len(names):
        raise InputError(path, "cannot be given names: two runs differ only in case")
    lines = [line for line in _text_lines(path) if line.strip()]
    header = lines[0].split(",") if lines else []
    if header != [f"run{number}" for number in range(1, len(names) + 1)]:
        raise InputError(path, f"the first line must name the columns run1 to run{len(names)}", 1)
    if len(lines) - 1 != len(topics):
        raise InputError(path, f"has {len(lines) - 1} rows where {len(topics)} topics belong")
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        words = line.split(",")
        if len(words) != len(names):
            raise InputError(path, f"has {len(words)} columns where {len(names)} belong", number)
        row = [_number(word, path, number) for word in words]
        if not all(0.0 <= value <= 1.0 for value in row):
            raise InputError(path, "a score lies outside 0 to 1", number)
        rows.append(row)
    return pd.DataFrame(rows, index=pd.Index([str(one) for one in topics], name="topic"), columns=names)


def read_topic_means(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Means (or standard deviations) over runs: rows are topics (index, text), columns the file's own measures."""
    lines = [line for line in _text_lines(path) if line.strip()]
    header = [word.strip('"') for word in lines[0].split(",")] if lines else []
    if len(header) < 2 or header[0] or len(set(header)) < len(header):
        raise InputError(path, "the first line must name the columns, the first of them without a name", 1)
    table = {}
    for number, line in enumerate(lines[1:], start=2):
        topic, *words = line.split(",")
        topic = topic.strip('"')
        if len(words) != len(header) - 1:
            raise InputError(path, f"has {len(words) + 1} columns where {len(header)} belong", number)
        if topic in table:
            raise InputError(path, f"the topic {topic!r} occurs twice", number)
        table[topic] = [_number(word, path, number) for word in words]
    if not table:
        raise InputError(path, "has no topic")
    return pd.DataFrame.from_dict(table, orient="index", columns=header[1:]).rename_axis(index="topic")


def agreeing_means(scores: pd.DataFrame, published: pd.Series, decimals: int = 4) -> pd.Series:
    """For each run, whether the mean of its per-topic scores is the published one, as far as the digits can tell.

    Both sides are rounded to `decimals`: the mean of rounded scores may be off by half a last digit, and so may the
    published mean.

    >>> agreeing_means(pd.DataFrame({"a": [0.25, 0.35]}), pd.Series({"a": 0.3}))["a"].item()
    True
    """
    if set(scores.columns) != set(published.index):
        raise ParameterError("the scores and the published means are not of the same runs")
    return (scores.mean() - published.reindex(scores.columns)).abs() <= 10.0**-decimals + 1e-9


def fetch_protected_runs(
    summary: pd.DataFrame,
    collection: Collection,
    network: bool = True,
    *,
    credentials: Credentials | None = None,
    timeout: float = 20.0,
    connect_timeout: float = 4.0,
    retries: int = 3,
    backoff: float = 1.0,
) -> str:
    """Fetch from NIST's protected archive the runs of a summary that are not in the collection's folder.

    A run is there as `input.<run>` or `<run>`, with or without `.gz`. The login is that of TREC_USER and TREC_PASSWORD
    unless given. No checksum is published, so a file is taken when it unpacks to the end (the means of its scores can
    be compared with the summary). Returns "" when all runs are there, otherwise one sentence: what is missing, why,
    where it is and where to put it.
    """
    folder = Path(collection.runs_folder)
    credentials = credentials or nist_credentials()
    wanted: dict[str, str] = {}
    for run, link in zip(summary["run"], summary["input"], strict=True):
        if not _RUN_NAME.fullmatch(run):
            raise ParameterError(f"{run!r} cannot be the name of a run")
        if not any((folder / name).is_file() for name in (f"input.{run}", f"input.{run}.gz", run, f"{run}.gz")):
            wanted[run] = link
    if not wanted:
        return ""
    missing, trouble = len(wanted), "TREC_USER and TREC_PASSWORD are not set"
    if not network:
        trouble = "the network was not asked"
    elif credentials is not None:
        missing, trouble = _fetch_runs(
            wanted, folder, Network(timeout, connect_timeout, retries, backoff, credentials), credentials.host
        )
    if not missing:
        return ""
    where = sorted({link.rpartition("/")[0] + "/" for link in wanted.values()})
    return (
        f"{collection.name}: {missing} of {len(summary)} runs are missing ({trouble}); they are in NIST's "
        f"password-protected archive at {', '.join(where)}: set TREC_USER and TREC_PASSWORD to fetch them, or put them "
        f"into {folder} as input.<run>.gz"
    )


def _fetch_runs(wanted: Mapping[str, str], folder: Path, net: Network, host: str) -> tuple[int, str]:
    """How many of the runs could not be had, and why the first of them."""
    missing, trouble = len(wanted), ""
    net.probe(link for link in wanted.values() if urlsplit(link).hostname == host)
    for run, link in wanted.items():
        try:
            _fetch_run(run, link, folder, net, host)
            missing -= 1
        except Refused as refusal:
            if refusal.code in (401, 403):
                # The next file would be refused as well, and an account may get locked.
                return missing, f"{host} does not accept TREC_USER and TREC_PASSWORD"
            trouble = trouble or f"{run}: {refusal}"
        except Unreachable as failure:
            return missing, trouble or str(failure)
    return missing, trouble


def _fetch_run(run: str, link: str, folder: Path, net: Network, host: str) -> None:
    try:
        relative_path(link)
    except ValueError as error:
        raise Refused(str(error)) from None
    if urlsplit(link).hostname != host:
        raise Refused(f"its link does not lead to {host}")
    # What is unfinished or bad lies in a hidden folder: everything else in the runs' folder counts as a run.
    unfinished = folder / ".unfinished" / f"input.{run}.gz"
    with part_file(unfinished) as handle:
        path = Path(str(handle.name))
        try:
            handle.truncate(0)  # without a checksum nobody could tell whether an old beginning is good
            net.download(link, handle, None, RUN_LIMIT, lambda count: None)
            trouble = _unpacking_trouble(path)
            rejected = unfinished.with_name(f"{unfinished.name}.rejected")
            with disk(unfinished):
                os.replace(path, rejected if trouble else folder / unfinished.name)
        except (SourceError, Refused, Unreachable):
            path.unlink(missing_ok=True)
            raise
    if trouble:
        raise Refused(f"{link} {trouble}")


def _unpacking_trouble(path: Path) -> str:
    size = 0
    try:
        with gzip.open(path, "rb") as handle:
            while size <= RUN_LIMIT and (piece := handle.read(1 << 18)):
                size += len(piece)
    except (OSError, EOFError, zlib.error):
        return "is not a whole gzip file"
    if size == 0:
        return "is empty"
    return f"unpacks to more than {RUN_LIMIT} bytes" if size > RUN_LIMIT else ""


def _text_lines(path: str | os.PathLike[str]) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise InputError(path, "is not a text file in UTF-8") from None
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}") from None


def _number(text: str, path: str | os.PathLike[str], line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        raise InputError(path, f"{text!r} is not a number", line) from None
    if not np.isfinite(value):
        raise InputError(path, f"{text!r} is not a finite number", line)
    return value
