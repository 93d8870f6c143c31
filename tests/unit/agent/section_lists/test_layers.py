"""Agent files laid over each other: what wins, where a section goes, whose paths are whose, and who wrote what."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuecard import Engine, SpecError, Turn
from unit.agent.section_lists.agents import opened, prompt, step, write

BASE = """\
agent: base
layout: {separator: "\\n---\\n"}
budget: {total: 900, protocols: 400}
sections:
  - {id: identity, title: Identity, text: You help.}
  - {id: tone, text: Be polite.}
  - {id: legal, text: Give no advice.}
"""


def over(folder: Path, text: str, base: str = BASE) -> Engine:
    write(folder / "base.yaml", base)
    return opened(folder, f"extends: base.yaml\n{text}")


def refused(folder: Path, text: str, base: str = BASE) -> str:
    with pytest.raises(SpecError) as caught:
        over(folder, text, base)
    return str(caught.value)


def ids(engine: Engine) -> list[str]:
    return [section.id for section in engine.agent.sections]


def test_mappings_are_merged_key_by_key_at_any_depth_and_lists_replaced(tmp_path: Path) -> None:
    base = BASE + "profiles: {small: {include: [identity, tone], exclude: [legal]}}\n"
    boundary = 'layout: {boundary: {marker: "<!-- here -->", before: tone}}'
    spec = over(
        tmp_path, f"budget: {{protocols: 100}}\n{boundary}\nprofiles: {{small: {{include: [legal]}}}}", base
    ).agent.spec

    assert (spec.budget.total, spec.budget.protocols) == (900, 100)
    assert spec.layout.separator == "\n---\n"
    assert spec.agent == "base"
    assert (spec.profiles["small"].include, spec.profiles["small"].exclude) == (("legal",), ("legal",))


def test_a_section_keeps_what_the_overlay_does_not_say(tmp_path: Path) -> None:
    engine = over(tmp_path, "sections: [{id: identity, text: You sell bread.}]")

    assert prompt(engine) == "You sell bread.\n---\nBe polite.\n---\nGive no advice."
    assert engine.agent.spec.sections[0].title == "Identity"


@pytest.mark.parametrize(
    ("overlay", "order"),
    [
        ("{id: new, text: x}", ["identity", "tone", "legal", "new"]),
        ("{id: new, text: x, before: identity}", ["new", "identity", "tone", "legal"]),
        ("{id: new, text: x, after: identity}", ["identity", "new", "tone", "legal"]),
        ("{id: legal, before: identity}", ["legal", "identity", "tone"]),
        ("{id: identity, after: legal}", ["tone", "legal", "identity"]),
        ("{id: tone, remove: true}", ["identity", "legal"]),
        ("{id: tone, remove: false}", ["identity", "tone", "legal"]),
        ("{id: a, text: x, before: tone}, {id: b, text: x, before: a}", ["identity", "b", "a", "tone", "legal"]),
        ("{id: tone, remove: true}, {id: tone2, text: x, after: identity}", ["identity", "tone2", "legal"]),
    ],
)
def test_an_overlay_puts_sections_before_and_after_others_or_takes_them_away(
    tmp_path: Path, overlay: str, order: list[str]
) -> None:
    assert ids(over(tmp_path, f"sections: [{overlay}]")) == order


def test_a_section_cannot_be_placed_by_itself_or_by_one_that_was_taken_away_or_comes_later(tmp_path: Path) -> None:
    said = refused(
        tmp_path,
        "sections: [{id: new, text: x, before: new}, {id: tone, remove: true}, {id: other, text: x, after: tone},"
        " {id: identity, after: later}, {id: later, text: x}]",
    )

    for name in ("new", "tone", "later"):
        assert f"the base of this file has no section `{name}`" in said


def test_what_an_overlay_says_of_a_place_is_never_silently_ignored(tmp_path: Path) -> None:
    said = refused(
        tmp_path,
        "sections:\n  - {id: tone, before: identity, after: legal}\n  - {id: legal, remove: 'yes'}\n",
    )

    assert "agent.yaml:3:34: error[wrong-value]: `before` and `after` exclude each other" in said
    assert "agent.yaml:4:25: error[wrong-value]: `remove` should be true or false" in said


def test_the_lowest_file_has_nothing_to_be_placed_by(tmp_path: Path) -> None:
    base = "agent: base\nsections: [{id: a, text: a, before: b}, {id: b, text: b, remove: true}]\n"

    assert "base.yaml:2:29: error[unknown-key]: `before` refers to sections of a base file" in refused(
        tmp_path, "agent: mine", base
    )
    assert "base.yaml:2:58: error[unknown-key]: `remove` refers to sections of a base file" in refused(
        tmp_path, "agent: mine", base
    )
    assert "agent.yaml:2:29: error[unknown-key]: `after` refers to sections of a base file" in refused(
        tmp_path, "sections: [{id: a, text: a, after: b}, {id: b, text: b}]", "agent: base"
    )


def test_a_section_that_one_file_names_twice_is_never_silently_lost(tmp_path: Path) -> None:
    twice = "sections: [{id: tone, text: one}, {id: tone, text: two}]"

    assert "agent.yaml:2:40: error[duplicate-section]: two sections are named `tone`" in refused(tmp_path, twice)
    for overlay in ("agent: mine", "sections: [{id: new, text: x}]"):
        assert "base.yaml:2:40: error[duplicate-section]" in refused(tmp_path, overlay, f"agent: base\n{twice}")


def test_another_text_replaces_a_file_and_another_source_replaces_a_source(tmp_path: Path) -> None:
    base = """\
