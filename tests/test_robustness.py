"""Downsampled pools: shards do not show, order does not matter, and curves say what was found."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from walkeval.correlation import kendall
from walkeval.errors import InputError, ParameterError
from walkeval.judging import JudgedCollection, judge
from walkeval.pools import downsample
from walkeval.robustness import PoolSummary, curves, summarize_pools
from walkeval.scoring import Scores, score_collection
from walkeval.shards import shard_of
from walkeval.synthetic import SyntheticSpecification, generate

MEASURES = ["AP", "P@10", "bpref"]
RATES = [70, 30]


def _collection(folder, runs: int, topics: int = 4, depth: int = 30) -> JudgedCollection:
    specification = SyntheticSpecification("small", topics, runs, relevant=(3, 6, 9), depth=depth, candidates=3 * depth)
    generate(specification, folder)
    return judge(folder / "qrels.txt", {one.stem: one for one in sorted((folder / "runs").iterdir())})


@pytest.fixture(scope="module")
def collection(tmp_path_factory) -> JudgedCollection:
    return _collection(tmp_path_factory.mktemp("pools") / "small", 6)


@pytest.fixture(scope="module")
def full(collection) -> Scores:
    return score_collection(collection, MEASURES)


@pytest.fixture(scope="module")
def whole(collection, full) -> PoolSummary:
    return summarize_pools(collection, full, RATES, range(6), "small")


def same(first: PoolSummary, second: PoolSummary) -> bool:
    return (first.measures, first.rates) == (second.measures, second.rates) and all(
        np.array_equal(getattr(first, name), getattr(second, name), equal_nan=True)
        for name in ("replicates", "mean", "tau")
    )


@settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.permutations(range(6)), st.sets(st.integers(1, 5)))
def test_any_sharding_in_any_order_gives_the_same(collection, full, whole, order, cuts):
    bounds = [0, *sorted(cuts), 6]
    shards = [order[first:last] for first, last in zip(bounds, bounds[1:], strict=False)]
    parts = [summarize_pools(collection, full, RATES, shard, "small") for shard in shards]
    assert same(PoolSummary.merge(parts), whole)


@given(st.integers(0, 300), st.integers(1, 300))
def test_shards_are_equal_and_leave_nothing_out(replicates, shards):
    ranges = [shard_of(number, shards, replicates) for number in range(shards)]
    assert [one for part in ranges for one in part] == list(range(replicates))
    assert max(map(len, ranges)) - min(map(len, ranges)) <= 1
    with pytest.raises(ParameterError, match=f"no shard {shards} of {shards}"):
        shard_of(shards, shards, replicates)


def test_memory_is_that_of_one_replicate(tmp_path):
    """However many replicates there are: only what is kept of each comes on top."""
    collection = _collection(tmp_path / "small", runs=60, topics=10, depth=200)
    full = score_collection(collection, MEASURES)

    def peak(replicates: int) -> int:
        tracemalloc.start()
        summarize_pools(collection, full, RATES, range(replicates), "small")
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return highest

    peak(1)  # what is made once
    few, many = peak(4), peak(40)
    assert few > 1_000_000, "a replicate is too small to tell"
    assert many < 1.1 * few


def test_a_cell_is_what_the_pool_gives(collection, full, whole):
    pool = downsample(collection, RATES, 3, "small")[30]
    means = score_collection(collection, MEASURES, pool=pool).means()
    assert whole.mean[3, 1] == pytest.approx(means.mean(axis=1), abs=0)
    gold = [kendall(full.means()[index], means[index]).value for index in range(3)]
    assert whole.tau[3, 1] == pytest.approx(gold, nan_ok=True, abs=0)
    assert len(np.unique(whole.mean[:, 1, 0])) > 1, "replicates must differ"


def test_the_file_brings_everything_back(whole, tmp_path):
    whole.save(tmp_path / "summary.npz")
    assert same(PoolSummary.load(tmp_path / "summary.npz"), whole)
    assert [one.name for one in tmp_path.iterdir()] == ["summary.npz"]


@pytest.mark.parametrize("content", [b"", b"text", None])
def test_a_damaged_file_is_refused_by_name(whole, tmp_path, content):
    path = tmp_path / "summary.npz"
    whole.save(path)
    path.write_bytes(path.read_bytes()[:500] if content is None else content)
    with pytest.raises(InputError, match=r"summary\.npz: is not a summary of pools"):
        PoolSummary.load(path)


def test_shards_that_do_not_fit_are_refused(collection, full, whole):
    with pytest.raises(ParameterError, match="no summaries"):
        PoolSummary.merge([])
    with pytest.raises(ParameterError, match="is in two"):
        PoolSummary.merge([whole, summarize_pools(collection, full, RATES, [2], "small")])
    with pytest.raises(ParameterError, match="same measures and rates"):
        PoolSummary.merge([whole, summarize_pools(collection, full, [50], [7], "small")])


def test_curves_by_hand(whole, full):
    table = curves(whole, full).set_index(["measure", "quantity", "rate"])
    at = table.loc["AP", "mean", 70]
    assert at["value"] == pytest.approx(whole.mean[:, 0, 0].mean())
    assert [at["low"], at["high"]] == pytest.approx(np.quantile(whole.mean[:, 0, 0], [0.025, 0.975]))
    assert at["replicates"] == 6
    assert table.loc["AP", "mean", 100]["value"] == pytest.approx(full.of("AP").mean())
    assert table.loc["AP", "tau", 100]["value"] == 1
    assert sorted(set(table.index.get_level_values("rate"))) == [30, 70, 100]


def test_one_run_has_means_and_no_tau_not_even_with_itself(tmp_path):
    collection = _collection(tmp_path / "small", 1)
    full = score_collection(collection, MEASURES)
    summary = summarize_pools(collection, full, RATES, range(2), "small")
    assert np.isnan(summary.tau).all()
    assert np.isfinite(summary.mean).all()
    table = curves(summary, full)
    assert table.loc[table["quantity"] == "tau", ["value", "low", "high"]].isna().all(axis=None)
    assert not table.loc[table["quantity"] == "mean", "value"].isna().any()


def test_nothing_at_hand_gives_nothing():
    nothing = JudgedCollection.empty()
    full = score_collection(nothing, MEASURES)
    summary = summarize_pools(nothing, full, RATES, range(2), "nothing")
    assert np.isnan(summary.mean).all()
    assert np.isnan(summary.tau).all()
    assert all(math.isnan(value) for value in curves(summary, full)["value"])
