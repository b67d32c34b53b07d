"""Where the measures come from: one BibTeX entry a key."""

from __future__ import annotations

from walkeval.errors import UnknownNameError


def _entry(kind: str, **fields: str) -> dict[str, str]:
    return {"kind": kind, **fields}


CITATIONS: dict[str, dict[str, str]] = {
    "ferrante2014": _entry(
        "inproceedings",
        author="Marco Ferrante and Nicola Ferro and Maria Maistro",
        title="Injecting User Models and Time into Precision via Markov Chains",
        booktitle="SIGIR",
        year="2014",
        pages="597--606",
        doi="10.1145/2600428.2609637",
    ),
    "ferrante2020": _entry(
        "inproceedings",
        author="Marco Ferrante and Nicola Ferro",
        title="Exploiting Stopping Time to Evaluate Accumulated Relevance",
        booktitle="ICTIR",
        year="2020",
        doi="10.1145/3409256.3409832",
    ),
    "vandijk2019": _entry(
        "inproceedings",
        author="David van Dijk and Marco Ferrante and Nicola Ferro and Evangelos Kanoulas",
        title="A Markovian Approach to Evaluate Session-based IR Systems",
        booktitle="ECIR",
        year="2019",
        pages="621--635",
    ),
    "bollmann1988": _entry(
        "inproceedings",
        author="Peter Bollmann and Vijay V. Raghavan",
        title="A Utility-Theoretic Analysis of Expected Search Length",
        booktitle="SIGIR",
        year="1988",
    ),
    "cooper1968": _entry(
        "article",
        author="William S. Cooper",
        title="Expected Search Length: A Single Measure of Retrieval Effectiveness Based on the Weak Ordering Action "
        "of Retrieval Systems",
        journal="American Documentation",
        volume="19",
        number="1",
        pages="30--41",
        year="1968",
    ),
    "piwowarski2006": _entry(
        "inproceedings",
        author="Benjamin Piwowarski and Georges Dupret",
        title="Evaluation in (XML) Information Retrieval: Expected Precision-Recall with User Modelling (EPRUM)",
        booktitle="SIGIR",
        year="2006",
    ),
    "buckley2004": _entry(
        "inproceedings",
        author="Chris Buckley and Ellen M. Voorhees",
        title="Retrieval Evaluation with Incomplete Information",
        booktitle="SIGIR",
        year="2004",
        pages="25--32",
    ),
    "buckley2005": _entry(
        "incollection",
        author="Chris Buckley and Ellen M. Voorhees",
        title="Retrieval System Evaluation",
        booktitle="TREC. Experiment and Evaluation in Information Retrieval",
        publisher="MIT Press",
        year="2005",
        pages="53--78",
    ),
    "moffat2008": _entry(
        "article",
        author="Alistair Moffat and Justin Zobel",
        title="Rank-biased Precision for Measurement of Retrieval Effectiveness",
        journal="ACM Transactions on Information Systems",
        volume="27",
        number="1",
        year="2008",
    ),
    "jarvelin2002": _entry(
        "article",
        author="Kalervo J{\\\"a}rvelin and Jaana Kek{\\\"a}l{\\\"a}inen",
        title="Cumulated Gain-Based Evaluation of IR Techniques",
        journal="ACM Transactions on Information Systems",
        volume="20",
        number="4",
        pages="422--446",
        year="2002",
    ),
    "jarvelin2008": _entry(
        "inproceedings",
        author="Kalervo J{\\\"a}rvelin and Susan L. Price and Lois M. L. Delcambre and Marianne Lykke Nielsen",
        title="Discounted Cumulated Gain Based Evaluation of Multiple-Query IR Sessions",
        booktitle="ECIR",
        year="2008",
    ),
    "chapelle2009": _entry(
        "inproceedings",
        author="Olivier Chapelle and Donald Metzler and Ya Zhang and Pierre Grinspan",
        title="Expected Reciprocal Rank for Graded Relevance",
        booktitle="CIKM",
        year="2009",
        pages="621--630",
    ),
    "kazai2005": _entry(
        "inproceedings",
        author="Gabriella Kazai and Mounia Lalmas",
        title="INEX 2005 Evaluation Measures",
        booktitle="INEX",
        year="2005",
    ),
}


def bibtex(key: str) -> str:
    """The BibTeX entry of a key.

    >>> print(bibtex("moffat2008").splitlines()[0])
    @article{moffat2008,
    """
    if key not in CITATIONS:
        raise UnknownNameError("citation", key, CITATIONS)
    entry = dict(CITATIONS[key])
    kind = entry.pop("kind")
    return f"@{kind}{{{key},\n" + "".join(f"  {name} = {{{value}}},\n" for name, value in entry.items()) + "}"
