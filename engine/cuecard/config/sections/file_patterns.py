"""Paths with wildcards and inputs: which files one may match, and which it matches in one call."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from wcmatch import fnmatch, glob

from cuecard.config.values import value_at
from cuecard.model import Json
from cuecard.records import dataclass

ANY = "?*"
"""Stands for an input whose value is not known yet."""

MAX_ANY_FOLDERS = 3
"""The maximum number of `**` in a pattern: each multiplies the time by the depth of a path."""
MAX_PATH_NAMES = 64
"""The maximum number of names in a path; a longer one matches no pattern."""

_PATHS = glob.FORCEUNIX | glob.CASE | glob.GLOBSTAR | glob.NODOTDIR
_NAMES = fnmatch.FORCEUNIX | fnmatch.CASE | fnmatch.DOTMATCH
_INPUT = re.compile(r"\{\{\{?\s*([A-Za-z_][\w-]*(?:\.[\w-]+)*)\s*\}?\}\}")
_SPECIAL = re.compile(r"[*?[{]")
_ESCAPED = re.compile(rf"\[({_SPECIAL.pattern})\]")
_UNCLOSED = re.compile(r"\[(?!!?\]?[^\]]*\])")
_FOLDERS = "**"
_NEVER_IN_A_NAME = re.compile(r"[/\\\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Matcher:
    """Matches paths, which are given as their parts. Each segment is a glob, `**` any folders.

    As in a shell, wildcards do not match hidden files (`.x`), and neither files left behind by editors (`x~`, `#x#`):
    only a segment that itself begins with a dot matches a hidden file.
    """

    segments: tuple[str, ...]

    def matches(self, parts: Sequence[str]) -> bool:
        """Whether this path matches."""
        return _matches(self.segments, parts)

    def matches_above(self, parts: Sequence[str]) -> bool:
        """Whether this path, or a folder above it, matches."""
        return any(_matches(self.segments, parts[:end]) for end in range(1, len(parts) + 1))

    def leads(self, parts: Sequence[str]) -> bool:
        """Whether a path below this folder may match."""
        return any(_matches(self.segments[:end], parts) for end in range(len(self.segments)))


@dataclass(frozen=True, slots=True)
class FilePattern:
    """A path as written; `segments` are globs in which inputs appear as `{{name}}`."""

    written: str
    segments: tuple[str, ...]

    @classmethod
    def of_path(cls, written: str) -> FilePattern:
        """A path in which only inputs are special.

        Raises:
            ValueError: when braces do not contain an input, or `..` follows one.
        """
        return cls(written, tuple(map(_escaped, _segments(written))))

    @classmethod
    def of_glob(cls, written: str) -> FilePattern:
        """A glob, which may also contain inputs.

        Raises:
            ValueError: as `of_path`, and for `**` next to something else or too often, for alternatives in braces, and
                for an input in brackets.
        """
        segments = _segments(written)
        for segment in segments:
            pieces = _INPUT.split(segment)[::2]
            if len(pieces) > 1 and any(map(_UNCLOSED.search, pieces)):
                raise ValueError("has an input in brackets, where it would stand for single characters; move it out")
            if segment != _FOLDERS and any(_FOLDERS in piece for piece in pieces):
                raise ValueError("has `**` next to other characters; write it alone between slashes, as in `a/**/*.md`")
            if any("{" in piece for piece in pieces):
                raise ValueError("has alternatives in braces; write a list of globs")
        if segments.count(_FOLDERS) > MAX_ANY_FOLDERS:
            raise ValueError(f"has more than {MAX_ANY_FOLDERS} `**`; write a list of globs")
        return cls(written, (*segments, "*") if segments[-1] == _FOLDERS else segments)

    @classmethod
    def below(cls, folder: str, path: str) -> FilePattern:
        """The files with this path in a folder, and in any folder below it; `.` is the agent's folder."""
        return cls(path, (*map(escaped, parts_of(folder)), _FOLDERS, *map(escaped, _segments(path))))

    @property
    def inputs(self) -> tuple[str, ...]:
        """The inputs that it reads, as written: `a.b` goes into objects."""
        return tuple(dict.fromkeys(name for segment in self.segments for name in _INPUT.findall(segment)))

    @property
    def folder(self) -> str:
        """The folder of its files: everything before the first wildcard or input; empty for the agent's folder."""
        plain: list[str] = []
        for segment in self.segments[:-1]:
            literal = _literal(segment)
            if literal is None:
                break
            plain.append(literal)
        return "/" if plain == [""] else "/".join(plain)

    def anything(self) -> Matcher:
        """Matches whatever the pattern may match for any inputs."""
        return Matcher(tuple(_INPUT.sub(ANY, segment) for segment in self.segments))

    def bound(self, values: Mapping[str, Json]) -> FilePattern | None:
        """The pattern with these values filled in; None if a value cannot be part of a file's name.

        A value is one name or a part of one: it contains no slash and matches nothing that `ANY` in its place would
        not, such as the folder above or a hidden file. An input that is not in `values` stays.
        """
        given = {name: value_at(values, name) for name in self.inputs}
        texts = {name: name_of(value) for name, value in given.items() if value is not None}
        if any(text is None for text in texts.values()):
            return None
        insides = {name: escaped(text) for name, text in texts.items() if text is not None}
        segments = tuple(
            _INPUT.sub(lambda found: insides.get(found[1], found[0]), segment) for segment in self.segments
        )
        narrower = all(map(_is_narrower, segments, self.segments))
        return FilePattern(self.written, segments) if narrower else None

    def path(self) -> str | None:
        """The only path that it matches, if there is just one."""
        literals = [_literal(segment) for segment in self.segments]
        known = [literal for literal in literals if literal is not None]
        return "/".join(known) if len(known) == len(literals) else None


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Files that a glob leaves out: by the name of the file or of a folder above it, or by a glob of the path."""

    globs: tuple[str, ...] = ()

    def __contains__(self, parts: Sequence[str]) -> bool:
        """Whether this path, or a folder above it, is excluded."""
        return any(self._holds(written, parts) for written in self.globs)

    def _holds(self, written: str, parts: Sequence[str]) -> bool:
        if "/" not in written:
            return any(fnmatch.fnmatch(part, written.replace("\\", "\\\\"), flags=_NAMES) for part in parts)
        return FilePattern.of_glob(written).anything().matches_above(parts)


def parts_of(path: str) -> tuple[str, ...]:
    """A path as its parts; none for the folder itself, and an empty one for the root."""
    return ("",) if path == "/" else tuple(part for part in path.split("/") if part != ".") if path else ()


def has_inputs(path: str) -> bool:
    """Whether a path contains braces, valid or not."""
    return "{{" in path


def name_of(value: Json) -> str | None:
    """A value as part of a file's name; None if it cannot be one."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, (str, int)):
        return None
    text = str(value)
    return None if not text or _NEVER_IN_A_NAME.search(text) else text


