"""The Timeline screen: conversations, their steps, what entered and left, and any two of them compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from shlex import quote
from typing import Any

from cuecard.errors import visible
from cuecard.files.roots import shown
from cuecard.studio.break_view import Answer, Piece, PricedStep, answer_of
from cuecard.studio.comparison import Against, PromptPair, against, compare, priced_steps
from cuecard.studio.problems import editor_link, problem_views
from cuecard.studio.runs import RunSummary
from cuecard.studio.screen import Question
from cuecard.studio.steps import CalledTool, DeliveryRun, StepBreak, StudioRequest
from cuecard.workbench.price import dollars
from cuecard.workbench.replay.report import DELIVERIES

MOST_ROWS, _CHUNK, _PAGE, _LISTED = 200, 50, 100, 20
"""How many steps a page shows at first, how many more come at a time, and how many conversations a page lists and a
choice offers.
"""
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True)
class BarPart:
    """A part of a bar: what it shows, where it begins and how wide it is, in percent."""

    kind: str
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar and the sentence that says the same."""

    said: str
    parts: tuple[BarPart, ...]


@dataclass(frozen=True, slots=True)
class StepRow:
    """A step in the table.

    Attributes:
        place: such as `2.1`.
        calls: what the model then called; None where that was not recorded.
        came: how many tools entered, and `gone` how many left.
        names: the tools that entered or left, in words.
        broke: what broke the cache, in a word; empty if nothing did.
        tokens: of the request or, where only that is known, of the prompt.
        bar: what the cache did with them.
        cost: in plain input tokens.
        mark: `A` or `B`; empty for other steps.
        current: whether it is the step that is shown.
    """

    place: str
    calls: str | None
    came: int
    gone: int
    names: str
    broke: str
    tokens: int
    bar: Bar
    cost: float
    mark: str
    current: bool


@dataclass(frozen=True, slots=True)
class TurnRows:
    """The rows of a turn, with what the user wrote."""

    number: int
    said: str
    rows: tuple[StepRow, ...]


