from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import httpx2
import pytest

from cuecard import watch
from cuecard.server.agents import Agents, open_agents
from cuecard.server.service import Envelopes, Service
from unit.server.served import KEY, serving

ROOT = Path(__file__).parents[3]
OTHER = """\
agent: other
inputs:
  name: {type: string, description: who asks}
  tone: {type: string, default: kind}
sections: [{id: role, text: 'You help {{name}}, and are {{tone}}.'}]
"""


@pytest.fixture(scope="module")
def agents(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agents]:
    """Two agents: the shipped CMS assistant, and a small one."""
    folder = tmp_path_factory.mktemp("agents")
    (folder / "agent.yaml").write_text(OTHER, encoding="utf-8")
    opened = open_agents([ROOT / "prompts/cms", folder], partial(watch, states=folder / "states"))
    yield opened
    opened.stop()


@pytest.fixture(scope="module")
def service(agents: Agents) -> Service:
    return Service(agents, Envelopes(KEY, 3600))


@pytest.fixture(scope="module")
def client(service: Service) -> Iterator[httpx2.Client]:
    with serving(service) as opened:
        yield opened
