"""What an address of the studio holds: enough to show the same screen again, and nothing personal.

A turn stands in it as the digest of a record on disk, so that a link, a second window or a reload finds the same
screen, and no history of a browser knows what a user has said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields, replace
from typing import Any
from urllib.parse import quote, urlencode

from cuecard.errors import InputError, Problem, did_you_mean, shortened
from cuecard.records import dataclass

MAX_FOUND = 1_000
"""The number of discovered tools in an address."""

MAX_VALUE = 500
"""The number of characters of any other value in an address."""

_STEP = re.compile(r"[1-9]\d{0,6}\.[1-9]\d{0,6}")
_DIGEST = re.compile(r"[0-9a-f]{8,64}")
_NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,6})?")
_WHOLE = re.compile(r"\d{1,9}")
_TOOL = re.compile(r"[\w.\-]{1,64}")


@dataclass(frozen=True, slots=True)
class Address:
    """What is shown; everything has a default.

    Attributes:
        agent: its name; empty for the first one.
        state: the fingerprint of its files, or the beginning of it; empty to follow them.
        run: the id of a conversation; empty for the prompt of a turn.
        step: a request of the conversation, as `turn.number`, both from 1; empty for the last one.
        found: the tools that count as discovered, in order.
        turn: the digest of a turn on disk; empty for the turn with every default.
        model: the model whose cache is shown.
        price: what a million plain input tokens cost, in dollars; empty for figures in tokens alone.
        q: what is searched in the list of conversations.
        page: how many of them are passed over.
        a: the first of two that are compared.
        b: the second.
        tool: the tool whose entry is edited.
        section: the section that is edited.
        by: `hand` if the tools in `found` are those of a conversation's step as somebody has switched them.
        query: the words of a search among the tools.
        node: the tool at which the graph of NEXT begins.
        protocols: the budget of the instructions of found tools that is tried; empty for that of the agent.
        total: the budget of the whole prompt, likewise.
        size: how many tools the agent has in the price; empty for as many as it has. The next three likewise.
        requests: how many requests the conversation has.
        width: how many tools a search returns.
        definitions: where definitions of tools stand.
        form: the provider whose body of the request is shown; empty for sections.
    """

    agent: str = ""
    state: str = ""
    run: str = ""
    step: str = ""
    found: tuple[str, ...] = ()
    turn: str = ""
    model: str = ""
    price: str = ""
    q: str = ""
    page: str = ""
    a: str = ""
    b: str = ""
    tool: str = ""
    section: str = ""
    by: str = ""
    query: str = ""
    node: str = ""
    protocols: str = ""
    total: str = ""
    size: str = ""
    requests: str = ""
    width: str = ""
    definitions: str = ""
    form: str = ""

    def to(self, screen: str, **changes: Any) -> str:
        """The link to a screen, with these values changed."""
        told = {name: value for name, value in asdict(replace(self, **changes)).items() if value}
        if "found" in told:
            told["found"] = ",".join(told["found"])
        return f"/{screen}" + (f"?{urlencode(told, quote_via=quote, safe=',:')}" if told else "")


def read_address(values: Iterable[tuple[str, str]]) -> Address:
    """The address in the query of a request.

    Raises:
        InputError: with everything that is wrong in it.
    """
    told: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, value in values:
        if name not in _NAMES:
            hint = did_you_mean(name, _NAMES)
            problems.append(Problem("wrong-argument", f"an address has no `{shortened(name)}`", hint, "address"))
        elif name in told:
            problems.append(
                Problem("wrong-argument", f"`{name}` stands twice", "leave one of them out", f"address.{name}")
            )
        elif value:
            told[name], wrong = _READ.get(name, _text)(value)
            problems += (
                [Problem("wrong-argument", wrong, "follow a link of the studio", f"address.{name}")] if wrong else []
            )
    if problems:
        raise InputError(problems)
    return Address(**told)


def _text(value: str) -> tuple[Any, str]:
    return value, f"it has more than {MAX_VALUE} characters" if len(value) > MAX_VALUE else ""


def _step(value: str) -> tuple[Any, str]:
    return value, "" if _STEP.fullmatch(value) else "a step is written as `2.3`: the turn and the request in it"


def _digest(value: str) -> tuple[Any, str]:
    return value, "" if _DIGEST.fullmatch(value) else "a fingerprint has 8 to 64 digits from 0 to f"


def _number(value: str) -> tuple[Any, str]:
    return value, "" if _NUMBER.fullmatch(value) else "it is not a number such as `3` or `1.25`"


def _whole(value: str) -> tuple[Any, str]:
    return value, "" if _WHOLE.fullmatch(value) else "it is not a whole number of at most nine digits"


def _one_of(*known: str) -> Callable[[str], tuple[Any, str]]:
    return lambda value: (value, "" if value in known else f"it is none of {', '.join(known)}")


def _found(value: str) -> tuple[Any, str]:
    names = tuple(dict.fromkeys(value.split(",")))
    if len(names) > MAX_FOUND:
        return names, f"it names more than {MAX_FOUND:,} tools"
    return names, "" if all(map(_TOOL.fullmatch, names)) else "it holds what is no name of a tool"


_NAMES = frozenset(each.name for each in fields(Address))
_READ: Mapping[str, Callable[[str], tuple[Any, str]]] = {
    "step": _step,
    "state": _digest,
    "turn": _digest,
    "found": _found,
    "page": _number,
    "price": _number,
    "by": _one_of("hand"),
    **dict.fromkeys(("a", "b"), lambda value: _text(value.strip())),  # a revision is often pasted
    **dict.fromkeys(("protocols", "total", "size", "requests", "width"), _whole),
    "definitions": _one_of("deferred", "all"),
    "form": _one_of("anthropic", "responses", "chat", "gemini", "bedrock"),
}
