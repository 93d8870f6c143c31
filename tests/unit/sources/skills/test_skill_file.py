"""SKILL.md files: what real ones look like is read, what cannot be is told with its place, nothing is raised."""

from __future__ import annotations

import itertools
import json
import os
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import Problem
from cuecard.config.documents.sources import SkillSource
from cuecard.config.sections.skills_spec import SkillsSpec
from cuecard.config.skills.front_matter import MAX_FRONT
from cuecard.config.skills.skill_file import make_skills, read_skill_file
from cuecard.model.tools import Skill


def source(text: str, slug: str = "trip", root: str = "skills") -> SkillSource:
    path = f"{root}/{slug}/SKILL.md"
    return SkillSource(path, path, text, slug, root)


def read(front: str, body: str = "") -> tuple[Skill | None, list[Problem]]:
    return read_skill_file(source(f"---\n{front}\n---\n{body}"))


def skill(front: str, body: str = "") -> Skill:
    made, problems = read(f"name: Trip\ndescription: Plans a trip.\n{front}", body)

    assert made, problems
    return made


FILES = Path(__file__).with_name("files.txt")


def told(text: str, slug: str, fallback: str | None) -> str:
    """What a file is read as: all that is not as it would be without it, and its problems."""
    made, problems = read_skill_file(source(text, slug), fallback)
    usual = Skill(slug, slug, "", path=f"skills/{slug}/SKILL.md", source="skills")
    said = {key: value for key, value in asdict(made).items() if value != getattr(usual, key)} if made else None
    return f">>> {json.dumps(said, ensure_ascii=False)}\n" + "".join(
        f">>> {row}\n" for each in problems for row in each.picture().split("\n")
    )


def test_each_file_is_read_as_this() -> None:
    """`make golden` writes it anew, to be read. A header is the folder's name, perhaps with a fallback."""
    outcome = ""
    for piece in FILES.read_text(encoding="utf-8").split("===== ")[1:]:
        header, _, rest = piece.partition("\n")
        text = "".join(row for row in rest.splitlines(keepends=True) if not row.startswith(">>> "))
        slug, _, fallback = header.partition(" = ")
        outcome += f"===== {header}\n{text}{told(text, slug, fallback if ' = ' in header else None)}"
    if os.environ.get("CUECARD_GOLDEN"):
        FILES.write_text(outcome, encoding="utf-8")

    assert outcome == FILES.read_text(encoding="utf-8")


MISREAD = [
    *(
        "Use: this",
        "Use:\tthis",
        "Use this:",
        '"Use" this',
        '"Use \\" it" it',
        "'it' is",
        "[x] does",
        "[",
        "{x} does",
        "a: {b",
    ),
    *("&x", "*x", "!x", "|x", ">x", "%x", "@x", "`x", ",x", "]x", "}x", "- x", "? x", "-", "?", "[x: y", "{"),
]
READ = {
    '"Use" # this': "Use",
    "'it''s'": "it's",
    "'it''s' # so": "it's",
    **{
        text: text
        for text in ("-x", "?x", "a:b", "x#y", "7", "1_000", "3.10", "0x1F", "2026-11-20", "yes", "x [y] {z}")
    },
}


@pytest.mark.parametrize("text", [*MISREAD, *READ])
def test_a_text_that_yaml_would_misread_is_mended_and_others_are_not(text: str) -> None:
    made, problems = read(f"name: trip\ndescription: {text}\nlicense:")
    places = [(p.code, p.severity, p.span and (p.span.line, p.span.column, p.span.length)) for p in problems]

    assert made
    assert made.description == READ.get(text, text)
    assert places == ([] if text in READ else [("front-matter", "warning", (3, 1, 13 + len(text)))])


@pytest.mark.parametrize("size", [64, 65])
def test_what_is_longer_than_the_specification_allows_is_a_warning(size: int) -> None:
    name, text = "n" * size, "d" * size * 16
    made, problems = read_skill_file(source(f"---\nname: {name}\ndescription: {text[: 960 + size]}\n---\n", name))

    assert made
    assert [(p.code, p.severity, p.message, p.hint, p.span and p.span.line) for p in problems] == [
        ("long-text", "warning", told, "shorten it: other tools may reject this file", line)
        for line, told in ((2, "`name` has 65 characters; the specification allows 64"), (3, LONG))
        if size == 65
    ]


LONG = "`description` has 1,025 characters; the specification allows 1,024"


def test_the_body_is_what_follows_without_blank_lines_around_it() -> None:
    assert skill("license: MIT", "\n \n    code first\n\nthen text  \n\n").body == "    code first\n\nthen text"


