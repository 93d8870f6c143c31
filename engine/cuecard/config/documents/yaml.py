"""YAML to values with places, within limits.

YAML 1.2 without features that configuration never needs but attackers use: anchors, aliases, tags, directives, several
documents. Every file is read once, as events, and the limits are checked before anything is built, so that deeply
nested brackets never reach recursive code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from cuecard.config.documents.document import Document, Path, lines_of, problem_at
from cuecard.config.documents.yaml_events import Event, pure_events, quick_events
from cuecard.config.documents.yaml_values import MAX_BITS, build, span_of
from cuecard.errors import InputError, Problem, Span, SpecError

MAX_CHARACTERS = 256 * 1024
MAX_DEPTH = 32
MAX_NODES = 20_000

_STEPS = {"MappingStartEvent": 1, "SequenceStartEvent": 1, "MappingEndEvent": -1, "SequenceEndEvent": -1}
"""By how much an event changes the depth."""

_TOO_DEEP = f"nested more than {MAX_DEPTH} levels deep", "flatten the file"
_TOO_MANY = f"more than {MAX_NODES:,} values", "split the file"


class ExceededError(SpecError):
    """Too deep or too many values, and nothing else is wrong before that: both readers find it at the same place."""


def checked(events: Iterable[Event], text: str, name: str) -> list[Event]:
    """The events, read no further than the limits allow: millions of brackets may follow.

    Raises:
        SpecError: with every anchor, alias, tag, directive and further document, or the first limit that is exceeded.
    """
    found: list[Event] = []
    problems = list(_problems(events, text, name, found))
    if [(problem.message, problem.hint) for problem in problems] in ([_TOO_DEEP], [_TOO_MANY]):
        raise ExceededError(problems)
    if problems:
        raise SpecError(problems)
    return found


def _problems(events: Iterable[Event], text: str, name: str, found: list[Event]) -> Iterator[Problem]:
    depth = nodes = documents = 0
    for event in events:
        found.append(event)
        kind = type(event).__name__
        step = _STEPS.get(kind, 0)
        depth += step
        nodes += step > 0 or kind in {"ScalarEvent", "AliasEvent"}
        documents += kind == "DocumentStartEvent"
        over = _over(depth, nodes)
        refused = over or refusal(event, kind, documents)
        if refused:
            span = Span(event.start_mark.line + 1, event.start_mark.column + 1)
            yield problem_at(name, text, span, "yaml-refused", *refused)
        if over or documents > 1:
            return


def _over(depth: int, nodes: int) -> tuple[str, str] | None:
    if depth > MAX_DEPTH:
        return _TOO_DEEP
    return _TOO_MANY if nodes > MAX_NODES else None


def refusal(event: Event, kind: str, documents: int) -> tuple[str, str] | None:
    """Why an event is refused, and the way out; None if it is not."""
    if kind == "AliasEvent":
        return f"an alias (`*{event.anchor}`)", "quote the text if it begins with `*`; otherwise write the value out"
    if kind == "DocumentStartEvent":
        return _refused_document(event, documents)
    if getattr(event, "anchor", None):
        return f"an anchor (`&{event.anchor}`)", "quote the text if it begins with `&`; otherwise write the value out"
    if (tag := getattr(event, "tag", None)) is not None:
        short = str(tag).replace("tag:yaml.org,2002:", "!!")
        return f"a tag (`{short}`)", "quote the text if it begins with `!`"
    return None


def _refused_document(event: Event, documents: int) -> tuple[str, str] | None:
    if event.version or event.tags:
        return "a `%` directive", "files are YAML 1.2"
    return ("a second document", "a file contains one document; remove the `---`") if documents > 1 else None


__all__ = [
    "MAX_BITS",
    "MAX_CHARACTERS",
    "MAX_DEPTH",
    "MAX_NODES",
    "Document",
    "Path",
    "problem_at",
    "read_yaml",
]


def read_yaml(text: str, name: str) -> Document:
    """Read one YAML mapping.

    Raises:
        SpecError: with every problem that could be distinguished, each at `name:line:column`.
        InputError: when the package that reads YAML is not installed.
    """
    if len(text) > MAX_CHARACTERS:
        raise SpecError(
            Problem("yaml-too-large", f"{len(text):,} characters; at most {MAX_CHARACTERS:,}", "split the file", name)
        )
    try:
        return _document(quick_events(text), text, name)
    except ExceededError:
        raise
    except Exception:  # noqa: BLE001, S110 - what the quick reader rejects, the pure one reads after all, or explains better
        pass
    try:
        return _document(pure_events(text), text, name)
    except SpecError:
        raise
    except ImportError as error:
        told, hint = (
            f"YAML cannot be read: {error}",
            "install cuecard together with its dependencies: `pip install cuecard`",
        )
        raise InputError(Problem("not-installed", told, hint, name)) from error
    except Exception as error:  # noqa: BLE001 - ruamel raises AssertionError and TypeError too, for a few malformed texts
        raise SpecError(syntax_problem(error, text, name)) from None


def _document(events: Iterable[Event], text: str, name: str) -> Document:
    _, *found = checked(events, text, name)
    if len(found) == 1:
        raise SpecError(Problem("yaml-empty", "the file contains no YAML", "write a mapping: `key: value`", name))
    _, *written, _, _ = found
    kind = type(written[0]).__name__.removesuffix("Event").removesuffix("Start").lower()
    if kind != "mapping":
        span = span_of(written[0], written[-1])
        raise SpecError(
            problem_at(name, text, span, "yaml-root", f"the file contains a {kind}", "write a mapping: `key: value`")
        )
    document = build(written, text, name)
    for path, span in document.keys.items() if _ODD.search(text) else ():
        line = lines_of(text)[span.line - 1]
        if _ODD.match(str(path[-1])) and _ODD.match(line):
            raise SpecError(problem_at(name, text, *_odd_indent(line, span.line)))
    return document


def syntax_problem(error: Exception, text: str, name: str) -> Problem:
    """What a reader of YAML says of a malformed text, at its place."""
    mark = getattr(error, "problem_mark", None)
    message = str(getattr(error, "problem", None) or "the YAML cannot be parsed")
    lines = lines_of(text)
    # ruamel gives no place when its own check fails, as for `%YAML 1.0`; a directive, if there is one, is the cause.
    span = Span(next((number for number, line in enumerate(lines, 1) if line.startswith("%")), 1), 1)
    span = Span(mark.line + 1, mark.column + 1) if mark else span
    if found := _UNSEEN.search("\n".join(lines[: span.line]) if mark else text):
        before = found.string[: found.start()]
        place = Span(before.count("\n") + 1, found.start() - before.rfind("\n"))
        message = f"an invisible character, U+{ord(found[0]):04X}, which YAML does not read as text"
        return problem_at(name, text, place, "yaml-syntax", message, "delete it: it often comes from a word processor")
    if odd := next((_odd_indent(line, at) for at, line in enumerate(lines[: span.line], 1) if _ODD.match(line)), None):
        return problem_at(name, text, *odd)
    opened = getattr(error, "context_mark", None)
    if opened and message.startswith("found unexpected"):
        span = Span(opened.line + 1, opened.column + 1)
        return problem_at(name, text, span, "yaml-syntax", "a quote opens here and is never closed", _CLOSE)
    if "expected <block end>" in message and (unclosed := _unclosed(lines[: span.line - 1])):
        told = f"a quote opens here and is closed only on line {span.line}, or later"
        return problem_at(name, text, unclosed, "yaml-syntax", told, _CLOSE)
    if begun := _begun(message, lines, span, opened) or _no_key(message, lines, span, opened):
        return problem_at(name, text, *begun)
    return problem_at(name, text, span, "yaml-syntax", message, _syntax_hint(message, lines, span))


_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_ODD = re.compile(r"[ \t]*([\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+)")
_CLOSE = "close it on its line, or write the text as a block: `|`"
_OPENS = re.compile(r"^[^#]*?(?:^|[:\-,\[{])\s+([\"'])")
_CURLY = re.compile(r"(?:^|[:\-,\[{])\s*[\u2018-\u201f\u00ab\u00bb]")


_BEGINS = re.compile(r"[ ]*(?:-[ ]+)*(?:[\w.-]+:[ ]+)?(?P<sign>[\[{*\"'])")
_MEANS = {"[": "a list", "{": "a mapping", "*": "an alias", '"': "a quoted text", "'": "a quoted text"}


def _begun(message: str, lines: Sequence[str], span: Span, opened: Any) -> tuple[Span, str, str, str] | None:
    """The problem of a text that begins with a sign of YAML's own, and goes on where YAML sees its end."""
    within = message.startswith("expected ',' or")
    number = opened.line + 1 if within else span.line
    begins = _BEGINS.match(lines[number - 1]) if number <= len(lines) else None
    if begins is None or not (within or "expected <block end>" in message):
        return None
    sign, place = begins["sign"], begins.start("sign") + 1
    if opened.column + 1 != place if within else span.column <= place:
        return None
    told = f"`{sign}` begins {_MEANS[sign]} here, but the text goes on behind its end"
    if within:
        told = f"`{sign}` begins {_MEANS[sign]} here, which is not written as one"
    return Span(number, place), "yaml-syntax", told, "quote the whole text, or write it as a block: `|`"


