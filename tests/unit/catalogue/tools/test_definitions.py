"""What definitions cost is counted, and bounded where an agent file says so."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from command_line import run
from cuecard import Engine, Manifest, ToolCard, ToolResult, Turn
from cuecard.types import Delivery, Json

AGENT = """\
agent: shop
tools: {instructions: tools, core: [tool_search]}
BUDGET
sections: [{id: role, text: You help.}, {id: protocols, text: "{{{activeProtocols}}}"}]
"""
TOOLS = """\
tools:
  small: {description: Sell a loaf., before: Ask for the size.}
  large: {description: Change a setting., before: Ask which one.}
described:
  tool_search: {description: Find tools.}
  bare: {description: Change all settings.}
  mini: {description: Sell a slice.}
"""


def schema(parts: int) -> dict[str, Json]:
    properties = {f"part_{at}": {"type": "string", "description": "One of the settings."} for at in range(parts)}
    return {"type": "object", "properties": {"size": {"type": "string"}, **properties}}


SCHEMAS = {"small": schema(0), "large": schema(200), "bare": schema(40), "mini": schema(0)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "agent.yaml").write_text(AGENT.replace("BUDGET\n", ""), encoding="utf-8")
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "shop.yaml").write_text(TOOLS, encoding="utf-8")
    listed = [{"name": name, "inputSchema": each} for name, each in SCHEMAS.items()]
    (tmp_path / "tools" / "shop.lock.json").write_text(json.dumps({"tools": listed}), encoding="utf-8")
    return tmp_path


def engine(folder: Path, budget: str = "", delivery: Delivery = "append") -> Engine:
    (folder / "agent.yaml").write_text(AGENT.replace("BUDGET", budget), encoding="utf-8")
    cards = [ToolCard(name, "", each) for name, each in SCHEMAS.items()]
    return replace(Engine.open(folder), delivery=delivery).with_tools(cards)


def found(*names: str) -> ToolResult:
    return ToolResult("tool_search", {"tools": list(names)}, "search-1")


def test_commands_count_what_an_import_has_kept(folder: Path) -> None:
    listed = {each["name"]: each for each in json.loads(run("tools", "list", str(folder), "--json").stdout)}
    shown = run("tools", "show", str(folder), "large").stdout
    tokens = json.loads(run("tokens", str(folder), "--discovered", "large,bare", "--json").stdout)

    large = listed["large"]["definition"]["tokens"]
    assert large > 2_000
    assert listed["tool_search"]["definition"] is None
    assert f"definition: {large:,} tokens\n  part_" in shown
    assert "196 more properties: " in shown
    assert "definition" in run("tools", "list", str(folder)).stdout
    assert tokens["definitions"] == {name: listed[name]["definition"]["tokens"] for name in ("large", "bare")}
    assert (
        "definitions of 2 active tools, beside it: " in run("tokens", str(folder), "--discovered", "large,bare").stdout
    )


def test_a_large_definition_is_a_warning_at_its_entry(folder: Path) -> None:
    done = run("check", str(folder), "--json")

    (problem,) = json.loads(done.stdout)["problems"]
    assert (problem["code"], Path(problem["name"]).name, problem["span"]["line"]) == (
        "large-definition",
        "shop.yaml",
        3,
    )


@pytest.mark.parametrize("text", ["[", "{}", '{"tools": 7}', '{"tools": [{}]}'])
def test_a_file_that_no_import_has_written_is_no_problem_of_the_agent(folder: Path, text: str) -> None:
    (folder / "tools" / "shop.lock.json").write_text(text, encoding="utf-8")

    assert run("check", str(folder)).exit_code == 0
    assert "definition: not known here" in run("tools", "show", str(folder), "large").stdout


def test_a_manifest_has_the_definitions_that_the_host_has_passed(folder: Path) -> None:
    made = engine(folder)
    step = made.prepare_step(made.prepare_call(), [found("small", "large")])
    bare = Engine.open(folder)

    assert [*step.manifest.definitions] == ["small", "large"]
    assert step.manifest.definitions["large"] > 2_000
    assert step.manifest.total_tokens < 100
    assert Manifest.from_json(step.manifest.to_json()) == step.manifest
    assert "definitions" not in bare.prepare_step(bare.prepare_call(), [found("large")]).manifest.to_json()


@pytest.mark.parametrize("delivery", ["append", "rewrite"])
def test_a_tool_whose_definition_has_no_room_is_withheld_with_the_reason(folder: Path, delivery: Delivery) -> None:
    chat = engine(folder, "budget: {definitions: 300}", delivery).conversation()
    chat.user()
    searched = chat.search_tools("change a setting")
    step = chat.step([found("large", "bare", "small")])

    assert "large" in searched.withheld
    assert step.active_tools == ("tool_search", "small")
    assert cuts(step.manifest) == dict.fromkeys(("large", "bare"), "not active: budget.definitions: 300 tokens")
    assert "no room left for its definition" in (step.refusal("large") or "")
    assert "no room left for their definitions: bare, large" in searched.message
    said = step.system + "".join(block.text for block in step.appended)
    assert "large, bare\nNot active: no room is left for their definitions." in said
    assert "for their instructions" not in said + searched.message
    chat.user()
    assert chat.step().active_tools == ("tool_search", "small")


@pytest.mark.parametrize("limit", [694, 695])
def test_what_a_turn_names_takes_its_definition_once_also_where_it_comes_back(folder: Path, limit: int) -> None:
    """A compaction keeps the room of a tool that is away; one for which there is none is withheld when it is back."""
    chat = engine(folder, f"budget: {{definitions: {limit}}}").conversation()
    chat.user()
    chat.step()
    chat.user(Turn(discovered=("bare", "small")))
    named = chat.step()
    chat.compacted()
    chat.user(Turn(tools=("small",)))
    alone = chat.step()
    chat.user(Turn(tools=("small", "mini"), discovered=("mini",)))
    beside = chat.step()
    chat.user()
    back = chat.step()

    kept, other = ("bare", "mini") if limit == 695 else ("mini", "bare")
    assert [{*step.active_tools} - {"tool_search"} for step in (named, alone)] == [
        {"small", *({kept} & {"bare"})},
        {"small"},
    ]
    assert {*beside.active_tools} - {"tool_search"} == {"small", *({kept} & {"mini"})}
    assert {*back.active_tools} - {"tool_search"} == {"small", kept}
    assert [*cuts(back.manifest)] == [other]


@pytest.mark.parametrize("delivery", ["append", "rewrite"])
def test_tools_without_room_for_instructions_and_those_for_definitions_are_named_apart(
    folder: Path, delivery: Delivery
) -> None:
    chat = engine(folder, "budget: {definitions: 300, protocols: 5}", delivery).conversation()
    chat.user()
    steps = [chat.step([found("small", "bare")])]
    chat.user()

    for told in (*steps, chat.step()):
        said = told.system + "".join(block.text for block in told.appended)
        assert "small\nNot active: no room is left for their instructions." in said
        assert "bare\nNot active: no room is left for their definitions." in said


@pytest.mark.parametrize("limit", [694, 695])
def test_core_tools_take_their_part_of_the_budget(folder: Path, limit: int) -> None:
    made = engine(folder, f"budget: {{definitions: {limit}}}")
    file = folder / "agent.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("[tool_search]", "[tool_search, bare]"), encoding="utf-8")
    tight = Engine.open(folder).with_tools(made.tools.values())
    chat = tight.conversation()
    chat.user()
    step = chat.step([found("small")])
    full = chat.step([ToolResult("tool_search", {"tools": ["small", "mini"]}, "search-2")])

    assert step.active_tools == full.active_tools == ("tool_search", "bare", *["small"] * (limit == 695))
    assert cuts(full.manifest)["mini"] == f"not active: budget.definitions: {limit} tokens"


def test_frozen_has_every_tool_whatever_its_definition_takes(folder: Path) -> None:
    made = engine(folder, "budget: {definitions: 10}\ndelivery: frozen", "frozen")

    assert {"small", "large", "bare"} <= {*made.prepare_step(made.prepare_call()).active_tools}
    assert "ignored-budget" in run("check", str(folder)).stderr


def cuts(manifest: Manifest) -> dict[str, Any]:
    return {cut.what: cut.reason for cut in manifest.cuts if cut.reason.startswith("not active")}
