"""A framework that is missing, or too old: one error that says which versions work, and what to install."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

import pytest

from cuecard import InputError

FRAMEWORKS = [
    ("pydantic_ai", "pydantic_ai", "pydantic_ai.capabilities", "pydantic-ai-slim>=2.62", "pydantic-ai"),
    ("langchain", "langchain", "langchain.agents.middleware", "langchain>=1.4", "langchain"),
    ("langgraph", "langgraph", "langgraph.prebuilt.tool_node", "langgraph>=1.2", "langchain"),
    ("openai_agents", "agents", "agents.run_config", "openai-agents>=0.24", "openai-agents"),
    ("adk", "google.adk", "google.adk.plugins.base_plugin", "google-adk>=2.13", "adk"),
    ("litellm_callback", "litellm", "litellm.integrations.custom_logger", "litellm>=1.83", "litellm"),
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
