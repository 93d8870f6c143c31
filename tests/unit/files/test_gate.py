"""One gate for every file: regular, inside the roots, bounded, UTF-8; or one error that says why not, at once."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cuecard import CuecardError, Engine, Problem, SpecError, Turn
from cuecard.files import confined_files
from cuecard.files import tree as walking
from cuecard.files.content import read_models
from cuecard.files.folder import read_agent
from cuecard.files.named_files import MAX_TOTAL
from cuecard.files.safe_read import read_text
from cuecard.reload.files import AgentFiles
from cuecard.workbench.run.assistant_file import read_assistant

AGENT = """\
agent: tiny
template: {file: agent.xml, partials: partials}
models: models.yaml
tools: {instructions: tools, core: [tool_search]}
"""
LIST = """\
agent: tiny
sections:
  - {id: a, file: parts/a.md}
  - {id: b, files: {entries: [{path: notes/b.md}]}}
  - {id: c, skills: {roots: skills}}
tools: {instructions: tools, core: [tool_search]}
"""
FILES = {
    "agent.xml": "<agent><a>Hi</a><b>{{{activeProtocols}}}</b></agent>\n",
    "partials/p.hbs": "x\n",
    "models.yaml": "models: {}\n",
    "tools/t.yaml": "category: c\ntools: {tool_search: {before: b, after: a, next: n, gotcha: g}}\n",
    "parts/a.md": "Text.\n",
    "notes/b.md": "Note.\n",
    "skills/s/SKILL.md": "---\nname: s\ndescription: d\n---\nBody\n",
}
NAMED = (
    *((AGENT, name) for name in ("agent.xml", "partials/p.hbs", "models.yaml", "tools/t.yaml", "agent.yaml")),
    *((LIST, name) for name in ("parts/a.md", "notes/b.md", "skills/s/SKILL.md")),
)
each_file = pytest.mark.parametrize(("agent", "name"), NAMED, ids=[name for _, name in NAMED])


def write(folder: Path, agent: str, files: dict[str, str] | None = None) -> Path:
    """The agent's folder, beside other files."""
    for name, text in {"agent.yaml": agent, **FILES, **(files or {})}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def told(folder: Path) -> list[Problem]:
    """Whatever is wrong with the files of an agent, also with one that may be missing."""
    try:
        sources = read_agent(folder)
    except SpecError as error:
        return list(error.problems)
    unread = [Problem("unread", reason, name=path) for path, reason in sources.unread]
    return [*sources.problems, *unread]


@each_file
def test_every_file_of_an_agent_can_be_read(tmp_path: Path, agent: str, name: str) -> None:
    folder = write(tmp_path / "agent", agent)

    assert told(folder) == []
    assert name in {source.path for source in read_agent(folder).texts()}


def _secret(path: Path) -> Path:
    return next(above / "secret.txt" for above in path.parents if (above / "secret.txt").exists())


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(20 * 1024**3)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(path.parent)  # a socket's whole path may have 107 bytes only
        try:
            server.bind(path.name)
        finally:
            os.chdir(here)


STRANGE: dict[str, Callable[[Path], object]] = {
    "20 GB": _sparse,
    "pipe": os.mkfifo,
    "socket": _socket,
    "folder": Path.mkdir,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "endless text": lambda path: path.symlink_to("/proc/self/mem"),
    "a link out": lambda path: path.symlink_to(_secret(path)),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "not UTF-8": lambda path: path.write_bytes(b"a\nbcdefg\xe9h\n"),
}


@each_file
@pytest.mark.parametrize("kind", STRANGE)
def test_anything_but_a_text_file_is_refused_at_once_and_nothing_of_it_is_read(
    tmp_path: Path, agent: str, name: str, kind: str
) -> None:
    (tmp_path / "secret.txt").write_text("the SECRET\n", encoding="utf-8")
    folder = write(tmp_path / "agent", agent)
    (folder / name).unlink()
    STRANGE[kind](folder / name)
    problems = told(folder)

    if name == "notes/b.md" and kind in {"a link to nothing", "a link to itself"}:  # it may be missing
        assert not problems
        return
    assert problems
    assert "SECRET" not in "".join(problem.picture() for problem in problems)
    if kind == "a link out":
        assert [(problem.code, Path(problem.name).name) for problem in problems] == [("link-outside", Path(name).name)]
        assert str(tmp_path / "secret.txt") in problems[0].message
        assert "`roots`" in problems[0].hint
    if kind == "not UTF-8" and name != "notes/b.md":
        assert problems[0].picture().startswith(f"{folder / name}:2:7: ")


