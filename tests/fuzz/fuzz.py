"""Coverage-guided fuzzing of one reader: python tests/fuzz/fuzz.py TARGET SECONDS FOLDER

Needs atheris, which is not part of the environment: install it beside it. Findings are written to FOLDER as crash-*;
shorten them and keep them in tests/fuzz/corpus/TARGET/, where tests/test_fuzz_corpus.py replays them. The last line of the
output says how many inputs were tried.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["walkeval"]):
    sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).resolve().parents[2])]
    from targets import SEEDS, TARGETS

    from walkeval.errors import WalkevalError


# Python refuses to read numbers of more than 4,300 digits, longer than an input gets here: let it refuse earlier.
sys.set_int_max_str_digits(640)


def main() -> None:
    name, seconds, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    read = TARGETS[name]
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(SEEDS[name]):
        (corpus / f"seed{number}").write_bytes(seed)
    path = folder / "input"

    def one_input(content: bytes) -> None:
        path.write_bytes(content)
        try:
            read(path)
        except WalkevalError:
            pass

    options = [f"-max_total_time={seconds}", f"-artifact_prefix={folder}/", "-max_len=4096", "-timeout=20"]
    options += ["-rss_limit_mb=6000", "-print_final_stats=1"]
    atheris.Setup([sys.argv[0], *options, str(corpus)], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
