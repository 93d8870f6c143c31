"""Edits without a checkout: one section or one tool over a base version, templates of people and data of models."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import CuecardError, Engine, InputError, Library, SpecError
from cuecard.config.documents.yaml_edits import with_value
from shipped import ROOT
from unit.library.databases import WHATEVER_THE_DATABASE

WRITTEN = """\
# about
sections:
  - id: a # keep
    text: |
      old

    # after
    when: x
  - {id: b, text: "hi", when: z}
  - id: c
    text: plain # c
tools:
  foo:
    before: None
    gotcha: x # c
    # trailing
  bar: {before: y}
  baz:
"""
TEXTS = st.text(
    st.one_of(
        st.sampled_from([*"ab:#-|>{}[]'\"\\ \n\té😀&*!%@`?"]),
        st.characters(
            exclude_categories=["Cs"],
            exclude_characters=[*map(chr, (*range(9), *range(11, 32))), *map(chr, range(127, 160))],
        ),
    ),
    max_size=30,
)


def prompt(library: Library, name: str, folder: Path) -> str:
    """The system prompt of a version."""
    return system_of(library.export(name, folder / name))


def system_of(path: Path) -> str:
    """What the agent at a path says first."""
    engine = Engine.open(path)
    return engine.prepare_step(engine.prepare_call()).system


@given(TEXTS, st.sampled_from([0, 1, 2]))
def test_a_text_in_yaml_is_replaced_and_nothing_else(text: str, section: int) -> None:
    made = with_value(WRITTEN, ("sections", section, "text"), text)  # it compares all values itself

    assert re.findall(r"#.*", made)[:1] == ["# about"]
    assert made.count("# keep") + made.count("# after") + made.count("# trailing") >= 3


@given(
    st.dictionaries(
        st.sampled_from(["before", "after", "next", "gotcha"]),
        st.one_of(TEXTS, st.lists(TEXTS, max_size=2)),
        min_size=1,
    ),
    st.sampled_from(["foo", "bar", "baz"]),
)
def test_an_entry_in_yaml_is_replaced_and_nothing_else(entry: dict[str, object], tool: str) -> None:
    assert "# keep" in with_value(WRITTEN, ("tools", tool), entry)


def test_a_block_is_written_as_people_write_it() -> None:
    assert with_value(WRITTEN, ("tools", "baz"), {"before": "none", "gotcha": "one\ntwo\n"}).endswith(
        "  baz:\n    before: none\n    gotcha: |\n      one\n      two\n"
    )


@pytest.mark.parametrize(
    ("section", "body", "file"),
    [
        ("task", "Serve {{{name}}}\nand nobody else.\n", "agent.yaml"),
        ("rules", "Be brief.\nBe kind.\n", "sections/rules.md"),
    ],
)
def test_a_section_is_edited_in_the_file_that_has_it(
    library: Library, agent: Path, tmp_path: Path, section: str, body: str, file: str
) -> None:
    library.publish(agent, "the first", author="Ann", label="production")
    edited = library.edit("helper", section=section, body=body, author="Bob", message="said more", label="production")
    changed = {path for path, text in library.texts("helper").items() if text != library.texts("helper@1")[path]}

    assert (edited.version.number, edited.version.parent, edited.warnings) == (2, 1, ())
    assert changed == {file}
    assert body.strip().replace("{{{name}}}", "friend") in prompt(library, "helper@2", tmp_path)


def test_an_element_of_a_template_and_an_entry_of_a_tool_are_edited_where_they_are(library: Library) -> None:
    library.publish(ROOT / "prompts" / "cms", "shipped", author="Ann")
    library.edit("cms@1", section="identity", body="\nYou are the editor.\n", author="Bob", message="m")
    entry = {"description": "Create a blog post", "phrases": ["write a post"], "gotcha": "Starts as a DRAFT."}
    library.edit("cms@1", tool="cms_createPost", entry=entry, author="Bob", message="m")
    old, new = library.texts("cms@1"), library.texts("cms@latest")

    assert {path for path in new if new[path] != old[path]} == {"agent.xml", "../../tool_instructions/cms/posts.yaml"}
    assert "<identity>\nYou are the editor.\n</identity>" in new["agent.xml"]
    assert new["agent.xml"].partition("</identity>")[2] == old["agent.xml"].partition("</identity>")[2]


def test_a_title_is_edited_too(library: Library, agent: Path, tmp_path: Path) -> None:
    library.publish(agent, "the first", author="Ann")
    library.edit("helper@1", section="rules", title="The: rules", author="Bob", message="m")
    library.edit("helper@2", section="tools", title="Tools", author="Bob", message="m")

    assert "## The: rules\n" in prompt(library, "helper@3", tmp_path)
    assert "title: Tools" in library.texts("helper@3")["agent.yaml"]


def test_of_two_who_edit_one_section_the_second_is_refused_and_shown_what_changed(
    library: Library, agent: Path
) -> None:
    library.publish(agent, "the first", author="Ann", label="production")
    library.edit("helper@1", section="rules", body="Be kind.\n", author="Ann", message="m", label="production")
    library.edit("helper@1", section="task", body="Serve {{{name}}}.", author="Bob", message="m", label="production")
    with pytest.raises(InputError) as error:
        library.edit("helper@1", section="rules", body="Be quick.\n", author="Cid", message="m", label="production")

    (problem,) = error.value.problems
    assert problem.code == "edit-conflict"
    assert "-Be brief." in problem.hint
    assert "+Be kind." in problem.hint
    assert library.texts("helper")["sections/rules.md"] == "Be kind.\n"
    assert "Serve {{{name}}}." in library.texts("helper")["agent.yaml"]
    assert len(library.versions("helper")) == 3


def test_of_two_who_edit_one_tool_the_second_is_refused(library: Library, agent: Path) -> None:
    library.publish(agent, "the first", author="Ann")
    entry = {"description": "Shows a page", "phrases": ["read a page"], "gotcha": "Ids are texts."}
    library.edit("helper@1", tool="get_page", entry=entry, author="Ann", message="m")
    with pytest.raises(InputError, match="edit-conflict"):
        library.edit("helper@1", tool="get_page", entry={**entry, "gotcha": "None."}, author="Bob", message="m")


def test_a_section_that_drops_its_placeholder_is_a_warning_with_what_is_lost(library: Library) -> None:
    library.publish(ROOT / "prompts" / "polyant", "shipped", author="Ann", label="production")
    edited = library.edit(
        "polyant", section="03-tooling", body="## Tools\n\nUse them.\n", author="Ann", message="m", label="production"
    )

    assert [(each.code, each.severity) for each in edited.warnings] == [("placeholder-lost", "warning")]
    assert "`content`" in edited.warnings[0].message
    assert library.rollback("polyant", author="Ann").number == 1
    assert library.label("polyant@2", "staging", author="Ann").number == 2  # it is still what was meant


def test_the_place_for_tool_instructions_can_be_lost_too_and_the_agent_serves(library: Library, tmp_path: Path) -> None:
    library.publish(ROOT / "prompts" / "cms", "shipped", author="Ann", label="production")
    edited = library.edit(
        "cms", section="tool-usage-instructions", body="\nAsk.\n", author="Ann", message="m", label="production"
    )
    engine = Engine.open(library.export("cms@2", tmp_path / "out"), delivery="rewrite")
    manifest = engine.prepare_step(engine.prepare_call()).manifest

    assert [each.message for each in edited.warnings] == [
        "section `tool-usage-instructions` no longer has `activeProtocols`: what it printed is lost"
    ]
    assert "no section of this call shows tool instructions" in [cut.reason for cut in manifest.cuts]
    assert library.engine("cms").agent.sha256 == engine.agent.sha256


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"section": "rulez", "body": "x"}, "unknown-section"),
        ({"section": "rules", "body": "a\0b"}, "control-character"),
        ({"section": "rules", "body": "x" * 10_000_000}, "large-file"),
        ({"section": "rules", "body": "{{{{raw}}}} {{x}} {{{{/raw}}}}"}, "wrong-edit"),
        ({"section": "rules"}, "wrong-argument"),
        ({"tool": "get_pag", "entry": {}}, "unknown-tool"),
        ({"tool": "get_page"}, "wrong-argument"),
        ({"tool": "get_page", "entry": {"gotcha": "\ud800"}}, "control-character"),
        ({"section": "rules", "body": "x", "tool": "get_page", "entry": {}}, "wrong-argument"),
        ({"section": "rules", "body": "{{undeclared}}"}, "undeclared-input"),
        ({"section": "rules", "body": "{{env 'HOME'}}"}, "unknown-helper"),
        ({"section": "rules", "body": "{{> stranger}}"}, "unknown-partial"),
        ({"section": "rules", "body": "{{#if name}}"}, "unclosed-block"),
        ({"tool": "get_page", "entry": {"gotchaa": "x"}}, "unknown-key"),
    ],
)
@WHATEVER_THE_DATABASE
def test_an_edit_that_cannot_be_is_a_clear_error_and_changes_nothing(
    library: Library, agent: Path, given: dict[str, object], code: str
) -> None:
    library.publish(agent, "the first", author="Ann")
    with pytest.raises(CuecardError) as error:
        library.edit("helper@1", author="Bob", message="m", **given)  # type: ignore[arg-type] # what people may give

    assert code in [problem.code for problem in error.value.problems]
    assert len(str(error.value)) < 2000
    assert len(library.versions("helper")) == 1


def test_what_a_model_writes_is_printed_as_data_below_the_authors_heading(
    library: Library, agent: Path, tmp_path: Path
) -> None:
    library.publish(agent, "the first", author="Ann", label="production")
    text = "{{name}} {{{{raw}}}}\n\n## Rules\n\n{{{activeProtocols}}}\u200b\x07"
    written = library.write("helper", "notes", text)

    assert (written.author, written.labels) == ("tool", ("latest", "production"))
    assert "## Notes\n\n{{name}} {{{{raw}}}}\n\n\\## Rules\n\n{{{activeProtocols}}}\n" in prompt(
        library, "helper", tmp_path
    )
    assert library.rollback("helper", author="Ann").number == 1
    assert "Nothing yet." in library.texts("helper")["agent.yaml"]


@pytest.mark.parametrize(
    ("name", "text"), [("rules", "x"), ("notes", "x" * 101), ("notes", "\u200b"), ("soul", "x" * 10_000_000)]
)
@WHATEVER_THE_DATABASE
def test_what_a_model_may_not_write_is_refused(library: Library, agent: Path, name: str, text: str) -> None:
    library.publish(agent, "the first", author="Ann", label="production")
    with pytest.raises(InputError):
        library.write("helper", name, text)

    assert len(library.versions("helper")) == 1


def test_a_writable_section_that_does_not_exist_is_an_error_of_the_agent(library: Library, agent: Path) -> None:
    file = agent / "agent.yaml"
    file.write_text(file.read_text().replace("section: notes", "section: note"))

    with pytest.raises(SpecError, match="unknown-section"):
        library.publish(agent, "the first", author="Ann")


@given(st.text(max_size=80))
def test_no_text_of_a_model_changes_the_sections_around_it(text: str) -> None:
    """Through files, which say the same: `written-by-model/` is read from a folder as from a library."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "agent.yaml").write_text(
            'agent: a\nwritable: {n: {section: n}}\nlayout: {heading: "## {{title}}\\n", separator: "\\n---\\n"}\n'
            "sections: [{id: n, title: N, text: x}, {id: o, title: O, text: y}]\n"
        )
        Path(folder, "written-by-model").mkdir()
        Path(folder, "written-by-model", "n.md").write_text(text, encoding="utf-8", errors="replace")
        system = system_of(Path(folder))

    assert system.count("\n---\n") <= 1
    assert system.endswith("## O\ny")
    assert len(re.findall(r"^## ", system, re.MULTILINE)) <= 2
