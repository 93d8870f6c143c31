"""What commands print and write: counts, JSON, errors, files."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cuecard.errors import CuecardError, InputError, Problem, SettingsError, most_telling


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the plural unless the number is one."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def require(command: str, extra: str, packages: Mapping[str, str]) -> None:
    """Refuse a command whose packages, by their modules, are missing: all at once, with the line that installs them.

    Raises:
        InputError: when one of them is, or is too old.
    """
    if missing := [package for module, package in packages.items() if not find_spec(module)]:
        told = f"`{command}` needs {' and '.join(filter(None, [', '.join(missing[:-1]), missing[-1]]))}"
        raise InputError(Problem("not-installed", told, f'pip install "cuecard[{extra}]"', command))
    from cuecard.adapters.clients import check_version

    for module in _HELD_BACK.keys() & packages.keys():
        check_version(_HELD_BACK[module], extra, command)


_HELD_BACK = {"mcp": "mcp", "pydantic_ai": "pydantic-ai-slim"}
"""Modules whose distribution other packages may hold at a version that is too old."""
_ODD = re.compile("[^ -~\n]")


def json_text(value: Any, indent: int | None = 2) -> str:
    """The value as JSON; unprintable characters and lone surrogates are escaped."""
    return _ODD.sub(_escaped, json.dumps(value, indent=indent, ensure_ascii=False, default=str))


def report(problems: Sequence[Problem]) -> dict[str, Any]:
    """Problems for machines, in the same format for every command: `ok`, the first `problems`, and how many `more`
    there are.
    """
    told, more = most_telling(problems)
    ok = all(problem.severity != "error" for problem in problems)
    return {"ok": ok, "problems": [problem.to_json() for problem in told], "more": more}


def _escaped(found: re.Match[str]) -> str:
    return found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1]


def tell(error: CuecardError, *, as_json: bool) -> int:
    """Print the problems, as pictures on stderr or as one JSON object on stdout.

    Returns the exit code: 2 for wrong usage, 1 for problems found.
    """
    if as_json:
        sys.stdout.write(json_text(report(error.problems), None) + "\n")
    else:
        sys.stderr.write(f"{error}\n")
    return 2 if isinstance(error, (InputError, SettingsError)) else 1


def write_output(path: Path, text: str, option: str, *, more: bool = False) -> None:
    """Write the output that an option asks for, replacing an existing file; a pipe or `/dev/stdout` works, too.

    Args:
        path: the destination.
        text: the content, written as UTF-8.
        option: the option, for errors.
        more: whether to append to an existing file.

    Raises:
        InputError: when it cannot be written.
    """
    try:
        with path.open("ab" if more else "wb") as file:
            file.write(text.encode("utf-8", "backslashreplace"))
    except (OSError, ValueError) as error:
        raise _refused(path, error, "name a file in an existing folder that you can write to", option) from None


def output_folder(path: Path, option: str) -> Path:
    """The folder that an option names, created if it is missing.

    Raises:
        InputError: when it is not a folder, or cannot be created.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise _refused(path, error, "name a folder that you can write to", option) from None
    return path


def _refused(path: Path, error: OSError | ValueError, hint: str, option: str) -> InputError:
    reason = getattr(error, "strerror", None) or str(error)
    return InputError(Problem("wrong-option", f"`{path}`: {reason}", hint, option))
