"""The same agent on LangChain: the same files, and the same twenty functions."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langgraph.checkpoint.memory import InMemorySaver

from cuecard import Engine, Turn
from cuecard.adapters.langchain import Cuecard
from customer import Customer
from tools import TOOLS

FILES = Path(__file__).parents[1] / "3_tests"
ENGINE = Engine.open(FILES)


def build(model: BaseChatModel, engine: Engine = ENGINE) -> Any:
    card = Cuecard(engine=engine, turn=lambda request: Turn(asdict(request.runtime.context)))
    return create_agent(model, tools=TOOLS, context_schema=Customer, middleware=[card], checkpointer=InMemorySaver())
