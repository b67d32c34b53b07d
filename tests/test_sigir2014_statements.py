"""What the SIGIR 2014 paper says in words, checked without data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from walkeval.audit import judge_claim
from walkeval.claims import read_claims
from walkeval.papers.sigir2014_statements import random_lists, reproductions

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def claims():
    return read_claims([ROOT / "config" / "claims" / "sigir2014.tsv"])


def verdicts(claims):
    return {one.claim.removeprefix("sigir2014/"): judge_claim(claims[one.claim], one).verdict for one in reproductions(claims)}


def test_every_formula_and_statement_has_its_verdict(claims):
    found = verdicts(claims)
    words = {name.removeprefix("sigir2014/") for name, claim in claims.items() if claim.kind in ("formula", "statement")}
    assert set(found) == words
    assert found.pop("remark1/fast-convergence") == "not checkable"
    assert set(found.values()) == {"reproduced"}


def test_a_statement_that_the_table_belies_fails(claims):
    name = "sigir2014/table3/trec10/GL_OR_ID/AP"
    changed = {**claims, name: replace(claims[name], printed="0.6999")}
    assert verdicts(changed)["section5.2/never-below-0.70"] == "differs"
    name = "sigir2014/table3/trec10/LO_AD_ID@Rec/AP"
    changed = {**claims, name: replace(claims[name], printed="0.9699")}
    assert verdicts(changed)["section5.2/rec-jumps"] == "differs"


def test_random_lists_are_the_same_every_time():
    assert random_lists("x", 5) == random_lists("x", 5) != random_lists("y", 5)
