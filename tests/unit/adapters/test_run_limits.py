"""The limits of a run in every framework: each carries out what was decided, or the manifest says which it cannot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cuecard import Engine
from cuecard.adapters import litellm
from cuecard.types import RunLimitError
from unit.adapters.alike import HOSTS, Host, LangChain, LiteLlm, OpenAiAgents, PydanticAi, shop

COUNTING = [host for host in HOSTS if host is not LiteLlm]
"""The frameworks whose messages say that a call has failed."""


def greet() -> str:
    """Say hello."""
    return "Hello."


def refund() -> str:
    """Give money back."""
    raise ValueError("no such order")


def made(framework: type[Host], folder: Path, run: str, batches: list[Any], **options: Any) -> Host:
    path = shop(folder, "greet", "refund", more=f"run: {run}\n", core="greet, refund")
    return framework(Engine.open(path), [greet, refund], batches, {"handle_tool_errors": True, **options})


def plain(framework: type[Host], folder: Path, run: str, batches: list[Any]) -> Host:
    """The same where nothing fails."""
    path = shop(folder, "greet", "refund", more=f"run: {run}\n", core="greet, refund")
    return framework(Engine.open(path), [greet, refund], batches)


@pytest.mark.parametrize("framework", HOSTS)
def test_no_request_follows_the_last_that_the_steps_allow(framework: type[Host], tmp_path: Path) -> None:
    host = plain(framework, tmp_path, "{steps: 2}", [[("greet", {})]] * 9)

    with pytest.raises(Exception, match=r"run\.steps: 2") as raised:
        host.say("hello")

    assert len(host.systems) == 2
    assert isinstance(raised.value, RunLimitError) or "RunLimitError" in str(type(raised.value.__cause__))


@pytest.mark.parametrize("framework", HOSTS)
def test_each_message_of_the_user_has_all_its_steps_and_calls_made_at_once_are_one(
    framework: type[Host], tmp_path: Path
) -> None:
    batches: list[Any] = [[("greet", {})] * 3, [("greet", {})], [], [("greet", {})], [("greet", {})], []]
    host = plain(framework, tmp_path, "{steps: 3}", batches)

    host.say("hello")
    host.say("hello again")

    assert len(host.systems) == 6


@pytest.mark.parametrize("framework", COUNTING)
def test_a_tool_that_failed_too_often_is_refused_until_the_user_speaks_again(
    framework: type[Host], tmp_path: Path
) -> None:
    batches: list[Any] = [[("refund", {})], [("refund", {})], [("refund", {})], [], [("refund", {})], []]
    host = made(framework, tmp_path, "{retries: 1}", batches)

    host.say("hello")
    host.say("once more")

    told = [result for _, result in host.results[-1]]
    assert ["has failed 2 times" in each for each in told] == [False, False, True, False]


@pytest.mark.parametrize("framework", COUNTING)
def test_after_so_many_failures_of_a_conversation_nothing_is_called(framework: type[Host], tmp_path: Path) -> None:
    batches: list[Any] = [[("refund", {})], [], [("refund", {})], [("greet", {})], []]
    host = made(framework, tmp_path, "{failures: 2}", batches)

    host.say("hello")
    host.say("once more")

    assert "2 calls have failed in this conversation" in host.results[-1][-1][1]


@pytest.mark.parametrize("framework", HOSTS)
def test_other_calls_are_refused_until_the_first_tool_was_called(framework: type[Host], tmp_path: Path) -> None:
    batches: list[Any] = [[("refund", {})], [("greet", {})], [], [("refund", {})], []]
    host = plain(framework, tmp_path, "{first_tool: greet}", batches)

    host.say("hello")
    host.say("once more")

    told = [result for _, result in host.results[-1]]
    assert ["call `greet` first" in each for each in told] == [True, False, True]


@pytest.mark.parametrize("framework", COUNTING)
def test_a_call_beside_the_first_tool_is_not_too_early(framework: type[Host], tmp_path: Path) -> None:
    batches: list[Any] = [[("greet", {}), ("refund", {})], []]
    host = made(framework, tmp_path, "{first_tool: greet}", batches)

    host.say("hello")

    assert "ValueError" in str(host.results[-1])


@pytest.mark.parametrize("framework", HOSTS)
def test_a_new_baseline_keeps_so_many_found_tools_and_names_the_others(framework: type[Host], tmp_path: Path) -> None:
    path = shop(tmp_path, "greet", "refund", more="run: {kept_tools: 1}\n")
    path.write_text(path.read_text().replace("delivery: append", "delivery: rewrite"))
    search = ("tool_search", {"query": "greet refund"})
    host = framework(Engine.open(path), [greet, refund], [[search], [("greet", {})], [], []])

    host.say("hello")
    host.say("once more")

    assert set(host.steps[2].active_tools) == {"tool_search", "greet", "refund"}
    assert host.steps[-1].active_tools == ("tool_search", "greet")
    left = [cut for cut in host.steps[-1].manifest.cuts if "run.kept_tools: 1" in cut.reason]
    assert [cut.what for cut in left] == ["refund"]


@pytest.mark.parametrize("framework", HOSTS)
def test_what_a_host_cannot_enforce_is_said_at_the_start(framework: type[Host], tmp_path: Path) -> None:
    host = plain(framework, tmp_path, "{steps: 9, retries: 1, failures: 3}", [[]])

    host.say("hello")

    told = [each.message for each in host.steps[0].manifest.diagnostics if each.code == "not-enforced"]
    expected = "the host cannot enforce run.retries: 1; run.failures: 3"
    assert told == ([expected] if framework is LiteLlm else [])


def test_the_retries_of_a_card_go_before_those_of_the_agent_file(tmp_path: Path) -> None:
    batches: list[Any] = [[("refund", {})], [("refund", {})], []]
    host = made(PydanticAi, tmp_path, "{retries: 5}", batches, retries=0)

    host.say("hello")

    assert "has failed 1 times" in host.results[-1][-1][1]


def test_the_first_tool_is_forced_in_the_first_request_alone(tmp_path: Path) -> None:
    run = "{first_tool: greet, force_first: true}"
    hosts = [plain(kind, tmp_path, run, [[("greet", {})], []]) for kind in (OpenAiAgents, LangChain, PydanticAi)]
    agents, chain, _ = hosts
    for host in hosts:
        host.say("hello")

    assert [call.model_settings.tool_choice for call in agents.model.calls] == ["greet", None]  # type: ignore[attr-defined]  # of this host
    assert [step.forced_tool for step in chain.steps] == ["greet", ""]
    path = shop(tmp_path, "greet", more=f"run: {run}\n", core="greet")
    greet: dict[str, Any] = {"type": "function", "function": {"name": "greet", "parameters": {"type": "object"}}}
    card = litellm.Cuecard(engine=Engine.open(path))
    ready = card.prepare("openai/gpt-5", [{"role": "user", "content": "hello"}], [greet])
    assert ready.arguments["tool_choice"] == {"type": "function", "function": {"name": "greet"}}
