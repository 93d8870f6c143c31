"""Agent files laid over each other (`extends`): base, organisation, project, agent; the later one wins.

Mappings are merged key by key, sections by their `id`; everything else is replaced, and so is a `history` by one of
another policy, whose keys are others. Every value keeps the place where it was written, and paths stay relative to the
file that wrote them; but those of files that the host supplies are names that the host knows, and stay as they are.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cuecard.config.documents.yaml_text import Document, Path
from cuecard.config.sections.section_spec import SOURCES
from cuecard.errors import Problem, SpecError, did_you_mean
from cuecard.model import Json

PLACING = ("before", "after", "remove")
"""Keys of a section that say where an overlay puts it, or that it takes it away."""

_FILES = (
    ("template",),
    ("template", "file"),
    ("template", "partials"),
    ("layout", "partials"),
    ("models",),
    ("tools", "instructions"),
)
_SECTION_FILES = (("file",), ("files", "entries", "path"), ("skills", "roots"))
"""Where texts name files or folders: in an agent file, and in a section; positions in lists are left out."""


def lay_over(documents: Sequence[tuple[Document, str]]) -> Document:
    """One document of many, each with the folder of its file relative to the last one's; the last one wins.

    Raises:
        SpecError: for each section that an overlay places by, or removes from, sections that do not exist; that a file
            names twice; or whose place it says in a way that cannot be meant.
    """
    merged, folder = documents[0]
    if folder or len(documents) > 1:
        unplaced = [*_unplaced(merged)]
        if unplaced:
            raise SpecError(unplaced)
        merged = _Merger(folder).only(merged)
    for document, place in documents[1:]:
        merged = _Merger(place).over(merged, document)
    return merged


def origins(document: Document) -> Iterator[tuple[str, Document, int]]:
    """Each value with its dotted path (sections by their ids), the document that wrote it, and the line."""
    for path, _ in _leaves(document.value, ()):
        yield _dotted(document.value, path), document.origin(path), document.span(path).line


def _leaves(value: Json, path: Path) -> Iterator[tuple[Path, Json]]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    elif isinstance(value, list) and path == ("sections",):
        for index, item in enumerate(value):
            yield from _leaves(item, (*path, index))
    else:
        yield path, value


def _dotted(value: Json, path: Path) -> str:
    words = []
    for part in path:
        value = value[part]
        named = value.get("id") if isinstance(part, int) and isinstance(value, dict) else None
        words.append(str(named or part))
    return ".".join(words)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A section of the merged list: where it stands in the base, where in the overlay; either may be missing."""

    base: Path | None
    top: Path | None


@dataclass(slots=True)
class _Merger:
    folder: str
    made: Document = field(default_factory=lambda: Document("", "", {}))
    problems: list[Problem] = field(default_factory=list)
    supplied: set[Path] = field(default_factory=set)

    def only(self, document: Document) -> Document:
        value = self.copy(document, (), (), top=True)
        return Document(
            document.name, document.text, value, self.made.keys, self.made.values, document.warnings, self.made.origins
        )

    def over(self, base: Document, top: Document) -> Document:
        if "sections" not in base.value:
            self.problems += _unplaced(top)
        value = self.merge(base, (), top, (), ())
        if self.problems:
            raise SpecError(self.problems)
        warnings = (*base.warnings, *top.warnings)
        return Document(top.name, top.text, value, self.made.keys, self.made.values, warnings, self.made.origins)

    def copy(self, document: Document, source: Path, out: Path, *, top: bool) -> Json:
        self.note(document, source, out)
        value = document.at(source)
        if isinstance(value, dict):
            self.note_supplied(value, out)
            keys = [key for key in value if not (len(out) == 2 and out[0] == "sections" and key in PLACING)]
            return {key: self.copy(document, (*source, key), (*out, key), top=top) for key in keys}
        if isinstance(value, list):
            return [self.copy(document, (*source, i), (*out, i), top=top) for i in range(len(value))]
        return self.moved(value, out) if top else value

    def merge(self, base: Document, in_base: Path, top: Document, in_top: Path, out: Path) -> Json:
        below, above = base.at(in_base), top.at(in_top)
        if out == ("sections",) and isinstance(below, list) and isinstance(above, list):
            self.note(top, in_top, out)
            pieces = self.pieces(base, below, top, above)
            return [self.piece(base, top, piece, (*out, index)) for index, piece in enumerate(pieces)]
        if not isinstance(below, dict) or not isinstance(above, dict) or _is_another_policy(out, below, above):
            return self.copy(top, in_top, out, top=True)
        self.note(top if out else base, in_top if out else in_base, out)
        self.note_supplied({**below, **above}, out)
        gone = _displaced(above) if len(out) == 2 and out[0] == "sections" else frozenset()
        merged = {}
        for key in dict.fromkeys((*below, *above)):
            if key in gone or (len(out) == 2 and out[0] == "sections" and key in PLACING):
                continue
            place = (*out, key)
            if key in below and key in above:
                merged[key] = self.merge(base, (*in_base, key), top, (*in_top, key), place)
            elif key in below:
                merged[key] = self.copy(base, (*in_base, key), place, top=False)
            else:
                merged[key] = self.copy(top, (*in_top, key), place, top=True)
        return merged

    def piece(self, base: Document, top: Document, piece: _Piece, out: Path) -> Json:
        if piece.base and piece.top:
            return self.merge(base, piece.base, top, piece.top, out)
        if piece.base:
            return self.copy(base, piece.base, out, top=False)
        return self.copy(top, piece.top or (), out, top=True)

    def pieces(self, base: Document, below: list[Json], top: Document, above: list[Json]) -> list[_Piece]:
        """The sections of both, in the order of the result."""
        found = {_id(item, f"#{i}"): _Piece(("sections", i), None) for i, item in enumerate(below)}
        self.problems += [*_twice(base, below), *_twice(top, above), *_misplaced(top, above)]
        for index, item in enumerate(above):
            path, name = ("sections", index), _id(item, f"+{index}")
            if isinstance(item, dict) and item.get("remove") is True:
                self.known(top, (*path, "id"), name, found)
                found.pop(name, None)
                continue
            known = found.get(name)
            found[name] = _Piece(known.base if known else None, path)
            found = self.placed(top, path, item, name, found)
        return list(found.values())

    def placed(self, top: Document, path: Path, item: Json, name: str, found: dict[str, _Piece]) -> dict[str, _Piece]:
        for key, behind in (("before", 0), ("after", 1)):
            if isinstance(item, dict) and key in item:
                anchor = str(item[key])
                others = [other for other in found if other != name]
                if not self.known(top, (*path, key), anchor, others):
                    return found
                at = others.index(anchor) + behind
                return {other: found[other] for other in (*others[:at], name, *others[at:])}
        return found

    def known(self, top: Document, path: Path, name: str, found: Collection[str]) -> bool:
        if name in found:
            return True
        hint = did_you_mean(name, found)
        self.problems.append(
            top.problem(path, "unknown-section", f"there is no section `{name}` below this file", hint)
        )
        return False

    def note(self, document: Document, source: Path, out: Path) -> None:
        origin = document.origin(source)
        if source in document.keys:
            self.made.keys[out] = document.keys[source]
        if source in document.values:
            self.made.values[out] = document.values[source]
        self.made.origins[out] = origin

    def note_supplied(self, files: Mapping[str, Json], out: Path) -> None:
        if out[-1:] == ("files",) and files.get("supplied") is True:
            self.supplied.add(out)

    def moved(self, value: Json, out: Path) -> Json:
        """A path relative to the agent file instead of to the file that wrote it."""
        if not self.folder or not isinstance(value, str) or not value or not _names_a_file(out):
            return value
        if any(out[: len(files)] == files for files in self.supplied):
            return value
        return posixpath.normpath(posixpath.join(self.folder, value))


