"""Selects codes: those that count with `--select` and `--ignore`, and those to explain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from cuecard.cli.check.codes import CODES
from cuecard.errors import InputError, Problem, did_you_mean


def matcher(select: str, ignore: str) -> Callable[[str], bool]:
    """The test whether a code counts: selected (by default, all are) and not ignored.

    Args:
        select: codes or prefixes of codes (`yaml` stands for every `yaml-...`), separated by commas.
        ignore: the same.

    Raises:
        InputError: with every name that matches no code.
    """
    selected, ignored = _names(select), _names(ignore)
    options = {"--select": selected, "--ignore": ignored}
    problems = [problem for option, names in options.items() for problem in _unknown(option, names)]
    if problems:
        raise InputError(problems)
    return lambda code: (not selected or _fits(code, selected)) and not _fits(code, ignored)


def named(names: Sequence[str]) -> list[str]:
    """The codes with these names, in the order of the table.

    Args:
        names: codes or prefixes of codes; a name that is itself a code stands only for that code.

    Raises:
        InputError: with every name that fits no code.
    """
    if problems := list(_unknown("CODE", list(names))):
        raise InputError(problems)
    return [code for code in CODES if code in names or _fits(code, [name for name in names if name not in CODES])]


def _names(text: str) -> list[str]:
    return [name for part in text.split(",") if (name := part.strip().removesuffix("-"))]


def _fits(code: str, names: list[str]) -> bool:
    return any(f"{code}-".startswith(f"{name}-") for name in names)


def _unknown(option: str, names: list[str]) -> Iterator[Problem]:
    for name in names:
        if not any(_fits(code, [name]) for code in CODES):
            hint = did_you_mean(name, CODES)
            yield Problem("unknown-code", f"`{name}` is neither a check nor the beginning of one", hint, option)