def filled(text: str, values: Mapping[str, Json]) -> str | None:
    """A path whose inputs may contain several folders; None if an input has no text."""
    given = {name: value_at(values, name) for name in inputs_in(text)}
    if any(not isinstance(value, str) or "\\" in value or "\0" in value for value in given.values()):
        return None
    return posixpath.normpath(_INPUT.sub(lambda found: str(given[found[1]]), text))


def inputs_in(text: str) -> tuple[str, ...]:
    """The inputs of a path.

    Raises:
        ValueError: when braces do not contain an input.
    """
    if "{{" in _INPUT.sub("", text):
        raise ValueError("can contain braces only to read an input, as in `{{name}}`")
    return tuple(dict.fromkeys(_INPUT.findall(text)))


def _segments(written: str) -> tuple[str, ...]:
    inputs_in(written)
    parts = [part for part in written.split("/") if part != "."]
    below = next((at for at, part in enumerate(parts) if part != ".."), len(parts))
    if ".." in parts[below:]:
        raise ValueError("has `..` after a name; write the path without it")
    kept = [part for at, part in enumerate(parts) if part or not at]
    if not any(kept) or kept[-1] == "..":
        raise ValueError("names no file")
    return tuple(kept)


def escaped(text: str) -> str:
    """A part of a segment, escaped so that nothing in it is a wildcard or begins an input."""
    return _SPECIAL.sub(r"[\g<0>]", text)


def _escaped(segment: str) -> str:
    """A segment, escaped except for its inputs."""
    pieces = _INPUT.split(segment)
    inputs = [f"{{{{{name}}}}}" for name in pieces[1::2]]
    texts = [escaped(text) for text in pieces[::2]]
    return "".join(text + name for text, name in zip(texts, [*inputs, ""], strict=True))


def _literal(segment: str) -> str | None:
    """The only name that a segment matches, if there is just one."""
    bare = _ESCAPED.sub(r"\1", segment)
    return bare if segment == escaped(bare) and not _INPUT.search(segment) else None


def _is_narrower(bound: str, written: str) -> bool:
    """Whether a segment with its values filled in matches only what the written segment could match for any inputs."""
    if bound == written:
        return True
    literal = _literal(bound)
    if literal is not None:
        return Matcher((_INPUT.sub(ANY, written),)).matches((literal,))
    return written.startswith(".") or not bound.startswith(".")


def _matches(segments: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether a path matches these segments as a whole."""
    if len(parts) > MAX_PATH_NAMES:
        return False
    left_over = [part for part in parts if part.startswith("#") or part.endswith("~") or not part]
    if left_over and not {*left_over} <= {*map(_literal, segments)}:
        return False
    return _compiled("/".join(segments)).match("/".join(parts))


@lru_cache(maxsize=512)
def _compiled(written: str) -> glob.WcMatcher[str]:
    """A glob of a whole path; a backslash is a character like any other."""
    return glob.compile(written.replace("\\", "\\\\"), flags=_PATHS)
