"""`cuecard run` with a plain agent file: no server, a server, a module; each option, and each mistake."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo

from unit.workbench.run.talking import AGENT, cuecard, deciding, forget_modules, write

QUICK_SERVER = Path(__file__).parent / "quick_server.py"
TOOLS = '''\
from decimal import Decimal


def price(item: str, /, count: int = 1) -> dict[str, str]:
    """What an item costs.

    Args:
        item: its name.
        count: how many.
    """
    if item == "nothing":
        raise KeyError("no such item")
    return {"price": str(Decimal("1.50") * count)}


async def odd() -> object:
    """Answers with what JSON does not have."""
    return object()


def _own() -> None:
    pass
'''


@pytest.fixture(autouse=True)
def _fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    forget_modules(["shop_tools"])
    write(tmp_path, {"agent.yaml": AGENT, "shop_tools.py": TOOLS})


def calls_then_answers(*calls: ToolCallPart) -> Any:
    """A model that makes these calls one after the other, and then says what came of the last one."""

    def decide(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        results = [part for m in messages for part in m.parts if isinstance(part, ToolReturnPart)]
        if len(results) < len(calls):
            return ModelResponse([calls[len(results)]])
        return ModelResponse([TextPart(str(results[-1].content) if results else "nothing called")])

    return decide


def test_without_any_tools_it_is_a_chat_and_no_search_tool_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[list[str], str]] = []

    def decide(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(([tool.name for tool in [*info.function_tools, *info.output_tools]], info.instructions or ""))
        asked = [p.content for m in messages for p in m.parts if isinstance(p, UserPromptPart)]
        return ModelResponse([TextPart(f"heard {asked}")])

    deciding(monkeypatch, decide)
    ran = cuecard(
        monkeypatch,
        "run",
        ".",
        "--model",
        "test",
        "--set",
        "owner=Eve",
        "--message",
        "One",
        "--message",
        "Two",
        "--json",
    )

    assert ran.code == 0
    assert [turn["answer"] for turn in ran.of("turn")] == ["heard ['One']", "heard ['One', 'Two']"]
    assert [tools for tools, _ in seen] == [[], []]
    assert "You help in the shop of Eve." in seen[0][1]


def test_the_lines_of_a_pipe_are_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    deciding(monkeypatch, calls_then_answers())
    ran = cuecard(monkeypatch, "run", "agent.yaml", "--model", "test", "--json", typed="One\n\n  \nTwo")

    assert [asked["user"] for asked in ran.of("user")] == ["One", "Two"]
    assert ran.code == 0


def test_functions_of_a_module_are_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = (
        ToolCallPart("tool_search", {"query": "what an item costs"}),
        ToolCallPart("price", {"item": "tea", "count": 3}),
    )
    deciding(monkeypatch, calls_then_answers(*calls))
    ran = cuecard(
        monkeypatch, "run", ".", "--model", "test", "--tools-module", "shop_tools", "--message", "Tea?", "--json"
    )

    assert [call["tool"] for step in ran.of("step") for call in step["calls"]] == ["tool_search", "price"]
    assert ran.of("step")[1]["discovered"] == ["price"]
    assert ran.of("turn")[0]["answer"] == "{'price': '4.50'}"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (ToolCallPart("price", {"item": "nothing"}), "KeyError"),
        (ToolCallPart("price", {"item": "tea", "count": "many"}), "wrong arguments: count: Input should be"),
        (ToolCallPart("price", {}), "wrong arguments: item: Field required"),
        (ToolCallPart("odd", {}), "the function returned a value that JSON cannot represent"),
    ],
)
def test_a_function_that_fails_is_a_result_that_the_model_reads(
    call: ToolCallPart, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = ToolCallPart("tool_search", {"query": "price odd", "limit": 5})
    deciding(monkeypatch, calls_then_answers(find, call))
    ran = cuecard(
        monkeypatch, "run", ".", "--model", "test", "--tools-module", "shop_tools", "--message", "?", "--json"
    )

    made = ran.of("step")[1]["calls"][0]
    assert made["is_error"]
    assert said in str(made["result"])
    assert "no such item" not in str(made["result"])
    assert ran.code == 0


def test_tools_of_a_server_and_of_a_module_appear_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"agent.yaml": AGENT + "delivery: frozen\n"})
    shown: list[list[str]] = []

    def decide(_messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        shown.append([tool.name for tool in info.function_tools])
        return ModelResponse([TextPart("done")])

    deciding(monkeypatch, decide)
    server = shlex.join([sys.executable, str(QUICK_SERVER)])
    ran = cuecard(
        monkeypatch, "run", ".", "--model", "test", "--mcp", server, "--tools-module", "shop_tools", "--message", "?"
    )

    assert ran.code == 0
    assert {"price", "odd", "boom"} <= set(shown[0])


def test_a_name_that_two_sources_have_is_reported_and_the_first_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    deciding(monkeypatch, calls_then_answers())
    server = shlex.join([sys.executable, str(QUICK_SERVER)])
    ran = cuecard(monkeypatch, "run", ".", "--model", "test", "--mcp", server, "--mcp", server, "--message", "?")

    assert ran.code == 0
    assert "warning[server-tool]: `boom` is listed twice" in ran.err


def test_a_tool_that_no_provider_takes_is_reported_and_not_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"tools.yaml": "described: {alerts/list: {}}"})
    write(tmp_path, {"agent.yaml": "agent: a\nsections: [{id: s, text: Hi}]\ntools: {instructions: tools.yaml}\n"})
    shown: list[str] = []

    def decide(_messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        shown.extend(tool.name for tool in info.function_tools)
        return ModelResponse([TextPart("done")])

    deciding(monkeypatch, decide)
    server = shlex.join([sys.executable, str(QUICK_SERVER), "alerts/list", "alerts-list"])
    ran = cuecard(monkeypatch, "run", ".", "--model", "test", "--mcp", server, "--message", "?")

    assert ran.code == 0
    assert "warning[server-tool]: tool alerts/list is skipped: a tool name has 1 to 64 ASCII letters" in ran.err
    assert "alerts-list" in shown
    assert "alerts/list" not in shown


def test_a_turn_without_an_answer_ends_a_script_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    deciding(monkeypatch, lambda _m, _i: ModelResponse([ToolCallPart("no_such_tool", {})]))
    ran = cuecard(monkeypatch, "run", ".", "--model", "test", "--message", "?", "--json")

    assert ran.code == 1
    assert ran.of("turn")[0]["stopped"]


def test_a_core_tool_that_nobody_has_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = "described: {weigh: {description: Weighs things}, tool_search: {description: Finds tools}}\n"
    write(tmp_path, {"tools.yaml": entry})
    write(
        tmp_path,
        {
            "agent.yaml": AGENT.replace(
                "{core: [tool_search]}", "{core: [tool_search, weigh], instructions: tools.yaml}"
            )
        },
    )
    deciding(monkeypatch, calls_then_answers())
    ran = cuecard(monkeypatch, "run", ".", "--model", "test", "--message", "?")

    assert ran.code == 0
    assert "cuecard run: warning[unserved-tool]: no source provides the core tool `weigh`" in ran.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "--model: error[no-model]: a chat needs a model"),
        (["--model", "scripted"], "--model: error[wrong-model]: `scripted` only plays"),
        (["--model", "nobody:x"], "--model: error[wrong-model]: `nobody:x`: there is no such model"),
        (["--model", "deepseek:x"], "needs the environment variable DEEPSEEK_API_KEY\n  = set DEEPSEEK_API_KEY"),
        (["--model", "groq:x"], "error[not-installed]: `groq:x`: the package of this provider is not installed"),
        (["--model", "test", "--tools-module", "no_such_module"], "error[wrong-module]: there is no module `no_such"),
        (["--model", "test", "--tools-module", "no.such"], "error[wrong-module]: there is no module `no.such`"),
        (["--model", "test", "--tools-module", "breaks"], "cannot be imported: ZeroDivisionError: division by zero"),
        (["--model", "test", "--tools-module", "needs"], "cannot be imported: No module named 'absent_package'"),
        (["--model", "test", "--tools-module", "lies"], "`lies.__all__` names `gone`, which it does not define"),
        (["--model", "test", "--mcp", "no-such-program x"], "error[server-start]: the tool server cannot be started"),
        (["--model", "test", "--mcp", "a 'b"], "--mcp: error[wrong-option]: `--mcp a 'b` cannot be read: no closing"),
        (["--model", "test", "--mcp", ""], "--mcp: error[wrong-option]: `--mcp` names no command"),
        (["--model", "test", "--set", "owner"], "--set: error[wrong-option]: `--set owner` has no `=`"),
        (["--model", "test", "--set", "onwer=x"], "error[unknown-input]"),
        (["--model", "test", "--scenario", "x", "--data", "y"], "--data: error[wrong-option]: `--data` only applies"),
        (["--model", "test", "--turn", "turn.yaml"], "--turn: error[wrong-option]: a chat supplies `messages` itself"),
    ],
)  # fmt: skip
def test_each_mistake_has_its_error(
    words: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget_modules(["breaks", "needs", "lies"])
    files = {"breaks.py": "1 / 0", "needs.py": "import absent_package", "lies.py": "__all__ = ['gone']"}
    write(tmp_path, {**files, "turn.yaml": "messages: [{role: user, content: x}]\nhistory: [{tool: x, result: y}]\n"})
    for name in ("DEEPSEEK_API_KEY", "CUECARD_MODEL"):
        monkeypatch.delenv(name, raising=False)
    ran = cuecard(monkeypatch, "run", "agent.yaml", *words, "--message", "?")

    assert ran.code in {1, 2}
    assert told in ran.err
    assert "Traceback" not in ran.err


def test_a_server_that_dies_mid_chat_ends_it_with_its_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    find = ToolCallPart("tool_search", {"query": "die", "limit": 5})
    deciding(monkeypatch, calls_then_answers(find, ToolCallPart("die", {})))
    server = shlex.join([sys.executable, str(QUICK_SERVER)])
    ran = cuecard(monkeypatch, "run", ".", "--model", "test", "--mcp", server, "--message", "?")

    assert ran.code == 1
    assert "--mcp: error[server-died]" in ran.err
    assert "it said: out of memory" in ran.err


def test_a_silent_server_is_abandoned_after_the_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    deciding(monkeypatch, calls_then_answers())
    server = shlex.join([sys.executable, "-c", "import sys; sys.stdin.read()"])
    ran = cuecard(monkeypatch, "run", ".", "--model", "test", "--mcp", server, "--timeout", "0.3", "--message", "?")

    assert "--mcp: error[server-timeout]: the tool server did not answer within 0.3 s" in ran.err
    assert "or raise `--timeout`" in ran.err


@pytest.mark.parametrize(
    ("files", "name", "kind"),
    [
        ({"x/agent.yaml": AGENT}, "x", "agent"),
        ({"x/agent.yaml": AGENT, "x/assistant.yaml": "agent: agent.yaml\nserver: {command: [x]}"}, "x", "assistant"),
        ({"mine.yaml": AGENT}, "mine.yaml", "agent"),
        ({"mine.yaml": "agent: agent.yaml\nserver: {command: [x]}"}, "mine.yaml", "assistant"),
        ({}, "cms", "assistant"),
        ({}, "polyant", "agent"),
        ({}, "examples/cms/assistant.yaml", "assistant"),
        ({}, "prompts/cms/agent.yaml", "agent"),
    ],
)
def test_the_content_of_a_file_decides_what_is_run(files: dict[str, str], name: str, kind: str, tmp_path: Path) -> None:
    from cuecard.workbench.run.assistant_file import find_runnable  # noqa: PLC0415 - beside the one test of it

    write(tmp_path, files)

    assert find_runnable(Path(name)).kind == kind


@pytest.mark.parametrize("name", ["nothing", "nothing.yaml", "empty"])
def test_what_is_not_there_is_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    ran = cuecard(monkeypatch, "run", name, "--model", "test", "--message", "?")

    assert ran.code == 2
    assert f"cuecard run: error[missing-file]: `{name}` " in ran.err
