"""What keeps a prompt from being cached: its order, mappings, and text that changes.

Text that its line calls an example is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence

from cuecard.agent.assembly import CompiledSection
from cuecard.agent.trees import Trees, reachable
from cuecard.config.agent_file import AgentFile
from cuecard.errors import Problem, Span
from cuecard.template.markup.tags import blanked, mustache_spans
from cuecard.template.syntax.nodes import Block, Path, Statement, walk
from cuecard.template.syntax.source import TemplateSource

_RHYTHM = {"call": "with each user message", "step": "with each model request"}


def check_order(compiled: Sequence[CompiledSection], cost: Callable[[CompiledSection], int]) -> list[Problem]:
    """A warning for each section that changes or is optional and comes before static ones, with their cost in tokens.

    Providers cache a prompt up to its first difference from the previous one. Only a prompt with such a section is
    counted: unpacking a table of tokens takes longer than all other checks.
    """
    lost, last, found = 0, "", list[Problem]()
    static = list[CompiledSection]()
    for each in reversed(compiled):
        section = each.section
        conditional = each.text.conditional or section.spec.when is not None
        if section.tier == "static" and not conditional:
            static.append(each)
            last = last or section.label
        elif last:
            lost += sum(map(cost, static))
            static.clear()
            does = "comes and goes" if conditional else f"changes {_RHYTHM[section.tier]}"
            message = f"{section.label} {does}, before {lost:,} tokens of static text"
            hint = f"a prompt cache ends at the first difference: move it after {last}"
            problem = each.text.problem
            found.append(
                problem("conditional-section" if conditional else "section-order", message, hint, severity="warning")
            )
    return found[::-1]


def check_mappings(compiled: Sequence[CompiledSection], partials: Trees, spec: AgentFile) -> Iterator[Problem]:
    """A warning for each `{{#each x}}` over an input of type `object`, in sections and in the partials they call."""
    objects = {name for name, declared in spec.inputs.items() if declared.type == "object"}
    for each in compiled:
        text = each.text
        uses = {(use.template, use.span): use.name for use in text.inputs if use.name in objects}
        yield from map(
            text.place, _unsorted(text.source, text.statements, {s for name, s in uses if name not in partials})
        )
        for called in dict.fromkeys(name for name, _ in uses if name in partials):
            source, program = partials[called]
            yield from _unsorted(source, program.body, {span for name, span in uses if name == called})


def _unsorted(source: TemplateSource, body: Sequence[Statement], uses: Collection[Span]) -> Iterator[Problem]:
    for node in walk(body):
        path = _walked(node) if isinstance(node, Block) else None
        if path and source.span(path.start, path.end) in uses:
            message = f"`each` over the mapping `{path.original}` prints its keys in the order your program built it in"
            hint = "pass a list, or let your program sort the keys"
            yield source.problem(path.start, path.end, "unsorted-mapping", message, hint, severity="warning")


def _walked(block: Block) -> Path | None:
    """The value that an `each` iterates over, if it is a whole input: `facts`, `../facts` or `@root.facts`."""
    head, params = block.call.head, block.call.params
    if not (isinstance(head, Path) and head.original == "each" and len(params) == 1):
        return None
    value = params[0]
    return value if isinstance(value, Path) and len(value.parts) == 1 + value.data else None


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
_FORMAT = re.compile(
    r"\b(?:write|format|spell|display|express|show|print|give|return|use)[a-z]*\b[^.!?]*\bdates?\b[^.!?]*$"
    r"|\bdates?\b[^.!?]*\b(?:format|written|write|spelled|spelt|display|shown|printed|expressed|looks?|as|in the form)"
    r"[a-z]*\b[^.!?]*$|\b(?:date|day)s?[- ]formats?\b[^.!?]*$|\bformatted\b[^.!?]*$",
    re.IGNORECASE,
)
"""A sentence that says how dates are written: the date in it is an example, whatever the words."""


def check_volatile(compiled: Sequence[CompiledSection], partials: Trees) -> Iterator[Problem]:
    """A warning for each such text in a static section, and in the partials that static sections call."""
    called = dict[str, None]()
    for each in (each for each in compiled if each.section.tier == "static"):
        text = each.text
        plain = blanked(text.source.text, mustache_spans(text.program.body), " ")
        yield from map(text.place, _volatile_texts(text.source, plain[text.start : text.end], text.start))
        called |= dict.fromkeys(reachable(partials, text.statements))
    for source, program in (partials[name] for name in called):
        yield from _volatile_texts(source, blanked(source.text, mustache_spans(program.body), " "), 0)


def _volatile_texts(source: TemplateSource, text: str, offset: int) -> Iterator[Problem]:
    """The same for one text, given its offset in the source."""
    for match in _VOLATILE.finditer(text):
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if _EXAMPLE.search(line) or (match["k1"] and _FORMAT.search(line)):
            continue
        kind = list(_LOOKS)[int(str(match.lastgroup)[1:])]
        message = f"`{match.group()}` looks like {kind}, in a section that should never change"
        hint = "make it an input in a section after the static ones, or say on the same line that it is an example"
        place = offset + match.start(), offset + match.end()
        yield source.problem(*place, "volatile-text", message, hint, severity="warning")
