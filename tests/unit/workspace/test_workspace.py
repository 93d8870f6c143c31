"""Agents while their files are edited: unsaved texts count, broken ones take nothing away."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cuecard import Turn
from cuecard.errors import InputError, SpecError
from cuecard.workspace import Workspace

ROOT = Path(__file__).parents[3]
AGENT = """\
agent: shop
inputs: {name: {default: Jana}}
tools: {instructions: tools}
sections:
  - {id: manual, file: manual.md}
  - {id: role, text: "You help {{{name}}}."}
  - {id: protocols, text: "{{{activeProtocols}}}"}
"""
TOOLS = "category: shop\ntools:\n  sell: {description: Sell it., before: Ask for the size.}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {"agent.yaml": AGENT, "manual.md": "Be kind.", "tools/shop.yaml": TOOLS}.items():
        (tmp_path / "shop" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "shop" / name).write_text(text, encoding="utf-8")
    other = AGENT.replace("shop", "kiosk").replace(
        "tools: {instructions: tools}", "tools: {instructions: ../shop/tools}"
    )
    (tmp_path / "kiosk").mkdir()
    (tmp_path / "kiosk" / "agent.yaml").write_text(other.replace("manual.md", "../shop/manual.md"), encoding="utf-8")
    return tmp_path


def codes(workspace: Workspace) -> dict[str, list[str]]:
    return {path.name: [problem.code for problem in found] for path, found in workspace.problems().items()}


def test_every_agent_below_a_folder_belongs_to_a_workspace(folder: Path) -> None:
    workspace = Workspace([folder])

    assert [agent.relative_to(folder.resolve()).as_posix() for agent in workspace.agents] == [
        "kiosk/agent.yaml",
        "shop/agent.yaml",
    ]
    assert workspace.problems() == {}


@pytest.mark.parametrize("name", ["shop/agent.yaml", "shop/manual.md", "shop/tools/shop.yaml"])
def test_a_text_that_is_open_lies_over_its_file_until_it_is_closed(folder: Path, name: str) -> None:
    workspace = Workspace([folder])
    before = workspace.render(folder / "shop", discovered=["sell"]).system
    text = (folder / name).read_text(encoding="utf-8")

    workspace.open(
        folder / name, text.replace("You help", "You serve").replace("kind", "quick").replace("size", "colour")
    )
    after = workspace.render(folder / "shop", discovered=["sell"])
    shown = after.system + "".join(block.text for block in after.appended)
    workspace.close(folder / name)

    assert sum(word in shown for word in ("You serve", "Be quick", "Ask for the colour")) == 1
    assert workspace.render(folder / "shop", discovered=["sell"]).system == before


def test_a_file_that_nobody_has_saved_yet_counts_where_it_is_named(folder: Path) -> None:
    workspace = Workspace([folder / "shop"])
    workspace.open(folder / "shop" / "agent.yaml", AGENT.replace("manual.md", "more.md"))
    assert codes(workspace) == {"agent.yaml": ["missing-file"]}

    workspace.open(folder / "shop" / "more.md", "Be brief.")
    workspace.open(folder / "shop" / "tools" / "more.yaml", TOOLS.replace("sell", "buy"))

    assert workspace.problems() == {}
    assert "Be brief." in workspace.render(folder / "shop", discovered=["buy"]).system


def test_a_file_of_two_agents_has_each_problem_once(folder: Path) -> None:
    workspace = Workspace([folder])
    tools = folder / "shop" / "tools" / "shop.yaml"
    workspace.open(tools, TOOLS.replace("before", "befor"))

    assert codes(workspace) == {"shop.yaml": ["unknown-key"]}
    assert [agent.parent.name for agent in workspace.agents_of(tools)] == ["kiosk", "shop"]
    assert [agent.parent.name for agent in workspace.agents_of(folder / "kiosk" / "agent.yaml")] == ["kiosk"]


@pytest.mark.parametrize(
    "broken", ["agent: shop\nsections: [", "agent: shop\nsections: [{id: role, text: '{{{who}}}'}]\n"]
)
def test_while_a_file_is_half_typed_the_last_good_prompt_answers(folder: Path, broken: str) -> None:
    workspace = Workspace([folder / "shop"])
    file = folder / "shop" / "agent.yaml"
    workspace.open(file, AGENT.replace("You help", "You serve"))
    good = workspace.render(file).system
    workspace.edit(file, broken)

    assert codes(workspace)["agent.yaml"]
    assert workspace.render(file).system == good
    workspace.edit(file, AGENT)
    assert "You help Jana." in workspace.render(file).system


def test_what_is_saved_answers_for_a_text_that_never_was_right(folder: Path) -> None:
    workspace = Workspace([folder / "shop"])
    workspace.open(folder / "shop" / "agent.yaml", "agent: [")

    assert "You help Jana." in workspace.render(folder / "shop").system
    (folder / "shop" / "agent.yaml").write_text("agent: [", encoding="utf-8")
    with pytest.raises(SpecError):
        Workspace([folder / "shop"]).render(folder / "shop")


def test_a_prompt_is_that_of_a_turn(folder: Path) -> None:
    workspace = Workspace([folder / "shop"])

    assert "You help Tom." in workspace.render(folder / "shop", Turn({"name": "Tom"})).system


def test_mistakes_are_named_with_their_way_out(folder: Path) -> None:
    workspace = Workspace([folder / "shop"])
    with pytest.raises(InputError, match="is not an agent of this workspace"):
        workspace.check(folder / "kiosk")
    with pytest.raises(InputError, match="is not open"):
        workspace.edit(folder / "shop" / "agent.yaml", AGENT)
    with pytest.raises(InputError, match="is not open"):
        workspace.close(folder / "shop" / "agent.yaml")
    with pytest.raises(InputError, match="`sel` is not a tool"):
        workspace.render(folder / "shop", discovered=["sel"])
    with pytest.raises(InputError, match="`who` is not"):
        workspace.render(folder / "shop", Turn({"who": "x"}))


def test_a_large_or_unreadable_text_is_reported_as_a_file_would_be(folder: Path) -> None:
    workspace = Workspace([folder / "shop"])
    workspace.open(folder / "shop" / "manual.md", "x" * 2_000_000)
    assert codes(workspace) == {"manual.md": ["large-file"]}

    workspace.edit(folder / "shop" / "manual.md", "\ud800")
    assert codes(workspace) == {"manual.md": ["encoding"]}


def test_the_shipped_agents_have_no_problems() -> None:
    workspace = Workspace([ROOT / "prompts"])

    assert len(workspace.agents) == 5
    assert workspace.problems() == {}


def test_a_folder_without_agents_and_one_that_went_away_are_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("agent: a\nsections: [{id: s, text: x}]\n", encoding="utf-8")
    workspace = Workspace([tmp_path])
    assert workspace.problems() == {}
    shutil.rmtree(tmp_path)

    assert codes(workspace) == {"agent.yaml": ["missing-file"]}
