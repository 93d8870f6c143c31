"""How much of each file is shown, and its front matter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import lru_cache
from typing import Literal, TypeAlias

from cuecard.config.documents.yaml import read_yaml
from cuecard.config.sections.file_entry import FileEntry
from cuecard.config.sections.files_spec import FilesSpec
from cuecard.errors import SpecError
from cuecard.model import Cut, Diagnostic, FileText, SourceRow
from cuecard.records import dataclass, replace

_FENCE = "---"
_MARK = "\ufeff"
_USUAL = 16_384
"""Characters of a front matter whose status is remembered."""


@dataclass(frozen=True, slots=True)
class FileFrontMatter:
    """A text in two parts: `raw` is the YAML without its fences, or None if there is none; `body` is the rest."""

    raw: str | None
    body: str


def split_front_matter(text: str) -> FileFrontMatter:
    """Split a text. Line ends become line feeds; without a closing fence, there is no front matter.

    A fence is a line that contains only `---` and spaces.
    """
    lines = unix_lines(text).removeprefix(_MARK).split("\n")
    if lines[0].strip() != _FENCE:
        return FileFrontMatter(None, "\n".join(lines))
    end = next((number for number, line in enumerate(lines) if number and line.strip() == _FENCE), 0)
    if not end:
        return FileFrontMatter(None, "\n".join(lines))
    return FileFrontMatter("\n".join(lines[1:end]), "\n".join(lines[end + 1 :]))


def status_of(raw: str | None) -> str:
    """The `status` in front matter, as written; empty if there is none.

    A file in progress may contain broken YAML: its status is then taken from the first line that begins with `status:`
    and is indented no deeper than the first line.
    """
    if raw is None or "status" not in raw.casefold():
        return ""
    return _status(raw) if len(raw) <= _USUAL else _status.__wrapped__(raw)


@lru_cache(256)
def _status(raw: str) -> str:
    """The status in a front matter that names one, read once: files stay the same from call to call."""
    try:
        status = read_yaml(raw, "front matter").value.get("status", "")
    except SpecError:
        status = _status_line(raw)
    return status.strip() if isinstance(status, str) else ""


def is_draft(raw: str | None) -> bool:
    """Whether front matter says `status: draft`, in any case."""
    return status_of(raw).casefold() == "draft"


def unix_lines(text: str) -> str:
    """The text with every line end (CRLF, CR) as one line feed."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _status_line(raw: str) -> str:
    lines = [line.expandtabs() for line in raw.split("\n") if line.strip()]
    depth = len(lines[0]) - len(lines[0].lstrip())
    for line in lines:
        key, colon, value = line.partition(":")
        shallow = len(line) - len(line.lstrip()) <= depth
        if colon and shallow and key.strip().strip("\"'").casefold() == "status":
            return value.partition(" #")[0].strip().strip("\"'")
    return ""


Status: TypeAlias = Literal["loaded", "missing", "read_error", "truncated", "empty", "draft"]


@dataclass(frozen=True, slots=True)
class TakenFile:
    """The text of one entry.

    Attributes:
        entry: the entry of the list.
        path: where the text came from, or the first place that was searched.
        text: its text, cut and trimmed, without the marker.
        marker: the mark that a limit cut it; empty if nothing was cut, or there is no room.
        is_default: whether the text is the author's `default` of the entry.
    """

    entry: FileEntry
    path: str
    text: str
    marker: str = ""
    is_default: bool = False


@dataclass(slots=True)
class TakenFiles:
    """The files that are used, in order, and a record with one row for each entry.

    `size` is what they used of the total, including earlier sections, in the unit of the list.
    """

    size: int = 0
    used: list[TakenFile] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    rows: list[SourceRow] = field(default_factory=list)


def take_files(
    spec: FilesSpec, entries: Iterable[FileEntry], files: Mapping[str, FileText], before: int = 0
) -> TakenFiles:
    """The files of the entries, cut to the limits of their list.

    Line ends become line feeds, and the text is trimmed unless the list says otherwise. It is cut to the limit per
    file, then to what remains of the total: at exactly that character or, for bytes, before the character that would
    exceed the limit. A file is not used if nothing is left of it, or no room remained; one that was empty from the
    start is used if its entry says so.

    Args:
        spec: the list.
        entries: its entries, one for each file.
        files: files by path in the list.
        before: how much of the total earlier sections have used, in the unit of the list.
    """
    taken = TakenFiles(before)
    for entry in entries:
        _take(spec, entry, _chosen(entry, files, taken), taken)
    return taken


