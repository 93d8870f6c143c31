"""Agents, conversations and addresses for tests of the Timeline."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cuecard import Engine, Recorder, ToolResult, Turn
from cuecard.studio.address import Address
from cuecard.studio.agents import AgentFolders
from cuecard.studio.home import Home
from cuecard.studio.news import TabNews
from cuecard.studio.problems import EDITOR
from cuecard.studio.runs import Runs, RunSummary
from cuecard.studio.screen import AddressBook, Question

CMS = Path("prompts/cms")
RECORDING = Path("examples/cms/recordings/blog-post.json")
MODEL = "claude-opus-5"


@contextmanager
def asking(home: Path, *places: Path, agent: Path = CMS) -> Iterator[AddressBook]:
    """A studio over an agent and places of conversations, without its server."""
    agents = AgentFolders([agent], lambda _: None)
    try:
        yield AddressBook(agents, Runs(places), Home(home / ".cuecard" / "studio"), EDITOR, TabNews())
    finally:
        agents.stop()


def summaries(studio: AddressBook) -> tuple[RunSummary, ...]:
    """The conversations of its agent."""
    engine = studio.agents.state().engine
    assert engine
    return studio.runs.listed(engine, engine.models.find(MODEL))


def named(studio: AddressBook, title: str) -> str:
    """The id of the conversation with this title."""
    return next(each.id for each in summaries(studio) if each.title == title)


def at(studio: AddressBook, title: str, step: str = "", **more: Any) -> Question:
    """The question about a step of a conversation."""
    return studio.asked(Address(run=named(studio, title), step=step, model=more.pop("model", MODEL), **more))


def recorded(
    path: Path, *, steps: int = 3, texts: bool = False, conversation: str = "c-1", engine: Engine | None = None
) -> None:
    """Record a conversation: the second request of each turn of five has found a tool."""
    with Recorder(path, texts=texts) as recorder:
        known = recorder.instrument(engine or Engine.open(CMS))
        chat = known.conversation()
        results: list[ToolResult] = []
        for number in range(steps):
            if number % 5 == 0:
                chat.user(Turn(conversation=conversation), results)
                results = []
            chat.step(results)
            found = chat.search_tools("create page") if number % 5 == 1 else None
            answer: Any = found.to_json() if found else {"posts": [number]}
            tool = "tool_search" if found else "cms_listPosts"
            results = [ToolResult(tool, answer, f"call-{number}", arguments={"query": "create page"})]


def lines(path: Path) -> list[dict[str, Any]]:
    """The records of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_lines(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Write records."""
    path.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
