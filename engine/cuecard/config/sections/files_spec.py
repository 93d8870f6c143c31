"""The keys of a section that is filled from files, and where files are searched."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from cuecard.config.documents.validation import FileModel
from cuecard.config.sections.file_entry import FileEntry, Upward
from cuecard.config.sections.file_patterns import Exclusion, FilePattern, has_inputs, inputs_in, parts_of
from cuecard.config.values import as_tuple
from cuecard.records import dataclass


def _distinct(entries: tuple[FileEntry, ...]) -> tuple[FileEntry, ...]:
    """Two entries with the same path would repeat a text; two with the same name could not be told apart."""
    said = {"name": [e.title for e in entries], "path": [p for e in entries for p in {*e.path, *e.glob}]}
    for what, words in said.items():
        twice = sorted({word for word in words if words.count(word) > 1})
        if twice:
            listed = ", ".join(f"`{word}`" for word in twice)
            raise ValueError(f"has {listed} as the {what} of two entries; make each unique")
    return entries


class FilesSpec(FileModel):
    """Ordered files. The texts of this mapping are Handlebars templates, except `marker` and the texts of entries.

    The defaults are the limits and the format of the shipped agent `pioneer`. Limits count characters (code points) of
    the files' own texts, without headings, suffixes, gaps and the effect of escaping.
    """

    removed: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "suffix_gap": "delete it: a suffix follows the text of its file after a blank line",
            "empty_suffix_gap": "delete it: a suffix without a text before it begins on a line of its own",
        }
    )

    entries: Annotated[tuple[FileEntry, ...], BeforeValidator(as_tuple), AfterValidator(_distinct)] = Field(
        description="the files, in the order of the prompt", min_length=1
    )
    supplied: bool = Field(
        default=False,
        description="your program supplies these files with each user message, by these paths; a `path` that it omits "
        "is read from the folder of the opened agent file",
    )
    per_file: int | None = Field(
        20_000, ge=0, description="the maximum number of characters printed of one file; null for no limit"
    )
    total: int | None = Field(
        150_000, ge=0, description="the maximum number of characters printed of all files; null for no limit"
    )
    unit: Literal["characters", "bytes"] = Field(
        "characters", description="the unit of the limits; bytes are UTF-8 bytes, and no character is split"
    )
    trim: bool = Field(default=True, description="strip white space around each text and around each printed file")
    pool: str = Field("", description="sections with the same pool name and unit share `total`, in section order")
    marker: str = Field("", description="the marker at the end of a truncated text; it counts towards the limit")
    item: str = Field(
        "### {{{name}}} ({{{path}}})\n{{{content}}}{{{suffix}}}",
        description="how one file is printed, from name, path, purpose, content, suffix and the values of the turn",
    )
    separator: str = Field(
        "\n\n", description="the separator between two files, and between them and `before` or `after`"
    )
    before: str = Field("", description="the text before the first file, if there is one")
    after: str = Field("", description="the text after the last file, if there is one")
    otherwise: str = Field("", description="the whole text if no file is used")
    front_matter: Literal["keep", "strip"] = Field(
        "keep", description="`strip` removes the YAML between `---` lines at the beginning of a file"
    )
    draft: Literal["use", "skip"] = Field(
        "use", description="`skip` ignores a file whose front matter says `status: draft`"
    )

    @property
    def account(self) -> str:
        """The account that its total is shared with; empty if it is not shared."""
        return f"{self.pool}, in {self.unit}" if self.pool else ""

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        """Files that are read when the agent is opened need a known folder."""
        for entry in () if self.supplied else self.entries:
            if entry.upward and inputs_in(entry.upward.to):
                raise ValueError("reads an input in `upward.to`, which only works for files that your program supplies")
        return self

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        """Limits that could never apply, or that leave nothing of a file but the marker."""
        size = len(self.marker.encode() if self.unit == "bytes" else self.marker)
        for name in ("per_file", "total"):
            limit = getattr(self, name)
            if limit is not None and 0 < limit < size:
                raise ValueError(f"has a `marker` of {size} {self.unit}, longer than its `{name}` of {limit}")
        if {"per_file", "total"} <= self.model_fields_set and not self.pool:
            per_file, total = self.per_file, self.total
            if per_file is not None and total is not None and per_file > total:
                told = f"has a `per_file` of {per_file} above its `total` of {total}"
                raise ValueError(f"{told}, so it never applies: lower it, or remove it")
        return self


@dataclass(frozen=True, slots=True)
class FileSearch:
    """All files that match a pattern, whatever its inputs are, and are not excluded."""

    pattern: FilePattern
    exclude: Exclusion = Exclusion()

    def holds(self, path: str) -> bool:
        """Whether it would find a file at this path."""
        parts = parts_of(path)
        return self.pattern.anything().matches(parts) and parts not in self.exclude

    def leads(self, parts: Sequence[str]) -> bool:
        """Whether it searches this folder."""
        return self.pattern.anything().leads(parts) and parts not in self.exclude


def searches(entry: FileEntry) -> Iterator[FileSearch]:
    """The searches of an entry; none for known paths."""
    yield from (FileSearch(FilePattern.of_path(path)) for path in entry.path if has_inputs(path))
    yield from (FileSearch(FilePattern.of_glob(written), Exclusion(entry.exclude)) for written in entry.glob)
    if entry.upward and has_inputs(entry.upward.from_):
        for name in entry.upward.name:
            yield FileSearch(FilePattern.below(posixpath.normpath(entry.upward.to), posixpath.normpath(name)))


def known_paths(entry: FileEntry) -> Iterator[str]:
    """The paths of an entry that do not depend on inputs."""
    yield from (path for path in entry.path if not has_inputs(path))
    if entry.upward and not has_inputs(entry.upward.from_):
        for folder in folders_between(entry.upward.from_, entry.upward.to):
            yield from paths_in(folder, entry.upward)


def paths_in(folder: str, upward: Upward) -> tuple[str, ...]:
    """The paths that the file of a folder may have."""
    return tuple(posixpath.normpath(posixpath.join(folder, name)) for name in upward.name)


def folders_between(inner: str, outer: str) -> tuple[str, ...]:
    """The folders from the outer to the inner one; none if the inner one is not the same or below."""
    above, below = parts_of(posixpath.normpath(outer)), parts_of(posixpath.normpath(inner))
    rest = below[len(above) :]
    if below[: len(above)] != above or {"", ".."} & {*rest}:
        return ()
    ends = range(len(above), len(below) + 1)
    return tuple(
        posixpath.join("/", *below[:end]) if below[:1] == ("",) else "/".join(below[:end]) or "." for end in ends
    )