@each_file
def test_a_folder_that_is_a_link_out_of_the_roots_is_refused(tmp_path: Path, agent: str, name: str) -> None:
    folder = write(tmp_path / "agent", agent)
    if "/" not in name:
        return
    top = folder / Path(name).parts[0]
    top.rename(tmp_path / "elsewhere")
    top.symlink_to(tmp_path / "elsewhere")

    assert [(p.code, Path(p.name).name) for p in told(folder)] == [("link-outside", top.name)]


@each_file
def test_a_link_inside_the_roots_is_followed(tmp_path: Path, agent: str, name: str) -> None:
    folder = write(tmp_path / "agent", agent)
    (folder / "v2").mkdir()
    (folder / name).rename(folder / "v2" / "file")
    (folder / name).symlink_to(os.path.relpath(folder / "v2" / "file", (folder / name).parent))

    assert told(folder) == []
    assert name in {source.path for source in read_agent(folder).texts()}


def test_a_link_may_lead_where_the_agent_file_says_so(tmp_path: Path) -> None:
    folder = write(tmp_path / "agent", AGENT)
    (folder / "tools/t.yaml").rename(tmp_path / "shared.yaml")
    (folder / "tools/t.yaml").symlink_to("../../shared.yaml")
    assert [problem.code for problem in told(folder)] == ["link-outside"]

    (folder / "agent.yaml").write_text(f"{AGENT}roots: ..\n", encoding="utf-8")
    assert told(folder) == []
    assert Engine.open(folder).agent.spec.roots == ("..",)


def test_what_the_yaml_names_is_a_root_and_so_is_the_folder_of_a_file_below(tmp_path: Path) -> None:
    write(tmp_path / "shared" / "base", AGENT, {"agent.yaml": AGENT})
    folder = tmp_path / "agent"
    folder.mkdir()
    (folder / "agent.yaml").write_text("agent: mine\nextends: ../shared/base/agent.yaml\n", encoding="utf-8")
    (tmp_path / "shared/base/tools/more.yaml").symlink_to("../partials/../tools/t.yaml")

    assert told(folder) == []
    assert "../shared/base/tools/more.yaml" in {source.path for source in read_agent(folder).texts()}


@pytest.mark.parametrize("place", ["../agent-evil/a.md", "parts/../../agent-evil/a.md"])
def test_a_sibling_with_the_same_beginning_is_not_a_place_for_links(tmp_path: Path, place: str) -> None:
    folder = write(tmp_path / "agent", LIST)
    (tmp_path / "agent-evil").mkdir()
    (tmp_path / "agent-evil/a.md").write_text("evil\n", encoding="utf-8")
    (folder / "parts/a.md").unlink()
    (folder / "parts/a.md").symlink_to(os.path.relpath(folder / place, folder / "parts"))

    assert [problem.code for problem in told(folder)] == ["link-outside"]


def test_a_file_that_grows_while_it_is_read_is_refused() -> None:
    grown = subprocess.run([sys.executable, "-c", _GROWING], capture_output=True, text=True, check=False, timeout=60)

    assert grown.stdout == "large-file\n", grown.stderr


_GROWING = """
import io, os, resource
from pathlib import Path
from cuecard.errors import SpecError
from cuecard.files.safe_read import read_text
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
real = os.fstat
def small(handle):  # what it said a moment ago
    seen = list(real(handle)); seen[6] = 10
    return os.stat_result(seen)
import tempfile
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder, "a.md")
    with file.open("wb") as out:
        out.truncate(20 << 30)
    os.fstat = small
    try:
        read_text(file)
    except SpecError as error:
        print(error.problems[0].code)
"""


