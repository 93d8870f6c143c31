"""What commands write: errors, and the files and folders that options name for reports, pictures, records."""

from __future__ import annotations

import sys
from pathlib import Path

from cuecard.cli.json_text import json_text, report
from cuecard.errors import CuecardError, InputError, Problem, SettingsError


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
