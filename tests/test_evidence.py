"""Published summaries and per-topic scores: what they say, and what their columns really hold."""

import gzip
import http.server
import logging
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walkeval.datasets import Collection, load_qrels, qrels_dataset, read_collection
from walkeval.errors import InputError, ParameterError
from walkeval.evidence import (
    agreeing_means,
    fetch_protected_runs,
    per_topic_scores,
    plausible_cutoffs,
    read_anonymous_scores,
    read_nist_summary,
    read_topic_means,
    read_trec_eval_output,
)
from walkeval.sources import Credentials, fetch, read_registry

CONFIG = Path(__file__).parents[1] / "config"
FAST = {"timeout": 0.5, "connect_timeout": 2.0, "retries": 1, "backoff": 0.01}
NAMES = ("trec07", "trec08", "trec10", "trec14")

PAGE = """---
search:
  exclude: true
---

# Results - Adhoc

#### first
[**`Metadata`**](./runs.md#first) | [**`Participants`**](./participants.md#padova) | \
[**`Input`**](https://trec.nist.gov/results/x/input.first.gz)| [**`Summary`**](https://trec.nist.gov/x/summary.first.gz)
??? example "summary (trec_eval)"
\t```
\tP_10\t\tall\t0.3067
\tP_1000\t\tall\t0.0489
\tmap\t\t\tall\t0.1648

\t```
---
#### second
[**`Metadata`**](./runs.md#second) | [**`Input`**](https://trec.nist.gov/results/x/input.second.gz)
\tmrr\t\t\tall\t0.189
---
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("data")


@pytest.fixture
def have(folder, mirror):
    """The path of a source, fetched from the mirror."""
    registry = read_registry(CONFIG / "sources.tsv")

    def path(*identifiers):
        results = fetch([registry[one] for one in identifiers], folder, mirror, network=False)
        paths = [one.path for one in results]
        assert None not in paths
        return paths if len(paths) > 1 else paths[0]

    path.registry, path.data = registry, folder
    return path


def write(folder, text, name="file"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# Which cut-off a mean of precision has


@settings(deadline=None, max_examples=40)
@given(st.data(), st.sampled_from([5, 10, 15, 20, 30, 100]))
def test_the_true_cutoff_is_always_found(data, cutoff):
    counts = data.draw(st.lists(st.integers(0, 50 * cutoff), min_size=30, max_size=60, unique=True))
    values = [float(f"{count / (50 * cutoff):.4f}") for count in counts]
    assert cutoff in plausible_cutoffs(values, topics=50, decimals=4)


def test_other_cutoffs_are_ruled_out():
    generator = np.random.default_rng(7)
    for cutoff in (10, 15, 20, 30, 100):
        values = np.round(generator.integers(0, 50 * cutoff, 80) / (50 * cutoff), 4)
        found = plausible_cutoffs(values, topics=50, decimals=4)
        assert found[0] == cutoff
    assert plausible_cutoffs(np.round(generator.random(80), 4), topics=50, decimals=4) == []
    # From 200 x 50 = 10000 on four decimals cannot tell.
    assert plausible_cutoffs(np.round(generator.integers(0, 50_000, 80) / 50_000, 4), topics=50, decimals=4) == []


@pytest.mark.parametrize(
    ("values", "topics", "decimals"), [([], 50, 4), ([np.nan], 50, 4), ([0.5], 0, 4), ([0.5], 50, 0)]
)
def test_impossible_questions_are_refused(values, topics, decimals):
    with pytest.raises(ParameterError):
        plausible_cutoffs(values, topics, decimals)


# NIST's pages


def test_a_page_is_read_and_its_columns_named_by_what_they_hold(tmp_path):
    frame = read_nist_summary(write(tmp_path, PAGE))
    assert frame.to_dict("records") == [
        {
            "run": "first",
            "participant": "padova",
            "task": "adhoc",
            "input": "https://trec.nist.gov/results/x/input.first.gz",
            "P_15": 0.3067,
            "P_1000": 0.0489,
            "map": 0.1648,
        }
    ]
    assert frame.attrs["renamed"] == {"P_10": "P_15"}
    everything = read_nist_summary(write(tmp_path, PAGE), task=None)
    assert everything["task"].tolist() == ["adhoc", "homepage"]
    assert everything["recip_rank"].dropna().tolist() == [0.189]


def test_a_name_that_the_values_allow_stands(tmp_path):
    frame = read_nist_summary(write(tmp_path, PAGE.replace("0.3067", "0.3080")))
    assert "P_10" in frame and frame.attrs["renamed"] == {}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "has no run"),
        (b"\xff\xfe\x00", "is not a text file"),
        (PAGE.replace("#### second", "#### first"), ":18: the run 'first' occurs twice"),
        (PAGE.replace("#### second", "#### ../second"), "cannot be the name of a run"),
        (PAGE.replace("0.1648", "high"), "'high' is not a number"),
        (PAGE.replace("0.1648", "nan"), "'nan' is not a finite number"),
        (PAGE.replace("\tmrr", "\tother"), "neither map nor mrr"),
        (PAGE.replace("0.3067", "0.3061"), "holds no precision over 50 topics"),
        (PAGE.replace("P_1000", "P_15").replace("0.0489", "0.0493"), "two columns hold the same measure"),
    ],
)
def test_a_bad_page_is_one_sentence(tmp_path, text, sentence):
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_nist_summary(path)
    assert str(caught.value).startswith(str(path)) and sentence in str(caught.value)


def test_an_unknown_task_is_refused(tmp_path):
    with pytest.raises(InputError, match="no run of the task 'web'"):
        read_nist_summary(write(tmp_path, PAGE), task="web")


@pytest.mark.parametrize(("name", "runs"), [("trec07", 103), ("trec08", 129), ("trec10", 97), ("trec14", 74)])
def test_the_pages_hold_the_runs_of_table_1_and_precision_at_15(have, name, runs):
    path = have(f"{name}/nist-summary")
    frame = read_nist_summary(path)
    assert len(frame) == runs
    assert frame.attrs["renamed"] == {"P_10": "P_15"}
    track = read_collection(CONFIG / "collections" / f"{name}.yaml").nist_track
    assert (frame["input"] == track + "input." + frame["run"] + ".gz").all()
    assert (frame["participant"] != "").all()
    found = {one: plausible_cutoffs(frame[one], 50, 4) for one in ("P_15", "P_100", "P_1000", "Rprec", "map")}
    assert found["P_15"][0] == 15 and not {5, 10, 20, 100} & set(found["P_15"])
    assert found["P_100"][0] == 100
    assert found["P_1000"] == found["Rprec"] == found["map"] == []


def test_the_page_of_trec_10_mixes_two_tasks(have):
    frame = read_nist_summary(have("trec10/nist-summary"), task=None)
    assert frame["task"].value_counts().to_dict() == {"adhoc": 97, "homepage": 43}


def test_the_columns_of_trec_8_are_those_of_the_runs(have):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    registry = have.registry
    collection = read_collection(CONFIG / "collections" / "trec08.yaml", registry)
    have(collection.qrels)
    frame = load_qrels(qrels_dataset(collection, registry, have.data, network=False), collection.topics)
    judged: dict[str, dict[str, int]] = {}
    for topic, document, grade in frame.itertuples(index=False):
        judged.setdefault(topic, {})[document] = int(grade)
    evaluator = pytrec_eval.RelevanceEvaluator(judged, {"map", "Rprec", "P.10,15,100,1000"})
    summary = read_nist_summary(have("trec08/nist-summary")).set_index("run")
    for run in ("AntHoc1", "READWARE2", "plt8ah1", "weaver2"):
        with open(have(f"trec08/run/input.{run}")) as handle:
            scores = pd.DataFrame(evaluator.evaluate(pytrec_eval.parse_run(handle)).values()).mean()
        for measure in ("P_15", "P_100", "P_1000", "Rprec", "map"):
            assert scores[measure] == pytest.approx(summary.loc[run, measure], abs=0.51e-4)
        assert abs(scores["P_10"] - summary.loc[run, "P_15"]) > 0.001


# trec_eval's output


def test_trec_eval_output_is_read(tmp_path):
    topics = "map            \t303\t0.1409\nP10\t303\t0.4\nmap\t41\t0.5\nP10\t41\t0\n"
    text = topics + "num_q\tall\t2\nmap\tall\t0.3204\nR-prec\tall\t0.1\n"
    frame = read_trec_eval_output(write(tmp_path, text))
    assert frame.index.tolist() == ["41", "303", "all"]
    assert frame["map"].tolist() == [0.5, 0.1409, 0.3204]
    assert frame.loc["41", "P_10"] == 0 and np.isnan(frame.loc["all", "P_10"])
    assert frame.loc["all", "Rprec"] == 0.1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty"),
        ("map 303\n", ":1: a line must hold measure, topic and value"),
        ("map 303 x\n", ":1: 'x' is not a number"),
        ("map 303 0.1\nmap 303 0.1\n", ":2: map of topic 303 occurs twice"),
    ],
)
def test_bad_trec_eval_output_is_one_sentence(tmp_path, text, sentence):
    with pytest.raises(InputError, match=sentence):
        read_trec_eval_output(write(tmp_path, text))


def test_scores_of_many_runs_must_be_of_the_same_topics(tmp_path):
    paths = {"a": write(tmp_path, "map 1 0.1\nmap 2 0.2\n", "a"), "b": write(tmp_path, "map 1 0.3\nmap 2 0.4\n", "b")}
    assert per_topic_scores(paths, "map").to_dict() == {"a": {"1": 0.1, "2": 0.2}, "b": {"1": 0.3, "2": 0.4}}
    with pytest.raises(InputError, match="no measure 'P_10'"):
        per_topic_scores(paths, "P_10")
    write(tmp_path, "map 1 0.3\n", "b")
    with pytest.raises(InputError, match="lacks map for a topic"):
        per_topic_scores(paths, "map")


def test_per_topic_scores_of_robust_2005_agree_with_nist(have):
    identifiers = [one for one in have.registry if one.startswith("trec14/per-topic/")]
    paths = dict(zip((one.rpartition("/")[2] for one in identifiers), have(*identifiers), strict=True))
    summary = read_nist_summary(have("trec14/nist-summary")).set_index("run")
    for measure in ("map", "Rprec", "P_15", "P_100", "P_1000"):
        scores = per_topic_scores(paths, measure)
        assert scores.shape == (50, 74)
        assert agreeing_means(scores, summary[measure]).sum() == 74
    # The column that NIST calls P_10 is precision at 15: three of 74 runs have the same mean at both.
    printed = {run: read_trec_eval_output(path).loc["all"] for run, path in paths.items()}
    assert all(printed[run]["P_15"] == summary.loc[run, "P_15"] for run in printed)
    assert sum(printed[run]["P_10"] == summary.loc[run, "P_15"] for run in printed) == 3


# Scores without names, and means


def test_columns_without_names_get_those_of_the_sorted_runs(tmp_path):
    path = write(tmp_path, "run1,run2,run3\n0.1,0.2,0.3\n0,1e-04,1\n")
    frame = read_anonymous_scores(path, ["b", "C", "A"], range(351, 353))
    assert frame.columns.tolist() == ["A", "b", "C"]
    assert frame.loc["352"].tolist() == [0.0, 0.0001, 1.0]


@pytest.mark.parametrize(
    ("text", "names", "sentence"),
    [
        ("", ["a"], "must name the columns run1 to run1"),
        ("run1,run2\n1,1\n", ["a"], "must name the columns run1 to run1"),
        ("run1\n1\n1\n", ["a"], "has 2 rows where 1 topics belong"),
        ("run1\n1,1\n", ["a"], ":2: has 2 columns where 1 belong"),
        ("run1\n1.5\n", ["a"], ":2: a score lies outside"),
        ("run1\nx\n", ["a"], ":2: 'x' is not a number"),
        ("run1,run2\n1,1\n", ["a", "A"], "differ only in case"),
    ],
)
def test_bad_scores_without_names_are_one_sentence(tmp_path, text, names, sentence):
    with pytest.raises(InputError, match=sentence):
        read_anonymous_scores(write(tmp_path, text), names, [351])


def test_the_scores_of_trec_7_agree_with_nist(have):
    summary = read_nist_summary(have("trec07/nist-summary")).set_index("run")
    scores = read_anonymous_scores(have("trec07/per-topic/ap"), summary.index, range(351, 401))
    assert agreeing_means(scores, summary["map"]).sum() == 103
    # In the order of plain character codes, capitals first, the columns would be given to other runs.
    mistaken = scores.set_axis(sorted(summary.index), axis=1)
    assert agreeing_means(mistaken, summary["map"]).sum() < 60
    at_10 = read_anonymous_scores(have("trec07/per-topic/p10"), summary.index, range(351, 401))
    assert plausible_cutoffs(at_10.mean(), 50, 4)[0] == 10
    assert agreeing_means(at_10, summary["P_15"]).sum() == 0


def test_the_means_of_trec_10_agree_with_nist_and_the_judgements(have):
    means = read_topic_means(have("trec10/per-topic-means"))
    assert means.shape == (50, 11) and means.index[0] == "501" and means.index[-1] == "550"
    summary = read_nist_summary(have("trec10/nist-summary"))
    assert means["AP"].mean() == pytest.approx(summary["map"].mean(), abs=0.5e-4)
    assert means["RP"].mean() == pytest.approx(summary["Rprec"].mean(), abs=0.5e-4)
    assert abs(means["P@10"].mean() - summary["P_15"].mean()) > 0.02
    # Sums over 97 runs: of tenths, and of scores printed with four decimals.
    assert np.allclose(means["P@10"] * 970, np.round(means["P@10"] * 970), atol=1e-9)
    assert np.allclose(means["AP"] * 970_000, np.round(means["AP"] * 970_000), atol=1e-6)
    assert read_topic_means(have("trec10/per-topic-sds")).shape == (50, 11)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "must name the columns"),
        ('"a","b"\n1,2\n', "must name the columns"),
        ('"","AP"\n', "has no topic"),
        ('"","AP"\n"501",1,2\n', ":2: has 3 columns where 2 belong"),
        ('"","AP"\n"501",1\n"501",1\n', ":3: the topic '501' occurs twice"),
        ('"","AP"\n"501",NA\n', ":2: 'NA' is not a number"),
    ],
)
def test_bad_means_are_one_sentence(tmp_path, text, sentence):
    with pytest.raises(InputError, match=sentence):
        read_topic_means(write(tmp_path, text))


def test_means_of_other_runs_are_not_compared():
    with pytest.raises(ParameterError):
        agreeing_means(pd.DataFrame({"a": [0.1]}), pd.Series({"b": 0.1}))


# Protected runs


class Archive(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        authorization = self.headers.get("Authorization")
        self.server.seen.append((self.path, authorization))
        if authorization != Credentials("", "me", "secret").header:
            code, body = 401, b""
        else:
            code, body = self.server.files.get(self.path.rpartition("/")[2], (404, b""))
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def archive():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Archive) as one:
        run = gzip.compress(b"401 Q0 A 1 1.0 run\n")
        one.seen, one.files = [], {"input.a.gz": (200, run), "input.b.gz": (200, run)}
        one.url = f"http://127.0.0.1:{one.server_address[1]}/results/"
        thread = threading.Thread(target=one.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield one
        one.shutdown()
        thread.join()


@pytest.fixture
def wanted(tmp_path, archive, monkeypatch):
    monkeypatch.delenv("TREC_USER", raising=False)
    monkeypatch.delenv("TREC_PASSWORD", raising=False)
    summary = pd.DataFrame({"run": ["a", "b"], "input": [f"{archive.url}input.{run}.gz" for run in "ab"]})
    return summary, Collection("trec99", "Small", (401, 450), "x/qrels", runs_folder=str(tmp_path / "runs"))


def files(collection):
    return sorted(one.name for one in Path(collection.runs_folder).rglob("*") if one.is_file())


def test_with_a_login_the_runs_are_fetched_once(archive, wanted):
    summary, collection = wanted
    login = Credentials("127.0.0.1", "me", "secret")
    assert fetch_protected_runs(summary, collection, credentials=login, **FAST) == ""
    assert files(collection) == ["input.a.gz", "input.b.gz"]
    assert fetch_protected_runs(summary, collection, credentials=login, **FAST) == ""
    assert len(archive.seen) == 2


def test_without_a_login_one_sentence_says_what_where_and_where_to(archive, wanted):
    summary, collection = wanted
    for network in (True, False):
        sentence = fetch_protected_runs(summary, collection, network)
        assert sentence.startswith("trec99: 2 of 2 runs are missing (")
        assert all(word in sentence for word in (archive.url, collection.runs_folder, "TREC_USER", "TREC_PASSWORD"))
        assert "\n" not in sentence
    assert archive.seen == []


def test_a_wrong_password_is_tried_once_and_never_shown(archive, wanted, caplog):
    caplog.set_level(logging.DEBUG)
    summary, collection = wanted
    login = Credentials("127.0.0.1", "me", "hush-hush")
    sentence = fetch_protected_runs(summary, collection, credentials=login, **FAST)
    assert "2 of 2 runs are missing (127.0.0.1 does not accept" in sentence
    assert len(archive.seen) == 1
    assert not any(word in sentence + caplog.text + repr(login) for word in ("hush-hush", login.header))
    assert files(collection) == []


def test_runs_put_by_hand_count(archive, wanted):
    summary, collection = wanted
    Path(collection.runs_folder).mkdir()
    write(Path(collection.runs_folder), "x", "a")
    assert "1 of 2 runs are missing" in fetch_protected_runs(summary, collection)
    write(Path(collection.runs_folder), "x", "input.b.gz")
    assert fetch_protected_runs(summary, collection) == ""


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ((200, gzip.compress(bytes(1000))[:-9]), "not a whole gzip file"),
        ((200, b"<html>not a run</html>"), "not a whole gzip file"),
        ((200, gzip.compress(b"")), "is empty"),
        ((404, b""), "404"),
        ((503, b""), "503"),
    ],
)
def test_a_bad_run_is_not_taken_for_a_run(archive, wanted, answer, sentence):
    archive.files["input.b.gz"] = answer
    summary, collection = wanted
    found = fetch_protected_runs(summary, collection, credentials=Credentials("127.0.0.1", "me", "secret"), **FAST)
    assert "1 of 2 runs are missing" in found and sentence in found
    assert [one.name for one in Path(collection.runs_folder).iterdir() if one.is_file()] == ["input.a.gz"]
    assert not [one for one in files(collection) if one.endswith((".tmp", ".part"))]


def test_a_gzip_bomb_is_not_taken_for_a_run(archive, wanted, monkeypatch):
    monkeypatch.setattr("walkeval.evidence.RUN_LIMIT", 10_000)
    archive.files["input.b.gz"] = (200, gzip.compress(bytes(1_000_000)))
    summary, collection = wanted
    found = fetch_protected_runs(summary, collection, credentials=Credentials("127.0.0.1", "me", "secret"), **FAST)
    assert "unpacks to more than 10000 bytes" in found


def test_links_that_lead_elsewhere_are_not_followed(archive, wanted):
    summary, collection = wanted
    login = Credentials("trec.nist.gov", "me", "secret")
    assert "does not lead to trec.nist.gov" in fetch_protected_runs(summary, collection, credentials=login, **FAST)
    assert archive.seen == []
    with pytest.raises(ParameterError, match="cannot be the name of a run"):
        fetch_protected_runs(summary.assign(run=["../a", "b"]), collection)