_KEY = re.compile(
    r"[ ]*(?:-[ ]+)*(?P<key>[A-Za-z_][\w.-]*+)(?P<sign>:?)(?!//)(?P<space>[ ]*)(?:[=\uff1a][ ]*)?"
    r"(?P<rest>[^\s#:].*)?$"
)


def _no_key(message: str, lines: Sequence[str], span: Span, opened: Any) -> tuple[Span, str, str, str] | None:
    """The problem of a key without its colon, or without the space behind it: YAML sees it only in a later line."""
    if "could not find expected ':'" in message and opened:
        number = opened.line + 1
    elif "mapping values are not allowed" in message:
        number = _above(lines, span.line)
        if not number or _column(lines[number - 1]) > _column(lines[span.line - 1]) or _goes_on(lines, number):
            return None
    else:
        return None
    found = _KEY.match(lines[number - 1].split(" #", 1)[0].rstrip())
    if found is None or (found["sign"] and (found["space"] or not found["rest"])):
        return None
    key, rest = found["key"], f" {found['rest']}" if found["rest"] else ""
    place = Span(number, found.start("key") + 1, len(key) + len(found["sign"]))
    if found["sign"]:
        return place, "yaml-syntax", f"`{key}:` has no space behind its colon", f"write `{key}:{rest}`"
    hint = f"write `{key}:{rest}`; a line that goes on with the text above is indented deeper than its key"
    return place, "yaml-syntax", f"`{key}` is no key: it has no colon", hint


