"""The Prompt screen: what the model read in a step, in order; what it costs, where it is written, what was cut."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from cuecard.errors import CuecardError
from cuecard.model import Cut, Manifest, SectionRecord
from cuecard.records import dataclass
from cuecard.studio.cache_view import CacheView, cache_view
from cuecard.studio.links import editor_link, short_place
from cuecard.studio.problems import problem_views
from cuecard.studio.screen import Asked
from cuecard.studio.steps import Line, Sent
from cuecard.studio.turns import TurnRecord, step_of_turn

_QUOTED = 80
"""Characters of a text that a row quotes."""

_CUE = re.compile(r"(BEFORE|AFTER|NEXT|GOTCHA):")
_TAG = re.compile(r"\s*</?[\w.:-]+(?: [^<>]*)?>\s*")
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the prompt.

    Attributes:
        kind: a section, a message, or something that was left out.
        name: what stands first: the id of a section, its first tool, who speaks, or what was left out.
        said: what it is, in words.
        quoted: a text of agents, users or tools that says what it is; shown in quotes.
        id: the id of the section; empty for others.
        tier: how often its text may change.
        reason: why it has this tier, or why it is there.
        place: where it is written, as `file:line`; empty if unknown.
        link: opens it in the editor; empty if it cannot be opened.
        tokens: what it costs.
        share: the percentage of the prompt.
        text: as it was sent; None where texts were not recorded.
        entered: whether it came in this step.
        more: how many other tools it is about.
        hurt: whether an error of the files is in it.
    """

    kind: Literal["section", "message", "cut"]
    name: str
    said: str = ""
    quoted: str = ""
    id: str = ""
    tier: str = ""
    reason: str = ""
    place: str = ""
    link: str = ""
    tokens: int = 0
    share: float = 0.0
    text: str | None = None
    entered: bool = False
    more: int = 0
    hurt: bool = False

    @property
    def pieces(self) -> Iterator[tuple[str, str]]:
        """The text in pieces, each with its kind: a `tag`, a `cue`, or plain text."""
        for line in (self.text or "").splitlines(keepends=True):
            if cue := _CUE.match(line):
                yield "cue", cue[0]
                yield "", line[cue.end() :]
            else:
                yield "tag" if _TAG.fullmatch(line) else "", line


@dataclass(frozen=True, slots=True)
class PromptView:
    """What the Prompt screen shows.

    Attributes:
        question: what the visitor came to find out.
        answer: the answer in one sentence.
        more: what else is to be said, a sentence each.
        manifest: the record of the prompt.
        system: the rows of the system prompt.
        after: the rows behind it, in the order in which the model reads them.
        unchanged: the step since which the system prompt is the same; empty if this is the first.
        cache: what the provider's cache makes of it; None if nothing can be priced.
        tiers: the tokens by tier.
        cuts: what was left out, without rows that stand in the prompt.
        then: what the model then called; None where that is unknown.
        texts: whether the texts are known.
    """

    question: str
    answer: str
    more: tuple[str, ...]
    manifest: Manifest
    system: tuple[Row, ...]
    after: tuple[Row, ...]
    unchanged: str
    cache: CacheView | None
    tiers: Mapping[str, int]
    cuts: tuple[Cut, ...]
    then: tuple[str, ...] | None
    texts: bool

    @property
    def names(self) -> Mapping[str, str]:
        """What the rows of sections are called, by id."""
        return {row.id: row.name for row in (*self.system, *self.after) if row.kind == "section"}


def prompt(asked: Asked) -> Mapping[str, Any]:
    """What the template of the screen shows: the view, or the problems that stand in its way."""
    view, wrong = None, asked.state.problems
    if asked.engine is not None:
        try:
            view = prompt_view(asked)
        except CuecardError as error:
            wrong = error.problems
    shown, more = problem_views(wrong, asked.editor)
    return {"view": view, "problems": shown, "more": more}


def welcome(asked: Asked) -> Mapping[str, Any]:
    """What the first page shows."""
    return prompt(asked)


def prompt_view(asked: Asked) -> PromptView:
    """The view of a step of a conversation or, without one, of the first step of a turn.

    Raises:
        CuecardError: when the prompt cannot be made, such as of a turn without a value that the agent needs.
    """
    steps = asked.run.steps if asked.run else (_made(asked),)
    place = asked.step if asked.run else 0
    sent, before = steps[place], steps[place - 1] if place else None
    rows = _Rows(asked, sent, before)
    question = (
        f"What the model read in step {sent.number} of turn {sent.turn}" if asked.run else "What the model reads first"
    )
    manifest = sent.manifest
    tiers = {tier: sum(s.tokens for s in manifest.sections if s.tier == tier) for tier in ("static", "call", "step")}
    return PromptView(
        question,
        _answer(sent, before),
        (),
        manifest,
        tuple(rows.system()),
        tuple(rows.after()),
        _unchanged(steps, place),
        cache_view(steps, place, asked.model),
        tiers,
        manifest.cuts,
        sent.calls,
        bool(sent.texts),
    )


