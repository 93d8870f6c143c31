"""Agent files layered with `extends`: base, organisation, project, agent; later files win.

Mappings are merged key by key, sections by their `id`; everything else is replaced, including a `history` by one with
another policy, since its keys differ. Every value keeps its original place, and paths stay relative to the file that
contains them; paths of files that the host supplies are names known to the host and are not changed.
"""

from __future__ import annotations

import glob
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from cuecard.config.documents.document import Document, Path
from cuecard.config.section_layers import PLACING, LayeredSection, SectionLayers, unplaced
from cuecard.config.sections.section_spec import SOURCES, TEXTS
from cuecard.config.template_layers import CoreOutline, begun_anew
from cuecard.errors import Problem
from cuecard.model import Json
from cuecard.records import dataclass

_FILES = (
    ("roots",),
    ("template",),
    ("template", "file"),
    ("template", "partials"),
    ("layout", "partials"),
    ("models",),
    ("tools", "instructions"),
)
_GLOBS = (("files", "entries", "glob"), ("files", "entries", "exclude"))
_UPWARD = ("files", "entries", "upward")
_SECTION_FILES = (
    ("file",),
    ("choose", "file"),
    ("files", "entries", "path"),
    *_GLOBS,
    (*_UPWARD, "from"),
    (*_UPWARD, "to"),
    ("skills", "roots"),
)
"""The keys whose values are paths of files or folders, in an agent file and in a section, without list positions."""


@dataclass(frozen=True, slots=True)
class MergedDocument:
    """Several documents merged into one, and the problems of merging them.

    `removed` maps each removed section to the place that removed it, as `file:line:column`.
    """

    document: Document
    problems: tuple[Problem, ...] = ()
    removed: Mapping[str, str] = field(default_factory=dict)


def lay_over(documents: Sequence[tuple[Document, str]], outline: CoreOutline | None = None) -> MergedDocument:
    """Merge several documents; the last one wins.

    Problems are sections that change, remove or position themselves next to sections that do not exist, sections named
    twice in one file, and contradictory positions.

    Args:
        documents: the agent files, from base to top, each with its folder relative to the last one's.
        outline: the sections of the template they name, which form the lowest layer; without it, everything they say
            about a template's sections is kept.
    """
    begun = begun_anew(documents)
    layers = [*([(outline.document, "")] if outline else []), *begun.layers]
    merged, folder = layers[0]
    known = outline is not None or not any(document.value.get("template") for document, _ in documents)
    if len(layers) == 1 and not folder and (known or "sections" not in merged.value):
        return MergedDocument(merged)
    within = outline.within if outline else {}
    merger = _Merger(folder, problems=[*begun.problems], removed={**begun.removed}, known=known, within=within)
    merger.problems += unplaced(merged)
    merged = merger.only(merged)
    outlined = merged if outline else None
    for document, place in layers[1:]:
        merger = replace(merger, folder=place, made=Document("", "", {}), supplied=set())
        below, merged = merged, merger.over(merged, document)
        if below is outlined:  # a missing key is reported in the agent file, not in its template
            merged.origins[()], merged.values[()] = document, document.span(())
    return MergedDocument(merged, tuple(merger.problems), merger.removed)


def origins(document: Document) -> Iterator[tuple[str, Document, int]]:
    """Each value with its dotted path (sections by id), the document it comes from, and the line."""
    for path, _ in _leaves(document.value, ()):
        yield document.dotted(path), document.origin(path), document.span(path).line


def _leaves(value: Json, path: Path) -> Iterator[tuple[Path, Json]]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    elif isinstance(value, list) and path == ("sections",):
        for index, item in enumerate(value):
            yield from _leaves(item, (*path, index))
    else:
        yield path, value


