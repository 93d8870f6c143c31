"""The Price screen: the report of `cuecard replay` for a conversation, and what it would be if it were different."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from cuecard.config.model_profile import ModelProfile
from cuecard.config.transcript_file import TranscriptFile
from cuecard.engine import Engine
from cuecard.errors import CuecardError
from cuecard.records import dataclass
from cuecard.studio.address import Address
from cuecard.studio.problems import problem_views
from cuecard.studio.screen import Question
from cuecard.workbench.replay.charts import ceiling
from cuecard.workbench.replay.recommend import MOST_TOOLS, at_size, needed, recommend
from cuecard.workbench.replay.report import DELIVERIES, FROZEN_DIRECT, BillingModels, ReplayReport, Variant, replay
from cuecard.workbench.replay.tables import advice_lines
from cuecard.workbench.replay.what_if import lengthened, widened

SIZES = (10, 50, 200, 1_000)
"""The numbers of tools in the table of larger and smaller agents."""

MODELS = ("claude-opus-5", "claude-sonnet-5", "claude-opus-4-8", "claude-haiku-4-5", "gpt-5.6", "gemini-3.8-flash")
"""The models in the table, besides the one of the address."""

MAX_REQUESTS = 60
"""The requests of the longest conversation that is tried, if the recording is not longer."""

MAX_WIDTH = 16
"""The number of tools that a search returns, at most, when another width is tried."""

_THOUSAND, _MILLION = 1_000, 1_000_000
_LABELS, _LEFT, _WIDE = 24, 5.0, 93.5
_TOP, _TALL = 12, 148
_KINDS = ("read", "write", "fresh", "edge")
_KEYS = {"append": "append", "rewrite": "rewrite", "frozen": "frozen", FROZEN_DIRECT: "frozen hollow"}
_ALL = "all"


@dataclass(frozen=True, slots=True)
class CostPart:
    """A part of a bar: what it is, its place and its width in percent."""

    kind: str
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """What a conversation costs under one delivery.

    Attributes:
        name: the delivery.
        key: the classes of its mark.
        cost: in plain input tokens.
        times: how much of the cost under the cheapest delivery that is.
        parts: the bar of what the cost is made of.
        said: the same in words.
        cached: the percentage of the tokens that is read from the cache.
        breaks: how often the cache breaks.
    """

    name: str
    key: str
    cost: float
    times: float
    parts: tuple[CostPart, ...]
    said: str
    cached: float
    breaks: int


@dataclass(frozen=True, slots=True)
class CostLine:
    """The costs of the requests under one delivery, as a line."""

    name: str
    dashes: str
    points: tuple[tuple[float, float], ...]
    rings: tuple[tuple[float, float, float, str], ...]

    @property
    def pieces(self) -> Iterator[tuple[float, float, float, float]]:
        """The straight pieces: from one point to the next."""
        return ((a, b, c, d) for (a, b), (c, d) in pairwise(self.points))


@dataclass(frozen=True, slots=True)
class Chart:
    """The costs of requests: the lines, the labels below, and the figures at the side."""

    lines: tuple[CostLine, ...]
    labels: tuple[tuple[float, str], ...]
    grid: tuple[tuple[float, str], ...]
    said: str


@dataclass(frozen=True, slots=True)
class Slider:
    """A number that can be tried.

    Attributes:
        name: its field in the address.
        title: what it is, in words.
        value: the number.
        least: the smallest that can be tried.
        most: the largest.
        own: what it is in the recording.
        tried: whether the address says it.
    """

    name: str
    title: str
    value: int
    least: int
    most: int
    own: int
    tried: bool


@dataclass(frozen=True, slots=True)
class PriceView:
    """What the screen shows.

    Attributes:
        edge: whether the answer is good news.
        answer: the answer in one sentence.
        more: what else is to be said, a sentence each.
        rows: the deliveries, and what they cost.
        money: what a thousand such conversations cost in dollars; None without a price.
        chart: the cost of each request.
        factors: what a token costs that is read, written, neither, and of an answer.
        sliders: what can be tried.
        encoding: the table that counted the tokens.
        tried: whether anything differs from the recording.
    """

    edge: str
    answer: str
    more: tuple[str, ...]
    rows: tuple[DeliveryRow, ...]
    money: float | None
    chart: Chart
    factors: tuple[float, float, float, float]
    sliders: tuple[Slider, ...]
    encoding: str
    tried: bool

    @property
    def best(self) -> DeliveryRow:
        """The cheapest delivery."""
        return min((row for row in self.rows if row.name in DELIVERIES), key=lambda row: row.cost)


def price(asked: Question) -> Mapping[str, Any]:
    """What the template of the screen shows: the view or, without one, why there is none."""
    view, wrong = None, asked.state.problems if asked.state.broken else ()
    if can_be_played(asked):
        try:
            view = price_view(asked)
        except CuecardError as error:
            wrong = (*wrong, *error.problems)
    shown, more = problem_views(wrong, asked.editor)
    playable = tuple(each for each in asked.listed if each.kind == "recording" and each.delivery == "append")
    return {"view": view, "problems": shown, "unread": more, "playable": playable}


def price_view(asked: Question) -> PriceView:
    """The view of a conversation that can be played.

    Raises:
        CuecardError: when it cannot be played with this agent.
    """
    engine, transcript = _played(asked)
    report = _report(asked, (asked.model,))
    rows = tuple(_rows(report))
    best = min((row for row in rows if row.name in DELIVERIES), key=lambda row: row.cost)
    asks = float(asked.address.price) if asked.address.price else None
    now = str(engine.delivery)
    edge = "good" if best.name == now or now not in DELIVERIES else "warn"
    return PriceView(
        edge,
        f"{best.name} is the cheapest delivery here: {best.cost:,.0f} plain input tokens with {report.model}.",
        tuple(_more(rows, best, now, asked)),
        rows,
        None if asks is None else best.cost * _THOUSAND * asks / _MILLION,
        _chart(report),
        report.billing.prices(asked.model).split(1, 1, 1, 1),
        _sliders(asked, transcript),
        report.tokens.encoding,
        bool(asked.address.size or asked.address.requests or asked.address.width or asked.address.definitions),
    )


def can_be_played(asked: Question) -> bool:
    """Whether the conversation of the address is a recording, and there is an agent to play it."""
    return asked.engine is not None and asked.run is not None and asked.run.transcript is not None


def price_models(asked: Question) -> Mapping[str, Any]:
    """The costs with each model."""
    names = dict.fromkeys((asked.model.name, *MODELS))
    known = asked.engine.models.find if asked.engine else None
    models = [asked.model if name == asked.model.name else known(name) for name in names] if known else []
    report = _report(asked, models)
    heads = [variant.name for variant in report.variants]
    rows = [(name, [variant.bills[name].cost for variant in report.variants]) for name in names]
    return {"heads": heads, "rows": rows}


def price_sizes(asked: Question) -> Mapping[str, Any]:
    """The costs with more and fewer tools, as multiples of what `append` costs."""
    engine, transcript = _played(asked)
    fewest = len(engine.core_tools) + len(needed(engine, transcript))
    rows = []
    for size in [size for size in SIZES if size >= fewest] or [fewest]:
        report = _report(replace(asked, address=replace(asked.address, size=str(size))), (asked.model,))
        rows.append((size, {each.name: report.bill(each).cost for each in report.variants}))
    return {"rows": rows, "direct": FROZEN_DIRECT}


def price_advice(asked: Question) -> Mapping[str, Any]:
    """The recommendation: the cheapest delivery, and from how many tools on that is so."""
    engine, transcript = _played(asked)
    report = _report(asked, (asked.model,))
    key = _key(asked, report.models)
    advice = asked.latest.of(lambda: recommend(report, engine, transcript), "advice", *key)
    return {"advice": tuple(advice_lines(report, advice))}


def _report(asked: Question, models: Sequence[ModelProfile]) -> ReplayReport:
    """The report of `cuecard replay`, as the address wants it."""

    def made() -> ReplayReport:
        engine, transcript = _played(asked)
        definitions = "all" if asked.address.definitions == _ALL else None
        billing = BillingModels(models, definitions)  # type: ignore[arg-type]  # a literal by the line above
        return replay(engine, transcript, billing, name=asked.run.name if asked.run else "")

    return asked.latest.of(made, "report", *_key(asked, models))


def _key(asked: Question, models: Sequence[ModelProfile]) -> tuple[object, ...]:
    """Everything that a report depends on."""
    address, engine = asked.address, asked.engine
    tried = (address.size, address.requests, address.width, address.definitions)
    return (_transcript(asked)[1], engine and engine.sha256, *(model.name for model in models), *tried)


def _transcript(asked: Question) -> tuple[TranscriptFile, str]:
    """The recording, and its fingerprint."""
    transcript = asked.run.transcript if asked.run else None
    assert transcript is not None  # noqa: S101 - without one, the screen says that there is nothing to play
    return transcript, hashlib.sha256(transcript.model_dump_json().encode("utf-8", "replace")).hexdigest()


def _played(asked: Question) -> tuple[Engine, TranscriptFile]:
    """The agent and the conversation, with what is tried."""
    engine, transcript = asked.engine, _transcript(asked)[0]
    assert engine is not None  # noqa: S101 - without a good state, a screen shows the problems instead
    tried = {each.name: each.value for each in _sliders(asked, transcript) if each.tried}
    if "width" in tried:
        transcript = widened(transcript, engine, tried["width"])
    if "requests" in tried:
        transcript = lengthened(transcript, tried["requests"])
    return at_size(engine, transcript, tried["size"]) if "size" in tried else (engine, transcript)


def _sliders(asked: Question, recorded: TranscriptFile) -> tuple[Slider, ...]:
    """What can be tried, from the recording; a value beyond the ends is the nearest one within them."""
    engine, original = asked.engine, _transcript(asked)[0]
    assert engine is not None  # noqa: S101 - likewise
    requests = sum(1 for _ in original.requests())
    tools, width = len({*engine.tools, *engine.core_tools}), engine.agent.spec.tools.search.limit
    fewest = len(engine.core_tools) + len(needed(engine, recorded))
    return (
        _slider(asked.address, "size", "Tools of the agent", (min(fewest, tools), max(MOST_TOOLS, tools)), tools),
        _slider(asked.address, "requests", "Requests of a conversation", (1, max(MAX_REQUESTS, requests)), requests),
        _slider(asked.address, "width", "Tools a search returns", (1, max(MAX_WIDTH, width)), width),
    )


def _slider(address: Address, name: str, title: str, ends: tuple[int, int], own: int) -> Slider:
    told = getattr(address, name)
    value = min(max(int(told), ends[0]), ends[1]) if told else own
    return Slider(name, title, value, *ends, own, bool(told))


def _more(rows: Sequence[DeliveryRow], best: DeliveryRow, now: str, asked: Question) -> Iterator[str]:
    """What the next best costs and why, and whether anything has to be changed."""
    others = sorted((row for row in rows if row.name in DELIVERIES and row is not best), key=lambda row: row.cost)
    if others:
        second = others[0]
        why = f": it breaks the cache {_times(second.breaks)}" if second.breaks else ""
        yield f"The next best is {second.name} at {second.times / best.times:.2f} times as much{why}."
    mine = next((row for row in rows if row.name == now), None)
    if now == best.name:
        yield "Nothing has to be changed."
    elif mine:
        yield f"The agent file says {now}, which costs {mine.times / best.times:.2f} times as much."
    else:
        yield f"The agent file says {now}: the engine chooses by the model."
    if not asked.model.known:
        yield f"Nothing is known of {asked.model.name}: it is priced as if its provider had no cache."
    yield from _clamped(asked)


def _clamped(asked: Question) -> Iterator[str]:
    """What of the address is beyond the ends of its slider."""
    for each in _sliders(asked, _transcript(asked)[0]):
        wanted = getattr(asked.address, each.name)
        if wanted and int(wanted) != each.value:
            yield f"{each.title}: {each.value:,} is shown in place of {int(wanted):,}, which cannot be tried."


def _times(number: int) -> str:
    words = ("never", "once", "twice", "three times", "four times", "five times", "six times")
    return words[number] if number < len(words) else f"{number:,} times"


def _rows(report: ReplayReport) -> Iterator[DeliveryRow]:
    bills = [(variant, report.bill(variant)) for variant in report.variants]
    least = min(bill.cost for variant, bill in bills if variant.name in DELIVERIES) or 1.0
    most = max(bill.cost for _, bill in bills) or 1.0
    prices = report.billing.prices(report.models[0])
    for variant, bill in bills:
        costs = prices.split(*bill.kinds)
        said = ", ".join(
            f"{word} {cost:,.0f}" for word, cost in zip(("read", "written", "neither", "answers"), costs, strict=True)
        )
        parts = tuple(_parts(costs, most))
        key = _KEYS.get(variant.name, "plain")
        times, share = bill.cost / least, 100 * bill.cached_share
        yield DeliveryRow(variant.name, key, bill.cost, times, parts, said, share, bill.rewrites)


def _parts(costs: Sequence[float], most: float) -> Iterator[CostPart]:
    x = 0.0
    for kind, cost in zip(_KINDS, costs, strict=True):
        width = 100 * cost / most
        if cost:
            yield CostPart(kind, x, max(width - 0.1, 0.25))
        x += width


def _chart(report: ReplayReport) -> Chart:
    """The cost of each request under each delivery; a ring marks where the cache breaks."""
    shown = [variant for variant in report.variants if variant.name in DELIVERIES]
    sent = shown[0].sent
    costs = {variant.name: [row.cost for row in report.bill(variant).rows] for variant in shown}
    top = ceiling(max((cost for each in costs.values() for cost in each), default=0.0))
    step = _WIDE / max(len(sent) - 1, 1)
    every = max(1, -(-len(sent) // _LABELS))
    labels = tuple((_LEFT + step * at, f"{one.turn}.{one.number}") for at, one in enumerate(sent) if at % every == 0)
    grid = tuple((_up(top * part / 4, top), _short(top * part / 4)) for part in range(5))
    lines = tuple(_line(variant, costs[variant.name], step, top) for variant in reversed(shown))
    said = "; ".join(
        f"{name} lies between {min(each):,.0f} and {max(each):,.0f}" for name, each in costs.items() if each
    )
    return Chart(lines, labels, grid, said)


def _line(variant: Variant, costs: Sequence[float], step: float, top: float) -> CostLine:
    dashes = {"rewrite": "6 3", "frozen": "2 3"}.get(variant.name, "")
    points = tuple((_LEFT + step * at, _up(cost, top)) for at, cost in enumerate(costs))
    rings = tuple(
        (*point, cost, f"{broken.id} ({broken.cause})")
        for point, cost, broken in zip(points, costs, variant.breaks, strict=True)
        if broken
    )
    return CostLine(variant.name, dashes, points, rings)


def _up(cost: float, top: float) -> float:
    return _TOP + _TALL - _TALL * cost / (top or 1.0)


def _short(value: float) -> str:
    return f"{value / _THOUSAND:g}k" if value >= _THOUSAND else f"{value:g}"
