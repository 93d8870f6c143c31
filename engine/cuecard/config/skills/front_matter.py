"""The front matter of a SKILL.md: located and read as YAML; common mistakes are corrected if their meaning is clear."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from cuecard.config.documents.document import Document, problem_at
from cuecard.config.documents.yaml import read_yaml
from cuecard.errors import Problem, Span, SpecError
from cuecard.records import dataclass

MAX_FRONT = 64 * 1024
"""The number of bytes in which the end of the front matter must occur."""

_PAIR = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*:[ \t]+(\S.*)")
_KEY = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t].*)?")
_BLOCK = re.compile(r"[|>][+-]?[1-9]?[+-]?(?:\s+#.*)?")
_QUOTED = re.compile(r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')(?:\s+#.*)?""")
_MARGIN = re.compile(r"[ \t]*")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """A file in two parts: `yaml`, on the same lines as in the file (None if there is none), and the text after it."""

    yaml: str | None
    body: str
    problem: Problem | None = None


def split_front(text: str, name: str) -> FrontMatter:
    """The front matter of a text: from a first line `---` to the next line `---`.

    A byte order mark, blank lines before it and the kind of line endings do not matter. Without front matter, or if it
    is not closed within the first 64 KiB, the whole text is the body, and `problem` says so.
    """
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    if lines[first].rstrip() != "---":
        hint = "begin the file with a line `---`, `name:` and `description:`, and a line `---`"
        return FrontMatter(None, _trimmed(lines), _at_start(name, lines, first, "the file has no front matter", hint))
    size = 0
    for number in range(first + 1, len(lines)):
        if lines[number].rstrip() == "---":
            # An empty line for each line before it: places in the YAML are places in the file.
            yaml = "\n".join([*([""] * (first + 1)), *lines[first + 1 : number]])
            return FrontMatter(yaml, _trimmed(lines[number + 1 :]))
        size += len(lines[number].encode("utf-8", "surrogatepass")) + 1
        if size > MAX_FRONT:
            break
    hint = f"end it with a line `---` within the first {MAX_FRONT // 1024} KiB"
    return FrontMatter(None, _trimmed(lines), _at_start(name, lines, first, "the front matter is not closed", hint))


def read_front(yaml: str, name: str, is_read: Callable[[str], bool]) -> tuple[Document, list[Problem]]:
    """The front matter as a document, and warnings for what had to be corrected.

    Corrected are a text that contains `: `, one that begins with a YAML indicator or with quotes that do not enclose
    all of it, and tabs at the start of a line or after a colon. Keys that nobody reads are left out where they are not
    valid.

    Args:
        yaml: the front matter, on the lines that it has in the file.
        name: how errors call the file.
        is_read: whether a key at the top of the front matter is read.

    Raises:
        SpecError: with every problem of the original text, if correcting it does not help.
    """
    if not any(line.strip() and not line.lstrip().startswith("#") for line in yaml.split("\n")):
        return Document(name, yaml, {}), []
    try:
        document = read_yaml(yaml, name)
    except SpecError as error:
        mended = _mended(yaml)
        kept, unread = _without_unread(mended, name, is_read)
        try:
            document = read_yaml(kept, name)
        except SpecError:
            raise error from None
        return document, [*document.warnings, *_told(yaml, name), *unread]
    return document, list(document.warnings)


def _trimmed(lines: list[str]) -> str:
    """The text without surrounding blank lines; the first line keeps its indentation."""
    first = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    return "\n".join(lines[first:]).rstrip()


def _at_start(name: str, lines: list[str], first: int, message: str, hint: str) -> Problem:
    line = lines[first]
    return Problem("front-matter", message, hint, name, Span(first + 1, 1, max(1, len(line))), line)


def _mended(yaml: str) -> str:
    """The same lines, with quotes around texts that YAML would misread, and two spaces for each leading tab."""
    return "\n".join(line for entry in _entries(yaml) for line in _mend(entry))


