"""A command imports what it needs and no more: which modules, not how long it takes (tests/bench does that)."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from command_line import run
from cuecard import Engine
from cuecard.cli.options import SWITCH_INTERVAL
from unit.loaded_modules import loaded_by

ROOT = Path(__file__).parents[2]
FRAMEWORKS = {
    "agents",
    "anthropic",
    "fastapi",
    "google",
    "langchain",
    "langchain_core",
    "langgraph",
    "litellm",
    "openai",
}
SERVICES = {"boto3", "httpx", "mcp", "opentelemetry", "prometheus_client", "requests", "starlette", "uvicorn"}
EXTRAS = {"babel", "bm25s", "numpy", "pybars", "pydantic_ai", "pydantic_settings", "pytest", "tokenizers", "watchfiles"}
NEVER = FRAMEWORKS | SERVICES | EXTRAS | {"typer", "click", "asyncio", "multiprocessing", "sqlite3", "unittest"}
"""What no command that shows a prompt has a use for."""

COMMANDS = {
    "fmt --check prompts/cms/agent.yaml": {"rich", "tiktoken", "cuecard.files.rankers.semantic"},
    "render prompts/cms/agent.yaml": {"rich", "tiktoken", "cuecard.files.summarizer", "cuecard.files.rankers.semantic"},
    "render prompts/cms/agent.yaml --manifest": {"cuecard.files.rankers.semantic"},
    "check prompts/cms/agent.yaml": {"rich", "cuecard.files.rankers.semantic"},
    "tokens prompts/cms/agent.yaml": {"cuecard.files.rankers.semantic"},
    "tools search prompts/cms/agent.yaml page": {"tiktoken", "cuecard.files.rankers.semantic"},
    "schema": {"tiktoken", "cuecard.engine"},
    "--help": {"cuecard.engine", "cuecard.model", "pydantic", "ruamel", "lxml", "tiktoken"},
    "render --help": {"cuecard.engine", "cuecard.model", "ruamel", "lxml", "tiktoken"},
    "--version": {"cuecard.engine", "cuecard.model", "pydantic", "ruamel", "lxml", "tiktoken"},
}
"""A command, and what it must not load beside that."""


def with_packages(names: Iterable[str]) -> set[str]:
    return {part for name in names for part in (name, name.partition(".")[0])}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_loads_no_framework_and_nothing_that_it_has_no_use_for(
    command: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    loaded = loaded_by(tmp_path_factory, command)

    assert "cuecard.cli.main" in loaded
    assert with_packages(loaded) & (NEVER | COMMANDS[command]) == set()


def test_what_a_prompt_is_made_of_is_quick_to_define(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The standard decorator compiles the methods of a class while its module loads: `cuecard.records` does not."""
    loaded = loaded_by(tmp_path_factory, "render prompts/cms/agent.yaml")
    shown = [name for name in loaded if name.startswith("cuecard.")]
    files = [(ROOT / "engine").joinpath(*name.split(".")).with_suffix(".py") for name in shown]
    texts = {file: file.read_text(encoding="utf-8") for file in files if file.name != "records.py" and file.is_file()}
    slow = [
        file.name
        for file, text in texts.items()
        if "dataclasses" in text
        for node in ast.parse(text).body
        if isinstance(node, ast.ImportFrom) and node.module == "dataclasses"
        if "dataclass" in [each.name for each in node.names]
    ]

    assert len(texts) > 100
    assert slow == []


BUILT = (
    "from cuecard.config.documents.validation import FileModel\n"
    "waiting = [FileModel]\nbuilt = []\n"
    "for model in waiting:\n"
    "    waiting += model.__subclasses__()\n"
    "    built += [model.__name__] if model.__pydantic_complete__ else []\n"
    "print(len(waiting), *built, file=sys.stderr)"
)
"""Prints how many models there are, and those whose validators have been built."""


def built_by(script: str) -> tuple[int, list[str]]:
    command = [sys.executable, "-c", f"import sys\n{script}\n{BUILT}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    count, *built = done.stderr.splitlines()[-1].split()
    return int(count), built


def test_no_validator_is_built_while_modules_load() -> None:
    count, built = built_by(
        "import cuecard.workbench.render, cuecard.workbench.check.command, cuecard.workbench.replay.command"
    )

    assert count > 60
    assert built == []


@pytest.fixture
def interval() -> Iterator[float]:
    """The usual switch interval, whatever commands have set in this process; it is what it was when the test ends."""
    before, usual = sys.getswitchinterval(), 0.005
    sys.setswitchinterval(usual)
    yield usual
    sys.setswitchinterval(before)


@pytest.mark.parametrize("command", ["serve", "watch"])
def test_commands_whose_threads_wait_for_each_other_switch_between_them_more_often(
    command: str, tmp_path: Path, interval: float
) -> None:
    done = run(command, tmp_path / "missing.yaml")

    assert "missing-file" in done.stderr
    assert sys.getswitchinterval() == pytest.approx(SWITCH_INTERVAL)
    assert interval > SWITCH_INTERVAL


def test_a_library_leaves_the_switch_interval_to_its_host(interval: float) -> None:
    engine = Engine.open(ROOT / "prompts" / "cms")
    engine.prepare_step(engine.prepare_call())

    assert sys.getswitchinterval() == pytest.approx(interval)


FIRST_CALL = """
import sys
from cuecard import Engine, Entity, Memory, ToolResult, Turn
engine = Engine.open(sys.argv[1])
turn = Turn(memory=Memory((Entity("page", "id-1", "Über uns"),)))
names = [name for name in engine.tools if name not in engine.agent.core]
parts = names[:2], names[2:4], names
found = [ToolResult("tool_search", {"tools": part}, f"call-{n}") for n, part in enumerate(parts)]

def records():
    call = engine.prepare_call(turn)
    chat = engine.conversation()
    chat.user(turn)
    steps = [engine.prepare_step(call), engine.prepare_step(call, found[:2])]
    steps += [chat.step(found[:1]), chat.step(found[1:2])]
    loaded = "tiktoken" in sys.modules
    return loaded, [each.manifest.to_json() for each in (*steps, chat.step(found[2:]))]

before, first = records()
after, second = records()
print(before, after, first == second, bool(first[-1]["cuts"]))
"""


def test_a_first_call_and_its_steps_unpack_no_table_and_count_the_same_as_later_ones() -> None:
    script = [sys.executable, "-c", FIRST_CALL, str(ROOT / "prompts" / "cms")]
    told = subprocess.run(script, capture_output=True, check=True, text=True).stdout

    assert told.split() == ["False", "True", "True", "True"]
