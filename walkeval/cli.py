"""The command line: ``walkeval COMMAND ...``.

Only words are read here, and nothing heavy is imported, so that help and mistakes of spelling are answered at once.
What a command does is in the module of its name in `walkeval.commands`, which is imported when it is called.

What a program reads goes to standard output, what a person reads to standard error. A mistake of the user is one
sentence, never a traceback.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
from collections.abc import Sequence

from walkeval import __version__
from walkeval.errors import ParameterError, UnknownNameError, WalkevalError

OK, DATA, USE, FOUND, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 3, 130, 141
EXIT_CODES = """exit codes:
  0    fine
  1    something is wrong with a file or a source; standard error says what and where
  2    wrong use: an unknown command, option, measure or parameter
  3    audit: something in the table is impossible or implausible
  130  interrupted; 141 the reader of the output went away"""

ORDERS = ("trec_eval", "trec_eval9", "rank", "file")
CLICK_FORMATS = ("yandex", "pyclick", "clickmodel_wc", "trec-session")
SHELLS = ("bash", "zsh", "fish")


class _Parser(argparse.ArgumentParser):
    """A parser whose mistakes are one line."""

    def __init__(self, **options):
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str):
        self.exit(USE, f"{self.prog}: {message}; see {self.prog} --help\n")


def _at_least(low: int):
    def whole_number(text: str) -> int:
        value = int(text)
        if value < low:
            raise argparse.ArgumentTypeError(f"it must be at least {low}; got {value}")
        return value

    whole_number.__name__ = "whole number"  # what argparse calls it in its messages
    return whole_number


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = _Parser(
        prog="walkeval",
        description="Retrieval measures whose user walks forward and back through a ranked list.",
        epilog=f"{EXIT_CODES}\n\n`walkeval COMMAND --help` says what each takes.",
    )
    parser.add_argument("--version", action="version", version=f"walkeval {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)

    def command(name: str, sentence: str, description: str = "", epilog: str = "") -> argparse.ArgumentParser:
        text = sentence[0].upper() + sentence[1:] + "." + (f"\n\n{description}" if description else "")
        return commands.add_parser(name, help=sentence, description=text, epilog=epilog or None)

    score = command(
        "score",
        "score runs by measures",
        "QRELS is a file of judgements or an ir-datasets id; a RUN is a file in TREC format. Files may be gzipped,\n"
        "and one of them may be - for standard input. Lines are those of trec_eval: measure, topic or all, value.\n"
        "The first line of a run names it by its file, num_q says how many topics its means are over.",
        "example:\n  walkeval score qrels.txt my.run -m AP -m P_10 -m 'MP(model=\"GL_AD_ID\")'\n\n" + EXIT_CODES,
    )
    _add_runs(score)
    _add_measures(score)
    score.add_argument(
        "--missing",
        choices=("skip", "zero", "error"),
        default="skip",
        help="topics that a run lacks: skip leaves them out of its means, as trec_eval does; zero counts them as lists "
        "that retrieve nothing, as trec_eval -c does; error refuses the run (default: skip)",
    )
    score.add_argument("-q", "--per-topic", action="store_true", help="also a line for each topic, as trec_eval -q")
    score.add_argument(
        "--bounds",
        action="store_true",
        help="two more columns: the lowest and the highest score that judging the unjudged documents could give",
    )
    score.add_argument(
        "--format",
        choices=("trec", "tsv", "jsonl", "latex"),
        default="trec",
        help="trec: lines of trec_eval, 4 decimals; tsv: 10 digits; jsonl: all; latex: a table (default: trec)",
    )

    compare = command(
        "compare",
        "compare runs: means, Kendall's tau between measures, swapped pairs, dominance",
        "Four tables: the means of all runs; tau between every two measures with its bootstrap interval over topics;\n"
        "the pairs of runs that the first measure and another order differently; and which runs dominate which: at\n"
        "every value x at least as many users get a P@H of more than x (a random topic, then a random user of it).",
        "example:\n  walkeval compare qrels.txt runs/*.run -m AP -m 'MP(model=\"GL_OR_ID\")' --plot compare.svg\n\n"
        + EXIT_CODES,
    )
    _add_runs(compare)
    _add_measures(compare)
    compare.add_argument(
        "--missing",
        choices=("zero", "skip", "error"),
        default="zero",
        help="topics that a run lacks: zero counts them as lists that retrieve nothing; skip leaves them out for all "
        "runs; error refuses the run (default: zero)",
    )
    compare.add_argument(
        "--dominance",
        metavar="PH",
        default='PH(browsing="SFBM",p=0.8)',
        help="the P@H whose laws are compared (default: %(default)s)",
    )
    compare.add_argument(
        "--samples", type=_at_least(0), default=1000, help="bootstrap samples, 0 for none (default: 1000)"
    )
    compare.add_argument("--plot", metavar="FILE", help="also draw tau and the laws of P@H (.svg, .pdf or .png)")
    compare.add_argument("--format", choices=("tsv", "jsonl"), default="tsv", help="form of the tables (default: tsv)")

    explain = command(
        "explain",
        "explain a measure: its user, its chain, what each rank weighs",
        epilog="example:\n  walkeval explain 'PH(browsing=\"RWBM\",p=0.5,q=0.25)' --gains 1,0,0,1\n\n" + EXIT_CODES,
    )
    explain.add_argument("measure", metavar="MEASURE", help="such as AP, P_10 or 'MP(model=\"LO_OR_ID\")'")
    explain.add_argument(
        "--gains",
        default="1,0,0,1,0",
        help="gain at each rank from the top; - is an unjudged document (default: %(default)s)",
    )
    explain.add_argument(
        "--recall-base", type=_at_least(0), help="relevant documents that exist (default: those in the list)"
    )
    explain.add_argument("--plot", metavar="FILE", help="also draw chain, weights and law (.svg, .pdf or .png)")

    measures = command("measures", "list all measures, with user model and citation", epilog=EXIT_CODES)
    measures.add_argument("measures", metavar="MEASURE", nargs="*", help="only these (default: all)")
    measures.add_argument(
        "--bibtex", action="store_true", help="the BibTeX entries of the papers that define them instead"
    )

    audit = command(
        "audit",
        "examine a table of Kendall correlations for what no data could give",
        "TABLE.tsv has a line of column names; its first column names the ranking of a row, the others are rankings\n"
        "by name. A column called `block` splits the table, one called `systems` gives the number of systems.\n"
        "Findings go to standard output as TSV: test, cells, severity, sentence, repair.",
        "example:\n  walkeval audit table.tsv --systems 129 --plot findings.svg\n\n" + EXIT_CODES,
    )
    audit.add_argument("table", metavar="TABLE.tsv")
    audit.add_argument(
        "--systems", type=_at_least(2), help="number of systems that were ranked, if the table does not say"
    )
    audit.add_argument(
        "--ties",
        type=float,
        default=0.005,
        help="largest share of tied pairs to allow for in a ranking (default: 0.005)",
    )
    audit.add_argument("-o", "--output", metavar="FILE", help="write the findings here instead")
    audit.add_argument("--plot", metavar="FILE", help="also draw the table with its findings (.svg, .pdf or .png)")

    clicks = command(
        "clicks",
        "what a click log says about how users walk",
        "Three tables: how common it is to go backward, by what it is counted; transitions between ranks; and\n"
        "parameters of the time that users stay at a rank, with 95% intervals. What was odd in the log goes to\n"
        "standard error.",
        "example:\n  walkeval clicks clicks.txt.gz --format yandex\n\n" + EXIT_CODES,
    )
    clicks.add_argument("logs", metavar="LOG", nargs="+", help="files of one log, plain or gzipped")
    clicks.add_argument("--format", dest="log_format", choices=CLICK_FORMATS, required=True, help="format of the log")
    clicks.add_argument("--ranks", type=_at_least(2), default=10, help="ranks of the tables (default: 10)")
    clicks.add_argument(
        "--output-format", choices=("tsv", "jsonl"), default="tsv", help="form of the tables (default: tsv)"
    )

    pool = command(
        "pool",
        "write judgements with a part of them left out at random",
        "Of the relevant and of the nonrelevant judgements of each topic RATE percent stay, at least 1 and 10. What\n"
        "stays depends on seed, topic and replicate alone, and pools of lower rates lie within those of higher ones.",
        "example:\n  walkeval pool qrels.txt --rate 50 --seed mine -o half.txt\n\n" + EXIT_CODES,
    )
    pool.add_argument("qrels", metavar="QRELS", help="file of judgements, - for standard input, or an ir-datasets id")
    pool.add_argument(
        "--rate", type=_at_least(1), required=True, help="percent of the judgements to keep, from 1 to 100"
    )
    pool.add_argument("--seed", required=True, metavar="NAME", help="any name; the same name gives the same pool")
    pool.add_argument("--replicate", type=_at_least(0), default=0, help="number of the draw (default: 0)")
    pool.add_argument(
        "--min-grade", type=_at_least(1), default=1, help="lowest grade that counts as relevant (default: 1)"
    )
    pool.add_argument("-o", "--output", metavar="FILE", help="write here instead of to standard output")

    init = command(
        "init",
        "set up an own collection for the whole workflow: tables, figures, report",
        "Writes DIR/config/collections/NAME.yaml, which says where judgements and runs are, and DIR/config/NAME.yaml,\n"
        "the edition that uses it, both commented. DIR is a checkout of walkeval; after that: ./run NAME",
        "example:\n  walkeval init . --qrels my/qrels.txt --runs 'my/runs/*.run'\n\n" + EXIT_CODES,
    )
    init.add_argument("directory", metavar="DIR")
    init.add_argument("--name", default="mine", help="name of collection and edition (default: mine)")
    init.add_argument("--title", help="what the collection is called in tables (default: its name)")
    init.add_argument(
        "--qrels", help="file of judgements, which must be there, or ir-datasets id (default: my/qrels.txt, for later)"
    )
    init.add_argument("--runs", default="my/runs", help="folder or glob of runs (default: %(default)s)")

    completion = command(
        "completion",
        "print a script that completes words in a shell",
        epilog="example:\n  source <(walkeval completion bash)",
    )
    completion.add_argument("shell", choices=SHELLS)
    return parser


def _add_runs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("qrels", metavar="QRELS", help="file of judgements, -, or an ir-datasets id")
    parser.add_argument("runs", metavar="RUN", nargs="+", help="files of runs, or -")
    parser.add_argument(
        "--order",
        choices=ORDERS,
        default="trec_eval9",
        help="what orders the documents of a run: trec_eval9 is score then document number, both descending, in 32 "
        "bits, as trec_eval 9 does; trec_eval the same in 64 bits; rank the rank column; file the lines (default: "
        "trec_eval9)",
    )
    parser.add_argument(
        "--min-grade",
        type=_at_least(1),
        default=1,
        help="lowest grade that counts as relevant, as trec_eval -l; lower ones are gain 0 (default: 1)",
    )
    parser.add_argument(
        "--binary", action="store_true", help="gain 1 for every relevant document, instead of its grade"
    )
    parser.add_argument("--depth", type=_at_least(1), help="cut every list after so many documents, as trec_eval -M")


def _add_measures(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-m",
        "--measure",
        dest="measures",
        metavar="MEASURE",
        action="append",
        help="a measure, again for each; trec_eval's names such as map or P_10 are known too (default: some of each)",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A name in a file may hold what a terminal cannot show; that is no reason to fail.
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")
    try:
        words = list(sys.argv[1:] if arguments is None else arguments)
        parser = build_parser()
        commands = next(one for one in parser._actions if isinstance(one, argparse._SubParsersAction)).choices
        if words and not words[0].startswith("-") and words[0] not in commands:
            raise UnknownNameError("command", words[0], commands)
        try:
            read = parser.parse_args(words)
        except SystemExit as exit_:
            return int(exit_.code or 0)
        code = importlib.import_module(f"walkeval.commands.{read.command}").run(read)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # What is left in the buffer would raise the same error again when Python ends.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except WalkevalError as error:
        sys.stderr.write(f"walkeval: {error}\n")
        return USE if isinstance(error, ParameterError) else DATA
    except ModuleNotFoundError as error:
        if error.name not in ("matplotlib", "pandas", "ir_datasets"):
            raise
        sys.stderr.write(f"walkeval: this needs {error.name}, which is not installed\n")
        return DATA
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        sys.stderr.write(f"walkeval: {where}{error.strerror or error}\n")
        return DATA


if __name__ == "__main__":
    sys.exit(main())