def _without_unread(yaml: str, name: str, is_read: Callable[[str], bool]) -> tuple[str, list[Problem]]:
    """The text without the entries that are not valid and that nobody reads, and a warning for each."""
    lines: list[str] = []
    problems: list[Problem] = []
    for entry in _entries(yaml):
        key = _KEY.fullmatch(entry[0])
        if key and not is_read(key[1]) and not _is_valid("\n".join(entry), name):
            message, hint = f"`{key[1]}` is not valid YAML", "quote its text; it is not read here, but other tools may"
            span = Span(len(lines) + 1, 1, len(entry[0]))
            problems.append(problem_at(name, yaml, span, "front-matter", message, hint, severity="warning"))
            lines += [""] * len(entry)
        else:
            lines += entry
    return "\n".join(lines), problems


def _is_valid(yaml: str, name: str) -> bool:
    try:
        read_yaml(yaml, name)
    except SpecError:
        return False
    return True


def _entries(yaml: str) -> Iterator[list[str]]:
    """Each unindented line with the lines that belong to it."""
    entry: list[str] = []
    for line in yaml.split("\n"):
        if entry and line[:1].strip():
            yield entry
            entry = []
        entry.append(line)
    yield entry


def _mend(entry: list[str]) -> list[str]:
    first, *rest = entry
    pair = _PAIR.fullmatch(first)
    if pair is None:
        return [first, *_mend_below(first, [_spaced(line) for line in rest])]
    key, text = pair[1], pair[2].rstrip()
    last = max((number for number, line in enumerate(rest, 1) if line.strip()), default=0)
    lines, blank = [text, *rest[:last]], rest[last:]
    if not _BLOCK.fullmatch(text) and _is_misread(lines):
        quoted = "\n".join(lines).replace("'", "''")
        lines = f"'{quoted}'".split("\n")
    return [f"{key}: {lines[0]}", *map(_spaced, lines[1:]), *blank]


def _mend_below(first: str, rest: list[str]) -> list[str]:
    """The lines below a key without a text of its own: each a key again, or a text on several lines."""
    filled = [line for line in rest if line.strip()]
    key = _KEY.fullmatch(first)
    if key is None or not filled:
        return rest
    margin = min(len(line) - len(line.lstrip(" ")) for line in filled)
    inner = [line[margin:] for line in rest]
    if all(_KEY.fullmatch(line) or line[:1] in " #-" for line in inner):
        mended = (line for entry in _entries("\n".join(inner)) for line in _mend(entry))
        return [f"{' ' * margin}{line}" for line in mended]
    start = next(at for at, line in enumerate(rest) if line.strip())
    end = max(at for at, line in enumerate(rest) if line.strip()) + 1
    texts = [line.strip() for line in rest[start:end]]
    if not margin or not _is_misread(texts):
        return rest
    quoted = [line.replace("'", "''") for line in rest[start:end]]
    quoted[0] = f"{quoted[0][:margin]}'{quoted[0][margin:]}"
    quoted[-1] += "'"
    return [*rest[:start], *quoted, *rest[end:]]


def _spaced(line: str) -> str:
    margin = _MARGIN.match(line)
    end = margin.end() if margin else 0
    return line[:end].replace("\t", "  ") + line[end:]


def _is_misread(lines: list[str]) -> bool:
    """Whether YAML would misread or reject a text."""
    text = lines[0]
    if text[0] in "\"'":
        return len(lines) == 1 and not _QUOTED.fullmatch(text)
    if text[0] in "[{":
        return len(lines) == 1 and not text.endswith("]" if text[0] == "[" else "}")
    if text[0] in "&*!|>%@`,]}" or text[:2] in {"- ", "? "} or text in {"-", "?"}:
        return True
    return any(": " in line or ":\t" in line or line.rstrip().endswith(":") for line in lines)


def _told(yaml: str, name: str) -> Iterator[Problem]:
    """A warning for each corrected entry, at its first corrected line."""
    number = 1
    hint = "quote the text, or indent with spaces: other tools may reject this file"
    for entry in _entries(yaml):
        for offset, (old, new) in enumerate(zip(entry, _mend(entry), strict=True)):
            if old.rstrip() != new.rstrip():
                span = Span(number + offset, 1, len(old))
                message = "this is not valid YAML"
                yield problem_at(name, yaml, span, "front-matter", message, hint, severity="warning")
                break
        number += len(entry)
