"""Rows 40 to 49 of the acceptance table for robustness: paths, links, devices, sizes, encodings and names of files."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
import unicodedata
from pathlib import Path

import pytest

from cuecard import Engine, Problem, SpecError
from cuecard.config.documents.sources import SkillSource
from cuecard.config.skills.skill_file import read_skill_file
from cuecard.files.skill_answers import read_skill
from cuecard.model.tools import Skill
from unit.robustness.agents import AGENT, TEMPLATE, TOOLS, prompt, refusal, where, write_agent

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links, devices and permissions of POSIX")

SKILL = "---\nname: Trip\ndescription: Plans a trip.\n---\nPlan it.\n"
SKILLS = AGENT.replace(
    "template: {file: agent.xml}\n", "sections: [{id: a, skills: {roots: [skills]}}, {id: b, text: TEXT}]\n"
)
SKILLS = SKILLS.replace("TEXT", "'{{{user}}}{{{activeProtocols}}}'")
PLACES = ("agent.yaml", "agent.xml", "tools/search.yaml")


def refused(folder: Path) -> tuple[Problem, ...]:
    """Why the agent in a folder is refused; none when it is not."""
    try:
        Engine.open(folder)
    except SpecError as error:
        return error.problems
    return ()


def skilled(folder: Path) -> tuple[Skill, ...]:
    """The skill of an agent; beside it is a file, and around it are two that nobody may read."""
    files = {"agent.yaml": SKILLS, "skills/trip/SKILL.md": SKILL, "skills/trip/b/a.md": "Take care."}
    write_agent(folder, {**files, "skills/x": "secret", "skills/trip-evil/x": "secret"})
    skill, _ = read_skill_file(SkillSource("SKILL.md", "skills/trip/SKILL.md", SKILL, "trip", "skills"))
    assert skill
    return (skill,)


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "..\\x", "a\0b", "../trip-evil/x", "b/../../x", "~/x"])
def test_row_40_a_path_that_a_model_asks_for_never_leaves_its_folder(path: str, tmp_path: Path) -> None:
    skills = skilled(tmp_path)
    answer = read_skill(skills, "trip", file=path, base=tmp_path)

    assert not answer.found
    assert "secret" not in answer.text
    assert "root:" not in answer.text
    assert read_skill(skills, "trip", file="b/a.md", base=tmp_path).text == "Take care."


LINKS = pytest.mark.parametrize("place", PLACES[1:])


@LINKS
def test_row_41_a_link_that_leads_out_is_refused_and_names_its_target(place: str, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    folder = write_agent(tmp_path / "agent")
    outside.write_text((folder / place).read_text(encoding="utf-8"), encoding="utf-8")
    (folder / place).unlink()
    (folder / place).symlink_to(outside)

    found = refused(folder)
    assert found
    assert "outside.txt" in str(SpecError(found))


@pytest.mark.parametrize("target", ["nowhere", "loop", "/dev/zero"])
@LINKS
def test_row_41_a_link_to_nothing_to_itself_or_to_a_device_is_refused(place: str, target: str, tmp_path: Path) -> None:
    folder = write_agent(tmp_path)
    (folder / place).unlink()
    (folder / place).symlink_to(folder / place if target == "loop" else target)

    assert refused(folder)


def test_row_42_a_link_inside_of_the_folder_is_followed(tmp_path: Path) -> None:
    folder = write_agent(tmp_path, {"texts/core.xml": TEMPLATE})
    plain = prompt(Engine.open(folder))
    (folder / "agent.xml").unlink()
    (folder / "agent.xml").symlink_to(folder / "texts" / "core.xml")

    assert prompt(Engine.open(folder)) == plain


@pytest.mark.parametrize("kind", ["fifo", "socket", "folder"])
@pytest.mark.parametrize("place", PLACES[1:])
def test_row_43_what_is_not_a_regular_file_is_refused_and_nothing_hangs(
    kind: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_agent(tmp_path / "a")
    (folder / place).unlink()
    if kind == "fifo":
        os.mkfifo(folder / place)
    elif kind == "folder":
        (folder / place).mkdir()
    else:
        monkeypatch.chdir(folder.parent)  # the name of a socket is short
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(f"a/{place}")

    assert refused(folder)


GROWN = """\
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (600_000_000, 600_000_000))
from cuecard import Engine, SpecError
for folder in sys.argv[1:]:
    try:
        Engine.open(folder)
    except SpecError as error:
        # Not `ru_maxrss`, which begins with what the parent had.
        [peak] = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
        print(error.problems[0].name, error.problems[0].code, peak)
"""


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """What one process says of the three agents with a huge file: name, code, and the most kilobytes so far."""
    folders = []
    for place in PLACES:
        folders.append(write_agent(tmp_path_factory.mktemp("grown")))
        with (folders[-1] / place).open("r+b") as file:
            file.truncate(20 * 2**30)
    command = [sys.executable, "-c", GROWN, *map(str, folders)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [line.split() for line in done.stdout.splitlines()]


@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process as Linux does")
@pytest.mark.parametrize("place", PLACES)
def test_row_44_twenty_sparse_gigabytes_are_refused_without_being_read(place: str, grown: list[list[str]]) -> None:
    (told,) = [(code, kilobytes) for name, code, kilobytes in grown if name.endswith(place)]
    code, kilobytes = told
    assert code == "large-file"
    assert int(kilobytes) < 200_000


LOCKED = """\
import os, sys
from cuecard.cli.main import main
folder, *places = sys.argv[1:]
for place in places:
    path = os.path.normpath(os.path.join(folder, place))
    mode = os.stat(path).st_mode
    os.chmod(path, 0o444 if place in {".", "turns"} else 0)
    for command in ("check", "test", "tools list"):
        sys.argv = ["cuecard", *command.split(), folder]
        try:
            main()
        except SystemExit as end:
            print(command, place, end.code, file=sys.stderr)
    os.chmod(path, mode)
