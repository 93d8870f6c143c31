"""What every framework's host can rely on: its errors, its tools' own words, its files while they change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cuecard import Engine, InputError
from cuecard.adapters.conversations import search
from unit.adapters.alike import HOSTS, Host, shop

SECRET = "postgres://user:s3cret@db/prod"  # noqa: S105 - of nobody
RUNNING = [each for each in HOSTS if each.handles_errors]
"""The frameworks that run tools themselves; a host of LiteLLM does that, and nobody stands between."""


def boom() -> str:
    """Do something dangerous."""
    raise KeyError(SECRET)


def chain(error: BaseException | None) -> list[type]:
    return [type(error), *chain(error.__cause__)] if error else []


@pytest.mark.parametrize("framework", RUNNING)
@pytest.mark.parametrize("entry", [True, False])
def test_what_a_tool_raises_is_the_hosts_as_without_cuecard(
    framework: type[Host],
    entry: bool,  # noqa: FBT001 - a parameter of the test
    tmp_path: Path,
) -> None:
    path = shop(tmp_path, *(["boom"] if entry else []), core="tool_search, boom" if entry else "tool_search")
    host = framework(Engine.open(path), [boom], [[("boom", {})]])

    with pytest.raises(Exception, match="s3cret") as raised:
        host.say("hello")

    assert KeyError in chain(raised.value)
    assert SECRET not in str(host.results)


@pytest.mark.parametrize("framework", RUNNING)
@pytest.mark.parametrize(
    ("handling", "told"),
    [(True, "KeyError"), ("Try later.", "Try later."), (lambda e: type(e).__name__ + "!", "KeyError!")],
)
def test_a_host_may_have_the_model_read_of_it(framework: type[Host], handling: Any, told: str, tmp_path: Path) -> None:
    host = framework(Engine.open(shop(tmp_path)), [boom], [[("boom", {})]], {"handle_tool_errors": handling})

    host.say("hello")

    ((tool, result),) = host.results[1]
    assert tool == "boom"
    assert told in result
    assert SECRET not in str(host.results)


def test_only_a_wrong_limit_is_told_as_one(tmp_path: Path) -> None:
    engine = Engine.open(shop(tmp_path, "refund_order"))
    chat = engine.conversation()
    chat.user()
    shop(tmp_path, "refund_order", "cancel_order")

    told = search(engine, chat, "refund", 0)
    assert isinstance(told, str)
    assert "cannot return 0 tools" in told
    with pytest.raises(InputError) as raised:
        search(Engine.open(tmp_path), chat, "refund", None)
    assert [problem.code for problem in raised.value.problems] == ["stale-call"]
