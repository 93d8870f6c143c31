"""Skills on disk: what is read, what is refused, and that nothing leads out of the roots."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.config.documents.sources import SkillSource
from cuecard.files.confined_files import RefusedError, entries, read_below
from cuecard.files.skill_answers import read_skill
from cuecard.files.skills import read_skill_texts
from cuecard.files.tree import MAX_DEPTH
from cuecard.model.tools import Skill

FRONT = "---\nname: {0}\ndescription: {0}.\n---\n"


def put(folder: Path, text: str = FRONT.format("x")) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(text, encoding="utf-8")
    return folder


def texts(base: Path, *roots: str) -> list[tuple[str, str, str]]:
    sources, problems = read_skill_texts(roots or ("skills",), base)
    assert problems == ()
    return [(source.root, source.slug, source.path) for source in sources]


def problems(base: Path, *roots: str) -> list[tuple[str, str]]:
    _, found = read_skill_texts(roots or ("skills",), base)
    return [(problem.code, problem.message) for problem in found]


def test_files_are_found_at_any_depth_in_the_order_of_roots_and_paths(tmp_path: Path) -> None:
    for place in ("b/two", "b/one", "a/deep/down", "a", "a/.hidden/no"):
        put(tmp_path / place)
    (tmp_path / "b" / "one" / "README.md").write_text("no skill", encoding="utf-8")

    assert texts(tmp_path, "b", "a") == [
        ("b", "one", "b/one/SKILL.md"),
        ("b", "two", "b/two/SKILL.md"),
        ("a", "a", "a/SKILL.md"),
        ("a", "down", "a/deep/down/SKILL.md"),
    ]


def test_the_paths_are_the_same_wherever_the_agent_appears(tmp_path: Path) -> None:
    put(tmp_path / "one" / "skills" / "x")
    put(tmp_path / "one" / "more" / "y")

    assert texts(tmp_path / "one" / "skills", ".", "../more") == [
        (".", "x", "x/SKILL.md"),
        ("../more", "y", "../more/y/SKILL.md"),
    ]


def test_a_root_that_is_missing_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")

    assert problems(tmp_path, "nowhere", "file") == [
        ("missing-file", "`nowhere` is not a folder"),
        ("missing-file", "`file` is not a folder"),
    ]


@pytest.mark.parametrize("shape", ["file", "folder", "absolute"])
def test_a_link_out_of_the_roots_is_refused_and_its_target_is_named(tmp_path: Path, shape: str) -> None:
    outside = put(tmp_path / "skills-evil" / "x")
    (tmp_path / "skills" / "y").mkdir(parents=True)
    link, target = {
        "file": (tmp_path / "skills/y/SKILL.md", "../../skills-evil/x/SKILL.md"),
        "folder": (tmp_path / "skills/z", "../skills-evil/x"),
        "absolute": (tmp_path / "skills/z", os.fspath(outside)),
    }[shape]
    link.symlink_to(target)
    sources, found = read_skill_texts(["skills"], tmp_path)

    assert sources == ()
    assert [problem.code for problem in found] == ["link-outside"]
    assert "skills-evil/x" in found[0].message


def test_a_link_from_one_root_into_another_is_followed(tmp_path: Path) -> None:
    put(tmp_path / "shared" / "x")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "alias").symlink_to("../shared/x")

    assert texts(tmp_path, "mine", "shared") == [
        ("mine", "alias", "mine/alias/SKILL.md"),
        ("shared", "x", "shared/x/SKILL.md"),
    ]


def test_a_link_to_what_is_there_anyway_adds_nothing_and_no_loop_continues(tmp_path: Path) -> None:
    put(tmp_path / "skills" / "z")
    (tmp_path / "skills" / "a").symlink_to("z")
    (tmp_path / "skills" / "up").symlink_to("..", target_is_directory=True)
    (tmp_path / "skills" / "self").symlink_to(".")
    (tmp_path / "skills" / "z" / "loop").symlink_to("loop")
    (tmp_path / "skills" / "b").mkdir()
    (tmp_path / "skills" / "b" / "SKILL.md").symlink_to("../z/SKILL.md")
    sources, found = read_skill_texts(["skills"], tmp_path)

    assert [source.slug for source in sources] == ["z"]
    assert [(problem.code, Path(problem.name).name) for problem in found] == [("link-outside", "up")]


def test_a_dangling_link_is_a_problem_only_where_a_skill_is_expected(tmp_path: Path) -> None:
    folder = tmp_path / "skills" / "x"
    folder.mkdir(parents=True)
    (folder / "notes.md").symlink_to("nowhere")
    (folder / "SKILL.md").symlink_to("nowhere")

    assert [code for code, _ in problems(tmp_path)] == ["missing-file"]


def test_pipes_sockets_devices_and_folders_are_refused_without_waiting(tmp_path: Path) -> None:
    for name in ("fifo", "socket", "folder", "device"):
        (tmp_path / "skills" / name).mkdir(parents=True)
    os.mkfifo(tmp_path / "skills/fifo/SKILL.md")
    (tmp_path / "skills/folder/SKILL.md").mkdir()
    (tmp_path / "skills/device/SKILL.md").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(tmp_path / "skills/socket")  # a socket's whole path may have 107 bytes only
        try:
            server.bind("SKILL.md")
        finally:
            os.chdir(here)
        found = problems(tmp_path)

    assert found == [
        ("link-outside", "a link that points outside of the roots, to /dev/zero"),
        ("missing-file", "this is not a regular file"),
        ("missing-file", "this is not a regular file"),
        ("missing-file", "this is not a regular file"),
    ]


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    with (put(tmp_path / "skills" / "x") / "SKILL.md").open("wb") as file:
        file.truncate(20 * 1024**3)

    assert problems(tmp_path) == [("large-file", "more than 1,048,576 bytes")]


@pytest.mark.parametrize(("data", "line"), [(b"---\nname: caf\xe9\n", 2), (b"\xff\xfe-\0-\0", 1)])
def test_what_is_not_utf_8_is_reported_with_its_line(tmp_path: Path, data: bytes, line: int) -> None:
    (put(tmp_path / "skills" / "x") / "SKILL.md").write_bytes(data)

    [(code, message)] = problems(tmp_path)
    assert code == "encoding"
    assert f"in line {line} " in message


def test_too_deep_a_folder_is_reported(tmp_path: Path) -> None:
    put(tmp_path / "skills" / Path(*["d"] * (MAX_DEPTH + 1)))

    assert [code for code, _ in problems(tmp_path)] == ["large-folder"]


def test_a_name_that_could_forge_a_line_is_printed_escaped(tmp_path: Path) -> None:
    (put(tmp_path / "skills" / "a\nerror: \u202eb") / "SKILL.md").write_bytes(b"\xff")
    _, [problem] = read_skill_texts(["skills"], tmp_path)

    assert "a‹U+000A›error: ‹U+202E›b" in problem.picture()


@pytest.mark.parametrize("swapped", ["s", "s/x", "s/x/SKILL.md"])
def test_what_has_become_a_link_since_it_was_looked_at_is_not_opened(tmp_path: Path, swapped: str) -> None:
    put(tmp_path / "secret" / "s" / "x", FRONT.format("SECRET"))
    put(tmp_path / "skills" / "s" / "x", FRONT.format("fine"))
    root, parts = os.path.realpath(tmp_path / "skills"), ("s", "x", "SKILL.md")
    assert b"fine" in read_below(root, parts, 1_000)[0]

    (tmp_path / "skills" / swapped).rename(tmp_path / "gone")
    (tmp_path / "skills" / swapped).symlink_to(tmp_path / "secret" / swapped)

    with pytest.raises((OSError, RefusedError)):
        read_below(root, parts, 1_000)
    if swapped != "s/x/SKILL.md":
        with pytest.raises(OSError, match=r"."):
            entries(root, parts[:2])


SKILLS = (
    Skill("rail", "Rail travel", "x", path="skills/rail/SKILL.md", body="Take the train.\n" * 3),
    Skill("visa", "Visa", "x", path="skills/visa/SKILL.md", body="é" * 20),
)


@pytest.mark.parametrize("name", ["rail", "RAIL", "$rail", " Rail travel "])
def test_a_skill_is_read_by_slug_or_name(name: str) -> None:
    answer = read_skill(SKILLS, name)

    assert answer.to_json() == {"skill": "rail", "text": "Take the train.\n" * 3}
    assert answer.found
    assert not answer.truncated


@pytest.mark.parametrize("name", ["rial", "../visa", "/etc/passwd", "skills/rail/SKILL.md", "", "a\n\u202eb", "*"])
def test_a_skill_that_is_not_known_does_not_exist(name: str) -> None:
    answer = read_skill(SKILLS, name, base="/")

    assert (answer.text, answer.found) == ("", False)
    assert answer.message.startswith("there is no skill `")
    assert answer.message.isprintable()


def test_an_unknown_skill_gets_a_hint() -> None:
    assert read_skill(SKILLS, "rial").message == "there is no skill `rial`; did you mean `rail`?"
    assert read_skill((), "rail").message == "there is no skill `rail`; there are no skills"


def test_a_long_text_is_cut_and_says_so() -> None:
    answer = read_skill(SKILLS, "visa", limit=7)

    assert answer.to_json() == {"skill": "visa", "text": "ééé", "message": "cut off after 6 of 40 bytes"}
    assert answer.truncated
    assert read_skill(SKILLS, "visa", limit=7, unit="characters").text == "é" * 7


@pytest.fixture
def base(tmp_path: Path) -> Path:
    folder = put(tmp_path / "skills" / "rail")
    put(tmp_path / "skills" / "visa", "not for rail")
    (folder / "references").mkdir()
    (folder / "references" / "times.md").write_bytes(b"\xef\xbb\xbfone\r\ntwo\n")
    (folder / ".env").write_text("TOKEN", encoding="utf-8")
    (folder / "picture.png").write_bytes(b"\x89PNG\xff")
    (folder / "inside.md").symlink_to("references/times.md")
    (folder / "outside.md").symlink_to("../visa/SKILL.md")
    (folder / "folder-outside").symlink_to("../visa")
    os.mkfifo(folder / "pipe")
    return tmp_path


@pytest.mark.parametrize("file", ["references/times.md", "./references//times.md", "references\\times.md", "inside.md"])
def test_a_file_of_a_skill_is_read(base: Path, file: str) -> None:
    assert read_skill(SKILLS, "rail", file=file, base=base).text == "one\ntwo\n"


OUT_OF_REACH = [
    "../visa/SKILL.md",
    "references/../../visa/SKILL.md",
    "/etc/passwd",
    "C:\\x",
    "..",
    ".",
    "/",
    "outside.md",
]
NO_TEXTS = [
    ".env",
    "a\0b",
    "picture.png",
    "pipe",
    "references",
    "none.md",
    "x" * 5_000,
    "\ud800",
    "folder-outside/SKILL.md",
]


@pytest.mark.parametrize("file", [*OUT_OF_REACH, *NO_TEXTS])
def test_nothing_else_is_read_and_the_answer_says_why(base: Path, file: str) -> None:
    answer = read_skill(SKILLS, "rail", file=file, base=base)

    assert (answer.text, answer.found) == ("", False)
    assert answer.message
    assert answer.message.isprintable()


def test_without_a_folder_only_instructions_are_read(base: Path) -> None:
    assert read_skill(SKILLS, "rail", file="references/times.md").message == (
        "`references/times.md` cannot be read: only the instructions of skills can be read here"
    )


@given(st.text(max_size=40) | st.text("./\\ae", max_size=20), st.text(max_size=20), st.integers(0, 60))
def test_reading_never_raises_and_keeps_to_its_limit(file: str, slug: str, limit: int) -> None:
    for name in (slug, "visa"):
        answer = read_skill(SKILLS, name, file=file, base="/nowhere", limit=limit)

        assert len(answer.text.encode()) <= limit


def test_a_source_is_a_text_like_all_others(tmp_path: Path) -> None:
    put(tmp_path / "skills" / "x", "---\r\nname: x\r\n")
    [source], _ = read_skill_texts(["skills"], tmp_path)

    assert isinstance(source, SkillSource)
    assert source.text == "---\nname: x\n"
    assert source.stem == "SKILL"
