"""Publication: exactly the wanted files, equal ones left alone, nothing half-way, never over better evidence."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from walkeval.errors import EvidenceError, InputError
from walkeval.publishing import is_published, publish

NAMES = ["evidence.tsv", "paper/table1.tsv", "paper/table1.md", "provenance.json"]


@pytest.fixture
def artefacts(tmp_path):
    folder = tmp_path / "arte facts"
    (folder / "paper").mkdir(parents=True)
    for name in NAMES:
        (folder / name).write_text(f"content of {name}\n")
    record(folder, "runs")
    return folder


def record(folder, level: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "provenance.json").write_text(json.dumps({"evidence": {"trec08": level}}))


def files(folder) -> dict[str, bytes]:
    return {one.relative_to(folder).as_posix(): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


def test_the_target_holds_the_wanted_files_and_nothing_else_of_the_artefacts(artefacts, tmp_path):
    (artefacts / "paper" / "old.tsv").write_text("of another config")
    changed = publish(artefacts, NAMES, tmp_path / "results" / "demo", "demo")
    assert sorted(changed) == sorted(NAMES)
    assert changed[-1] == "provenance.json"
    wanted = {name: content for name, content in files(artefacts).items() if name in NAMES}
    assert files(tmp_path / "results" / "demo") == wanted
    assert is_published(artefacts, NAMES, tmp_path / "results" / "demo")


def test_equal_files_are_left_alone(artefacts, tmp_path):
    target = tmp_path / "demo"
    publish(artefacts, NAMES, target, "demo")
    for name in NAMES:
        os.utime(target / name, (1, 1))
    (artefacts / "evidence.tsv").write_text("new\n")
    assert publish(artefacts, NAMES, target, "demo") == ["evidence.tsv"]
    assert [name for name in NAMES if (target / name).stat().st_mtime != 1] == ["evidence.tsv"]
    assert publish(artefacts, NAMES, target, "demo") == []


def test_what_is_no_longer_wanted_goes_with_its_folder(artefacts, tmp_path):
    target = tmp_path / "demo"
    publish(artefacts, NAMES, target, "demo")
    rest = ["evidence.tsv", "provenance.json"]
    assert publish(artefacts, rest, target, "demo") == ["paper/table1.md", "paper/table1.tsv"]
    assert sorted(one.name for one in target.iterdir()) == rest


def test_files_of_somebody_else_stay_in_a_folder_that_was_never_published_to(artefacts, tmp_path):
    target = tmp_path / "elsewhere" / "demo"
    (target / "thesis").mkdir(parents=True)
    (target / "thesis" / "chapter1.tex").write_text("years of work")
    (target / "empty").mkdir()
    publish(artefacts, NAMES, target, "demo")
    assert (target / "thesis" / "chapter1.tex").read_text() == "years of work"
    assert (target / "empty").is_dir()
    assert is_published(artefacts, NAMES, target)


def test_a_publication_that_is_cut_off_keeps_the_old_record_and_is_made_whole_later(artefacts, tmp_path, monkeypatch):
    target = tmp_path / "demo"
    record(artefacts, "run summaries")
    publish(artefacts, NAMES, target, "demo")
    before = files(target)
    record(artefacts, "runs")
    for name in NAMES[:-1]:
        (artefacts / name).write_text(f"new content of {name}\n")
    copyfile, done = shutil.copyfile, []

    def interrupted(source, copy):
        if len(done) == 2:
            copy.write_text("new con")
            raise KeyboardInterrupt
        done.append(copy)
        copyfile(source, copy)

    monkeypatch.setattr(shutil, "copyfile", interrupted)
    with pytest.raises(KeyboardInterrupt):
        publish(artefacts, NAMES, target, "demo")
    after = files(target)
    assert after["provenance.json"] == before["provenance.json"]
    whole = {before[name] for name in NAMES} | {(artefacts / name).read_bytes() for name in NAMES}
    assert all(after[name] in whole for name in NAMES), "a file is half-written under its own name"
    assert not is_published(artefacts, NAMES, target)
    monkeypatch.undo()
    publish(artefacts, NAMES, target, "demo")
    assert files(target) == files(artefacts)


def test_a_first_publication_that_is_cut_off_leaves_no_record_and_no_rubbish(artefacts, tmp_path, monkeypatch):
    target = tmp_path / "demo"

    def interrupted(source, copy):
        copy.write_text("half")
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "copyfile", interrupted)
    with pytest.raises(KeyboardInterrupt):
        publish(artefacts, NAMES, target, "demo")
    assert not (target / "provenance.json").exists()
    assert not any(name in NAMES for name in files(target))
    monkeypatch.undo()
    publish(artefacts, NAMES, target, "demo")
    assert files(target) == files(artefacts)


def test_weaker_evidence_is_refused_and_changes_nothing(artefacts, tmp_path):
    target = tmp_path / "paper"
    publish(artefacts, NAMES, target, "paper")
    before = files(target)
    record(artefacts, "per-topic scores")
    (artefacts / "evidence.tsv").write_text("weaker\n")
    with pytest.raises(
        EvidenceError, match="the results of paper for trec08 stand on its runs, but only its per-topic scores"
    ):
        publish(artefacts, NAMES, target, "paper")
    assert files(target) == before
    record(artefacts, "runs")
    assert publish(artefacts, NAMES, target, "paper") == ["evidence.tsv"]


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"evidence": 3}'])
def test_a_record_that_says_nothing_is_not_overwritten(artefacts, tmp_path, content):
    target = tmp_path / "paper"
    publish(artefacts, NAMES, target, "paper")
    (target / "provenance.json").write_text(content)
    before = files(target)
    with pytest.raises(InputError, match=r"provenance\.json: does not say what the results stand on"):
        publish(artefacts, NAMES, target, "paper")
    assert files(target) == before


def test_results_that_somebody_changed_or_removed_are_not_published(artefacts, tmp_path):
    target = tmp_path / "demo"
    assert not is_published(artefacts, NAMES, target)
    publish(artefacts, NAMES, target, "demo")
    (target / "paper" / "table1.md").write_text("edited")
    assert not is_published(artefacts, NAMES, target)
    (target / "paper" / "table1.md").unlink()
    assert not is_published(artefacts, NAMES, target)
    publish(artefacts, NAMES, target, "demo")
    assert is_published(artefacts, NAMES, target)
