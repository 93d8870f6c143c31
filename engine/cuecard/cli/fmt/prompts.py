"""The prompts of an agent's own turns: the text and the fingerprint of every section."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from cuecard.agent.agent import Agent
from cuecard.config.turn_file import TurnFile, to_turn
from cuecard.engine import Engine
from cuecard.errors import CuecardError
from cuecard.outside.tokens import bundled_counter
from cuecard.testing.turns import MOMENT, TURNS, read_turns

Prompt: TypeAlias = tuple[str, ...]
"""The sections' texts and their fingerprints in the manifest, or the error."""


def prompts_of(agent: Agent, folder: Path) -> list[Prompt]:
    """The prompt of each turn in `turns/`, and of an empty turn.

    Args:
        agent: the agent.
        folder: the folder that contains `turns/`.
    """
    engine = Engine(agent, agent.spec.delivery, bundled_counter(agent.spec.tokens.encoding), lambda: MOMENT)
    said = [*_conversation(engine, (TurnFile(),))]
    for path in sorted((folder / TURNS).rglob("*.y*ml")):
        try:
            turns = read_turns(path)[1]
        except CuecardError:  # it is not a turn file, or formatting will report its problems
            continue
        said += _conversation(engine, turns)
    return said


def _conversation(engine: Engine, turns: tuple[TurnFile, ...]) -> Iterator[Prompt]:
    chat = engine.conversation()
    for turn in turns:
        try:
            chat.user(to_turn(turn, turn.inputs))
            step = chat.step(turn.tool_results())
        except CuecardError as error:
            yield tuple(problem.code for problem in error.problems)
            return
        texts = [*(each.text for each in step.segments), *(each.text for each in step.appended)]
        yield (*texts, *(str(section.sha256) for section in step.manifest.sections))
