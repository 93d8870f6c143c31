"""Tools and files in a turn file that its agent does not know: such a test would test nothing."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.config.documents.document import Document, Path
from cuecard.config.sections.file_patterns import has_inputs
from cuecard.config.turn_file import TurnFile
from cuecard.engine import Engine
from cuecard.errors import DidYouMean, Problem, closest

_LIKE = 0.8
"""The similarity from which the path of an unused file counts as misspelt."""


def unknown_names(turn: TurnFile, engine: Engine, document: Document, at: Path) -> Iterator[Problem]:
    """A problem for each name in `tools`, `discovered` and `ahead` that the agent does not know, and for unused files.

    In a running program, tools come and go, so there it is not a problem. An unused file may be the point of a test; it
    is a problem if no section reads files, or if its path is misspelt.

    Args:
        turn: the turn.
        engine: the agent.
        document: the file of the turn.
        at: the path of the turn in it.
    """
    tools = frozenset(engine.tools)
    for key in ("tools", "discovered", "ahead") if tools else ():
        for place, name in enumerate(getattr(turn, key) or ()):
            if name not in tools:
                message = f"no tool is called `{name}`"
                yield document.problem((*at, key, place), "unknown-tool", message, DidYouMean(name, tools))
    known = _paths(engine)
    for path in turn.files:
        like = closest(path, known or (), _LIKE)
        if known is not None and path not in known and (like or not known):
            message, hint = f"no section reads the file `{path}` from the host", "remove it"
            hint = f"did you mean `{like}`?" if like else hint
            yield document.problem((*at, "files", path), "no-effect", message, hint, key=True)


def _paths(engine: Engine) -> frozenset[str] | None:
    """The paths that a host may supply; None if some are patterns."""
    sections = (section for edition in engine.agent.editions.values() for section in edition)
    supplied = [section.spec.files for section in sections if section.spec.files and section.spec.files.supplied]
    entries = [entry for files in supplied for entry in files.entries]
    if any(entry.glob or entry.upward or any(map(has_inputs, entry.path)) for entry in entries):
        return None
    return frozenset(path for entry in entries for path in entry.path)
