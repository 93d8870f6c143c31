"""Sections of one file merged with those below."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from difflib import get_close_matches
from typing import TypeGuard

from cuecard.config.documents.document import Document, Path
from cuecard.config.sections.section_spec import SOURCES, TEXTS
from cuecard.errors import DidYouMean, Problem
from cuecard.model import Json
from cuecard.records import dataclass

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
        if "before" in item and "after" in item:
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


_LOOKED_AT = 16
"""How many sections of a list are checked for misspelt ids, which takes a while if many are known."""


@dataclass(frozen=True, slots=True)
class LayeredSection:
    """A section of the merged list: its place in the base and in the overlay; either may be missing."""

    base: Path | None
    top: Path | None


@dataclass(slots=True)
class SectionLayers:
    """Merges the sections of one file into those of another; `problems` are those of the two lists.

    `removed` maps each removed section to the place that removed it, as `file:line:column`. If not all sections below
    are `known`, what is said about the others is kept. `within` maps each element inside of a section to that section.
    """

    base: Document
    top: Document
    removed: dict[str, str]
    problems: list[Problem] = field(default_factory=list)
    known: bool = True
    within: Mapping[str, str] = field(default_factory=dict)
    _names: frozenset[str] = field(init=False)

    def pieces(self, below: Sequence[Json], above: Sequence[Json]) -> list[LayeredSection]:
        """The sections of both, in the order of the result."""
        found = {section_id(item, f"#{i}"): LayeredSection(("sections", i), None) for i, item in enumerate(below)}
        self.problems += [*twice(self.base, below), *twice(self.top, above), *misplaced(self.top, above)]
        self._names = frozenset(section_id(item, "") for item in (*below, *filter(_is_placed, above))) - {""}
        if self._is_another_list(above, found):
            return list(found.values())
        for index, item in enumerate(above):
            found = self._laid(item, ("sections", index), section_id(item, f"+{index}"), found)
        return list(found.values())

    def _laid(self, item: Json, path: Path, name: str, found: dict[str, LayeredSection]) -> dict[str, LayeredSection]:
        entry = item if isinstance(item, dict) else {}
        if entry.get("remove") is True:
            if name not in found:
                self._unknown((*path, "id"), name)
            else:
                self.removed[name] = where(self.top, (*path, "id"))
            return {other: piece for other, piece in found.items() if other != name}
        below = found.get(name)
        if below is None and self.known and not self._may_be_new(entry, name, found):
            self._unknown((*path, "id"), name, "to add a section, use `before` or `after` to place it")
            return found
        found = {**found, name: LayeredSection(below.base if below else None, path)}
        self.removed.pop(name, None)
        for key, behind in (("before", 0), ("after", 1)):
            if key in entry:
                return self._placed((*path, key), str(entry[key]), behind, name, found)
        return found

    def _may_be_new(self, entry: Mapping[str, Json], name: str, found: Collection[str]) -> bool:
        """Whether this adds a section: in a list at the end unless it has a position, among elements only with a
        position.
        """
        if _is_placed(entry) or section_id(entry, "") != name:
            return True  # a section without an id is reported by the validation
        return not self._naming() and not self._is_meant_for_another(entry, name, found)

    def _is_meant_for_another(self, entry: Mapping[str, Json], name: str, found: Collection[str]) -> bool:
        """Whether this changes a section that does not exist: it has no content, or its id is nearly that of another
        section.
        """
        return not says_something(entry) or bool(get_close_matches(name, found, n=1, cutoff=0.8))

    def _placed(
        self, path: Path, anchor: str, behind: int, name: str, found: dict[str, LayeredSection]
    ) -> dict[str, LayeredSection]:
        others = [other for other in found if other != name]
        if anchor == name and found[name].base:
            message, hint = f"`{name}` cannot be placed next to itself", "name another section"
            self.problems.append(self.top.problem(path, "wrong-value", message, hint))
            return found
        if anchor not in others:
            self._unknown(path, anchor)
            return found
        at = others.index(anchor) + behind
        return {other: found[other] for other in (*others[:at], name, *others[at:])}

    def _unknown(self, path: Path, name: str, more: str = "") -> None:
        if section := self.within.get(name):
            message = f"`{name}` is an element within the section `{section}`, and has no settings of its own"
            ways = f"name `{section}`; or move `{name}` out of it, to be a child of the template's root"
            self.problems.append(self.top.problem(path, "unknown-section", message, ways))
            return
        more = "\n".join(line for line in (more, f"the existing sections are defined at {self._below()}") if line)
        gone = f"it is removed at {self.removed[name]}\n{more}" if name in self.removed else ""
        hint = gone or DidYouMean(name, self._names - {name}, more)
        self.problems.append(
            self.top.problem(path, "unknown-section", f"the base of this file has no section `{name}`", hint)
        )

    def _below(self) -> str:
        """The places of the base's sections; for those of a template, also the place that names the template."""
        naming = self._naming()
        named = f" (the `template` of {where(naming, ('template',))})" if naming else ""
        return where(self.base, ("sections",)) + named

    def _naming(self) -> Document | None:
        """The document that names the template, if there is one."""
        return next((document for document in (self.top, self.base) if document.value.get("template")), None)

    def _is_another_list(self, above: Sequence[Json], found: dict[str, LayeredSection]) -> bool:
        """Whether this is a separate list next to a template: none of its sections refers to an element."""
        own = [item for item in above if self._is_of_its_own(item, section_id(item, ""), found)]
        meant = (self._is_meant_for_another(item, section_id(item, ""), found) for item in own[:_LOOKED_AT])
        if not own or len(own) < len(above) or not self.known or not self._naming() or any(meant):
            return False
        message = "a complete list of sections beside a template"
        ways = "use `id` to change sections, `before` or `after` to add one, or keep only one of the two"
        hint = f"the existing sections are defined at {self._below()}\n{ways}"
        self.problems.append(self.top.problem(("sections",), "two-assemblies", message, hint, key=True))
        return True

    def _is_of_its_own(self, item: Json, name: str, found: Collection[str]) -> TypeGuard[dict[str, Json]]:
        named_below = not name or name in found or name in self.removed
        return isinstance(item, dict) and not named_below and not {*PLACING} & item.keys()


def _is_placed(entry: Json) -> bool:
    """Whether a section has a position relative to another."""
    return isinstance(entry, dict) and bool({"before", "after"} & entry.keys())
