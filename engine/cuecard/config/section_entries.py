"""The sections in one file, before merging: which ones there are, and problems that one file alone shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cuecard.config.documents.yaml_text import Document, Path
from cuecard.config.sections.section_keys import SOURCES, TEXTS
from cuecard.errors import Problem
from cuecard.model import Json

PLACING = ("before", "after", "remove")
"""Keys of a section that say where an overlay puts it, or that the overlay removes it."""


def listed(document: Document) -> Sequence[Json]:
    """The sections in a file, valid or not."""
    sections = document.value.get("sections")
    return sections if isinstance(sections, list) else ()


def says_something(entry: Mapping[str, Json]) -> bool:
    """Whether a section has its own text or a source."""
    return any(entry.get(key) is not None for key in (*TEXTS, *SOURCES))


def unplaced(document: Document) -> Iterator[Problem]:
    """Sections of the lowest file with a position relative to those below it, of which there are none."""
    for index, item in enumerate(listed(document)):
        for key in PLACING:
            if isinstance(item, dict) and key in item:
                message, hint = f"`{key}` refers to sections of a base file or template, and there is none", "remove it"
                yield document.problem(("sections", index, key), "unknown-key", message, hint, key=True)


def section_id(item: Json, otherwise: str) -> str:
    """The id of a section."""
    named = item.get("id") if isinstance(item, dict) else None
    return named if isinstance(named, str) else otherwise


def where(document: Document, path: Path) -> str:
    """The place of a value, as `file:line:column`."""
    span = document.span(path)
    return f"{document.origin(path).name}:{span.line}:{span.column}"


def twice(document: Document, sections: Sequence[Json]) -> Iterator[Problem]:
    """Sections that one file names twice: only one of them could be merged."""
    first: dict[str, Path] = {}
    for index, item in enumerate(sections):
        name, path = section_id(item, f"#{index}"), ("sections", index, "id")
        if name in first:
            hint = f"the first is on line {document.span(first[name]).line}; rename one, or merge them"
            yield document.problem(path, "duplicate-section", f"two sections are named `{name}`", hint)
        first.setdefault(name, path)


def misplaced(document: Document, sections: Sequence[Json]) -> Iterator[Problem]:
    """Sections with two positions, with a `remove` that is not a boolean, or with other keys besides `remove`."""
    for index, item in enumerate(sections):
        if not isinstance(item, dict):
            continue
        if {"before", "after"} <= item.keys():
            path, hint = ("sections", index, "after"), "keep one of them"
            yield document.problem(path, "wrong-value", "`before` and `after` exclude each other", hint, key=True)
        if not isinstance(item.get("remove", False), bool):
            path, hint = ("sections", index, "remove"), "write `remove: true`"
            yield document.problem(path, "wrong-value", "`remove` should be true or false", hint)
        for key in [key for key in item if key not in {"id", "remove"}] if item.get("remove") is True else ():
            path, hint = ("sections", index, key), "keep one of the two"
            yield document.problem(
                path, "no-effect", f"`{key}` has no effect: `remove` removes the section", hint, key=True
            )
