"""Columns of published means against their names."""

from __future__ import annotations

from walkeval.gathering import Evidence
from walkeval.source_columns import COLUMNS, examine_summary

PAGE = """#### {name}
[**`Participants`**](./participants.md#x) | [**`Input`**](https://trec.nist.gov/x/input.{name}.gz)

\tmap        all        0.2000
\tP_10       all        {value:.4f}
"""


def page(tmp_path, cutoff: int) -> Evidence:
    text = "".join(PAGE.format(name=f"run{number}", value=(7 * number + 50) / (50 * cutoff)) for number in range(1, 60))
    path = tmp_path / "results.md"
    path.write_text(text)
    return Evidence("trec07", "T", "real", summary=str(path))


def test_a_column_that_fits_its_name(tmp_path):
    row = examine_summary(page(tmp_path, 10), None).iloc[0]
    assert (row["column"], row["holds"]) == ("P_10", "P_10")
    assert row["finding"].startswith("as named")


def test_a_column_whose_digits_rule_its_name_out(tmp_path):
    row = examine_summary(page(tmp_path, 15), None).iloc[0]
    assert (row["column"], row["holds"]) == ("P_10", "P_15")
    assert "rule that out" in row["finding"]


def test_no_summary_gives_no_rows():
    assert list(examine_summary(Evidence("x", "X", "synthetic"), None).columns) == COLUMNS


def test_trec8_column_holds_precision_at_15(mirror, trec8_qrels, trec8_runs, tmp_path):
    import gzip

    from walkeval.judging import judge

    path = next(mirror.glob("*/usnistgov/trec-browser/*/browser/src/docs/trec8/adhoc/results.md*"))
    plain = tmp_path / "results.md"
    plain.write_bytes(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())
    table = examine_summary(Evidence("trec08", "T", "real", summary=str(plain)), judge(trec8_qrels, trec8_runs)).set_index("column")
    assert (table.loc["P_10", "holds"], table.loc["P_10", "equal"]) == ("P_15", 129)
    assert table.loc["P_100", "equal"] == 129
