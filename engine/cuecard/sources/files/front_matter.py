"""Front matter: the YAML between two `---` lines at the very beginning of a text file."""

from __future__ import annotations

from cuecard.config.documents.yaml_text import read_yaml
from cuecard.errors import SpecError
from cuecard.records import dataclass

_FENCE = "---"
_MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """A text in two parts: `raw` is the YAML without its fences, or None if there is none; `body` is the rest."""

    raw: str | None
    body: str


def split_front_matter(text: str) -> FrontMatter:
    """Split a text. Line ends become line feeds; without a closing fence, there is no front matter.

    A fence is a line that contains only `---` and spaces.
    """
    lines = unix_lines(text).removeprefix(_MARK).split("\n")
    if lines[0].strip() != _FENCE:
        return FrontMatter(None, "\n".join(lines))
    end = next((number for number, line in enumerate(lines) if number and line.strip() == _FENCE), 0)
    if not end:
        return FrontMatter(None, "\n".join(lines))
    return FrontMatter("\n".join(lines[1:end]), "\n".join(lines[end + 1 :]))


def status_of(raw: str | None) -> str:
    """The `status` in front matter, as written; empty if there is none.

    A file in progress may contain broken YAML: its status is then taken from the first line that begins with `status:`
    and is indented no deeper than the first line.
    """
    if raw is None or "status" not in raw.casefold():
        return ""
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
