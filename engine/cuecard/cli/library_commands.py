"""Commands of a library: checked versions, labels, edits without a checkout."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from cuecard.cli.options import AgentPath, Json
from cuecard.cli.signatures import Argument, Group, Option

if TYPE_CHECKING:
    from cuecard.library.library import Library

Url = Annotated[
    str | None,
    Option(metavar="URL", help="The database; defaults to CUECARD_LIBRARY, or sqlite:///prompts.db."),
]
Name = Annotated[str, Argument(metavar="NAME", help="AGENT, AGENT@LABEL or AGENT@NUMBER, such as cms@production.")]
Message = Annotated[str, Option(metavar="TEXT", short="-m", help="What changed, in a sentence.")]
Author = Annotated[str | None, Option(metavar="NAME", help="Who does it; defaults to the user of this machine.")]
Label = Annotated[str | None, Option(metavar="NAME", help="A label that the version gets, besides latest.")]


def init(library: Url = None, json: Json = False) -> None:
    """Make the tables of a library; one that is there stays."""
    with _opened(library) as opened:
        before = opened.create()
        _tell({"library": _place(opened), "before": before}, f"{_place(opened)} has a library", as_json=json)


def upgrade(library: Url = None, json: Json = False) -> None:
    """Bring a library of an older version of cuecard up to date."""
    with _opened(library) as opened:
        before = opened.upgrade()
        _tell({"library": _place(opened), "before": before}, f"{_place(opened)} is up to date", as_json=json)


def publish(
    agent: AgentPath,
    message: Message,
    label: Label = None,
    author: Author = None,
    library: Url = None,
    json: Json = False,
) -> None:
    """Make a version of an agent that passes `cuecard check --strict`."""
    with _opened(library) as opened:
        _version(opened.publish(agent, message, author=author or _user(), label=label), as_json=json)


def log(
    agent: Annotated[str, Argument(metavar="AGENT", help="The agent's name.")],
    moves: Annotated[bool, Option(help="Show every move of a label instead.")] = False,
    library: Url = None,
    json: Json = False,
) -> None:
    """List the versions of an agent, or the moves of its labels."""
    with _opened(library) as opened:
        rows: list[Any] = [*opened.moves(agent)] if moves else [*opened.versions(agent)]
        lines = (_move(each) if moves else _line(each) for each in rows)
        _tell({"moves" if moves else "versions": [each.to_json() for each in rows]}, "\n".join(lines), as_json=json)


def show(name: Name, library: Url = None, json: Json = False) -> None:
    """Show a version, and the files that it holds."""
    with _opened(library) as opened:
        version = opened.show(name)
        files = opened.texts(str(version))
        told = "\n".join([_line(version), *(f"  {path}" for path in files)])
        _tell({**version.to_json(), "files": dict(files)}, told, as_json=json)


def diff(
    before: Annotated[str, Argument(metavar="A", help="A version, such as cms@production.")],
    after: Annotated[str, Argument(metavar="B", help="Another version of the same agent.")],
    library: Url = None,
    json: Json = False,
) -> None:
    """Compare the texts of two versions."""
    with _opened(library) as opened:
        text = opened.diff(before, after)
        _tell({"diff": text}, text or "no difference", as_json=json)


def label(
    name: Name,
    label: Annotated[str, Argument(metavar="LABEL", help="The label to move, such as production.")],
    remove: Annotated[bool, Option(help="Remove the label from the agent instead.")] = False,
    message: Message = "moved by command",
    author: Author = None,
    library: Url = None,
    json: Json = False,
) -> None:
    """Let a label point to a version."""
    with _opened(library) as opened:
        if not remove:
            _version(opened.label(name, label, author=author or _user(), message=message), as_json=json)
            return
        agent = name.partition("@")[0]
        opened.unlabel(f"{agent}@{label}", author=author or _user(), message=message)
        _tell({"removed": f"{agent}@{label}"}, f"{agent}@{label} is removed", as_json=json)


def rollback(
    name: Name,
    message: Message = "rolled back by command",
    author: Author = None,
    library: Url = None,
    json: Json = False,
) -> None:
    """Move a label back to the version that it pointed to before."""
    with _opened(library) as opened:
        _version(opened.rollback(name, author=author or _user(), message=message), as_json=json)


def edit(
    name: Name,
    message: Message,
    section: Annotated[str | None, Option(metavar="ID", help="The section to edit.")] = None,
    title: Annotated[str | None, Option(metavar="TEXT", help="Its new title.")] = None,
    tool: Annotated[str | None, Option(metavar="NAME", help="The tool whose entry to edit.")] = None,
    file: Annotated[
        Path | None, Option(metavar="FILE", help="The new text, or the entry in YAML; - for standard input.")
    ] = None,
    label: Label = None,
    author: Author = None,
    library: Url = None,
    json: Json = False,
) -> None:
    """Edit one section or one tool's entry of a version, without a checkout."""
    from cuecard.errors import InputError, Problem
    from cuecard.library.edits import read_entry
    from cuecard.workbench.output import json_text

    if (
        (file is None and title is None)
        or (tool is None) == (section is None)
        or (tool is not None and title is not None)
    ):
        hint = "write `--section ID` with `--file FILE` or `--title TEXT`, or `--tool NAME` with `--file FILE`"
        raise InputError(Problem("wrong-option", "an edit is of one section or of one tool", hint, "library edit"))
    text = None if file is None else _read(file)
    entry = read_entry(text) if tool is not None and text is not None else None
    with _opened(library) as opened:
        edited = opened.edit(
            name,
            author=author or _user(),
            message=message,
            section=section,
            body=text if tool is None else None,
            title=title,
            tool=tool,
            entry=entry,
            label=label,
        )
    if json:
        print(json_text({**edited.version.to_json(), "problems": [each.to_json() for each in edited.warnings]}))
        return
    for warning in edited.warnings:
        sys.stderr.write(f"{warning.picture()}\n")
    print(_line(edited.version))


