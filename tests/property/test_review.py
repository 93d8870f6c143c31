"""Whatever is changed in an entry of a tool of the shipped CMS, the review names it, and its own turns reach it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from command_line import run
from cuecard.config.documents.yaml import read_yaml

ROOT = Path(__file__).parents[2]
TOOLS = Path("tool_instructions", "cms")
AGENT = Path("prompts", "cms")

FILES: dict[str, Any] = {
    path.name: json.loads(json.dumps(read_yaml(path.read_text(encoding="utf-8"), path.name).value))
    for path in sorted((ROOT / TOOLS).glob("*.yaml"))
}
"""The tool files of the CMS."""

FIELDS = [
    (file, tool, field)
    for file, content in FILES.items()
    for tool, entry in content["tools"].items()
    for field in entry
]
"""Each field of each entry."""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the CMS, to be changed."""
    folder = tmp_path_factory.mktemp("copy")
    for part in (TOOLS, AGENT):
        shutil.copytree(ROOT / part, folder / part)
    return folder


def write(folder: Path, files: dict[str, Any]) -> None:
    for name, content in files.items():
        (folder / TOOLS / name).write_text(json.dumps(content), encoding="utf-8")  # JSON is YAML, too


NEW = st.sampled_from([None, "Do as you like.", ["Do as you like.", "Or do not."]])


@settings(max_examples=settings().max_examples // 3)
@given(st.dictionaries(st.sampled_from(FIELDS), NEW, min_size=1, max_size=12))
def test_a_change_of_any_field_of_any_entry_is_named(copy: Path, changes: dict[tuple[str, str, str], Any]) -> None:
    files = json.loads(json.dumps(FILES))
    for (file, tool, field), new in changes.items():
        files[file]["tools"][tool][field] = new if field != "description" or not isinstance(new, list) else new[0]
        if new is None:
            del files[file]["tools"][tool][field]
    write(copy, files)
    told = json.loads(run("diff", ROOT / AGENT, copy / AGENT, "--json").stdout)["changes"]

    assert sorted((each["kind"], each["name"], each["field"], each["change"]) for each in told) == sorted(
        ("tool", tool, field, "changed" if new else "removed") for (_, tool, field), new in changes.items()
    )
    assert all(each["tokens_before"] > 0 for each in told)


def test_the_turns_of_the_cms_expect_words_of_each_gotcha(copy: Path) -> None:
    files = json.loads(json.dumps(FILES))
    entries = [entry for content in files.values() for entry in content["tools"].values()]
    for entry in entries:
        entry["gotcha"] = "Do as you like."
    write(copy, files)
    problems = json.loads(run("test", copy / AGENT, "--json").stdout)["problems"]

    assert len(entries) == 48
    assert [problem["code"] for problem in problems] == ["expect-contains"] * 48


def test_the_turns_of_the_cms_find_each_tool_by_a_search() -> None:
    turns = (
        read_yaml(path.read_text(encoding="utf-8"), path.name).value for path in (ROOT / AGENT / "turns").glob("*")
    )
    found = {each["finds"] for turn in turns for each in turn.get("history") or () if "search" in each}
    core = {"tool_search", "final_answer", "acknowledge"}

    assert found == {tool for content in FILES.values() for tool in content["tools"]} - core
