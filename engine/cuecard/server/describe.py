"""Descriptions of the agents: for clients, and for monitoring."""

from __future__ import annotations

from cuecard.config.agent_file import InputSpec
from cuecard.engine import Engine
from cuecard.model import Json
from cuecard.server.agents import Agents, ServedAgent


def agents_json(agents: Agents) -> dict[str, Json]:
    """An `AgentsAnswer`."""
    return {"agents": [_agent(each) for each in agents]}


def ready_json(agents: Agents) -> dict[str, Json]:
    """A `Ready`: it reveals no text of any file, because the path needs no token."""
    told = [{**_state(each), "codes": [problem["code"] for problem in _problems(each)]} for each in agents]
    return {"state": "stale" if any(each["state"] == "stale" for each in told) else "ready", "agents": told}


def _state(agent: ServedAgent) -> dict[str, Json]:
    status = agent.status
    state = "stale" if agent.stale else "ready"
    return {"name": agent.name, "state": state, "sha256": status.serving, "since": status.since.isoformat()}


def _problems(agent: ServedAgent) -> list[dict[str, Json]]:
    refused = agent.status.refused
    return [problem.to_json() for problem in refused.problems] if refused else []


def _agent(agent: ServedAgent) -> dict[str, Json]:
    engine = agent.watcher.current
    return {
        **_state(agent),
        "problems": _problems(agent),
        "search_tool": _search_tool(engine),
        "core_tools": list(engine.core_tools),
        "tools": [
            {"name": card.name, "description": card.description, "category": card.category}
            for card in engine.tools.values()
        ],
        "inputs": [_input(name, spec) for name, spec in engine.inputs.items()],
        "profiles": list(engine.profiles),
        "variants": list(engine.variants),
        "reload": engine.reload,
    }


def _input(name: str, spec: InputSpec) -> dict[str, Json]:
    passing = {} if spec.lives == "conversation" else {"tier": spec.tier, "lifetime": spec.lives}
    return {
        "name": name,
        "type": spec.type,
        "required": spec.required,
        "description": spec.description,
        **passing,
    }


def _search_tool(engine: Engine) -> dict[str, Json]:
    name, words = engine.search_tool, engine.words.search
    card = engine.tools.get(name)
    return {
        "name": name,
        "description": (card.description if card else "") or words.description,
        "query": words.query_description,
        "limit": words.limit_description,
    }