def _above(lines: Sequence[str], number: int) -> int:
    """The number of the line above that says something, 0 without one."""
    said = (each for each in range(number - 1, 0, -1) if lines[each - 1].strip()[:1] not in {"", "#"})
    return next(said, 0)


def _column(line: str) -> int:
    return len(line) - len(line.lstrip(" -"))


def _goes_on(lines: Sequence[str], number: int) -> bool:
    """Whether a line is deeper than one above that has a value, and so goes on with it."""
    own, above = _column(lines[number - 1]), _above(lines, number)
    while above and _column(lines[above - 1]) > own:
        above = _above(lines, above)
    return above > 0 and _column(lines[above - 1]) < own and not lines[above - 1].rstrip().endswith(":")


def _odd_indent(line: str, at: int) -> tuple[Span, str, str, str]:
    start = len(line) - len(line.lstrip(" \t"))
    message = f"the line is indented with U+{ord(line[start]):04X}, which looks like a space and is none"
    return Span(at, start + 1), "yaml-syntax", message, "replace it by spaces: it often comes from a word processor"


def _unclosed(lines: Sequence[str]) -> Span | None:
    """The last quote that opens a text and is not closed on its line."""
    for number in range(len(lines), 0, -1):
        opens = _OPENS.match(lines[number - 1])
        if opens and opens[1] not in lines[number - 1][opens.end() :]:
            return Span(number, opens.end())
    return None


def _syntax_hint(message: str, lines: Sequence[str], span: Span) -> str:
    line = "".join(lines[span.line - 1 : span.line])
    before = line[: span.column - 1]
    if "\t" in line[: span.column]:
        return "indent with spaces, not tabs"
    if _CURLY.search(line):
        return "YAML knows straight quotes alone: write \" or ' in place of the curly ones"
    own, others, misplaced = _indents(lines, span.line)
    if "mapping values are not allowed" in message:
        if misplaced and re.fullmatch(r"[\w.*\"'-]+", before.strip()):
            spaces = "1 space" if others == 1 else f"{others} spaces"
            return f"indent the line by {spaces}, as the one above, which has its value already; it has {own}"
        return "quote a text that contains `: `"
    if "expected <block end>" in message and span.column == own + 1:
        return _homeless(message, own, others)
    begins = {
        "sequence entries are not allowed": "quote a text that begins with `- `",
        "cannot start any token": "quote a text that begins with this character",
        "escape": "write two backslashes for one, or quote the text with `'`",
    }
    return next((hint for said, hint in begins.items() if said in message), "check indentation, quotes and brackets")


def _homeless(message: str, own: int, others: int) -> str:
    if "but found '-'" in message and own == others:
        return "the lines above are no list: begin each of its items with `- `, or remove the dash"
    spaces = "1 space" if own == 1 else f"{own} spaces"
    return f"the line is indented by {spaces}, and no line above that it could belong to is"


def _indents(lines: Sequence[str], number: int) -> tuple[int, int, bool]:
    """The spaces before a line and before the one above, and whether it is deeper than one that has a value."""
    line = "".join(lines[number - 1 : number])
    above = next((each for each in reversed(lines[: number - 1]) if each.strip()), "")
    own, others = (len(each) - len(each.lstrip(" ")) for each in (line, above))
    return own, others, own > others and ": " in above
