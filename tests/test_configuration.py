"""walkeval.configuration and the schema of an edition."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from walkeval.configuration import check, main
from walkeval.errors import InputError
from walkeval.measures import parse_measure
from walkeval.papers import sigir2014
from walkeval.yaml_files import read_yaml

ROOT = Path(__file__).resolve().parents[1]
SCHEMA_PATH = ROOT / "workflow" / "schemas" / "config.schema.json"
SCHEMA = json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))
NESTED = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "source": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "mirror": {"type": "string", "default": "here"},
                "hosts": {"type": "array", "items": {"type": "string"}},
            },
            "default": {},
        }
    },
}


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def refusal(path: Path, schema: dict = SCHEMA, **settings) -> list[str]:
    """The lines of the message, without the folder of the file."""
    with pytest.raises(InputError) as caught:
        check({"edition": "mine", **read_yaml(path), **settings}, schema, path)
    return str(caught.value).replace(f"{path.parent}/", "").splitlines()


# --- the schema itself ---


def schema_objects(schema: dict):
    """The schema and every schema in it."""
    yield schema
    for one in schema.get("properties", {}).values():
        yield from schema_objects(one)
    if "items" in schema:
        yield from schema_objects(schema["items"])


def test_the_schema_is_valid_and_closed_everywhere():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for one in schema_objects(SCHEMA):
        if one.get("type") == "object" or "properties" in one:
            assert one["additionalProperties"] is False


@pytest.mark.parametrize("key", SCHEMA["properties"])
def test_every_key_is_described_and_has_a_default(key):
    one = SCHEMA["properties"][key]
    assert len(one["description"]) > 10
    assert "default" in one or key in SCHEMA["required"]


def test_the_defaults_are_allowed_and_complete():
    checked = check({"edition": "mine"}, SCHEMA, "mine.yaml")
    assert set(checked) == set(SCHEMA["properties"])
    assert check(checked, SCHEMA, "mine.yaml") == checked


def test_the_default_measures_are_written_as_they_name_themselves():
    names = SCHEMA["properties"]["measures"]["default"]
    assert [parse_measure(name).name for name in names] == names
    assert len(set(names)) == len(names)


def test_the_default_measures_hold_all_that_tables_2_and_3_need():
    assert set(sigir2014.measures()) <= set(SCHEMA["properties"]["measures"]["default"])


EDITIONS = [path for path in sorted((ROOT / "config").glob("*.yaml")) if "title" in read_yaml(path)]


@pytest.mark.parametrize("path", EDITIONS, ids=lambda path: path.stem)
def test_every_edition_of_the_repository_is_accepted(path):
    assert check({**read_yaml(path), "edition": path.stem}, SCHEMA, path)["edition"] == path.stem


# --- reading ---


def test_an_empty_file_has_no_keys(tmp_path):
    assert read_yaml(write(tmp_path, "# nothing yet\n")) == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind: real\n  tau: b\n", "mine.yaml:2: not valid YAML: mapping values are not allowed here"),
        ("tau: b\norder: [rank\n", "mine.yaml:3: not valid YAML: expected ',' or ']', but got '<stream end>'"),
        ("tau: a\nkind: real\ntau: b\n", "mine.yaml:3: not valid YAML: key 'tau' is given twice, first in line 1"),
        ("title: \x07\n", "mine.yaml: not valid YAML: it holds a character that YAML does not allow"),
        ("- tau\n- b\n", "mine.yaml: must be a list of lines 'key: value'"),
        ("!!python/object/apply:os.getcwd []\n", "mine.yaml:1: not valid YAML: tags (!name) are not accepted"),
    ],
)
def test_what_is_not_a_configuration_is_refused_with_its_line(tmp_path, text, message):
    with pytest.raises(InputError) as caught:
        read_yaml(write(tmp_path, text))
    assert str(caught.value).replace(f"{tmp_path}/", "").startswith(message)


def test_a_missing_or_binary_file_or_a_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="none.yaml: no such file"):
        read_yaml(tmp_path / "none.yaml")
    with pytest.raises(InputError, match="cannot be read"):
        read_yaml(tmp_path)
    (tmp_path / "binary.yaml").write_bytes(b"\x1f\x8b\xff\xfe")
    with pytest.raises(InputError, match="not a text file"):
        read_yaml(tmp_path / "binary.yaml")


# --- checking ---


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("replicate: 3", "unknown key 'replicate'; did you mean 'replicates'?"),
        ("Tau: b", "unknown key 'Tau'; did you mean 'tau'?"),
        ("kind: fake", "kind is 'fake'; it must be 'synthetic' or 'real'"),
        ("order: score", "order is 'score'; it must be 'trec_eval', 'trec_eval9', 'rank' or 'file'"),
        ("min_grade: 0", "min_grade is 0; it must be a whole number of at least 1"),
        ("replicates: ten", "replicates is 'ten'; it must be a whole number of at least 0"),
        ("replicates: 10.0", "replicates is 10.0; it must be a whole number of at least 0"),
        ("replicates: true", "replicates is true; it must be a whole number of at least 0"),
        ("rounding: -1", "rounding is -1; it must be a whole number from 0 to 15 or null"),
        ("network: 1", "network is 1; it must be true or false"),
        ("results:", "results is null; it must be a text that is not empty"),
        ("results: ''", "results is ''; it must be a text that is not empty"),
        ("mirror: 5", "mirror is 5; it must be a text that is not empty or null"),
        ("pool_rates: [90, 100]", "pool_rates[2] is 100; it must be a whole number from 1 to 99"),
        ("pool_rates: [90, 10, 90]", "pool_rates has 90 twice"),
        ("pool_rates: 90", "pool_rates is 90; it must be a list"),
        ("measures: []", "measures is []; it must be a list of at least 1"),
        ("measures: [AP, bpreff]", "measures[2] is 'bpreff': unknown measure 'bpreff'; did you mean 'bpref'?"),
        ("measures: [RBP(p=2)]", "measures[1] is 'RBP(p=2)': RBP: p"),
        (
            "collections: [../trec08]",
            "collections[1] is '../trec08'; it must be a name of letters, digits, '.', '_' and '-'",
        ),
    ],
)
def test_a_mistake_is_named_with_its_line_its_value_and_what_is_allowed(tmp_path, text, message):
    (line,) = refusal(write(tmp_path, f"title: mine\n{text}\n"))
    assert line.startswith(f"mine.yaml:2: {message}")


def test_every_mistake_is_told_in_the_order_of_the_file(tmp_path):
    path = write(tmp_path, "tau: c\npool_rates:\n  - 50\n  - 0\nfoo: 1\n")
    assert [line.split(": ")[0] for line in refusal(path)] == ["mine.yaml:1", "mine.yaml:4", "mine.yaml:5"]


def test_a_value_from_the_command_line_has_no_line(tmp_path):
    path = write(tmp_path, "tau: b\n")
    assert refusal(path, tau="c") == ["mine.yaml: tau is 'c'; it must be 'a' or 'b'"]
    assert refusal(path, shard=0) == ["mine.yaml: shard is 0; it must be a whole number of at least 1"]


def test_without_an_edition_the_message_says_who_sets_it():
    with pytest.raises(InputError, match=r"edition is missing \(.*\./run sets it\)"):
        check({}, SCHEMA, "mine.yaml")


def test_nested_keys_are_completed_and_checked(tmp_path):
    assert check({}, NESTED, "mine.yaml") == {"source": {"mirror": "here"}}
    path = write(tmp_path, "source:\n  miror: there\n  hosts: [one, 2]\n")
    with pytest.raises(InputError) as caught:
        check(read_yaml(path), NESTED, path)
    assert str(caught.value).replace(f"{tmp_path}/", "").splitlines() == [
        "mine.yaml:2: unknown key 'miror' in source; did you mean 'mirror'?",
        "mine.yaml:3: source.hosts[2] is 2; it must be a text",
    ]


def test_the_given_configuration_and_the_schema_are_left_alone():
    schema = copy.deepcopy(SCHEMA)
    given_configuration = {"edition": "mine", "pool_rates": [50]}
    checked = check(given_configuration, schema, "mine.yaml")
    checked["pool_rates"].append(30)
    checked["measures"].clear()
    assert given_configuration == {"edition": "mine", "pool_rates": [50]}
    assert schema == SCHEMA


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(sorted(SCHEMA["properties"])) | st.text(max_size=6), VALUES, max_size=4))
@settings(max_examples=100, deadline=None)
def test_any_configuration_is_completed_or_refused_with_sentences(configuration):
    try:
        checked = check(configuration, SCHEMA, "mine.yaml")
    except InputError as error:
        assert all(line.startswith("mine.yaml: ") for line in str(error).splitlines())
    else:
        assert set(checked) == set(SCHEMA["properties"])
        assert all(checked[key] == value for key, value in configuration.items())


# --- the command that ./run calls ---


def test_the_command_writes_the_folders_of_results_and_data(tmp_path, capsys):
    path = write(tmp_path, yaml.safe_dump({"results": "there", "replicates": 2}))
    assert main([str(SCHEMA_PATH), str(path), "edition=mine"]) == 0
    assert capsys.readouterr() == ("there/mine\ndata/mine\n", "")
    assert main([str(SCHEMA_PATH), str(path), "edition=mine", "results=elsewhere", "data=/there", "measures=[AP]"]) == 0
    assert capsys.readouterr() == ("elsewhere/mine\n/there/mine\n", "")


@pytest.mark.parametrize("value", ["2020-99-99", "!!bool x", "[", '"\\ud800"'])
def test_a_value_that_is_none_is_told_in_one_sentence(tmp_path, capsys, value):
    path = write(tmp_path, "kind: real\n")
    assert main([str(SCHEMA_PATH), str(path), "edition=mine", f"title={value}"]) == 1
    output, message = capsys.readouterr()
    assert output == ""
    assert message.startswith("title on the command line:1: not valid YAML: ") or "line: not valid YAML" in message
    assert message.count("\n") == 1


def test_the_command_writes_the_mistakes_and_nothing_else(tmp_path, capsys):
    path = write(tmp_path, "tau: b\n")
    assert main([str(SCHEMA_PATH), str(path), "edition=mine", "replicates=-1"]) == 1
    output, message = capsys.readouterr()
    assert output == ""
    assert message == f"{path}: replicates is -1; it must be a whole number of at least 0\n"