"""
NOBODY = ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all") if os.name == "posix" else ()
"""Root may read everything, unless it gives that up."""


@pytest.mark.skipif(
    sys.platform == "win32" or (os.geteuid() == 0 and not shutil.which("setpriv")), reason="root may read everything"
)
def test_row_45_unreadable_files_are_reported_and_break_no_command(tmp_path: Path) -> None:
    folder = write_agent(tmp_path, {"turns/a.yaml": "message: hi\n", "turns/snapshots/a.txt": "cuecard snapshot"})
    places = ("agent.yaml", "agent.xml", "tools", "tools/search.yaml", "turns", "turns/a.yaml", ".")
    command = [*(NOBODY if os.geteuid() == 0 else ()), sys.executable, "-c", LOCKED, str(folder), *places]
    done = subprocess.run(command, check=False, capture_output=True, text=True)

    assert "Traceback" not in done.stderr, done.stderr[-2000:]
    assert done.stderr.count("Permission denied") >= len(places)
    assert done.stderr.count("check tools 1\n") == done.stderr.count("test turns 1\n") == 1


def test_row_46_a_byte_that_is_not_utf_8_is_reported_with_its_line(tmp_path: Path) -> None:
    folder = write_agent(tmp_path)
    (folder / "agent.xml").write_bytes(b"<agent>\n<a>x</a>\n<b>caf\xe9</b>\n</agent>\n")

    (problem,) = refused(folder)
    assert problem.code == "encoding"
    assert "line 3" in problem.message or (problem.span and problem.span.line == 3)


def test_row_46_utf_16_is_refused_and_a_byte_order_mark_is_not(tmp_path: Path) -> None:
    wide, marked, plain = (write_agent(tmp_path / name) for name in "abc")
    (wide / "agent.xml").write_text(TEMPLATE, encoding="utf-16")
    (marked / "agent.xml").write_text(TEMPLATE, encoding="utf-8-sig")
    (marked / "agent.yaml").write_text(AGENT, encoding="utf-8-sig")

    assert [problem.code for problem in refused(wide)] == ["encoding"]
    assert prompt(Engine.open(marked)) == prompt(Engine.open(plain))


@pytest.mark.parametrize("place", PLACES)
def test_row_46_a_nul_is_refused(place: str, tmp_path: Path) -> None:
    folder = write_agent(tmp_path)
    (folder / place).write_bytes((folder / place).read_bytes() + b"\n# \0\n")

    assert refused(folder)


def test_row_47_a_folder_that_is_swapped_for_a_link_while_it_is_read_gives_nothing_away(tmp_path: Path) -> None:
    skills = skilled(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("secret", encoding="utf-8")
    inner, kept, done = tmp_path / "skills" / "trip" / "b", tmp_path / "kept", threading.Event()

    def swap() -> None:
        while not done.is_set():
            inner.rename(kept)
            inner.symlink_to(outside)
            inner.unlink()
            kept.rename(inner)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        texts = {read_skill(skills, "trip", file="b/a.md", base=tmp_path).text for _ in range(2_000)}
    finally:
        done.set()
        thread.join()

    assert not [text for text in texts if "secret" in text]


def test_row_48_names_that_differ_only_in_case_are_reported_as_two_files(tmp_path: Path) -> None:
    write_agent(tmp_path, {"tools/Search.yaml": TOOLS.replace("tool_search", "other")})
    if len(list((tmp_path / "tools").iterdir())) == 1:
        pytest.skip("this file system takes them for one")

    assert set(Engine.open(tmp_path).tools) == {"tool_search", "other"}
    (problem, *_) = refusal(tmp_path, {"tools/Search.yaml": TOOLS})
    assert problem.code == "duplicate-tool"


def test_row_48_names_in_two_unicode_forms_are_reported_as_two_of_one_tool(tmp_path: Path) -> None:
    names = {unicodedata.normalize(form, "tools/\u00e9.yaml") for form in ("NFC", "NFD")}

    assert "duplicate-tool" in {problem.code for problem in refusal(tmp_path, dict.fromkeys(names, TOOLS))}


@pytest.mark.parametrize("mark", ["\n", "\x1b[31m", "\u202e"])
def test_row_48_a_name_with_a_line_break_or_bidi_cannot_forge_a_line_of_an_error(mark: str, tmp_path: Path) -> None:
    found = refusal(tmp_path, {f"tools/a{mark}error[x]: y.yaml": "tools: ["})

    assert found
    assert mark not in str(SpecError(found)).replace("\n  ", "  ").partition(": error[")[0]


def test_row_49_front_matter_that_is_never_closed_is_reported_at_its_first_line(tmp_path: Path) -> None:
    agent = {"agent.yaml": SKILLS, "skills/trip/SKILL.md": "---\nname: Trip\ndescription: x\n"}
    write_agent(tmp_path, agent)
    try:
        problems = Engine.open(tmp_path).warnings
    except SpecError as error:
        problems = error.problems

    (problem,) = (each for each in problems if each.code == "front-matter")
    assert where(problem) == (1, 1)


def test_row_49_a_megabyte_of_front_matter_is_refused(tmp_path: Path) -> None:
    front = (
        "---\nname: Trip\ndescription: x\n" + "".join(f"key{number}: {number}\n" for number in range(70_000)) + "---\n"
    )
    write_agent(tmp_path, {"agent.yaml": SKILLS, "skills/trip/SKILL.md": front})
    try:
        problems = Engine.open(tmp_path).warnings
    except SpecError as error:
        problems = error.problems

    assert {"large-file", "yaml-too-large", "front-matter"}.intersection(problem.code for problem in problems)
