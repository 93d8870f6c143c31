"""The Switches screen: which tools the model has, by a switch or a search, what that changes, and what goes first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from cuecard.catalogue.explanation import Explanation
from cuecard.catalogue.graph import tool_graph
from cuecard.engine import Engine
from cuecard.errors import CuecardError, Problem
from cuecard.model import Manifest, ToolCard
from cuecard.pipeline.fit import Budget, Offer, Room, first_fit
from cuecard.records import dataclass
from cuecard.studio.address import Address
from cuecard.studio.next_view import NextView, next_of, next_view
from cuecard.studio.problems import problem_views, short_place
from cuecard.studio.rows import PromptRow, Rows
from cuecard.studio.screen import Question
from cuecard.studio.steps import StudioRequest
from cuecard.studio.tried import found_of, is_tried, not_there, sent_of, without_room
from cuecard.workbench.output import counted

MAX_ROWS = 200
"""How many switches of tools that are off stand in the page; a filter finds the others."""

_ABSENT = 3
"""How many reasons why tools do not exist for a request the answer tells."""

_GOING = 4
"""How many tools a budget names that go first."""

_HUNDRED = 100


@dataclass(frozen=True, slots=True)
class Switch:
    """A tool and its switch.

    Attributes:
        name: its name.
        tokens: what its instructions cost.
        order: its number among the found tools; 0 for others.
        why: why it is not active although it is a core tool or was found; empty otherwise.
    """

    name: str
    tokens: int
    order: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class Switches:
    """Every tool, where its switch stands.

    Attributes:
        core: what is always on.
        found: what is found, in order.
        off: of the others, those that stand in the page, by category, each with how many there are of it.
        others: how many others there are.
        left: how many of them do not stand in the page, although they hold the letters that are filtered by.
    """

    core: tuple[Switch, ...]
    found: tuple[Switch, ...]
    off: tuple[tuple[str, int, tuple[Switch, ...]], ...]
    others: int
    left: int

    @property
    def known(self) -> int:
        """How many tools can be found."""
        return len(self.found) + self.others

    @property
    def many(self) -> bool:
        """Whether not all of them stand in the page, so that the server filters them."""
        return self.others > MAX_ROWS


@dataclass(frozen=True, slots=True)
class BudgetView:
    """A budget as a slider.

    Attributes:
        name: its field, `protocols` or `total`.
        title: what it limits, in words.
        limit: the tokens that are allowed; None without a limit.
        set: the tokens that the agent file allows; None likewise.
        used: the tokens that are used of it.
        most: the end of the slider.
        going: the tools that go first when it gets smaller, each with the budget below which it goes.
        place: where the agent file says it, as `file:line`; empty if it does not.
    """

    name: str
    title: str
    limit: int | None
    set: int | None
    used: int
    most: int
    going: tuple[tuple[str, int], ...]
    place: str

    @property
    def rule(self) -> str:
        """What reasons call it."""
        return f"budget.{self.name}"

    @property
    def changed(self) -> bool:
        """Whether another budget than that of the file is tried."""
        return self.limit != self.set


@dataclass(frozen=True, slots=True)
class Facts:
    """What is worked out once for a state of an agent: what instructions cost, and what leads to what."""

    tokens: Mapping[str, int]
    after: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class SwitchesView:
    """What the screen shows.

    Attributes:
        answer: the answer in one sentence.
        more: what else is to be said, a sentence each.
        found: the tools that are found, in order, as the address has them.
        unknown: names in the address that are no tools of the agent.
        switches: every tool.
        search: the search of the address with its reasons; None without one.
        phrases: for each tool that may get the words of the search as a phrase, the file where that is written.
        next: the graph of NEXT; None if no tool leads to another.
        order: the numbers of the found tools, by name.
        core: the core tools.
        absent: the core and found tools that do not exist for the request, each with the reason.
        system: the tokens of the system prompt.
        rows: what stands behind it.
        manifest: the record of the prompt; None if it cannot be made.
        tiers: its tokens by tier.
        budgets: the two budgets.
        left_out: what has no room, with the reason.
    """

    answer: str
    more: tuple[str, ...]
    found: tuple[str, ...]
    unknown: tuple[str, ...]
    switches: Switches
    search: Explanation | None
    phrases: tuple[tuple[str, str], ...]
    next: NextView | None
    order: Mapping[str, int]
    core: frozenset[str]
    absent: Mapping[str, str]
    system: int = 0
    rows: tuple[PromptRow, ...] = ()
    manifest: Manifest | None = None
    tiers: Mapping[str, int] | None = None
    budgets: tuple[BudgetView, ...] = ()
    left_out: tuple[tuple[str, str, int], ...] = ()

    def nth(self, tool: str) -> str:
        """The number of a found tool, as people say it."""
        number = self.order[tool]
        teen = number // 10 % 10 == 1
        return f"{number:,}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"

    def toggled(self, tool: str) -> tuple[str, ...]:
        """The found tools once this one is switched."""
        return tuple(each for each in self.found if each != tool) if tool in self.order else (*self.found, tool)


def switches(asked: Question) -> Mapping[str, Any]:
    """What the template of the screen shows: the view, and the problems that stand in its way."""
    view, wrong = None, asked.state.problems if asked.state.broken else ()
    if asked.engine is not None:
        view, stood = switches_view(asked)
        wrong = (*wrong, *stood)
    shown, more = problem_views(wrong, asked.editor)
    return {"view": view, "problems": shown, "unread": more, "hand": asked.address.to("switches", found=())}


def switches_view(asked: Question) -> tuple[SwitchesView, tuple[Problem, ...]]:
    """The view, and why there is no prompt in it."""
    assert asked.engine is not None  # noqa: S101 - without a good state, a screen shows the problems instead
    engine, facts = asked.engine, facts_of(asked, asked.engine)
    try:
        named = found_of(asked)
    except CuecardError as error:
        view = _view(asked, facts, (), None)
        return replace(view, answer="The turn of this address cannot be read."), error.problems
    found = tuple(each for each in named if each in engine.tools and each not in engine.core_tools)
    node = (asked.address.node,) if asked.address.node else ()
    unknown = tuple(each for each in (*named, *node) if each not in engine.tools)
    known = replace(asked, address=replace(asked.address, found=found)) if asked.address.found else asked
    try:
        sent = sent_of(known)
    except CuecardError as error:
        return replace(_view(known, facts, found, None), unknown=unknown), error.problems
    return replace(_view(known, facts, found, sent), unknown=unknown), ()


def _view(asked: Question, facts: Facts, found: tuple[str, ...], sent: StudioRequest | None) -> SwitchesView:
    engine = asked.engine
    assert engine is not None  # noqa: S101 - likewise
    search = engine.explain_search(asked.address.query) if asked.address.query.strip() else None
    absent = not_there(sent.manifest, (*engine.core_tools, *found)) if sent else {}
    away = {**(without_room(sent.manifest) if sent else {}), **absent}
    table = _switches(engine, facts, found, away, asked.address.q)
    view = SwitchesView(
        _answer(engine, table, facts, sent, asked.address),
        (*_more(asked, search, sent, absent),),
        found,
        (),
        table,
        search,
        _phrases(engine, search),
        _next(engine, facts, asked.address.node, found),
        {name: number for number, name in enumerate(found, 1)},
        frozenset(engine.core_tools),
        absent,
    )
    return _with_prompt(view, asked, facts, sent) if sent else view


def _with_prompt(view: SwitchesView, asked: Question, facts: Facts, sent: StudioRequest) -> SwitchesView:
    """The view with the prompt beside it, and with budgets."""
    assert asked.engine is not None  # noqa: S101 - likewise
    before = asked.run.steps[asked.step - 1] if asked.run and asked.step and not is_tried(asked.address) else None
    system, after = Rows(asked.state, asked.engine, asked.editor, sent, before).made()
    manifest = sent.manifest
    tiers = {tier: sum(s.tokens for s in manifest.sections if s.tier == tier) for tier in ("static", "call", "step")}
    return replace(
        view,
        system=sum(row.tokens for row in system if row.kind == "section"),
        rows=tuple(row for row in after if row.kind == "section"),
        manifest=manifest,
        tiers=tiers,
        budgets=budgets_of(asked, facts, view.found, sent),
        left_out=lost_tools(sent),
    )


def lost_tools(sent: StudioRequest) -> tuple[tuple[str, str, int], ...]:
    """The found tools that have no room, each with the reason and what it would cost."""
    costs = {cut.what: cut.tokens for cut in sent.manifest.cuts}
    return tuple((name, why, costs.get(name, 0)) for name, why in without_room(sent.manifest).items())


def facts_of(asked: Question, engine: Engine) -> Facts:
    """What is worked out once for a state of an agent."""
    return asked.latest.of(lambda: _facts(engine), "facts", asked.state.name, engine.sha256)


def _facts(engine: Engine) -> Facts:
    tokens = {name: engine.count(text) for name, text in engine.instructions.items()}
    return Facts(tokens, next_of(tool_graph(engine.tools.values())))


def _switches(
    engine: Engine, facts: Facts, found: Sequence[str], away: Mapping[str, str], letters: str = ""
) -> Switches:
    core, on, tokens = engine.core_tools, frozenset(found), facts.tokens
    others = [engine.tools[name] for name in engine.agent.searched if name not in on]
    wanted = letters.casefold() if len(others) > MAX_ROWS else ""
    fitting = [card for card in others if wanted in card.name.casefold()]
    shown: dict[str, list[Switch]] = {}
    for card in fitting[:MAX_ROWS]:
        shown.setdefault(card.category or "other tools", []).append(Switch(card.name, tokens.get(card.name, 0)))
    sizes = Counter(card.category or "other tools" for card in fitting)
    numbered = enumerate(found, 1)
    return Switches(
        tuple(Switch(name, tokens.get(name, 0), 0, away.get(name, "")) for name in core),
        tuple(Switch(name, tokens.get(name, 0), number, away.get(name, "")) for number, name in numbered),
        tuple((category, sizes[category], tuple(tools)) for category, tools in shown.items()),
        len(others),
        max(0, len(fitting) - MAX_ROWS),
    )


def _answer(engine: Engine, table: Switches, facts: Facts, sent: StudioRequest | None, address: Address) -> str:
    """How many tools are found, and what that uses of the budget."""
    if not engine.tools:
        return "This agent has no tools: its prompt is all that the model reads."
    found = [each.name for each in table.found]
    if not table.known:
        core, on = len(table.core), sum(not each.why for each in table.core)
        if on < core:
            return f"{on:,} of {counted(core, 'tool')} {'is' if on == 1 else 'are'} on; nothing is left to be found."
        told = "The one tool of this agent is" if core == 1 else f"All {core:,} tools of this agent are"
        return f"{told} always on; nothing is left to be found."
    if not found:
        room = _limit(engine, address, "protocols")
        allowed = f"; {room:,} tokens are allowed for their instructions" if room else ""
        return f"None of the {counted(table.known, 'tool')} is found yet{allowed}."
    tools = f"{len(found):,} of {counted(table.known, 'tool')} {'is' if len(found) == 1 else 'are'} found"
    if sent is None:
        return f"{tools}; the prompt cannot be made."
    used, limit = _used(sent.manifest, facts, found), _limit(engine, address, "protocols")
    cost = f"{used:,} of the {limit:,} tokens allowed" if limit else f"{used:,} tokens, without a limit"
    lost = without_room(sent.manifest)
    away = len(lost)
    left = f"; {away:,} {'has' if away == 1 else 'have'} no room" if away else ""
    absent = sum(bool(each.why) for each in table.found if each.name not in lost)
    left += f"; {absent:,} {'does' if absent == 1 else 'do'} not exist here" if absent else ""
    return f"{tools}; {'its' if len(found) == 1 else 'their'} instructions cost {cost}{left}."


def _more(
    asked: Question, search: Explanation | None, sent: StudioRequest | None, absent: Mapping[str, str]
) -> Iterator[str]:
    """What the search found, which tools do not exist here and why, and that nothing is written."""
    if search is not None and (hits := [each for each in search.ranked if each.returned]):
        yield f"returned {len(hits):,}: the best has {hits[0].score:.2f}, the last {hits[-1].score:.2f}."
    elif search is not None:
        yield "returned nothing."
    if asked.run and is_tried(asked.address):
        yield f"This is step {asked.run.steps[asked.step].place} as it would be; it was sent otherwise."
    if asked.run and not asked.run.transcript and is_tried(asked.address) and sent:
        yield "Records hold no inputs and no working memory: they have their defaults here."
    reasons: dict[str, list[str]] = {}
    for name, why in absent.items():
        reasons.setdefault(why, []).append(f"`{name}`")
    for why, names in [*reasons.items()][:_ABSENT]:
        others = f" and {len(names) - _ABSENT:,} more" if len(names) > _ABSENT else ""
        yield f"The model does not have {', '.join(names[:_ABSENT])}{others}: {why}."
    if len(reasons) > _ABSENT:
        yield f"The Prompt screen has {len(reasons) - _ABSENT:,} other reasons."
    yield "Every switch, search and slider here changes the prompt at the side and the address, and no file."


def _used(manifest: Manifest, facts: Facts, found: Sequence[str]) -> int:
    """The tokens of the instructions of found tools that are active."""
    active = frozenset(manifest.active_tools)
    return sum(facts.tokens.get(name, 0) for name in found if name in active)


def _limit(engine: Engine, address: Address, name: str) -> int | None:
    told = getattr(address, name)
    limit: int | None = max(1, int(told)) if told else getattr(engine.agent.spec.budget, name)
    return limit


def budgets_of(asked: Question, facts: Facts, found: Sequence[str], sent: StudioRequest) -> tuple[BudgetView, ...]:
    """Both budgets, and what goes first when the one of instructions gets smaller."""
    assert asked.engine is not None  # noqa: S101 - likewise
    active = frozenset(sent.manifest.active_tools)
    costs = [(name, facts.tokens.get(name, 0)) for name in found if name in active]
    used = {"protocols": sum(tokens for _, tokens in costs), "total": sent.manifest.total_tokens}
    titles = {"protocols": "Budget for found tools", "total": "Budget for everything"}
    made = []
    for name, title in titles.items():
        limit, own = _limit(asked.engine, asked.address, name), getattr(asked.engine.agent.spec.budget, name)
        whole = sum(facts.tokens.get(each, 0) for each in found) if name == "protocols" else used[name]
        most = -(-int(1.25 * max(limit or 0, own or 0, whole)) // _HUNDRED) * _HUNDRED or _HUNDRED
        going = tuple(_going(costs)) if name == "protocols" else ()
        place = short_place(asked.state.place_of(("budget", name)))
        made.append(BudgetView(name, title, limit, own, used[name], most, going, place))
    return tuple(made)


def _going(costs: Sequence[tuple[str, int]]) -> Sequence[tuple[str, int]]:
    """The tools that lose their room first, each with the budget below which it does."""
    offers, by_name = [Offer(name, tokens) for name, tokens in costs if tokens], dict(costs)
    left, used = {offer.tool for offer in offers}, sum(offer.tokens for offer in offers)
    told = dict[str, int]()  # a smaller tool may come back for a larger one, and go again
    while left and len(told) < _GOING:
        room = Room(shown=True, takes=by_name.__getitem__, protocols=Budget("protocols", used - 1))
        kept = {*first_fit(offers, room).active}
        for tool in reversed([name for name in by_name if name in left - kept]):
            told.setdefault(tool, used)
        left, used = kept, sum(by_name[tool] for tool in kept)
    return [*told.items()][:_GOING]


def _phrases(engine: Engine, search: Explanation | None) -> tuple[tuple[str, str], ...]:
    """The tools that may stand higher for the words of a search, and their files: the nearest first."""
    if search is None:
        return ()
    near = (each.tool for each in search.ranked)
    names = [*dict.fromkeys((*near, *engine.agent.searched))][:MAX_ROWS]
    written = (engine.tools[name] for name in names if name in engine.tools)
    return tuple((card.name, _file_of(card)) for card in written if card.instructions and _file_of(card))


def _file_of(card: ToolCard) -> str:
    place, _, line = card.source.rpartition(":")
    return place if line.isdigit() else ""


def _next(engine: Engine, facts: Facts, node: str, found: Sequence[str]) -> NextView | None:
    """The graph from the tool of the address, or else from the first found tool that leads to another."""
    chosen = (node,) if node in engine.tools else ()
    leading = (name for name in (*found, *engine.agent.searched, *facts.after) if name in facts.after)
    root = next(chain(chosen, leading), "")
    return next_view(facts.after, root) if root and facts.after else None
