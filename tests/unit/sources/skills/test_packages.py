"""A skill as a package: what the extension refuses, each with the reason, and what is at the edge of it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pytest

from cuecard import SpecError
from cuecard.config.skills.packages import MAX_BYTES, MAX_FILES, SkillPackage, digest, make_package, tool_skills
from cuecard.model import ToolCard


def skill(
    name: str = "red-fox", description: str = "'Say it.'", files: Mapping[str, int] = MappingProxyType({})
) -> dict[str, bytes]:
    main = f"---\nname: {name}\ndescription: {description}\n---\n\nDo it.\n"
    return {"SKILL.md": main.encode(), **{path: b"x" * size for path, size in files.items()}}


def many(count: int) -> dict[str, int]:
    return {f"f{number}": 0 for number in range(count)}


REASONS = {
    "missing-file": ("the skill has no `SKILL.md`", "every skill has one"),
    "large-folder": ("the skill is too large to serve", "at most 512 files, and 16 MiB together"),
    "skill-name": (
        "`{}` is not the name of the skill `{}`",
        "lower-case letters, digits and single hyphens, the same as its folder",
    ),
    "long-text": (
        "the description is missing or too long",
        "use 1 to 1,024 characters, or clients will reject the skill",
    ),
}


@pytest.mark.parametrize(
    ("files", "name", "code", "said"),
    [
        ({"other.md": b""}, "red-fox", "missing-file", ()),
        (skill(files=many(MAX_FILES)), "red-fox", "large-folder", ()),
        (skill(files={"big": MAX_BYTES}), "red-fox", "large-folder", ()),
        (skill("fox"), "red-fox", "skill-name", ("fox", "red-fox")),
        (skill("x" * 81), "red-fox", "skill-name", ("x" * 80, "red-fox")),
        (skill("red--fox"), "red--fox", "skill-name", ("red--fox", "red--fox")),
        (skill("-fox"), "-fox", "skill-name", ("-fox", "-fox")),
        (skill("Fox"), "Fox", "skill-name", ("Fox", "Fox")),
        (skill("f" * 65), "f" * 65, "skill-name", ("f" * 65, "f" * 65)),
        (skill(description="' '"), "red-fox", "long-text", ()),
        (skill(description="7"), "red-fox", "long-text", ()),
        (skill(description="x" * 1025), "red-fox", "long-text", ()),
    ],
)
def test_what_clients_would_refuse_is_refused_with_the_reason(
    files: dict[str, bytes], name: str, code: str, said: tuple[str, ...]
) -> None:
    with pytest.raises(SpecError) as caught:
        make_package(files, name, "a/SKILL.md")

    (problem,) = caught.value.problems
    told = problem.message, problem.hint
    assert (problem.code, problem.name, told) == (
        code,
        "a/SKILL.md",
        (REASONS[code][0].format(*said), REASONS[code][1]),
    )


@pytest.mark.parametrize(
    "files",
    [
        skill(description="x" * 1024),
        skill(description="x"),
        skill(files=many(MAX_FILES - 1)),
        skill(files={"big": MAX_BYTES - len(skill()["SKILL.md"])}),
    ],
    ids=["a long description", "a short one", "many files", "large ones"],
)
def test_what_is_just_allowed_is_served(files: dict[str, bytes]) -> None:
    made = make_package(files, "red-fox", "a/SKILL.md")

    assert (made.name, made.front["name"], made.files) == ("red-fox", "red-fox", files)


def test_a_package_has_an_address_and_a_digest_for_each_file() -> None:
    package = SkillPackage("red-fox", {"name": "red-fox"}, {"b/é c.md": b"", "SKILL.md": b"x"})

    assert digest(b"") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert package.entry("my agent") == {
        "uri": "skill://my%20agent/red-fox/SKILL.md",
        "frontmatter": {"name": "red-fox"},
        "resources": [
            {"uri": "skill://my%20agent/red-fox/SKILL.md", "digest": digest(b"x"), "size": 1},
            {"uri": "skill://my%20agent/red-fox/b/%C3%A9%20c.md", "digest": digest(b""), "size": 0},
        ],
    }


def test_a_category_of_tools_is_a_skill_with_a_name_of_its_own() -> None:
    cards = [ToolCard(f"t{number}", "Says\n hello. ", category=category) for number, category in enumerate(CATEGORIES)]
    told = {card.name: f" Use {card.name}. " for card in cards[:-1]}
    made = {each.name: each for each in tool_skills("My Agent", cards, told)}

    assert [*made] == ["my-agent-tools", "my-agent-a-b", "my-agent-a-b-2", f"my-agent-{'c' * 49}", "my-agent"]
    assert made["my-agent-tools"].files["SKILL.md"].decode() == (
        '---\nname: "my-agent-tools"\ndescription: "How to use the My Agent tools: t2"\nallowed-tools: "t2"\n---\n\n'
        "# My Agent\n\n## t2\n\nSays hello.\n\nUse t2.\n"
    )
    assert made["my-agent-a-b"].files["SKILL.md"].decode() == (
        '---\nname: "my-agent-a-b"\ndescription: "How to use the a  b tools: t0, t4"\nallowed-tools: "t0 t4"\n---\n\n'
        "# a  b\n\n## t0\n\nSays hello.\n\nUse t0.\n\n## t4\n\nSays hello.\n\nUse t4.\n"
    )
    assert "How to use the é tools: t5" in made["my-agent"].files["SKILL.md"].decode()
    assert made["my-agent"].front["description"] == "How to use the é tools: t5"


CATEGORIES = ("a  b", "a-b", "", "c" * 80, "a  b", "é", "d")


@pytest.mark.parametrize(
    ("agent", "category", "name"),
    [
        ("é", "ü", "tools"),
        ("-", "", "tools"),
        ("--A--", "-", "a"),
        ("a" * 57, "b", "a" * 57),
        ("a" * 56, "b", "a" * 56 + "-b"),
        ("a" * 56, "bc", "a" * 56 + "-b"),
    ],
)
def test_a_name_is_as_clients_want_it(agent: str, category: str, name: str) -> None:
    cards = [
        ToolCard("t", category=category),
        ToolCard("u", category=f"{category}!"),
        ToolCard("v", category=f"{category}?"),
    ]

    told = {each.name: "Use it." for each in cards}
    assert [each.name for each in tool_skills(agent, cards, told)] == [name, f"{name}-2", f"{name}-3"]


@pytest.mark.parametrize("length", [1000, 1001])
def test_a_description_of_many_tools_is_cut(length: int) -> None:
    begins = "How to use the c tools: "
    card = ToolCard("t" * (length - len(begins)), category="c")
    (made,) = tool_skills("a", [card], {card.name: "Use it."})
    whole = begins + card.name

    assert made.front["description"] == (whole if length == 1000 else whole[:997] + "...")
