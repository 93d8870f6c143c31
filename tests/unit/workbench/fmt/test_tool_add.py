"""`cuecard tools add`: a new entry, and every line that was there."""

from __future__ import annotations

import json
import shutil
from codecs import BOM_UTF8
from pathlib import Path

import pytest

from cuecard import Engine
from unit.workbench.run.talking import Ran, cuecard


@pytest.fixture(scope="module")
def new(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An agent as `cuecard init` writes it."""
    folder = tmp_path_factory.mktemp("new")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        cuecard(patched, "init", "shop", "--yes")
    return folder / "shop"


@pytest.fixture
def shop(new: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return shutil.copytree(new, tmp_path / "shop")


def add(monkeypatch: pytest.MonkeyPatch, *words: str | Path) -> Ran:
    return cuecard(monkeypatch, "tools", "add", *words)


def test_an_entry_is_added_and_passes_the_check(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (shop / "tools.yaml").read_text(encoding="utf-8")
    ran = add(monkeypatch, "delete_note", "--agent", "shop")

    assert (ran.code, ran.err) == (0, "")
    line = before.count("\n") + 1
    assert ran.out.startswith(f"added `delete_note` to shop/tools.yaml:{line}\n")
    after = (shop / "tools.yaml").read_text(encoding="utf-8")
    assert after.startswith(before)
    checked = cuecard(monkeypatch, "check", "shop")
    assert checked.code == 0
    assert "`delete_note` has unfinished texts: description, before, after, next, gotcha" in checked.out + checked.err
    assert cuecard(monkeypatch, "fmt", "--check", "shop").code == 0
    written = after.replace("TODO: ", "")
    (shop / "tools.yaml").write_text(written, encoding="utf-8")
    assert "unfinished-tool" not in cuecard(monkeypatch, "check", "shop", "--strict").out


def test_by_default_the_agent_is_that_of_the_current_folder(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop)
    told = json.loads(add(monkeypatch, "delete_note", "--json").out)
    assert (told["ok"], told["tool"], told["file"]) == (True, "delete_note", "tools.yaml")


def test_the_agent_may_be_named_after_the_tool_as_in_other_commands(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = json.loads(add(monkeypatch, "delete_note", "shop", "--json").out)
    assert (told["ok"], told["file"]) == (True, "shop/tools.yaml")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("add_note", "--agent", "shop"), "duplicate-tool"),
        (("add_note", "--agent", "shop/tools.yaml"), "duplicate-tool"),
        (("a note", "--agent", "shop"), "wrong-option"),
        (("add_note", "shop"), "duplicate-tool"),
        (("x", "shop", "--agent", "shop"), "wrong-option"),
        (("", "--agent", "shop"), "wrong-option"),
        (("x" * 129, "--agent", "shop"), "wrong-option"),
        (("x", "--agent", "gone"), "missing-file"),
        (("x", "--agent", "gone/tools.yaml"), "missing-file"),
        (("x", "--agent", "cms"), "wrong-option"),
        (("x", "--agent", "shop/turns/first.yaml"), "unknown-key"),
    ],
)
def test_what_cannot_be_added_is_an_error_and_nothing_changes(
    words: tuple[str, ...], code: str, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path: path.read_bytes() for path in shop.rglob("*") if path.is_file()}
    ran = add(monkeypatch, *words)
    assert ran.code in {1, 2}
    assert f"error[{code}]" in ran.err
    assert {path: path.read_bytes() for path in shop.rglob("*") if path.is_file()} == before


def test_a_new_file(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = add(monkeypatch, "send_mail", "--agent", "shop/mail.yaml")
    assert ran.code == 0
    assert "category: mail\ntools:\n  send_mail:\n" in (shop / "mail.yaml").read_text(encoding="utf-8")


def test_a_folder_of_files(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = shop / "agent.yaml"
    agent.write_text(agent.read_text(encoding="utf-8").replace("tools.yaml", "tools"), encoding="utf-8")
    ran = add(monkeypatch, "send_mail", "--agent", "shop")
    assert "error[missing-file]" in ran.err
    (shop / "tools").mkdir()
    (shop / "tools.yaml").rename(shop / "tools" / "notes.yaml")
    assert "shop/tools/notes.yaml" in add(monkeypatch, "one", "--agent", "shop").out
    (shop / "tools" / "more.yaml").write_text("tools: {}\n", encoding="utf-8")
    unclear = add(monkeypatch, "two", "--agent", "shop")
    assert "`two` could go into any of 2 files: shop/tools/more.yaml, shop/tools/notes.yaml" in unclear.err
    assert "shop/tools/notes.yaml" in add(monkeypatch, "pin_note", "--agent", "shop").out
    assert "shop/tools/more.yaml" in add(monkeypatch, "two", "shop/tools/more.yaml").out
    assert cuecard(monkeypatch, "check", "shop").code == 0


def test_comments_order_and_a_link_stay(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = shop / "real.yaml"
    (shop / "tools.yaml").rename(target)
    target.write_text(target.read_text(encoding="utf-8") + "  # the end\n\n# after\n", encoding="utf-8")
    (shop / "tools.yaml").symlink_to("real.yaml")
    target.chmod(0o640)
    before = target.read_text(encoding="utf-8").splitlines()
    assert add(monkeypatch, "one", "--agent", "shop").code == 0
    assert (shop / "tools.yaml").is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    after = target.read_text(encoding="utf-8").splitlines()
    assert [line for line in after if line in before] == before


DESCRIBED = """\
category: pages   # of the site
described:
  # What finds the others.
  tool_search: {description: Find tools}
  # Editors ask for this one daily.
  publish:
    # In one line.
    description: "Publish a page"   # short
    phrases: [put it online]

  archive: {description: Archive a page, phrases: [put away]}  # rarely
  drop: {}
# The end.
"""


def test_a_described_tool_gets_its_instructions_where_its_author_wrote_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "pages.yaml"
    file.write_text(DESCRIBED, encoding="utf-8")
    ran = add(monkeypatch, "publish", file)

    assert (ran.code, ran.err) == (0, "")
    cues = "".join(line for line in file.read_text(encoding="utf-8").splitlines(keepends=True) if "TODO" in line)
    assert [line.split(":")[0] for line in cues.splitlines()] == ["    before", "    after", "    next", "    gotcha"]
    own = DESCRIBED[DESCRIBED.index("  # Editors") : DESCRIBED.index("\n  archive")]
    rest = DESCRIBED.replace(own, "").replace("\n\n", "\n")
    assert file.read_text(encoding="utf-8").replace("\n\n", "\n") == rest.replace(
        "# The end.\n", f"# The end.\ntools:\n{own}{cues}"
    )


def test_an_entry_in_braces_is_written_out_and_the_last_one_takes_the_heading_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "pages.yaml"
    file.write_text(DESCRIBED, encoding="utf-8")
    for tool in ("archive", "drop", "publish", "tool_search"):
        assert add(monkeypatch, tool, file).code == 0, tool
    text = file.read_text(encoding="utf-8")

    assert "  archive:  # rarely\n    description: Archive a page\n    phrases:\n      - put away\n    before:" in text
    assert "described:" not in text
    assert [line for line in DESCRIBED.splitlines() if "#" in line and "archive" not in line and line not in text] == []
    told = json.loads(add(monkeypatch, "more", file, "--json").out)
    assert told["tool"] == "more"


@pytest.mark.parametrize(
    "text",
    [
        "described: {publish: {description: Publish a page}}\n",
        "described:\n  publish: {\n    description: Publish a page  # now\n  }\n",
        "described:\n  publish: {description: Publish a page}\ntools: {x: {before: y}}\n",
        "tools:\n  publish: {description: Publish a page}\n",
    ],
)
def test_what_cannot_be_moved_stays(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "pages.yaml"
    file.write_text(text, encoding="utf-8")
    ran = add(monkeypatch, "publish", file)

    assert ran.code
    assert "pages.yaml" in ran.err
    assert file.read_text(encoding="utf-8") == text


def test_a_checkout_keeps_its_line_ends_and_its_byte_order_mark(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = shop / "tools.yaml"
    file.write_bytes(BOM_UTF8 + file.read_bytes().replace(b"\n", b"\r\n"))
    before = file.read_bytes()
    assert add(monkeypatch, "one", "--agent", "shop").code == 0
    assert file.read_bytes().startswith(before.rstrip())
    assert file.read_bytes().count(b"\n") == file.read_bytes().count(b"\r\n") > before.count(b"\n")


def test_what_an_agent_shares_with_others_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sections = "sections: [{id: i, text: '{{{activeProtocols}}}'}]\n"
    house = "category: posts\ndescribed:\n  publish: {description: Publish a post}\n"
    texts = {
        "house/agent.yaml": f"agent: house\ntools: {{instructions: tools}}\n{sections}",
        "house/tools/all.yaml": house,
        "own/agent.yaml": "agent: own\nextends: ../house/agent.yaml\ntools: {instructions: [../house/tools, tools]}\n",
        "own/tools/own.yaml": "category: own\ndescribed:\n  greet: {description: Say hello}\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")

    for folder, agent in ((tmp_path, "own"), (tmp_path / "own", ".")):
        (tmp_path / "own/tools/own.yaml").write_text(texts["own/tools/own.yaml"], encoding="utf-8")
        monkeypatch.chdir(folder)
        ran = [add(monkeypatch, tool, agent) for tool in ("publish", "archive")]

        assert [(each.code, each.err) for each in ran] == [(0, ""), (0, "")]
        assert (tmp_path / "house/tools/all.yaml").read_text(encoding="utf-8") == house
        cards = Engine.open(tmp_path / "own").tools
        assert cards["publish"].description == "Publish a post"
        assert cards["publish"].instructions
        assert cards["publish"].instructions.gotcha.startswith("TODO")
        assert cards["archive"].source.startswith("tools/own.yaml:")
