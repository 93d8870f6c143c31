"""A file with YAML front matter followed by a text, both with the lines of the file."""

from __future__ import annotations

import re

from cuecard.config.documents.yaml_text import Document, read_yaml
from cuecard.errors import Problem, Span, SpecError
from cuecard.records import dataclass

_FENCE = re.compile(r"---[ \t]*")


@dataclass(frozen=True, slots=True)
class Front:
    """The front matter as a document (None if there is none), and the text that begins at line `line`."""

    document: Document | None
    body: str
    line: int


def read_front(text: str, name: str) -> Front:
    """The two parts of a file; without a first line `---` the whole file is text.

    Raises:
        SpecError: when the front matter is never closed, or is not YAML.
    """
    lines = text.split("\n")
    if not _FENCE.fullmatch(lines[0]):
        return Front(None, text, 1)
    end = next((number for number, line in enumerate(lines[1:], 1) if _FENCE.fullmatch(line)), 0)
    if not end:
        hint = "end it with a line `---`"
        raise SpecError(Problem("front-matter", "the front matter is not closed", hint, name, Span(1, 1, 3), lines[0]))
    # An empty line replaces the fence, so that places in the YAML are places in the file.
    yaml = "\n".join(["", *lines[1:end]])
    empty = not any(line.strip() and not line.lstrip().startswith("#") for line in lines[1:end])
    document = Document(name, yaml, {}) if empty else read_yaml(yaml, name)
    return Front(document, "\n".join(lines[end + 1 :]), end + 2)
