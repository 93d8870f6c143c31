"""A framework that is missing, or too old: one error that says which versions work, and what to install."""

from __future__ import annotations

import importlib
import runpy
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from command_line import run
from cuecard import InputError, Problem
from cuecard.adapters import clients
from cuecard.adapters.clients import TESTED, check_version

FRAMEWORKS = [
    ("pydantic_ai", "pydantic_ai", "pydantic_ai.capabilities", "pydantic-ai-slim>=2.62", "pydantic-ai"),
    ("langchain", "langchain", "langchain.agents.middleware", "langchain>=1.4", "langchain"),
    ("langgraph", "langgraph", "langgraph.prebuilt.tool_node", "langgraph>=1.2.11", "langchain"),
    ("openai_agents", "agents", "agents.run_config", "openai-agents>=0.24", "openai-agents"),
    ("adk", "google.adk", "google.adk.plugins.base_plugin", "google-adk>=2.13", "adk"),
    ("litellm_callback", "litellm", "litellm.integrations.custom_logger", "litellm>=1.83", "litellm"),
    ("mcp_server", "mcp", "mcp.server.subscriptions", "mcp>=2", "mcp"),
]


def imported(adapter: str, monkeypatch: pytest.MonkeyPatch, hidden: dict[str, ModuleType | None]) -> InputError:
    for name in [name for name in sys.modules if name.startswith("cuecard.adapters.")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if any(name.startswith(f"{each}.") for each in hidden)]:
        monkeypatch.delitem(sys.modules, name)
    for name, module in hidden.items():
        monkeypatch.setitem(sys.modules, name, module)  # None hides a module
    with pytest.raises(InputError) as caught:
        importlib.import_module(f"cuecard.adapters.{adapter}")
    return caught.value


