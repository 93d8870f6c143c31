"""Everything that cuecard raises, and the picture that an error draws.

CuecardError                what a user can mend; carries every problem found, not the first
├── SpecError               a file of the agent is wrong (YAML, front matter, a missing file)
├── TemplateError           a template is wrong
│   ├── TemplateSyntaxError     ... and cannot be compiled
│   ├── TemplateRenderError     ... and cannot be rendered with these values
│   └── TemplateLimitError      ... and is too deep, too large, or prints too much
├── InputError              the host supplied a wrong, missing or unknown input
├── TokenizerError          a token table is unknown or damaged
├── SettingsError           a CUECARD_* setting has a wrong value
├── ToolServerError         the tool server could not be started or spoken to
└── LibraryError            the library is away, full, or of another version
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import asdict, field, replace
from functools import lru_cache
from typing import Any, Literal, get_args

from cuecard.records import dataclass

Severity = Literal["error", "warning", "note"]
"""How bad a problem is: an error stops the engine, a warning does not; a note depends on what files do not tell."""

SHOWN = 120
"""How many characters of a long line a picture shows."""
KEPT = 500
"""How many characters of a long line a problem keeps."""
MAX_PROBLEMS = 100
"""How many problems are shown at once; people do not read more, and the first of them often cause the others."""

REMOVED = "removed-setting"
"""The code of what an earlier version had; the hint says what to write instead."""

_LONG_WORD = 200
"""How long a word is at most that a hint names."""

_WORD = 60
"""How many characters of a word, a key or a type's name an error about an argument shows."""

_UNSEEN = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
    + "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)
"""Printable to Python, and yet nothing to see: joiners, fillers, blanks, variation selectors."""


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a text: line and column counted from 1, column and length in code points."""

    line: int
    column: int
    length: int = 1


@dataclass(frozen=True, slots=True)
class DidYouMean:
    """A hint that is computed when it is printed, because comparing many words takes time."""

    word: str
    known: frozenset[str] = field(repr=False)
    more: str = ""

    def __str__(self) -> str:
        return "\n".join(line for line in (_known_hint(self.word, self.known), self.more) if line)


@lru_cache(maxsize=64)
def _known_hint(word: str, known: frozenset[str]) -> str:
    """The hint about a word; the same mistake is often made in many places."""
    return did_you_mean(word, known)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint that names the closest of the known words, or lists them when none is close."""
    words = sorted(word for word in known if len(word) <= _LONG_WORD)
    if close := closest(word, words):
        return f"did you mean `{close}`?"
    if not words:
        return ""
    listed = ", ".join(f"`{w}`" for w in words[:12])
    return f"known here: {listed}" + (", ..." if len(words) > 12 else "")