def export(
    name: Name,
    folder: Annotated[Path, Argument(metavar="DIR", help="A folder that is new or empty.")],
    library: Url = None,
    json: Json = False,
) -> None:
    """Write a version as a folder that `cuecard check` accepts."""
    with _opened(library) as opened:
        file = opened.export(name, folder)
        _tell({"file": str(file)}, str(file), as_json=json)


def read_back(
    folder: Annotated[Path, Argument(metavar="DIR", help="A folder that `cuecard library export` wrote.")],
    label: Label = None,
    library: Url = None,
    json: Json = False,
) -> None:
    """Take an exported version back, byte for byte."""
    with _opened(library) as opened:
        _version(opened.read_back(folder, label=label), as_json=json)


LIBRARY: Final = Group(
    "Checked versions of whole agents in a database, with labels: publish, label, edit, roll back.",
    {
        "init": init,
        "upgrade": upgrade,
        "publish": publish,
        "log": log,
        "show": show,
        "diff": diff,
        "label": label,
        "rollback": rollback,
        "edit": edit,
        "export": export,
        "import": read_back,
    },
)


@contextmanager
def _opened(url: str | None) -> Iterator[Library]:
    from cuecard.files.settings import read_settings
    from cuecard.library.library import Library

    opened = Library(url or read_settings().library or "sqlite:///prompts.db")
    try:
        yield opened
    finally:
        opened.close()


def _place(library: Library) -> str:
    return str(library).removeprefix("Library('").removesuffix("')")


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container without a name for its user
        return "unknown"


def _read(file: Path) -> str:
    from cuecard.files.safe_read import read_text

    return sys.stdin.read() if str(file) == "-" else read_text(file).text


def _version(version: Any, *, as_json: bool) -> None:
    _tell(version.to_json(), _line(version), as_json=as_json)


def _line(version: Any) -> str:
    from cuecard.errors import visible

    labels = f" [{', '.join(version.labels)}]" if version.labels else ""
    return visible(f"{version}{labels}  {version.created}  {version.author}: {version.message}")


def _move(move: Any) -> str:
    from cuecard.errors import visible

    path = f"{move.before or '-'} -> {move.after or '-'}"
    return visible(f"{move.at}  {move.label}: {path}  ({move.action})  {move.author}: {move.message}")


def _tell(record: dict[str, Any], text: str, *, as_json: bool) -> None:
    from cuecard.workbench.output import json_text

    print(json_text(record) if as_json else text)
