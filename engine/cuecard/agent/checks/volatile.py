"""Text in static sections that looks variable: a prompt that differs near its beginning cannot be cached.

Text that its line calls an example is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cuecard.agent.assembly import Compiled
from cuecard.agent.trees import Trees, reachable
from cuecard.errors import Problem
from cuecard.template.markup.tags import blanked, mustache_spans
from cuecard.template.syntax.source import Source

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
_LOOKS = {
    "a UUID": r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b",
    "a date": r"\b(?:19|20)\d\d-[01]\d-[0-3]\d(?:[t ][0-2]\d:[0-5]\d(?::[0-5]\d)?)?"
    rf"|\b[0-3]?\d[./][01]?\d[./](?:19|20)\d\d\b|\b[0-3]?\d\.? {_MONTH} (?:19|20)\d\d\b"
    rf"|\b{_MONTH} [0-3]?\d,? (?:19|20)\d\d\b",
    "a time": r"\b[0-2]\d:[0-5]\d(?::[0-5]\d)?\b",
    "a timestamp": r"\b1\d{9}(?:\d{3})?\b",
    "a counter": r"\b(?:build|call|conversation|message|request|run|session|visit)"
    r"(?: (?:number|no\.|id):?| ?[#:]) ?#?\d+",
    "a user's folder": r"(?:/home/|/users/|\b[a-z]:\\users\\)[\w.-]+",
    "a user's address": r"\b[\w.+-]{1,64}@(?!example\.)[\w-]{1,63}(?:\.[\w-]{2,63}){1,4}",
}
_VOLATILE = re.compile(
    "|".join(f"(?P<k{number}>{pattern})" for number, pattern in enumerate(_LOOKS.values())), re.IGNORECASE
)
_EXAMPLE = re.compile(r"\b(?:e\.g\.|(?:example|for instance|such as|like)\b)", re.IGNORECASE)
"""Words that mark the rest of a line as an example."""


def check_volatile(compiled: Sequence[Compiled], partials: Trees) -> Iterator[Problem]:
    """A warning for each such text in a static section, and in the partials that static sections call."""
    called = dict[str, None]()
    for each in (each for each in compiled if each.section.tier == "static"):
        text = each.text
        plain = blanked(text.source.text, mustache_spans(text.program.body), " ")
        yield from map(text.place, _volatile_texts(text.source, plain[text.start : text.end], text.start))
        body = [node for node in text.program.body if text.start <= node.start < text.end]
        called |= dict.fromkeys(reachable(partials, body))
    for source, program in (partials[name] for name in called):
        yield from _volatile_texts(source, blanked(source.text, mustache_spans(program.body), " "), 0)


def _volatile_texts(source: Source, text: str, offset: int) -> Iterator[Problem]:
    """The same for one text, given its offset in the source."""
    for match in _VOLATILE.finditer(text):
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if _EXAMPLE.search(line):
            continue
        kind = list(_LOOKS)[int(str(match.lastgroup)[1:])]
        message = f"`{match.group()}` looks like {kind}, in a section that should never change"
        hint = "make it an input in a section after the static ones, or say on the same line that it is an example"
        place = offset + match.start(), offset + match.end()
        yield source.problem(*place, "volatile-text", message, hint, severity="warning")