def test_a_line_of_dashes_in_the_body_is_text() -> None:
    assert skill("license: MIT", "one\n---\ntwo\n").body == "one\n---\ntwo"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_any_system_give_the_same_skill(end: str) -> None:
    text = "---\nname: Trip\ndescription: |\n  Plans\n  a trip.\n---\n\n# Trip\n\nGo.\n"
    made, problems = read_skill_file(source("\ufeff" + text.replace("\n", end)))

    assert (made, problems) == read_skill_file(source(text))
    assert made is not None
    assert made.description == "Plans\na trip."


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("paths: src/*.py", ("src/*.py",)),
        ("paths: a, b ,, c,a", ("a", "b", "c")),
        ("paths: [b, a]", ("b", "a")),
        ("globs:\n  - a\n  - 3", ("a", "3")),
        ("paths: |\n  one\n  two", ("one", "two")),
        ("paths:", ()),
        ("metadata:\n  paths: [a]", ("a",)),
        ("metadata:\n  # why\n  note: see: below\n  paths: [a]", ("a",)),
        ("paths: [top]\nmetadata:\n  paths: [inner]", ("top",)),
    ],
)
def test_a_list_may_be_written_in_many_ways(written: str, expected: tuple[str, ...]) -> None:
    assert skill(written).paths == expected


@pytest.mark.parametrize("key", ["requires_env", "requires-env", "requiresEnv", "required_env", "requiredEnv"])
def test_keys_may_be_spelled_in_many_ways(key: str) -> None:
    assert skill(f"{key}: [TOKEN, {{name: SECRET, sensitive: true}}]").requires_env == ("TOKEN", "SECRET")


@pytest.mark.parametrize(("written", "expected"), [("true", True), ("yes", True), ("'on'", True), ("No", False)])
def test_a_flag_may_be_any_word_for_yes_or_no(written: str, *, expected: bool) -> None:
    assert skill(f"auto-load: {written}").auto_load is expected


def test_keys_that_nobody_reads_do_no_harm() -> None:
    made = skill(
        "license: MIT\nallowed-tools: Bash(git:*) Read\nmetadata:\n  name: other\n  version: 1.0\nhooks: [{a: b}]"
    )

    assert made == skill("license: MIT")


def test_a_folder_name_is_the_same_on_every_machine() -> None:
    decomposed, _ = read_skill_file(source("---\nname: x\ndescription: y\n---\n", slug="cafe\u0301"))

    assert decomposed is not None
    assert decomposed.slug == "caf\u00e9"


@pytest.mark.parametrize("slug", ["", "a\nb", "a\u202eb", " a", "a\\b", "\udcff"])
def test_a_folder_name_that_could_forge_a_line_is_refused(slug: str) -> None:
    made, problems = read_skill_file(source("---\nname: x\ndescription: y\n---\n", slug=slug))

    assert made is None
    hints = {problem.code: problem.hint for problem in problems}
    assert hints["skill-name"] == "rename the folder: lower-case letters, digits and hyphens"
    assert "\n" not in problems[-1].picture().splitlines()[0].removeprefix("\n")


@pytest.mark.parametrize("size", [MAX_FRONT, MAX_FRONT + 1, 1_000_000])
def test_front_matter_is_looked_for_in_the_first_64_kib_only(size: int) -> None:
    front = "name: x\ndescription: é\n"
    made, problems = read_skill_file(source(f"---\n{front}{'#' * (size - len(front.encode()) - 1)}\n---\nbody"))

    if size <= MAX_FRONT:
        assert made is not None
        assert made.body == "body"
    else:
        assert [(p.code, p.span and (p.span.line, p.span.column)) for p in problems] == [("front-matter", (1, 1))]


def test_a_place_in_the_yaml_is_a_place_in_the_file() -> None:
    _, problems = read_skill_file(source("\n\n---\nname: trip\n\ndescription: y\nenabled: maybe\n---\n"))

    assert [problem.picture().splitlines()[:2] for problem in problems] == [
        ["skills/trip/SKILL.md:7:10: error[wrong-value]: `enabled` should be true or false", "  7 | enabled: maybe"]
    ]


@pytest.mark.parametrize(
    "front", ["a: &a [*a]", "name: !!python/object:os.system x", "a: " + "[" * 5_000, "%YAML 1.1", "a: 1\n...\nb: 2"]
)
def test_yaml_that_is_an_attack_is_refused_or_taken_as_text(front: str) -> None:
    made, problems = read(f"{front}\nname: x\ndescription: y")

    assert made is not None or problems
    assert all(problem.name == "skills/trip/SKILL.md" for problem in problems)


def test_with_a_fallback_a_broken_file_still_is_a_skill() -> None:
    made, problems = read_skill_file(source("---\nname: [\nnever closed"), "(not provided)")

    assert made is not None
    assert (made.name, made.description) == ("trip", "(not provided)")
    assert [(problem.code, problem.severity) for problem in problems] == [("front-matter", "warning")]


def test_the_order_in_which_files_are_read_does_not_matter() -> None:
    spec = SkillsSpec(roots=("mine", "shared"))
    front = "---\nname: {0}\ndescription: {0}\n---\n"
    sources = [
        source(front.format(f"{slug} of {root}"), slug, root)
        for root, slug in [("mine", "b"), ("mine", "c"), ("shared", "a"), ("shared", "b"), ("other", "d")]
    ]
    results = {make_skills(order, spec) for order in itertools.permutations(sources)}

    assert len(results) == 1
    skills, problems = results.pop()
    assert [(each.path, each.shadowed_by) for each in skills] == [
        ("mine/b/SKILL.md", ""),
        ("mine/c/SKILL.md", ""),
        ("shared/a/SKILL.md", ""),
        ("shared/b/SKILL.md", "mine/b/SKILL.md"),
    ]
    assert problems == ()