agent: base
sections:
  - {id: a, file: gone.md}
  - {id: b, text: b}
  - {id: c, files: {entries: [{path: NOTES.md}]}, text: "Notes: {{{content}}}"}
"""
    write(tmp_path / "b.md", "from a file")
    engine = over(
        tmp_path,
        "sections: [{id: a, text: written}, {id: b, file: b.md}, {id: c, clock: {zone: UTC}, text: '{{{timezone}}}'}]",
        base,
    )

    assert prompt(engine) == "written\n\nfrom a file\n\nUTC"


def test_three_layers_tell_of_every_value_which_line_of_which_file_wrote_it(tmp_path: Path) -> None:
    write(tmp_path / "org" / "base.yaml", BASE)
    write(tmp_path / "team" / "agent.yaml", "extends: ../org/base.yaml\n\nsections:\n  - {id: tone, text: Be warm.}\n")
    engine = opened(
        tmp_path, "extends: team\nagent: mine\nsections:\n  - {id: tone, title: Tone}\n  - {id: extra, text: x}\n"
    )
    origins = step(engine).manifest.origins

    assert origins["agent"] == "agent.yaml:2"
    assert origins["budget.total"] == "org/base.yaml:3"
    assert origins["sections.identity.text"] == "org/base.yaml:5"
    assert origins["sections.tone.text"] == "team/agent.yaml:4"
    assert origins["sections.tone.title"] == "agent.yaml:4"
    assert origins["sections.extra.text"] == "agent.yaml:5"
    assert {record.id: record.source for record in step(engine).manifest.sections}["identity"] == "org/base.yaml:5"


def test_of_several_the_later_wins_and_what_they_share_lies_below_them(tmp_path: Path) -> None:
    write(tmp_path / "base.yaml", BASE)
    write(tmp_path / "a.yaml", "extends: base.yaml\nsections: [{id: tone, text: a}, {id: legal, remove: true}]\n")
    write(tmp_path / "b.yaml", "extends: base.yaml\nbudget: {total: 5000}\nsections: [{id: identity, text: b}]\n")
    engine = opened(tmp_path, "extends: [a.yaml, b.yaml]\n")

    assert prompt(engine) == "b\n---\na"
    assert engine.agent.spec.budget.total == 5000


def test_a_path_is_relative_to_the_file_that_wrote_it(tmp_path: Path) -> None:
    write(
        tmp_path / "org" / "agent.yaml",
        """\
agent: base
sections:
  - {id: a, file: texts/a.md}
  - {id: b, files: {entries: [{path: [b.md, texts/b.md]}], item: "{{{path}}} {{{content}}}"}}
  - {id: c, skills: {roots: [skills]}}
layout: {partials: partials}
tools: {instructions: tools, core: [tool_search]}
variants: {v: {sections: [{id: a, file: texts/v.md}]}}
""",
    )
    for name, text in (
        ("texts/a.md", "{{> p}}"),
        ("texts/b.md", "b"),
        ("texts/v.md", "v"),
        ("partials/p.hbs", "partial"),
    ):
        write(tmp_path / "org" / name, text)
    write(tmp_path / "org/skills/bake/SKILL.md", "---\nname: bake\ndescription: Bakes bread\n---\nKnead.\n")
    write(tmp_path / "org/tools/t.yaml", "tools: {tool_search: {before: a, after: b, next: c, gotcha: d}}")
    engine = opened(tmp_path / "mine", "extends: ../org\nsections: [{id: p, text: '{{{activeProtocols}}}'}]\n")

    system = step(engine, Turn(variant="v")).system
    assert prompt(engine).startswith("partial\n\n../org/texts/b.md b")
    assert "Bakes bread" in system
    assert system.startswith("v\n\n")
    assert list(engine.tools) == ["tool_search"]


def test_what_only_looks_like_a_path_is_not_moved(tmp_path: Path) -> None:
    base = """\
