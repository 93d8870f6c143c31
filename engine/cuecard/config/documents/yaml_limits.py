"""YAML features that configuration never needs but attackers use; checked on events, before anything is built."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cuecard.config.documents.document import problem_at
from cuecard.config.documents.yaml_events import Event
from cuecard.errors import Problem, Span, SpecError

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
        nodes += step > 0 or kind == "ScalarEvent"
        documents += kind == "DocumentStartEvent"
        over = _over(depth, nodes)
        refused = over or _refusal(event, kind, documents)
        if refused:
            span = Span(event.start_mark.line + 1, event.start_mark.column + 1)
            yield problem_at(name, text, span, "yaml-refused", *refused)
        if over or documents > 1 or len(found) > MAX_NODES * 3:
            return


def _over(depth: int, nodes: int) -> tuple[str, str] | None:
    if depth > MAX_DEPTH:
        return _TOO_DEEP
    return _TOO_MANY if nodes > MAX_NODES else None


def _refusal(event: Event, kind: str, documents: int) -> tuple[str, str] | None:
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