@pytest.mark.parametrize("strict", [True, False])
def test_what_is_wrong_is_left_out_or_an_error(*, strict: bool) -> None:
    front = "---\nname: Trip\ndescription: y\n---\n"
    texts = {"mine/c/TRIP": front, "mine/b/trip": front, "mine/a/trip": "---\nname: Trip\n---\n", "ours/trip": front}
    sources = [SkillSource(f"{p}/SKILL.md", f"{p}/SKILL.md", t, Path(p).name, p[:4]) for p, t in texts.items()]
    sources.append(SkillSource("d", "mine/see/SKILL.md", f"{front}\u200b", "see", "mine"))
    skills, problems = make_skills(sources, SkillsSpec(roots=("mine", "ours", "no\u200bne", "mine"), strict=strict))
    left = "\nthe skill is skipped; `strict: true` makes this an error"

    assert [(each.path, each.shadowed_by) for each in skills] == [
        ("mine/b/trip/SKILL.md", ""),
        *([] if strict else [("mine/c/TRIP/SKILL.md", "mine/b/trip/SKILL.md")]),
        *([("mine/see/SKILL.md", "")] if strict else []),
        ("ours/trip/SKILL.md", "mine/b/trip/SKILL.md"),
    ]
    lower = (
        "rename the folder: use lower-case letters, digits and single hyphens, the same for folder and `name`: other "
        "tools reject anything else"
    )
    assert [(p.name, p.severity, p.code, p.message, p.hint) for p in problems] == [
        (
            name,
            "error" if strict and not always else "warning",
            code,
            message,
            hint if strict or always else f"{hint}{behind}",
        )
        for name, code, message, hint, behind, always in (
            (
                "mine/a/trip/SKILL.md",
                "missing-key",
                "`description` is missing",
                "add `description:` to the front matter",
                left,
                False,
            ),
            (
                "mine/c/TRIP/SKILL.md",
                "skill-name",
                "`TRIP` is not a valid name in the Agent Skills specification",
                lower,
                "",
                True,
            ),
            (
                "mine/c/TRIP/SKILL.md",
                "duplicate-skill",
                "two skills in `mine` are named `TRIP`",
                "the first is mine/b/trip/SKILL.md; rename one of the folders",
                left,
                False,
            ),
            (
                "no‹U+200B›ne",
                "no-skills",
                "`no‹U+200B›ne` contains no readable skill",
                "add folders with a SKILL.md, or remove it from `roots`",
                "",
                False,
            ),
        )
    ]


SIGNS = [
    *"[]{}\"'&*!|>#,%@`:\\-\t\n\0\x85\ud800é",
    ": ",
    " #",
    "\n  ",
    "\r\n",
    "\ufeff",
    "- ",
    "---",
    "...",
    ">-",
    "\\u200b",
]
WORDS = ["name", "description", "metadata", "paths", "enabled", "x", "1", "yes", "<b>", "2026-13-45", "0x", "!!int"]
FRAGMENTS = st.sampled_from(SIGNS) | st.sampled_from(WORDS)


@given(st.lists(FRAGMENTS, max_size=40).map("".join) | st.text(), st.booleans(), st.none() | st.text(max_size=3))
def test_whatever_the_file_says_nothing_is_raised_and_no_skill_is_lost_without_an_error(
    text: str,
    closed: bool,  # noqa: FBT001 - drawn
    fallback: str | None,
) -> None:
    made, problems = read_skill_file(source(f"---\n{text}\n---\nbody" if closed else text), fallback)

    assert (made is None) == any(problem.severity == "error" for problem in problems)
    for problem in problems:
        assert problem.picture().startswith("skills/trip/SKILL.md")
        if problem.span and problem.source:
            assert problem.span.line <= text.count("\n") + text.count("\r") + text.count("\x85") + 4


@given(
    st.text(
        st.characters(codec="utf-8", exclude_categories=["C", "Z"]) | st.sampled_from(" :'\"#[]{}&*!|>%@`-?,"),
        min_size=1,
    )
)
def test_any_text_after_a_key_is_the_text_or_a_problem(text: str) -> None:
    made, problems = read_skill_file(source(f"---\nname: x\ndescription: {text}\n---\n"))

    if made is not None and not problems:
        assert made.description in text.strip() or made.description in {text.strip()[1:-1].replace("''", "'"), ""}


@given(st.text(st.characters(categories=["L", "N", "P"]), min_size=1), st.text(st.characters(categories=["L"])))
def test_a_text_with_colons_is_kept_whole(one: str, two: str) -> None:
    made, problems = read_skill_file(source(f"---\nname: x\ndescription: Use {one}: for {two}\n---\n"))

    if made is not None and "yaml-comment" not in {problem.code for problem in problems}:
        assert made.description == f"Use {one}: for {two}".strip()
