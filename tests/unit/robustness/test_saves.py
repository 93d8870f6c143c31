"""Rows 57 and 58 of the acceptance table for robustness: saves over a newer file, and of files that are broken.

There is no page on which files are edited; these are the commands that write into an author's files.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cuecard import InputError
from cuecard.files.atomic_write import rewrite, write_new
from unit.robustness.agents import AGENT, TOOLS, write_agent
from unit.workbench.run.talking import cuecard

NEWER = "# somebody's newer text\n"
LOOSE = TOOLS.replace("{before", "{   before").replace("AFTER", "done")
LISTED = {"tools": [{"name": "get_page", "description": "Gets a page.", "inputSchema": {"type": "object"}}]}
BROKEN = "tools: {tool_search: [\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = write_agent(tmp_path / "agent", {"tools/search.yaml": LOOSE, "listed.json": json.dumps(LISTED)})
    monkeypatch.chdir(made)
    return made


def content(folder: Path) -> dict[str, bytes]:
    """Every file, those that a writer left behind among them."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


WRITERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "fmt": ("cuecard.workbench.fmt.command.rewrite", ("fmt", ".")),
    "tools add": ("cuecard.workbench.tool_add.rewrite", ("tools", "add", "get_page", "--agent", "tools/search.yaml")),
    "tools import": (
        "cuecard.workbench.tool_import.command.rewrite",
        ("tools", "import", ".", "listed.json", "--into", "tools/search.yaml"),
    ),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_row_57_a_text_that_was_saved_meanwhile_stays_and_nothing_is_written(
    writer: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between reading and writing, somebody saves the file in an editor."""
    place, command = WRITERS[writer]

    def saved_first(path: Path, text: str, before: str, **how: bool) -> None:
        path.write_text(NEWER, encoding="utf-8")
        rewrite(path, text, before, **how)

    monkeypatch.setattr(place, saved_first)
    ran = cuecard(monkeypatch, *command)

    assert ran.code
    assert "tools/search.yaml: error[changed-meanwhile]" in ran.err
    assert (folder / "tools/search.yaml").read_text(encoding="utf-8") == NEWER
    assert not [name for name in content(folder) if Path(name).name.startswith(".")]


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_row_57_the_file_as_it_was_read_is_not_a_newer_one(ends: str, mark: str, folder: Path) -> None:
    file = folder / "a.yaml"
    file.write_bytes(f"{mark}a: é{ends}b: 2{ends}".encode())
    rewrite(file, "new\n", "a: é\nb: 2\n")

    # With the mark and the line ends that it had.
    assert file.read_bytes() == (mark + ("new\r\n" if ends == "\r\n" else "new\n")).encode()


def test_row_57_a_new_file_takes_no_place_that_is_taken(folder: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    (folder / "link.yaml").symlink_to(victim)
    for name in ("agent.yaml", "link.yaml"):
        with pytest.raises(InputError) as caught:
            write_new(folder / name, "new\n")
        assert [problem.code for problem in caught.value.problems] == ["changed-meanwhile"]

    assert not victim.exists()
    assert (folder / "agent.yaml").read_text(encoding="utf-8") == AGENT


def test_row_57_no_planted_link_redirects_an_import(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("safe", encoding="utf-8")
    for name in (".listed.yaml.new", ".listed.lock.json.new"):
        (folder / "tools" / name).symlink_to(victim)

    assert cuecard(monkeypatch, "tools", "import", ".", "listed.json").code == 0
    assert victim.read_text(encoding="utf-8") == "safe"
    assert not (folder / "tools/listed.lock.json").is_symlink()


SAVES: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "fmt of a broken file": ({"tools/search.yaml": BROKEN}, ("fmt", "tools/search.yaml")),
    "fmt of an agent with a broken file": ({"agent.yaml": "agent: [\n"}, ("fmt", "agent.yaml")),
    "an entry in a broken file": ({"tools/search.yaml": BROKEN}, ("tools", "add", "x", "--agent", "tools/search.yaml")),
    "tools in a broken file": (
        {"tools/search.yaml": BROKEN},
        ("tools", "import", ".", "listed.json", "--into", "tools/search.yaml"),
    ),
    "a broken list of tools": ({"listed.json": '{"tools": ['}, ("tools", "import", ".", "listed.json")),
    "a kept list that is broken": ({"tools/listed.lock.json": "{"}, ("tools", "import", ".", "listed.json")),
    "a broken prompt file": ({"a.prompt": "---\nname: [\n---\nHi"}, ("import", "a.prompt", "--to", "made")),
    "one of two prompt files": (
        {"a.prompt": "Hi", "b.prompt": "{{#if x}}"},
        ("import", "a.prompt", "b.prompt", "--to", "made"),
    ),
}


@pytest.mark.parametrize("save", SAVES)
def test_row_58_where_something_is_broken_nothing_is_written(
    save: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, command = SAVES[save]
    before = content(write_agent(folder, {"tools/search.yaml": LOOSE, **files}))
    ran = cuecard(monkeypatch, *command)

    assert ran.code
    assert "error[" in ran.err + ran.out
    assert content(folder) == before


@pytest.mark.parametrize("write", [lambda path, text: rewrite(path, text, AGENT), write_new])
def test_row_58_a_text_that_no_file_can_hold_leaves_the_folder_unchanged(
    write: Callable[[Path, str], None], folder: Path
) -> None:
    before = content(folder)
    with pytest.raises(InputError) as caught:
        write(folder / ("new.yaml" if write is write_new else "agent.yaml"), "half a character: \ud800\n")

    assert [problem.code for problem in caught.value.problems] == ["control-character"]
    assert content(folder) == before
