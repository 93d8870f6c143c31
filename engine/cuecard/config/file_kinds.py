"""Which kind of file a YAML document is, so that an error can say so when the wrong kind is passed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from cuecard.config.documents.document import Document
from cuecard.config.tools_spec import CUES
from cuecard.errors import Problem, SpecError

FileKind: TypeAlias = Literal["agent", "assistant", "turn", "tool", "scenario", "models", "conversation"]

_NAMES: Mapping[FileKind, str] = {
    "agent": "an agent file",
    "assistant": "an assistant file",
    "turn": "a turn file",
    "tool": "a file of tool instructions",
    "scenario": "a scenario",
    "models": "a file of model profiles",
    "conversation": "a file of several turns",
}
_OF_TURNS = frozenset(
    (
        "now",
        "discovered",
        "model",
        "host",
        "profile",
        "variant",
        "files",
        "gates",
        "environment",
        "summary",
        "message",
        "ephemeral",
        "endpoint",
        "ahead",
        "conversation",
        "expect",
        "run",
        "not_enforced",
    )
)
"""Keys that only a turn file has."""

_OF_SEVERAL = frozenset(("inputs", "memory", "history", "delivery", "messages", "tools", "metadata", "query", "access"))
"""Further keys of a turn file; other kinds have some of them."""

_OF_ENTRIES = frozenset((*CUES, "description", "phrases"))
"""Keys of the entries of a tool file."""

_MARKS: Mapping[FileKind, tuple[frozenset[str], frozenset[str]]] = {
    "assistant": (frozenset({"agent", "server"}), frozenset()),
    "agent": (frozenset({"agent"}), frozenset()),
    "scenario": (frozenset({"title", "turns"}), frozenset()),
    "conversation": (frozenset({"turns"}), frozenset({"turns"})),
    "models": (frozenset({"models"}), frozenset({"providers", "models"})),
    "tool": (frozenset(), frozenset({"category", "tools", "described"})),
    "turn": (
        frozenset(),
        _OF_TURNS | _OF_SEVERAL,
    ),
}
"""By kind, in the order in which they are tried: the keys it has and, if it is limited to some, all the keys it may
have.
"""

_WAYS: Mapping[tuple[FileKind, FileKind], str] = {
    ("agent", "turn"): "name the agent file, and pass this one as `--turn FILE`",
    ("agent", "tool"): "name the agent file; it names this one under `tools: instructions:`",
    ("agent", "assistant"): "name the agent file that it names under `agent:`; `cuecard run` accepts this file",
    ("agent", "scenario"): "name the agent file; `cuecard run` plays the scenarios of an assistant file",
    ("agent", "models"): "name the agent file; it names this one under `models:`",
    (
        "assistant",
        "agent",
    ): "an assistant file names an agent file under `agent:` and a tool server under `server:`; `cuecard run` can "
    "also chat with an agent file directly",
    ("assistant", "scenario"): "name the assistant file, and pass the scenario as `--scenario NAME`",
    ("turn", "conversation"): "name a file with one turn; `cuecard test` also accepts this one",
    ("agent", "conversation"): "name the agent file; `cuecard test AGENT` reads this file",
    ("turn", "agent"): "a turn file contains what your program knows about one user message: `inputs:`, `memory:`, "
    "`history:`",
}


def kind_of(value: Mapping[str, object]) -> FileKind | None:
    """The kind a document looks like; None if no kind fits."""
    keys = frozenset(value)
    for kind, (needed, only) in _MARKS.items():
        if keys and needed <= keys and (not only or keys <= only) and _fits(kind, value):
            return kind
    return None


def _fits(kind: FileKind, value: Mapping[str, object]) -> bool:
    """The tools of a tool file, or those that it only describes, are entries by name; a turn file has a key that only
    turn files have.
    """
    if kind == "turn":
        return not _OF_TURNS.isdisjoint(value)
    if kind != "tool":
        return True
    if value.keys().isdisjoint({"tools", "described"}):
        return False
    tools, described = value.get("tools", {}), value.get("described", {})
    entries = tools.values() if isinstance(tools, Mapping) else (None,)
    are_entries = all(isinstance(each, Mapping) and not _OF_ENTRIES.isdisjoint(each) for each in entries)
    return are_entries and isinstance(described, Mapping)


def refuse_other_kind(document: Document, wanted: FileKind) -> None:
    """Reject a file of another kind before anything else: its other problems would be misleading.

    Raises:
        SpecError: when the file is of another kind.
    """
    found = kind_of(document.value)
    if found is not None and found != wanted:
        message = f"this is {_NAMES[found]}, not {_NAMES[wanted]}"
        way = _WAYS.get((wanted, found), "name another file")
        raise SpecError(Problem("wrong-file", message, way, document.name))
