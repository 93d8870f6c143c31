"""Seeded sessions with the CMS assistant: by default 15 requests in 3 turns, four of which search for tools.

Which tools are found, and how long everything is, is drawn; the prompts, the instructions and the tools are real. A
search finds as many tools as that of the CMS returns for one of the queries of an assistant, at its default width. A
user writes 40 to 200 tokens, the model 60 to 160, and a tool returns 200 to 1,500, the search tool like all others.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from cuecard import Engine, Turn
from cuecard.config.tools_spec import AheadSpec, CuesSpec
from cuecard.config.transcript_file import (
    RecordedCall,
    RecordedRequest,
    RecordedTool,
    RecordedTurn,
    TranscriptFile,
    read_transcript,
)
from cuecard.sources.tools import make_protocol
from unit.catalogue.tools.cms_queries import QUERIES

ROOT = Path(__file__).parents[2]
WORDS = ("page", "site", "menu", "link", "text", "image", "post", "title", "list", "time", "name", "day")
"""Each of them is one token with the space before it."""


@dataclass(frozen=True)
class Plan:
    """The shape of a session: turns, requests per turn, and the requests that search (counted from 1)."""

    turns: int = 3
    requests: int = 5
    searches: tuple[int, ...] = (1, 4, 7, 11)


@cache
def recorded_tools() -> tuple[RecordedTool, ...]:
    """Every tool of the CMS with its schema, as its server describes it."""
    path = ROOT / "examples" / "cms" / "recordings" / "blog-post.json"
    return tuple(read_transcript(path.read_text(encoding="utf-8"), path.name).tools)


@cache
def cms() -> Engine:
    """The assistant with everything that its server says of the tools."""
    engine = Engine.open(ROOT / "prompts" / "cms", delivery="append")
    return engine.with_tools(
        [type(card)(card.name, told.description, told.input_schema) for card, told in _pairs(engine, recorded_tools())]
    )


@cache
def widths() -> tuple[int, ...]:
    """How many tools the search returns for each query of an assistant."""
    return tuple(len(cms().search_tools(query).tools) for query in QUERIES)


def session(seed: int, plan: Plan = Plan(), tools: Sequence[str] = ()) -> TranscriptFile:
    """A conversation whose memory gains something with every request."""
    draw = random.Random(seed)  # noqa: S311 - a session, not a secret
    names = list(tools or (name for name in cms().tools if name not in cms().agent.spec.tools.core))
    draw.shuffle(names)
    memory: list[dict[str, str]] = []
    turns: list[dict[str, Any]] = []
    for turn in range(plan.turns):
        at_start = list(memory)
        requests = []
        for place in range(1, plan.requests + 1):
            number = turn * plan.requests + place
            requests.append({"memory": list(memory), **_answer(draw, plan, number, names)})
            memory.insert(0, {"type": draw.choice(("page", "post", "image", "section")), **_thing(draw, number)})
        turns.append({"user": words(draw, 40, 200), "memory": at_start, "requests": requests})
    return TranscriptFile.model_validate({"turns": turns})


@cache
def knowing() -> Engine:
    """The assistant with tools found ahead of searches, and with AFTER and NEXT behind the first result of a tool."""
    engine = cms()
    cues = CuesSpec(on_discovery=("before", "gotcha"), on_result=("after", "next"))
    tools = engine.agent.spec.tools.model_copy(update={"ahead": AheadSpec(), "cues": cues})
    spec = engine.agent.spec.model_copy(update={"tools": tools})
    words = spec.words.protocols
    protocols = {
        name: made
        for name, card in engine.tools.items()
        if (made := make_protocol(name, card.instructions, words, cues))
    }
    return replace(engine, agent=replace(engine.agent, spec=spec, protocols=protocols))


def purposeful(seed: int, plan: Plan = Plan()) -> TranscriptFile:
    """A session in which the user says what is needed, the search finds what it really finds, and the tool is called.

    What is needed is drawn among the queries of an assistant, and stands among the other words of the user.
    """
    draw = random.Random(seed)  # noqa: S311 - a session, not a secret
    needs = draw.sample(list(QUERIES.items()), len(plan.searches))
    turns: list[dict[str, Any]] = []
    for turn in range(plan.turns):
        asked, requests, needed = list[str](), list[dict[str, Any]](), "cms_getPage"
        for place in range(1, plan.requests + 1):
            number, said = turn * plan.requests + place, words(draw, 60, 160)
            if number in plan.searches:
                query, needed = needs[plan.searches.index(number)]
                asked.append(query)
                found = list(cms().search_tools(query).tools)
                result: Any = {"tools": found, "message": words(draw, 200, 1500)}
                requests.append({"calls": [{"tool": "tool_search", "args": {"query": said}, "result": result}]})
            elif place == plan.requests:
                requests.append({"text": said})
            else:
                requests.append(
                    {"calls": [{"tool": needed, "args": {"query": said}, "result": words(draw, 200, 1500)}]}
                )
        wanted = ". ".join(f"Please {query}" for query in asked)
        turns.append(
            {"user": f"{wanted}. {words(draw, 40, 200)}" if asked else words(draw, 40, 200), "requests": requests}
        )
    return TranscriptFile.model_validate({"turns": turns})


def without_needless_searches(transcript: TranscriptFile, engine: Engine) -> TranscriptFile:
    """The session of a model that does not search for what it has: found ahead, or by an earlier search."""
    known: set[str] = set()
    turns = []
    for turn in transcript.turns:
        known |= set(engine.look_ahead(Turn(query=turn.user)).ahead or ())
        requests = [request for request in turn.requests if not _is_needless(request, known, turn)]
        known |= {name for request in requests for call in _searches(request) for name in call.result["tools"]}
        turns.append(turn.model_copy(update={"requests": requests}))
    return transcript.model_copy(update={"turns": turns})


def _searches(request: RecordedRequest) -> list[RecordedCall]:
    return [call for call in request.calls if call.tool == "tool_search"]


def _is_needless(request: RecordedRequest, known: set[str], turn: RecordedTurn) -> bool:
    """Whether what comes after a search calls only what is known anyway."""
    after = turn.requests[turn.requests.index(request) + 1 :]
    used = next((call.tool for later in after for call in later.calls if not _searches(later)), None)
    return bool(_searches(request)) and used in known


def between_turns(transcript: TranscriptFile) -> TranscriptFile:
    """The same session of a host that makes its prompt anew between turns and at discoveries, and not every time."""
    turns = [
        turn.model_copy(update={"requests": [r.model_copy(update={"memory": None}) for r in turn.requests]})
        for turn in transcript.turns
    ]
    return transcript.model_copy(update={"turns": turns})


def words(draw: random.Random, least: int, most: int) -> str:
    """So many words, which are as many tokens."""
    return " ".join(draw.choices(WORDS, k=draw.randint(least, most)))


def _answer(draw: random.Random, plan: Plan, number: int, names: list[str]) -> dict[str, Any]:
    said = words(draw, 60, 160)
    if number in plan.searches:
        found = [names.pop() for _ in range(min(draw.choice(widths()), len(names)))]
        result: Any = {"tools": found, "message": words(draw, 200, 1500)}
        return {"calls": [{"tool": "tool_search", "args": {"query": said}, "result": result}]}
    if number % plan.requests == 0:
        return {"text": said}
    return {"calls": [{"tool": "cms_getPage", "args": {"query": said}, "result": words(draw, 200, 1500)}]}


def _thing(draw: random.Random, number: int) -> dict[str, str]:
    return {"id": f"id-{number}", "name": words(draw, 3, 8)}


def _pairs(engine: Engine, told: Sequence[RecordedTool]) -> list[tuple[Any, RecordedTool]]:
    return [(engine.tools[tool.name], tool) for tool in told if tool.name in engine.tools]
