"""A conversation of another agent is refused before any request: its prompt would be sent in place of ours."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from cuecard import Engine, InputError
from unit.adapters import test_adk, test_openai_agents, test_pydantic_hosts


@pytest.fixture
def other(tmp_path: Path) -> Engine:
    """An engine of another agent."""
    (tmp_path / "agent.yaml").write_text("agent: other\nsections: [{id: a, text: You help.}]\n", encoding="utf-8")
    return Engine.open(tmp_path / "agent.yaml")


def begun(engine: Engine) -> Any:
    chat = engine.conversation()
    chat.user()
    return chat


TOLD = (
    "conversation: error[foreign-call]: the conversation belongs to the agent `other`, not to `cms`\n"
    "  = pass a conversation of this adapter's engine"
)
NEW = pytest.mark.parametrize("is_new", [True, False], ids=["new", "under way"])


@NEW
def test_by_pydantic_ai(other: Engine, *, is_new: bool) -> None:
    model = test_pydantic_hosts.Model()

    with pytest.raises(InputError) as caught:
        test_pydantic_hosts.run(
            test_pydantic_hosts.agent_of(model, chat=other.conversation() if is_new else begun(other))
        )

    assert (str(caught.value), model.sent) == (TOLD, [])


@NEW
def test_by_the_openai_agents_sdk(other: Engine, *, is_new: bool) -> None:
    host = test_openai_agents.Host([])

    with pytest.raises(InputError) as caught:
        host.run(chat=other.conversation() if is_new else begun(other))

    assert (str(caught.value), host.sent) == (TOLD, ())


def test_in_the_state_of_a_session_of_adk(other: Engine) -> None:
    host = test_adk.Host([])
    stored = {"invocation": "i", "conversation": other.dump(begun(other))}
    at: dict[str, Any] = {"app_name": "site", "user_id": "ann", "session_id": "one"}
    asyncio.run(host.sessions.create_session(**at, state={"cuecard:cms": stored}))

    with pytest.raises(RuntimeError, match="belongs to the agent `other`, not to `cms`"):
        host.run()

    assert host.sent == []