def _made(asked: Asked) -> Sent:
    """The first step of a turn, as if a search had found the tools of the address."""
    assert asked.engine is not None  # noqa: S101 - without a good state, a screen shows the problems instead
    record = asked.home.turns.read(asked.address.turn) if asked.address.turn else TurnRecord()
    return Sent.of_step(step_of_turn(asked.engine, record.read(), asked.address.found))


class _Rows:
    """Makes the rows of one request."""

    def __init__(self, asked: Asked, sent: Sent, before: Sent | None) -> None:
        self._folder, self._editor = asked.state.path.parent, asked.editor
        self._sent, self._manifest = sent, sent.manifest
        self._known = {each.sha256 for each in before.manifest.sections} if before else None
        self._by_id = {each.id: each for each in sent.manifest.sections}
        self._queries = dict(_queries(sent.lines))

    def system(self) -> Iterator[Row]:
        """The rows of the system prompt; the tags around it are one."""
        placed = [each for each in self._manifest.sections if each.placement != "appended"]
        closing = {f"/{each.id}" for each in placed}
        ends = {each.id.removeprefix("/"): each for each in placed if each.id in closing}
        for record in placed:
            if record.id in ends:
                tokens = record.tokens + ends[record.id].tokens
                yield Row("section", record.id, "the tags around it", tokens=tokens, tier=record.tier, id=record.id)
            elif record.id.removeprefix("/") not in ends:
                yield self._section(record)

    def after(self) -> Iterator[Row]:
        """The rows behind the system prompt: messages in one line each, and blocks."""
        lines = self._sent.lines or [
            Line("block", block=each.id) for each in self._manifest.sections if each.placement == "appended"
        ]
        for line in lines:
            if line.who == "block":
                if line.block in self._by_id:
                    yield self._section(self._by_id[line.block])
            else:
                yield _message(line)

    def _section(self, record: SectionRecord) -> Row:
        text = self._sent.texts.get(record.id)
        tools = [
            each for each in self._manifest.protocols if each.placement == record.placement and _names(record, each)
        ]
        name, said, source = record.id, "", record.source
        if record.placement == "appended" and tools:
            name, source = tools[0].id, tools[0].source
            more = f"and {len(tools) - 1} more, " if len(tools) > 1 else ""
            said = f"{more}after the result of"
        elif record.placement == "appended":
            said = record.reason
        query = self._queries.get(_call_of(self._manifest, tools), "")
        whole = self._manifest.total_tokens
        return Row(
            "section",
            name,
            said if query or not tools else said.removesuffix("after the result of").rstrip(", "),
            query or _first_line(text),
            record.id,
            record.tier,
            record.reason,
            short_place(source),
            editor_link(self._editor, self._folder, source),
            record.tokens,
            100 * record.tokens / whole if whole else 0.0,
            text,
            self._known is not None and record.sha256 not in self._known,
            max(0, len(tools) - 1) if record.placement == "appended" else 0,
        )


def _names(record: SectionRecord, protocol: SectionRecord) -> bool:
    return protocol.id in record.reason.partition(": ")[2].split(", ")


def _call_of(manifest: Manifest, tools: Sequence[SectionRecord]) -> str:
    first = tools[0].id if tools else ""
    return next((each.after_call_id or "" for each in manifest.discovered if each.tool == first), "")


def _queries(lines: Sequence[Line]) -> Iterator[tuple[str, str]]:
    """The query of each search, by the id of its call."""
    for line in lines:
        for call in line.calls:
            yield call.id, call.query


def _message(line: Line) -> Row:
    if line.text:
        return Row("message", line.who, quoted=_short(line.text))
    told = ", ".join(dict.fromkeys(call.tool for call in line.calls))
    queries = ", ".join(f"“{_short(call.query)}”" for call in line.calls if call.query)
    return Row("message", line.who, " ".join(filter(None, (told, queries))))


def _first_line(text: str | None) -> str:
    lines = (line.strip() for line in (text or "").splitlines())
    return next((_short(line) for line in lines if line and not _TAG.fullmatch(line)), "")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _QUOTED else line[: _QUOTED - 1] + "…"


def _answer(sent: Sent, before: Sent | None) -> str:
    """What came in and what left, from the manifests alone."""
    blocks = sum(each.placement == "appended" for each in sent.manifest.sections)
    behind = f"and {_number(blocks, 'block')} after it" if blocks else "and nothing after it"
    if before is None:
        tools = len(sent.manifest.active_tools)
        return f"The system prompt, {behind}. The model may call {_number(tools, 'tool')}."
    same = "The system prompt as before" if sent.system == before.system else "Another system prompt than before"
    entered, left = sent.came, sent.gone
    came = f"{_number(len(entered), 'tool').capitalize()} entered here" if entered else "No tool entered here"
    gone = f"{_number(len(left), 'tool')} left" if left else "nothing left" if entered else "none left"
    return f"{same}, {behind}. {came}; {gone}."


def _unchanged(steps: Sequence[Sent], place: int) -> str:
    """The first step from which on the system prompt has been the same; empty if it is this one."""
    first = place
    while first and steps[first - 1].system == steps[place].system:
        first -= 1
    return steps[first].place if first < place else ""


def _number(number: int, noun: str) -> str:
    word = _WORDS[number] if number < len(_WORDS) else f"{number:,}"
    return f"{word} {noun}{'' if number == 1 else 's'}"