agent: base
inputs:
  place: {type: object, default: {path: a/b, file: c}}
  file: {default: d/e}
memory: {names: {file: [title], path: [name]}, types: {template: x}}
profiles: {file: {sections: [{id: x, title: models}]}}
sections:
  - {id: x, text: "{{{place.path}}} {{{place.file}}} {{{file}}}", when: {equals: {place.path: a/b, file: d/e}}}
"""
    write(tmp_path / "org" / "base.yaml", base)
    engine = opened(tmp_path, "extends: org/base.yaml\n")

    assert prompt(engine) == "a/b c d/e"
    assert engine.agent.spec.memory.names == {"file": ("title",), "path": ("name",)}
    assert engine.agent.spec.memory.types == {"template": "x"}


@pytest.mark.parametrize("written", ["./notes.md", "sub/../notes.md", "notes.md"])
def test_a_path_may_be_written_in_any_way(tmp_path: Path, written: str) -> None:
    engine = opened(
        tmp_path,
        f"agent: a\nsections: [{{id: a, file: {written}}}, {{id: b, files: {{entries: [{{path: {written}}}]}}}}]\n",
        notes_md="Notes.",
        sub__x_md="x",
    )

    assert prompt(engine).count("Notes.") == 2


def test_a_section_cannot_be_made_of_a_folder(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"agent\.yaml:2:26: error\[missing-file\]: `sub` is a folder"):
        opened(tmp_path, "agent: a\nsections: [{id: a, file: sub}, {id: b, text: b}]\n", sub__x_md="x")


def test_warnings_of_all_layers_are_reported(tmp_path: Path) -> None:
    write(tmp_path / "one.yaml", f"{BASE}inputs: {{a: {{default: x #lost\n}}}}\n")
    write(tmp_path / "two.yaml", "extends: one.yaml\ninputs: {b: {default: x #lost\n}}\n")
    engine = opened(tmp_path, "extends: two.yaml\ninputs: {c: {default: x #lost\n}}\n")

    lost = [Path(problem.name).name for problem in engine.warnings if problem.code == "yaml-comment"]
    unused = [problem.message for problem in engine.warnings if problem.code == "unused-input"]
    assert lost == ["one.yaml", "two.yaml", "agent.yaml"]
    assert unused == ["no template reads `a`", "no template reads `b`", "no template reads `c`"]


def test_a_file_that_extends_itself_by_any_way_is_an_error_at_the_word(tmp_path: Path) -> None:
    write(tmp_path / "other" / "b.yaml", "extends: [../agent.yaml]\nagent: b\n")

    with pytest.raises(
        SpecError, match=r"b\.yaml:1:11: error\[extends-cycle\]: `\.\./agent\.yaml` extends this file again"
    ):
        opened(tmp_path, "extends: other/b.yaml\nagent: a\n")
    with pytest.raises(SpecError, match="extends-cycle"):
        opened(tmp_path / "alone", "extends: ./agent.yaml\nagent: a\n")


def test_every_missing_or_broken_base_is_reported_at_once(tmp_path: Path) -> None:
    write(tmp_path / "list.yaml", "- a\n")
    write(tmp_path / "broken.yaml", "agent: [\n")
    write(tmp_path / "deep.yaml", "extends: [nowhere.yaml]\n")
    with pytest.raises(SpecError) as caught:
        opened(tmp_path, "extends: [gone.yaml, list.yaml, broken.yaml, deep.yaml]\n")

    found = [(Path(problem.name).name, problem.code) for problem in caught.value.problems]
    assert found == [
        ("agent.yaml", "missing-file"),
        ("list.yaml", "yaml-root"),
        ("broken.yaml", "yaml-syntax"),
        ("deep.yaml", "missing-file"),
    ]


def test_a_ladder_of_files_that_share_all_below_is_read_once(tmp_path: Path) -> None:
    for number in range(15):
        below = f"[a{number + 1}.yaml, b{number + 1}.yaml]"
        for side in "ab":
            write(tmp_path / f"{side}{number}.yaml", f"extends: {below}\n")
    for side in "ab":
        write(tmp_path / f"{side}15.yaml", BASE)
    engine = opened(tmp_path, "extends: [a0.yaml, b0.yaml]\nagent: top\n")

    assert ids(engine) == ["identity", "tone", "legal"]


def test_an_error_in_a_merged_value_points_into_the_file_that_wrote_it(tmp_path: Path) -> None:
    base = BASE + "  - id: bad\n    text: |\n      One line.\n      And {{{nobody}}}.\n"
    said = refused(tmp_path, "sections: [{id: bad, title: Bad}]\n", base)

    assert "base.yaml:11:14: error[undeclared-input]: `nobody` is not an input" in said
