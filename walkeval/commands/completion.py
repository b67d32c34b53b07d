"""``walkeval completion``: scripts that complete commands, options and their values; elsewhere names of files."""

from __future__ import annotations

import argparse
import sys
from argparse import Namespace

from walkeval.cli import build_parser


def run(arguments: Namespace) -> int:
    sys.stdout.write({"bash": bash, "zsh": zsh, "fish": fish}[arguments.shell](commands()))
    return 0


def commands() -> dict[str, argparse.ArgumentParser]:
    """The parser of each command."""
    return next(one for one in build_parser()._actions if isinstance(one, argparse._SubParsersAction)).choices


def _options(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [one for one in parser._actions if one.option_strings]


def _cases(parsers: dict[str, argparse.ArgumentParser]) -> tuple[list[str], list[str]]:
    """For a shell's case: values by command and the option before, and words by command."""
    values, words = [], []
    for name, parser in parsers.items():
        known = [text for one in _options(parser) for text in one.option_strings]
        for one in parser._actions:
            if one.choices and one.option_strings:
                values += [f'    "{name} {text}") words="{" ".join(one.choices)}" ;;' for text in one.option_strings]
            elif one.choices:
                known += one.choices
        words.append(f'    {name}) words="{" ".join(known)}" ;;')
    return values, words


def bash(parsers: dict[str, argparse.ArgumentParser]) -> str:
    values, words = _cases(parsers)
    return "\n".join(
        [
            "# walkeval: source <(walkeval completion bash)",
            "_walkeval() {",
            '  local words="" current=${COMP_WORDS[COMP_CWORD]}',
            '  if [ "$COMP_CWORD" = 1 ]; then',
            f'    words="{" ".join(parsers)} --help --version"',
            "  else",
            '    case "${COMP_WORDS[1]} ${COMP_WORDS[COMP_CWORD-1]}" in',
            *(f"  {line}" for line in values),
            '      *) case "${COMP_WORDS[1]}" in',
            *(f"    {line}" for line in words),
            "      esac ;;",
            "    esac",
            "  fi",
            '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
            "}",
            "complete -o bashdefault -o default -F _walkeval walkeval",
            "",
        ]
    )


def zsh(parsers: dict[str, argparse.ArgumentParser]) -> str:
    values, words = _cases(parsers)
    # `words` is zsh's own name for the line.
    values, names = ([line.replace("words=", "found=") for line in lines] for lines in (values, words))
    return "\n".join(
        [
            "#compdef walkeval",
            "# walkeval: source <(walkeval completion zsh)",
            "_walkeval() {",
            '  local found=""',
            "  if (( CURRENT == 2 )); then",
            f'    found="{" ".join(parsers)} --help --version"',
            "  else",
            '    case "${words[2]} ${words[CURRENT-1]}" in',
            *(f"  {line}" for line in values),
            '      *) case "${words[2]}" in',
            *(f"    {line}" for line in names),
            "      esac ;;",
            "    esac",
            "  fi",
            "  compadd -- ${=found}",
            "  (( CURRENT == 2 )) || _files",
            "}",
            "compdef _walkeval walkeval",
            "",
        ]
    )


def fish(parsers: dict[str, argparse.ArgumentParser]) -> str:
    lines = ["# walkeval: walkeval completion fish | source"]
    for name, parser in parsers.items():
        sentence = (parser.description or "").partition("\n")[0].replace("'", "\\'")
        lines.append(f"complete -c walkeval -n __fish_use_subcommand -f -a {name} -d '{sentence}'")
        inside = f"complete -c walkeval -n '__fish_seen_subcommand_from {name}'"
        for one in parser._actions:
            if one.option_strings:
                words = [f"-l {text[2:]}" if text.startswith("--") else f"-s {text[1:]}" for text in one.option_strings]
                takes = "" if one.nargs == 0 else f" -xa '{' '.join(one.choices)}'" if one.choices else " -r"
                lines.append(f"{inside} {' '.join(words)}{takes}")
            elif one.choices:
                lines.append(f"{inside} -f -a '{' '.join(one.choices)}'")
    return "\n".join(lines) + "\n"