def _twice(document: Document, sections: Sequence[Json]) -> Iterator[Problem]:
    """Sections that one file names twice, of which only one could be merged."""
    first: dict[str, Path] = {}
    for index, item in enumerate(sections):
        name, path = _id(item, f"#{index}"), ("sections", index, "id")
        if name in first:
            hint = f"the first is at line {document.span(first[name]).line}; rename one, or make them one"
            yield document.problem(path, "duplicate-section", f"two sections are called `{name}`", hint)
        first.setdefault(name, path)


def _misplaced(document: Document, sections: Sequence[Json]) -> Iterator[Problem]:
    """Sections that say two places, or neither yes nor no to `remove`."""
    for index, item in enumerate(sections):
        if isinstance(item, dict) and {"before", "after"} <= item.keys():
            path, hint = ("sections", index, "after"), "keep one of them"
            yield document.problem(path, "wrong-value", "`before` and `after` are two places", hint, key=True)
        if isinstance(item, dict) and not isinstance(item.get("remove", False), bool):
            path, hint = ("sections", index, "remove"), "write `remove: true`"
            yield document.problem(path, "wrong-value", "`remove` should be true or false", hint)


def _unplaced(document: Document) -> Iterator[Problem]:
    """Sections of the lowest file that say a place among those below it."""
    sections = document.value.get("sections")
    for index, item in enumerate(sections if isinstance(sections, list) else ()):
        for key in PLACING:
            if isinstance(item, dict) and key in item:
                message, hint = f"`{key}` has no file below it whose sections it could mean", "remove it"
                yield document.problem(("sections", index, key), "unknown-key", message, hint, key=True)


def _id(item: Json, otherwise: str) -> str:
    named = item.get("id") if isinstance(item, dict) else None
    return named if isinstance(named, str) else otherwise


def _names_a_file(path: Path) -> bool:
    selected = len(path) > 1 and path[0] in {"profiles", "variants"}
    inner = path[2:] if selected else path
    words = tuple(part for part in inner if isinstance(part, str))
    return words[1:] in _SECTION_FILES if words[:1] == ("sections",) else not selected and words in _FILES


def _is_another_policy(out: Path, below: Mapping[str, Json], above: Mapping[str, Json]) -> bool:
    """Whether this is a `history` of another policy than that below; without a policy it changes that one."""
    return out == ("history",) and "policy" in above and above["policy"] != below.get("policy")


def _displaced(above: Mapping[str, Json]) -> frozenset[str]:
    """What a section of an overlay replaces: another text for a text or a file, another source for a source."""
    texts, sources = {"text", "file"}, set(SOURCES)
    gone = (texts if texts & above.keys() else set()) | (sources if sources & above.keys() else set())
    return frozenset(gone - above.keys())
