"""The same host again: tests are files beside the agent."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from pydantic_ai import Agent
from pydantic_ai.models import Model

from cuecard import Engine, Turn
from cuecard.adapters.pydantic_ai import Cuecard
from customer import Customer
from tools import TOOLS

FILES = Path(__file__).parent
ENGINE = Engine.open(FILES)


def build(model: Model, engine: Engine = ENGINE) -> Agent[Customer, str]:
    card = Cuecard(engine=engine, turn=lambda context: Turn(asdict(context.deps)), conversation=engine.conversation())
    return Agent(model, tools=TOOLS, deps_type=Customer, capabilities=[card])