def _chosen(entry: FileEntry, files: Mapping[str, FileText], taken: TakenFiles) -> FileText:
    """The first of the entry's paths with a file, readable or not."""
    held = [(path, files[path]) for path in entry.path if path in files]
    exist = [(path, file) for path, file in held if file.text is not None or file.error]
    if not exist:
        return held[0][1] if held else FileText(entry.path[0])
    (first, chosen), *others = exist
    taken.cuts += [Cut(f"file {path}", f"`{first}` comes before it") for path, _ in others]
    return chosen


def _take(spec: FilesSpec, entry: FileEntry, file: FileText, taken: TakenFiles) -> None:
    status, text = _read(spec, entry, file, taken)
    if status in {"loaded", "empty"}:
        _fit(spec, TakenFile(entry, file.path, text), status, taken)
    elif entry.default is None:
        taken.rows.append(SourceRow(entry.title, file.path, status))
    else:
        default = _trimmed(spec, unix_lines(entry.default))
        _fit(spec, TakenFile(entry, file.path, default, is_default=True), status, taken)


def _read(spec: FilesSpec, entry: FileEntry, file: FileText, taken: TakenFiles) -> tuple[Status, str]:
    """The status of a file, and its trimmed text."""
    if file.error:
        message = f"{_called(entry, file.path)} could not be read: {file.error}"
        taken.diagnostics.append(Diagnostic("file_read_error", message))
        return "read_error", ""
    if file.text is None:
        places = ", ".join(f"`{path}`" for path in entry.path)
        taken.diagnostics.append(Diagnostic("missing_file", f"`{entry.title}` is missing: no file at {places}"))
        return "missing", ""
    parts = split_front_matter(file.text)
    if spec.draft == "skip" and is_draft(parts.raw):
        taken.cuts.append(Cut(f"file {entry.title}", "its front matter says `status: draft`"))
        return "draft", ""
    text = unix_lines(file.text)
    if spec.front_matter == "strip" and parts.raw is not None:
        taken.cuts.append(Cut(f"front matter of {entry.title}", "files.front_matter is `strip`"))
        text = parts.body
    text = _trimmed(spec, text)
    return ("loaded" if text else "empty"), text


def _fit(spec: FilesSpec, file: TakenFile, status: Status, taken: TakenFiles) -> None:
    """Cut a text to the limits, and use it if anything is left."""
    entry, whole = file.entry, _size(file.text, spec)
    first = whole if spec.per_file is None else _size(_head(file.text, spec.per_file, spec), spec)
    remaining = None if spec.total is None else max(spec.total - taken.size, 0)
    kept = _head(file.text, first if remaining is None else min(first, remaining), spec)
    last = _size(kept, spec)
    for limit, code, before, after in (
        ("per_file", "file_truncated", whole, first),
        ("total", "total_budget_truncated", first, last),
    ):
        if after < before:
            change = f"{before:,} -> {after:,} {spec.unit} (files.{limit})"
            taken.diagnostics.append(Diagnostic(code, f"{_called(entry, file.path)} was cut: {change}"))
            taken.cuts.append(Cut(f"file {entry.title}", f"cut: {change}"))
    if status == "loaded" and last < whole:
        status = "truncated"
    taken.size += last
    taken.rows.append(SourceRow(entry.title, file.path, status, len(kept)))
    if last or (not whole and entry.keep_empty and remaining != 0):
        taken.used.append(file if last == whole else _shortened(file, last, spec))
    elif not whole:
        reason = "files.total is used up" if entry.keep_empty else "it is empty"
        taken.cuts.append(Cut(f"file {entry.title}", reason))


def _shortened(file: TakenFile, limit: int, spec: FilesSpec) -> TakenFile:
    """The beginning of a text, with room for the marker if more than the marker fits."""
    marker = spec.marker if _size(spec.marker, spec) < limit else ""
    text = _head(file.text, limit - _size(marker, spec), spec)
    return replace(file, text=text.rstrip() if spec.trim else text, marker=marker)


def _size(text: str, spec: FilesSpec) -> int:
    return len(text) if spec.unit == "characters" else len(text.encode("utf-8", "surrogatepass"))


def _head(text: str, limit: int, spec: FilesSpec) -> str:
    """As much of the beginning as the limit allows, in whole characters."""
    if spec.unit == "characters":
        return text[:limit]
    return text.encode("utf-8", "surrogatepass")[:limit].decode("utf-8", "ignore")


def _trimmed(spec: FilesSpec, text: str) -> str:
    return text.strip() if spec.trim else text


def _called(entry: FileEntry, path: str) -> str:
    return f"`{entry.title}`" if entry.title == path else f"`{entry.title}` (`{path}`)"