def test_all_files_together_have_a_bound(tmp_path: Path) -> None:
    folder = write(tmp_path / "agent", AGENT)
    line = "# 1234567\n" * 100_000
    for number in range(MAX_TOTAL // len(line) + 2):
        (folder / f"tools/{number}.yaml").write_text(line, encoding="utf-8")
    codes = [problem.code for problem in told(folder)]

    assert codes == ["large-folder"]


@pytest.mark.parametrize("path", ["a" * 5_000, "a/" * 3_000, "a\0b", "."])
def test_a_name_that_no_file_can_have_is_an_error_with_a_place(tmp_path: Path, path: str) -> None:
    for read in (read_agent, read_assistant, read_text, read_models):
        with pytest.raises(CuecardError) as caught:
            read(tmp_path / path)
        assert caught.value.problems[0].code == "missing-file"


@pytest.mark.parametrize("path", ["a" * 5_000, "a\0b"])
def test_a_watched_place_that_no_file_can_have_is_reported(tmp_path: Path, path: str) -> None:
    assert AgentFiles(tmp_path / path).read().problems[0].code == "missing-file"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not read")
def test_a_file_without_permission_names_user_and_mode(tmp_path: Path) -> None:
    file = tmp_path / "agent.yaml"
    file.write_text(AGENT, encoding="utf-8")
    file.chmod(0o600)
    os.seteuid(65534)
    try:
        with pytest.raises(SpecError) as caught:
            read_text(file)
    except PermissionError:
        pytest.skip("the folder itself is not to be read")
    finally:
        os.seteuid(0)

    assert caught.value.problems[0].code == "unreadable-file"


def test_where_folders_have_no_handles_paths_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path / "agent", AGENT)
    monkeypatch.setattr(confined_files, "_BY_HANDLE", False)

    assert told(folder) == []
    assert len(list(read_agent(folder).texts())) == 5


GLOBBED = """\
agent: x
sections: [{id: notes, files: {entries: [{glob: "texts/**/*.md"}], item: "{{{content}}}", separator: "/"}}]
"""


def opened(folder: Path) -> tuple[str, ...]:
    """What is said when an agent is opened."""
    try:
        Engine.open(folder)
    except SpecError as error:
        return tuple(problem.code for problem in error.problems)
    return ()


def test_a_folder_of_too_many_files_is_reported_once_and_none_of_them_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walking, "MAX_FILES", 3)
    folder = write(tmp_path, GLOBBED)
    for number in range(20):
        (folder / f"texts/{number}.md").parent.mkdir(exist_ok=True)
        (folder / f"texts/{number}.md").write_text("x", encoding="utf-8")

    assert opened(folder) == ("large-folder",)


def test_too_many_folders_are_reported_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walking, "MAX_FOLDERS", 3)
    folder = write(tmp_path, GLOBBED)
    for number in range(20):
        (folder / f"texts/{number}").mkdir(parents=True)

    assert opened(folder) == ("large-folder",)


def test_a_folder_of_too_many_names_is_refused_before_any_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confined_files, "MAX_ENTRIES", 5)
    folder = write(tmp_path, GLOBBED)
    (folder / "texts").mkdir()
    for number in range(6):
        (folder / f"texts/{number}.txt").write_text("x", encoding="utf-8")

    assert opened(folder) == ("large-folder",)


def test_a_file_that_goes_while_its_folder_is_listed_takes_no_other_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path, GLOBBED)
    (folder / "texts").mkdir()
    for name in "abc":
        (folder / f"texts/{name}.md").write_text(name, encoding="utf-8")
    real = os.stat

    def gone(path: Any, **options: Any) -> os.stat_result:
        if Path(str(path)).name == "b.md":
            (folder / "texts/b.md").unlink(missing_ok=True)
        return real(path, **options)

    monkeypatch.setattr(os, "stat", gone)
    engine = Engine.open(folder)

    assert engine.prepare_step(engine.prepare_call(Turn()), ()).system == "a/c"