@dataclass(slots=True)
class _Merger:
    folder: str
    problems: list[Problem]
    removed: dict[str, str]
    known: bool
    within: Mapping[str, str]
    made: Document = field(default_factory=lambda: Document("", "", {}))
    supplied: set[Path] = field(default_factory=set)

    def only(self, document: Document) -> Document:
        value = self.copy(document, (), (), top=True)
        return Document(
            document.name, document.text, value, self.made.keys, self.made.values, document.warnings, self.made.origins
        )

    def over(self, base: Document, top: Document) -> Document:
        if "sections" not in base.value:
            self.problems += unplaced(top)
        value = self.merge(base, (), top, (), ())
        warnings = (*base.warnings, *top.warnings)
        return Document(top.name, top.text, value, self.made.keys, self.made.values, warnings, self.made.origins)

    def copy(self, document: Document, source: Path, out: Path, *, top: bool) -> Json:
        self.note(document, source, out)
        value = document.at(source)
        if isinstance(value, dict):
            self.note_supplied(value, out)
            keys = [key for key in value if not (len(out) == 2 and out[0] == "sections" and key in PLACING)]
            made = {key: self.copy(document, (*source, key), (*out, key), top=top) for key in keys}
            if top and "to" not in value and _words(out)[1:] == _UPWARD:  # up to the folder of the file that says so
                made["to"] = self.moved(".", (*out, "to"))
                self.note(document, source, (*out, "to"))
            return made
        if isinstance(value, list):
            return [self.copy(document, (*source, i), (*out, i), top=top) for i in range(len(value))]
        return self.moved(value, out) if top else value

    def merge(self, base: Document, in_base: Path, top: Document, in_top: Path, out: Path) -> Json:
        below, above = base.at(in_base), top.at(in_top)
        if out == ("sections",) and isinstance(below, list):
            if not isinstance(above, list):
                self.problems.append(top.problem(in_top, "wrong-value", "`sections` should be a list"))
                return self.copy(base, in_base, out, top=False)
            self.note(top, in_top, out)
            layers = SectionLayers(base, top, self.removed, self.problems, self.known, self.within)
            pieces = layers.pieces(below, above)
            return [self.piece(base, top, piece, (*out, index)) for index, piece in enumerate(pieces)]
        if not isinstance(below, dict) or not isinstance(above, dict) or _is_another_policy(out, below, above):
            return self.copy(top, in_top, out, top=True)
        self.note(top if out else base, in_top if out else in_base, out)
        self.note_supplied({**below, **above}, out)
        gone = _replaced(out, above)
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

    def piece(self, base: Document, top: Document, piece: LayeredSection, out: Path) -> Json:
        if piece.base and piece.top:
            return self.merge(base, piece.base, top, piece.top, out)
        if piece.base:
            return self.copy(base, piece.base, out, top=False)
        return self.copy(top, piece.top or (), out, top=True)

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
        """A path relative to the agent file instead of the file that contains it."""
        if not self.folder or not isinstance(value, str) or not value or not names_a_file(out):
            return value
        if any(out[: len(files)] == files for files in self.supplied):
            return value
        words = _words(out)
        if words[-1:] == ("exclude",) and "/" not in value:  # a name, wherever it is
            return value
        folder = glob.escape(self.folder) if words[1:] in _GLOBS else self.folder
        return posixpath.normpath(posixpath.join(folder, value))


def names_a_file(path: Path) -> bool:
    """Whether the value at this place of an agent file is the path of a file or folder."""
    if path[:1] == ("results",):
        return path[2:] == ("file",)
    words = _words(path)
    return words[1:] in _SECTION_FILES if words[:1] == ("sections",) else words in _FILES


def _words(path: Path) -> tuple[str, ...]:
    """The keys of a path, without list positions and without the profile or variant around them."""
    selected = len(path) > 1 and path[0] in {"profiles", "variants"}
    return tuple(part for part in (path[2:] if selected else path) if isinstance(part, str))


def _is_another_policy(out: Path, below: Mapping[str, Json], above: Mapping[str, Json]) -> bool:
    """Whether this `history` has another policy than the one below; without a policy, it changes the one below."""
    return out == ("history",) and "policy" in above and above["policy"] != below.get("policy")


def _replaced(out: Path, above: Mapping[str, Json]) -> frozenset[str]:
    """The keys below that a mapping of an overlay removes because of its own."""
    if len(out) == 2 and out[0] == "sections":
        return _displaced(above)
    if len(out) == 2 and out[0] == "results":
        return frozenset({"text", "file"} - above.keys() if {"text", "file"} & above.keys() else ())
    return frozenset()


def _displaced(above: Mapping[str, Json]) -> frozenset[str]:
    """What a section of an overlay replaces: a new text replaces a text or a file, a new source replaces a source."""
    texts, sources = set(TEXTS), set(SOURCES)
    gone = (texts if texts & above.keys() else set()) | (sources if sources & above.keys() else set())
    return frozenset(gone - above.keys())