def closest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """The known word that is most like this one; empty when none is close (`cutoff`, as `difflib` has it).

    It is the same word in other letters, such as `BEFORE` for `before`, or what `difflib.get_close_matches` finds
    first; what cannot come closer than the last find is passed over.
    """
    matcher = difflib.SequenceMatcher(b=word)
    found, words, folded = "", sorted(known), word.casefold()
    if same := next((each for each in words if each.casefold() == folded), ""):
        return same
    for each in words:
        matcher.set_seq1(each)
        if matcher.real_quick_ratio() >= cutoff and matcher.quick_ratio() >= cutoff and matcher.ratio() >= cutoff:
            found, cutoff = each, matcher.ratio()
    return found


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem: its place, its cause and how to fix it.

    Attributes:
        code: a stable, documented word such as `unknown-key`.
        message: the cause, in one sentence.
        advice: how to fix it; a `DidYouMean` is computed when `hint` is read.
        name: the file, or the name of the template or value.
        span: the place in it, if known.
        source: the text of that line, shown with carets; for a very long line, the part around the place.
        chain: the names of the partials or files that led here, outermost first.
        clipped: how many characters of the line come before `source`.
    """

    code: str
    message: str
    advice: str | DidYouMean = ""
    name: str = ""
    span: Span | None = None
    source: str = ""
    severity: Severity = "error"
    chain: tuple[str, ...] = ()
    clipped: int = 0

    def __post_init__(self) -> None:
        # A file may have thousands of problems in one line of a megabyte.
        if len(self.source) > KEPT:
            start = max(0, (self.span.column if self.span else 1) - 1 - self.clipped - KEPT // 2)
            object.__setattr__(self, "source", self.source[start : start + KEPT])
            object.__setattr__(self, "clipped", self.clipped + start)

    @property
    def hint(self) -> str:
        """The way out; empty when the message already says it."""
        return str(self.advice)

    @property
    def docs(self) -> str:
        """The command that explains the code, wherever cuecard is installed: `cuecard explain unknown-key`."""
        return f"cuecard explain {self.code}"

    def to_json(self) -> dict[str, Any]:
        """The problem as plain data."""
        return {
            "code": self.code,
            "docs": self.docs,
            "message": self.message,
            "hint": self.hint,
            "name": self.name,
            "span": self.span and asdict(self.span),
            "source": self.source,
            "severity": self.severity,
            "chain": self.chain,
        }

    def picture(self) -> str:
        """The problem in readable form: `file:line:column`, the line, carets, and how to fix it."""
        place = [visible(self.name)] if self.name else []
        if self.span:
            place += [str(self.span.line), str(self.span.column)]
        head = f"{':'.join(place)}: " if place else ""
        lines = [f"{head}{self.severity}[{self.code}]: {visible(self.message)}"]
        if self.span and self.source:
            lines += _excerpt(self.span, self.source, self.clipped)
        lines += [f"  = in {visible(link)}" for link in reversed(self.chain)]
        lines += [f"  = {visible(line)}" for line in self.hint.split("\n") if line]
        return "\n".join(lines)


def most_telling(problems: Iterable[Problem]) -> tuple[tuple[Problem, ...], int]:
    """The problems to show, at most `MAX_PROBLEMS`, errors first and notes last; and how many others there are."""
    found = tuple(problems)
    if len(found) <= MAX_PROBLEMS:
        return found, 0
    chosen = sorted(range(len(found)), key=lambda at: get_args(Severity).index(found[at].severity))[:MAX_PROBLEMS]
    return tuple(found[at] for at in sorted(chosen)), len(found) - MAX_PROBLEMS


def pictures(problems: Iterable[Problem]) -> str:
    """The problems as people read them, one below the other, and how many are left out."""
    told, more = most_telling(problems)
    drawn = [problem.picture() for problem in told]
    return "\n\n".join([*drawn, f"... and {more:,} more problems"] if more else drawn)


def _excerpt(span: Span, source: str, clipped: int) -> list[str]:
    number, column = str(span.line), max(1, span.column - clipped)
    before, marked, after = source[: column - 1], source[column - 1 :], ""
    marked, after = marked[: span.length], marked[span.length :]
    if clipped or len(source) > SHOWN:
        before = "…" + before[-SHOWN // 2 :] if len(before) > SHOWN // 2 else before
        marked, after = marked[:SHOWN], after[: SHOWN // 4] + "…"
    before, marked, after = (visible(part.replace("\t", " ")) for part in (before, marked, after))
    carets = "^" * max(1, len(marked))
    return [f"  {number} | {before}{marked}{after}", f"  {' ' * len(number)} | {' ' * len(before)}{carets}"]


def visible(text: str) -> str:
    """The text with control and invisible characters as `‹U+XXXX›`, so that an error cannot hide or forge lines."""
    return "".join(c if c.isprintable() and c not in _UNSEEN else f"‹U+{ord(c):04X}›" for c in text)


def seen(value: Any) -> str:
    """A description of a value that does not reveal its text, and asks nothing of an object but its type."""
    kind = type(value)
    if value is None or kind is bool:
        return str(value)
    if issubclass(kind, int):
        number = int.__int__(value)
        return f"the number {number}" if abs(number) < 10**18 else "a number of more than 18 digits"
    if issubclass(kind, float):
        return f"the number {float.__repr__(value)}"
    if issubclass(kind, str):
        return "a text" if str.__len__(value) else "an empty text"
    if issubclass(kind, type):
        return f"the class {shortened(type.__dict__['__name__'].__get__(value))}"
    known = next((told for each, told in _KINDS.items() if issubclass(kind, each)), "an object")
    return f"{known} of type {shortened(kind.__name__)}"


_KINDS: dict[type, str] = {
    Mapping: "a mapping",
    AbstractSet: "a set, which has no order,",
    Iterator: "an iterator, which can be read only once,",
}


def shortened(text: str) -> str:
    """A word of the host for use in an error: visible and short."""
    return visible(text[:_WORD]) + ("..." if len(text) > _WORD else "")


def inside(at: str, step: str | int) -> str:
    """The path of the value under a key, or at a place of a list."""
    if isinstance(step, int):
        return f"{at}[{step}]"
    return f"{at}.{step}" if step.isidentifier() and len(step) <= _WORD else f'{at}["{shortened(step)}"]'


class CuecardError(Exception):
    """An error that the user can fix. `problems` contains every problem found; `str()` shows them all with their
    places.
    """

    def __init__(self, problems: Iterable[Problem] | Problem) -> None:
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        return pictures(self.problems)

    def within(self, link: str) -> CuecardError:
        """The same error, seen from one partial or file further out."""
        return type(self)(replace(p, chain=(link, *p.chain)) for p in self.problems)


class SpecError(CuecardError):
    """A file of the agent has an error: agent file, tool instructions, settings file or a file they name."""


class TemplateError(CuecardError):
    """A template is wrong."""


class TemplateSyntaxError(TemplateError):
    """A template cannot be compiled."""


class TemplateRenderError(TemplateError):
    """A template cannot be rendered with the values it was given."""


class TemplateLimitError(TemplateError):
    """A template is too deep or too large, or prints too much."""


class InputError(CuecardError):
    """The host supplied an invalid, missing or unknown input."""


class RunLimitError(CuecardError):
    """A limit of the agent's run allows no further request to the model."""


class TokenizerError(CuecardError):
    """A token table is unknown or damaged."""


class SettingsError(CuecardError):
    """A `CUECARD_*` setting has a wrong value."""


class ToolServerError(CuecardError):
    """The tool server could not be started or spoken to."""


class LibraryError(CuecardError):
    """The database of a library could not be used: it is away, full, damaged, missing or of another version."""