@pytest.mark.parametrize(("adapter", "package", "seam", "works", "extra"), FRAMEWORKS)
def test_a_missing_framework_is_reported(
    adapter: str, package: str, seam: str, works: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = imported(adapter, monkeypatch, {package: None}).problems[0]

    assert problem.code == "not-installed"
    assert f"the adapter needs {works}" in problem.message
    assert f'pip install "cuecard[{extra}]"' in problem.hint


@pytest.mark.parametrize(("adapter", "package", "seam", "works", "extra"), FRAMEWORKS)
def test_a_version_without_the_seam_is_reported(
    adapter: str, package: str, seam: str, works: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = imported(adapter, monkeypatch, {seam: ModuleType(seam)}).problems[0]

    assert "is installed, and the adapter needs" in problem.message
    assert f"the adapter needs {works}" in problem.message


HOSTS = runpy.run_path(str(Path(__file__).parents[3] / ".ci" / "hosts.py"))


def test_the_ranges_are_those_of_the_project_and_of_the_lock() -> None:
    """`make lock` writes them: the floors of the extras, and the versions that the tests run."""
    assert HOSTS["written"]() == HOSTS["CLIENTS"].read_text(encoding="utf-8")
    assert {f"{package}>={floor}" for package, (floor, _) in TESTED.items()} >= {each[3] for each in FRAMEWORKS}
    assert {package: newest for package, (_, newest) in TESTED.items()} == {name: version(name) for name in TESTED}


OLD = {
    "mcp": "1.9.4",
    "langchain": "1.2.18",
    "langgraph": "1.0.1",
    "google-adk": "1.39.0",
    "litellm": "1.79.3",
    "openai-agents": "0.9.0",
    "pydantic-ai-slim": "1.107.0",
}


@pytest.mark.parametrize(
    ("adapter", "package"),
    [
        ("langchain", "langchain"),
        ("langgraph", "langgraph"),
        ("adk", "google-adk"),
        ("litellm", "litellm"),
        ("litellm_callback", "litellm"),
        ("openai_agents", "openai-agents"),
        ("pydantic_ai", "pydantic-ai-slim"),
        ("mcp_server", "mcp"),
    ],
)
def test_a_version_below_the_floor_is_one_error_at_import(
    adapter: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, OLD)
    (problem,) = imported(adapter, monkeypatch, {}).problems

    assert problem.code == "not-installed"
    assert f"{package} {OLD[package]} is installed" in problem.message
    assert f"`cuecard.adapters.{adapter}` needs {package}>={TESTED[package][0]}" in problem.message
    assert "pip install" in problem.hint


@pytest.mark.parametrize("found", ["2.0.0", "2.1.0rc1", "3.0"])
def test_a_newer_major_version_is_a_warning_that_the_usual_filter_silences(
    found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, {"langchain": found})
    with pytest.warns(UserWarning, match=f"langchain {found} is newer than any"):
        check_version("langchain", "langchain", "a test")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("ignore", UserWarning)
        check_version("langchain", "langchain", "a test")

    assert told == []


def test_a_newer_major_version_is_told_once_however_many_modules_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    """LiteLLM's callback asks beside its adapter, `cuecard run` beside that of pydantic-ai."""
    installed(monkeypatch, {"litellm": "9.0.0"})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        check_version("litellm", "litellm", "a module")
        with clients.needs("litellm", "litellm", "another"):
            pass

    assert len(told) == 1


@pytest.mark.parametrize("floor", ["1.4", "1.4.0"])
def test_what_lies_in_the_range_is_taken_without_a_word(floor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "TESTED", {"langchain": (floor, "1.0")})
    monkeypatch.setattr(clients, "distributions", tuple)  # nobody holds it back, and there are hundreds to read
    for found in ("1.4", "1.4.0", "1.4.1.post1", "1.10", "1.99", "1.5.0rc2", "1!1.5"):
        installed(monkeypatch, {"langchain": found})
        check_version("langchain", "langchain", "a test")
    for found in ("0", "0.99", "1", "1.0", "1.3.99", "1!1.3rc5"):
        installed(monkeypatch, {"langchain": found})
        with pytest.raises(InputError, match=f"langchain {found} is installed, and `a test`"):
            check_version("langchain", "langchain", "a test")


def test_those_that_hold_a_package_back_are_named_with_what_they_want(monkeypatch: pytest.MonkeyPatch) -> None:
    wants = {
        "a": "mcp<2,>=1.24.0",
        "b": "MCP[cli] (~=1.9) ; python_version > '3.8'",
        "c": "mcp ==1.2",
        "d": "mcp<2",
        "others": "mcpx==1",
        "newer": "mcp>=2",
        "at choice": "mcp<2 ; extra == 'all'",
    }
    held = [SimpleNamespace(name=name, version="1", requires=[wanted]) for name, wanted in wants.items()]
    installed(monkeypatch, {"mcp": "1.27.0"})
    monkeypatch.setattr(clients, "distributions", lambda: held)
    with pytest.raises(InputError) as caught:
        check_version("mcp", "mcp", "a test")

    assert caught.value.problems == (
        Problem(
            "not-installed",
            "mcp 1.27.0 is installed, and `a test` needs mcp>=2",
            "a 1 wants mcp<2,>=1.24.0; b 1 wants mcp~=1.9; c 1 wants mcp==1.2: "
            'run `pip install "cuecard[mcp]"` in an environment of its own (`uv venv`, `python -m venv`)',
            "a test",
        ),
    )


@pytest.mark.parametrize(
    "command",
    [
        ["tools", "import", "prompts/cms", "--mcp", "python server.py"],
        ["skills", "import", "skills", "--mcp", "python server.py"],
        ["mcp", "prompts/cms"],
    ],
)
def test_a_package_that_another_one_holds_back_is_one_error_with_the_way_out(
    command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """langchain-mcp-adapters wants mcp 1.x, which has none of what the client of tool servers needs."""
    holder = SimpleNamespace(name="langchain-mcp-adapters", version="0.3.2", requires=["mcp<2,>=1.24.0", "mcpx==1"])
    installed(monkeypatch, {"mcp": "1.27.0"})
    monkeypatch.setattr(
        clients, "distributions", lambda: [holder, SimpleNamespace(name="x", version="1", requires=None)]
    )

    done = run(*command)
    said = done.stderr

    assert done.exit_code != 0
    assert said.count("error[not-installed]") == 1
    assert "mcp 1.27.0 is installed" in said
    assert "langchain-mcp-adapters 0.3.2 wants mcp<2,>=1.24.0" in said
    assert "in an environment of its own" in said
    assert "Traceback" not in said


def installed(monkeypatch: pytest.MonkeyPatch, found: dict[str, str]) -> None:
    """As if these versions were installed."""

    def told(package: str) -> str:
        return found.get(package) or version(package)

    monkeypatch.setattr("importlib.metadata.version", told)  # for adapters that are imported anew
    monkeypatch.setattr(clients, "version", told)
