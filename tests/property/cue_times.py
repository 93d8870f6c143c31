"""The shipped CMS agent with cues that wait for a tool's first result, and with searches ahead of the model's own."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from cuecard.agent import build_agent
from cuecard.files.folder import read_agent
from cuecard.types import Agent

CMS = Path(__file__).parents[2] / "prompts" / "cms" / "agent.yaml"
SAID = "tools:\n  cues: {on_discovery: [before, gotcha], on_result: [after, next]}\n  ahead: {}\n"


@cache
def timed() -> Agent:
    sources = read_agent(CMS)
    text = sources.agent.text.replace("tools:\n", SAID, 1)
    return build_agent(replace(sources, agent=replace(sources.agent, text=text)))
