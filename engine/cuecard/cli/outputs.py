"""Files and folders that an option names for what a command makes: reports, pictures, records."""

from __future__ import annotations

from pathlib import Path

from cuecard.errors import InputError, Problem


def write_output(path: Path, text: str, option: str, *, more: bool = False) -> None:
    """Write what an option asks for, over what is there; a pipe or `/dev/stdout` will do.

    Args:
        path: where to.
        text: what, as UTF-8.
        option: the option, for errors.
        more: whether to write behind what is there.

    Raises:
        InputError: when it cannot be written.
    """
    try:
        with path.open("ab" if more else "wb") as file:
            file.write(text.encode("utf-8", "backslashreplace"))
    except (OSError, ValueError) as error:
        raise _refused(path, error, "name a file in an existing folder that you can write to", option) from None


def output_folder(path: Path, option: str) -> Path:
    """The folder that an option names, made where it is missing.

    Raises:
        InputError: when it is something else, or cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise _refused(path, error, "name a folder that you can write to", option) from None
    return path


def _refused(path: Path, error: OSError | ValueError, hint: str, option: str) -> InputError:
    reason = getattr(error, "strerror", None) or str(error)
    return InputError(Problem("wrong-option", f"`{path}`: {reason}", hint, option))
