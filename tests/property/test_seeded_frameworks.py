"""One contract for hosts: what frameworks send in conversations that a seed draws, judged on the wire.

`CUECARD_CONVERSATIONS=1000` plays so many on each host, and `CUECARD_SEED` is the first of their seeds. How often each
host has made each move is printed (`-rP` or `-s`).
"""

from __future__ import annotations

import os
from collections import Counter

import pytest

from property.seeded_frameworks import HOSTS
from property.seeded_talks import Talk, service

FIRST = int(os.environ.get("CUECARD_SEED", "0"))
COUNT = int(os.environ.get("CUECARD_CONVERSATIONS", "8"))

# Of clients: Google's inherits from aiohttp's, and some stay open, which is told wherever they are collected.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning"),
    pytest.mark.filterwarnings(r"ignore:\[EXPERIMENTAL\]:UserWarning"),  # ADK says so of compaction
    pytest.mark.filterwarnings("ignore:Unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:agent `a`. entry:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*ClientSession.__del__:pytest.PytestUnraisableExceptionWarning"),
]


@pytest.mark.parametrize("host", HOSTS)
def test_a_framework_that_a_seed_plays_sends_what_was_promised(host: str) -> None:
    made, requests = Counter[str](), 0
    talks: list[Talk] = []
    with service(talks) as url:
        for seed in range(FIRST, FIRST + COUNT):
            talk = Talk(seed, HOSTS[host].can)
            talks.append(talk)
            try:
                HOSTS[host](talk, url).live()
            except Exception as error:
                error.add_note("\n".join([f"seed {seed}", *talk.trace, *talk.faults]))
                raise
            made += talk.moves
            requests += talk.requests
    print(f"{host}: {COUNT} conversations, {requests} requests")
    print("\n".join(f"  {move}: {count}" for move, count in sorted(made.items())))
