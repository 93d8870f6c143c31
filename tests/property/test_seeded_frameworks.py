"""One contract for hosts: what frameworks send in conversations that a seed draws, judged on the wire.

`CUECARD_CONVERSATIONS=1000` plays so many on each host, and `CUECARD_SEED` is the first of their seeds. How often each
host has made each move is printed (`-rP` or `-s`).
"""

from __future__ import annotations

import pytest

from property.seeded_frameworks import HOSTS
from property.seeded_talks import play

# Of clients: Google's inherits from aiohttp's, and some stay open, which is told wherever they are collected.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning"),
    pytest.mark.filterwarnings(r"ignore:\[EXPERIMENTAL\]:UserWarning"),  # ADK says so of compaction
    pytest.mark.filterwarnings("ignore:Unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:agent `a`. entry:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*ClientSession.__del__:pytest.PytestUnraisableExceptionWarning"),
]


SEEDS = {
    "pydantic-ai": (0, 1, 2, 3, 5),
    "langchain": (0, 3, 6, 7),
    "langgraph": (2, 7),
    "openai-agents": (0, 3, 7),
    "adk": (1, 3, 6),
    "litellm": (0, 2, 3, 5, 6),
}
"""Those which reach every branch of the engine that the first eight of each host reach."""


@pytest.mark.parametrize("host", HOSTS)
def test_a_framework_that_a_seed_plays_sends_what_was_promised(host: str) -> None:
    play(HOSTS[host], SEEDS[host])