@dataclass(frozen=True, slots=True)
class Steps:
    """The part of the table that is in the page, with how many steps there are before and after it.

    Attributes:
        turns: its rows by turn.
        first: the number of the first row, from 0.
        last: the number behind the last one.
        earlier: the place of a step in front of the rows; empty without one.
        total: how many steps there are.
        fresh: whether any of these has tokens that were neither read nor written.
    """

    turns: tuple[TurnRows, ...]
    first: int
    last: int
    earlier: str
    total: int
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of figures: what it is, the figure, and whether it is bad news."""

    name: str
    figure: str
    bad: bool = False


@dataclass(frozen=True, slots=True)
class ConversationPage:
    """A page of conversations: those that a search found, how many it found, and the pages before and after."""

    found: tuple[RunSummary, ...]
    total: int
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class TimelineView:
    """What the screen shows of a conversation.

    Attributes:
        answer: the sentence.
        run: the conversation, and `sent` its step.
        steps: its steps.
        next_break: the place of the next other step that breaks; empty if there is none.
        breaks: how many others there are, in words.
        against: what the step is compared with; None for the first one.
        compared: the comparison; None without two prompts.
        pair: the bars of A and B; empty without two prices.
        split: what became of the tokens of B, if A is the step before.
        facts: figures of the price and of the provider.
        dollars: what the conversation costs more than under the cheapest delivery, or costs; empty without a price.
        whole: whether figures are of whole requests.
        unread: what could not be read, each in one line.
    """

    answer: Answer
    run: DeliveryRun
    sent: StudioRequest
    steps: Steps
    next_break: str
    breaks: str
    against: Against | None
    compared: PromptPair | None
    pair: tuple[tuple[str, str, Bar, float], ...]
    split: tuple[tuple[str, str, int], ...]
    facts: tuple[Fact, ...]
    dollars: Fact | None
    whole: bool


@dataclass(frozen=True, slots=True)
class Ways:
    """How to come to a first conversation.

    Attributes:
        samples: conversations that cuecard brings and this agent can play.
        folder: where the studio looks for records.
        command: runs the agent so that it writes them there.
        code: does the same in a host.
    """

    samples: tuple[RunSummary, ...]
    folder: str
    command: str
    code: str


def timeline(asked: Question) -> Mapping[str, Any]:
    """What the template of the screen shows: the conversations, and one of them."""
    engine = asked.engine
    listed = _listed(asked.runs.listed(engine, asked.model) if engine else (), asked.address.q, asked.address.page)
    unread = [*(asked.run.problems if asked.run else ()), *(asked.runs.problems(engine) if engine else ())]
    others = [each for each in listed.found if each.id != asked.address.run][:_LISTED]
    problems, more = problem_views(asked.state.problems if engine is None else (), asked.editor)
    return {
        "problems": problems,
        "more": more,
        "view": timeline_view(asked, asked.run) if asked.run else None,
        "listed": listed,
        "others": others,
        "deliveries": [
            name for name in DELIVERIES if asked.run and asked.run.transcript and name != asked.run.delivery
        ],
        "unread": unread,
        "ways": None if listed.total or asked.run else ways(asked),
    }


def ways(asked: Question) -> Ways:
    """The ways to a first conversation."""
    folder = shown(asked.runs.folder or asked.state.path.parent / "records")
    command = f"cuecard run {quote(shown(asked.state.path))} --manifests {quote(folder)}"
    code = f"engine = Recorder({f'{folder}/host.jsonl'!r}, texts=True).instrument(engine)"
    return Ways(asked.runs.samples(asked.engine) if asked.engine else (), folder, command, code)


def more_rows(asked: Question, first: int) -> Mapping[str, Any]:
    """More rows of the table, from a number on."""
    if asked.run is None:
        return {"steps": Steps((), 0, 0, "", 0), "view": None}
    steps = priced_steps(asked.run, asked)
    return {"steps": _steps(asked, asked.run, steps, first, first + _CHUNK)}


def _listed(found: Sequence[RunSummary], words: str, page: str) -> ConversationPage:
    wanted = words.casefold().split()
    fitting = [each for each in found if all(word in each.words for word in wanted)]
    first = int(float(page)) if page else 0
    shown = tuple(fitting[first : first + _PAGE])
    before = max(0, first - _PAGE) if first else None
    return ConversationPage(shown, len(fitting), before, first + _PAGE if first + _PAGE < len(fitting) else None)


def timeline_view(asked: Question, run: DeliveryRun) -> TimelineView:
    """The view of a step of a conversation."""
    steps, at = priced_steps(run, asked), asked.step
    others = dict(_others(asked, run))
    answer = answer_of(steps, at, run, others, asked.model, lambda place: _editor(asked, place))
    other = against(asked, run, steps)
    side = steps[at].sent.held().side
    compared = compare(other.side, side) if other and other.side else None
    in_order = bool(other and at and other.priced and other.priced.sent is steps[at - 1].sent)
    broken = [each.sent.place for each in steps if each.sent.broken and each.sent is not steps[at].sent]
    later = [place for place in broken if _number(place) > _number(steps[at].sent.place)]
    first = max(0, min(at - MOST_ROWS // 2, len(steps) - MOST_ROWS))
    extra = _dollars(asked, steps, others)
    return TimelineView(
        answer,
        run,
        steps[at].sent,
        _steps(asked, run, steps, first, first + MOST_ROWS, other),
        (later or broken or [""])[0],
        ("other break" if len(broken) == 1 else f"{_word(len(broken))} other breaks") if broken else "",
        other,
        compared,
        tuple(_pair(other, steps[at], split=in_order)),
        tuple(_legend(steps[at])) if in_order else (),
        tuple(_facts(steps, at, run, others)),
        extra,
        run.whole,
    )


def _number(place: str) -> tuple[int, int]:
    turn, _, number = place.partition(".")
    return int(turn), int(number)


def _word(number: int) -> str:
    return _WORDS[number] if number < len(_WORDS) else f"{number:,}"


def _editor(asked: Question, place: str) -> str:
    """The link to a place of the agent; records may name what is no file of it."""
    folder = asked.state.path.parent
    known = (folder / place.partition(":")[0]).is_file()
    return editor_link(asked.editor, folder, place) if known else ""


def _others(asked: Question, run: DeliveryRun) -> Iterator[tuple[str, Sequence[PricedStep]]]:
    """The conversation under the other deliveries, priced."""
    for delivery in DELIVERIES:
        if asked.engine and delivery != run.delivery:
            other = asked.runs.under(run, delivery, asked.engine, asked.model)
            if other and len(other.steps) == len(run.steps):
                yield delivery, priced_steps(other, asked)


def _steps(
    asked: Question, run: DeliveryRun, steps: Sequence[PricedStep], first: int, last: int, other: Against | None = None
) -> Steps:
    most = max((_size(each) for each in steps), default=0)
    before = other.priced.sent.place if other and other.kind == "step" and other.priced else ""
    shown = [
        _row(each, most, current=number == asked.step, mark="A" if each.sent.place == before else "")
        for number, each in enumerate(steps[first:last], first)
    ]
    turns = tuple(
        TurnRows(turn, visible(" ".join(run.said.get(turn, "").split())), tuple(rows))
        for turn, rows in groupby(shown, lambda row: _number(row.place)[0])
    )
    earlier = steps[max(0, first - MOST_ROWS // 2)].sent.place if first else ""
    fresh = any(part.kind == "fresh" for row in shown for part in row.bar.parts)
    return Steps(turns, first, min(last, len(steps)), earlier, len(steps), fresh)


def _size(priced: PricedStep) -> int:
    return priced.sent.usage.input_tokens if priced.sent.usage else priced.row.input_tokens


def _row(priced: PricedStep, most: int, *, current: bool, mark: str) -> StepRow:
    sent, row = priced.sent, priced.row
    names = _shown([*(f"+ {tool}" for tool in sent.came), *(f"− {tool}" for tool in sent.gone)])
    broke = _short(sent.broken) if sent.broken else ""
    told = None if sent.called is None else calls_of(sent.called)
    tokens, mark = row.input_tokens, "B" if current else mark
    return StepRow(
        sent.place,
        told,
        len(sent.came),
        len(sent.gone),
        names,
        broke,
        tokens,
        _cache_bar(priced, most),
        row.cost,
        mark,
        current,
    )


def calls_of(called: Sequence[CalledTool]) -> str:
    """What the model called, in order; the same tool twice is counted."""
    counts = Counter(call.tool for call in called)
    failed = Counter(call.tool for call in called if call.is_error)
    told = []
    for tool, times in counts.items():
        name = f"{tool} × {times}" if times > 1 else tool
        told.append(f"{name} (failed)" if failed[tool] else name)
    return _shown(told)


def _shown(names: Sequence[str]) -> str:
    """Names of tools as pages show them, whatever characters are in them."""
    return visible(", ".join(names))


def _short(broken: StepBreak) -> str:
    """What broke the cache, in a word or two."""
    cause = broken.cause.partition(" ")[0]
    names = {"tools": "definitions", "model": "model", "salt": "another salt", "messages": "messages"}
    return names.get(broken.part) or {"file": "files", "discovery": "found tools"}.get(cause, cause) or broken.name


def _cache_bar(priced: PricedStep, most: int) -> Bar:
    """What the provider did with the tokens of a step: as it reported or, without a report, as reckoned."""
    row, usage = priced.row, priced.sent.usage
    if usage:
        rest = usage.input_tokens - usage.cached_tokens
        said = f"the provider read {usage.cached_tokens:,} of {usage.input_tokens:,} tokens"
        return Bar(said, tuple(_parts((("read", usage.cached_tokens), ("fresh", rest)), most)))
    said = f"read {row.cached:,}, written {row.written:,}" + (f", neither {row.fresh:,}" if row.fresh else "")
    return Bar(said, tuple(_parts((("read", row.cached), ("write", row.written), ("fresh", row.fresh)), most)))


def _parts(parts: Sequence[tuple[str, int]], most: int) -> Iterator[BarPart]:
    """Each part at least a quarter of a percent wide."""
    x = 0.0
    for kind, tokens in parts:
        width = 100 * tokens / most if most else 0.0
        if tokens > 0:
            yield BarPart(kind, x, max(width, 0.25))
        x += width


def _pair(other: Against | None, b: PricedStep, *, split: bool) -> Iterator[tuple[str, str, Bar, float]]:
    """The bars of A and B on one scale; where A is the step before, B shows what was paid for again."""
    if other is None or other.priced is None:
        return
    a = other.priced
    most = max(a.row.input_tokens, b.row.input_tokens)
    yield "A", a.sent.place, _reckoned(a, most), a.row.cost
    if not split:
        yield "B", b.sent.place, _reckoned(b, most), b.row.cost
        return
    told = b.split
    parts = (("read", told.kept), ("ahead", told.ahead), ("again", told.again), ("write", told.new))
    said = ", ".join(f"{name} {tokens:,}" for _, name, tokens in _legend(b))
    yield "B", b.sent.place, Bar(f"{b.sent.place}: {said}", tuple(_parts(parts, most))), b.row.cost


def _reckoned(priced: PricedStep, most: int) -> Bar:
    row = priced.row
    said = f"{priced.sent.place}: read {row.cached:,}, written {row.written:,}, neither {row.fresh:,}"
    return Bar(said, tuple(_parts((("read", row.cached), ("write", row.written), ("fresh", row.fresh)), most)))


def _legend(priced: PricedStep) -> Iterator[tuple[str, str, int]]:
    told = priced.split
    yield "read", "kept", told.kept
    if told.ahead:
        yield "ahead", "in front of the change, not kept", told.ahead
    if told.again:
        yield "again", "same text, paid again", told.again
    yield "write", "new", told.new


def _facts(
    steps: Sequence[PricedStep], at: int, run: DeliveryRun, others: Mapping[str, Sequence[PricedStep]]
) -> Iterator[Fact]:
    priced, whole = steps[at], sum(each.row.cost for each in steps)
    alone = "" if run.whole else ", of its prompt alone"
    under = f" under {run.delivery}" if run.delivery else ""
    yield Fact(f"this step{under}{alone}", f"{priced.row.cost:,.0f}")
    for name, other in others.items():
        yield Fact(f"the same under {name}", f"{other[at].row.cost:,.0f}", other[at].row.cost > priced.row.cost)
    for name, other in others.items():
        more = whole - sum(each.row.cost for each in other)
        told = f"the whole conversation, {'more' if more >= 0 else 'less'} than {name}"
        yield Fact(told, f"{'+' if more >= 0 else '−'} {abs(more):,.0f}", more > 0)
    if not others:
        yield Fact(f"the whole conversation{alone}", f"{whole:,.0f}")
    if usage := priced.sent.usage:
        share, ours = (
            _percent(usage.cached_tokens, usage.input_tokens),
            _percent(priced.row.cached, priced.row.input_tokens),
        )
        yield Fact("read from the cache, as the provider reported", f"{usage.cached_tokens:,} ({share})")
        yield Fact("as reckoned here", f"{priced.row.cached:,} ({ours})")
        yield Fact("the provider counted", f"{usage.input_tokens:,}")
        yield Fact("cuecard counted", f"{priced.row.input_tokens:,}")


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "0 %"


def _dollars(asked: Question, steps: Sequence[PricedStep], others: Mapping[str, Sequence[PricedStep]]) -> Fact | None:
    """Money only at a price that the visitor has given."""
    if not asked.address.price:
        return None
    whole = sum(each.row.cost for each in steps)
    least = min((sum(each.row.cost for each in other) for other in others.values()), default=0.0)
    tokens = whole - least if least and whole > least else whole
    price = dollars(tokens, asked.model, float(asked.address.price))
    return Fact("more than the cheapest delivery" if tokens < whole else "the whole conversation", f"$ {price:,.3f}")


__all__ = ["Piece", "TimelineView", "more_rows", "timeline", "timeline_view"]
