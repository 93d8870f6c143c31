"""The first page: what the agent is in one sentence, three things to try, and how its prompt grows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from cuecard.config.model_profile import ModelProfile
from cuecard.engine import Engine
from cuecard.errors import CuecardError
from cuecard.files.content import content_root
from cuecard.model import Manifest
from cuecard.records import dataclass
from cuecard.studio.cache_view import cache_view
from cuecard.studio.problems import editor_link, problem_views, short_place
from cuecard.studio.screen import Question
from cuecard.studio.steps import DeliveryRun
from cuecard.workbench.output import counted
from cuecard.workspace import first_step

_GROWTH = 6
"""How many steps the picture of a growing prompt shows."""

_PHRASES = ("attach an image", "list blog posts", "make it look nicer")
"""What can be searched in the agent that cuecard brings; others have phrases of their own tools."""


@dataclass(frozen=True, slots=True)
class Growth:
    """The prompt of a step: its tokens, those of the first step in it, and what entered."""

    place: str
    tokens: int
    entered: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WelcomeView:
    """What the first page shows.

    Attributes:
        shipped: whether it is the agent that cuecard brings.
        name: the agent's name.
        answer: what it is, in one sentence.
        phrases: words that find tools.
        run: the conversation whose steps are to be tried; None without any.
        step: the step of it in which tools entered last.
        broken: the conversation and the step in which a cache broke; None if no conversation shows one.
        told: what that break is, in words.
        tool: the tool whose instructions are to be changed; empty without any.
        place: where they are written.
        link: opens them in the editor.
        growth: how the prompt grows in a conversation.
        whole: its tokens with every instruction from the start.
        start: its tokens at the start.
    """

    shipped: bool
    name: str
    answer: str
    phrases: tuple[str, ...]
    run: DeliveryRun | None
    step: str
    broken: tuple[str, str] | None
    told: str
    tool: str
    place: str
    link: str
    growth: tuple[Growth, ...]
    whole: int
    start: int


def welcome(asked: Question) -> Mapping[str, Any]:
    """What the template of the first page shows: the view, or the problems that stand in its way."""
    view, wrong = None, asked.state.problems
    if asked.engine is not None:
        try:
            view = welcome_view(asked, asked.engine)
        except CuecardError as error:
            wrong = error.problems
    shown, more = problem_views(wrong, asked.editor)
    return {"view": view, "problems": shown, "more": more}


def welcome_view(asked: Question, engine: Engine) -> WelcomeView:
    """The view of an agent.

    Raises:
        CuecardError: when the prompt cannot be made without a turn.
    """
    first = first_step(engine, None, ()).manifest
    run = _run(asked, engine)
    broken, told = _broken(asked, engine, asked.model)
    protocol = next((each for each in first.protocols if each.reason != "core tool"), None)
    tool = next((name for name in engine.instructions if name not in engine.core_tools), "")
    source = protocol.source if protocol else _source(engine, tool) if tool else ""
    entered = [sent.place for sent in run.steps if sent.came] if run else []
    return WelcomeView(
        asked.state.path.is_relative_to(content_root()),
        engine.name,
        _answer(engine, first),
        tuple(_phrases(engine)),
        run,
        entered[-1] if entered else "",
        broken,
        told,
        tool,
        short_place(source),
        editor_link(asked.editor, asked.state.path.parent, source),
        tuple(_growth(run)) if run else (),
        _whole(engine),
        first.total_tokens,
    )


def _answer(engine: Engine, first: Manifest) -> str:
    tools, begin = len(engine.tools), f"its prompt begins with {first.total_tokens:,} tokens."
    if not tools:
        return f"It has no tools, and {begin}"
    if first.delivery.shows_all or len(first.active_tools) >= tools:
        return f"It has {counted(tools, 'tool')}, all of them from the start, and {begin}"
    return f"It has {counted(tools, 'tool')}, and {begin} Instructions enter when the model finds a tool."


def _run(asked: Question, engine: Engine) -> DeliveryRun | None:
    """The conversation that shows best how a prompt grows: the first one in which tools enter and nothing breaks."""
    for summary in asked.listed[:_GROWTH]:
        run = asked.runs.run(summary.id, engine, asked.model)
        if run and any(sent.came for sent in run.steps) and not any(sent.broken for sent in run.steps):
            return run
    return None


def _broken(asked: Question, engine: Engine, model: ModelProfile) -> tuple[tuple[str, str] | None, str]:
    """The step that pays most for what had been sent already, of the first conversation with one."""
    for summary in asked.listed[:_GROWTH]:
        run = asked.runs.run(summary.id, engine, model)
        broken = [place for place, sent in enumerate(run.steps) if sent.broken] if run else []
        paid = {place: cache_view(run.steps, place, model).again for place in broken} if run else {}
        if run and paid and (most := max(paid, key=lambda place: paid[place])) and paid[most]:
            told = f"In {summary.title}, step {run.steps[most].place} pays {paid[most]:,} tokens a second time."
            return (run.id, run.steps[most].place), f"{told} The timeline names the line."
    return None, ""


def _phrases(engine: Engine) -> Iterator[str]:
    """Words that somebody may try, as far as the agent has tools to be found."""
    if all(engine.search_tools(each).tools for each in _PHRASES[:2]):
        yield from _PHRASES
        return
    words = (next(iter(card.phrases), name) for name, card in engine.tools.items() if name not in engine.core_tools)
    yield from islice((each for each in words if engine.search_tools(each).tools), 3)


def _source(engine: Engine, tool: str) -> str:
    """Where the instructions of a tool are written, as the manifest of a prompt with it says."""
    manifest = first_step(engine, None, [tool]).manifest
    return next((each.source for each in manifest.protocols if each.id == tool), "")


def _growth(run: DeliveryRun) -> Iterator[Growth]:
    steps = [(run.steps[0], ()), *((sent, sent.came) for sent in run.steps[1:] if sent.came)]
    for sent, came in steps[:_GROWTH]:
        yield Growth(sent.place, sent.prompt, tuple(came))


def _whole(engine: Engine) -> int:
    """The tokens of the prompt if every instruction stood in it from the start; 0 if that cannot be rendered."""
    try:
        return first_step(replace(engine, delivery="frozen"), None, ()).manifest.total_tokens
    except CuecardError:
        return 0
