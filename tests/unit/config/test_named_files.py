"""Which files an agent file names is known before it is validated: what is of the wrong type names none."""

from __future__ import annotations

from cuecard.config.documents.yaml import read_yaml
from cuecard.config.named_files import AgentPlaces, FileWishes
from cuecard.types import Json

AGENT = """\
template: {file: a.xml, partials: p}
layout: {partials: q}
models: m.yaml
tools: {instructions: [t, "", 7, u.yaml]}
writable: {notes: {section: a}, more: {}}
results: {x: {file: x.hbs}, y: Text, z: {file: 7}, w: {file: ""}}
sections:
  - {id: a, file: a.md, skills: {roots: [s, 7, s], strict: true}}
  - 7
  - {id: b, choose: [7, {file: b.md}, {text: x}, {file: 8}], skills: {roots: r}}
  - id: c
    files:
      entries:
        - {path: c.md}
        - {path: [d.md, c.md]}
        - 7
        - {glob: "g/*.md", exclude: x.md}
        - {path: "in/{{who}}.md"}
        - {path: 7}
        - {path: ["", e.md]}
  - {id: d, files: {supplied: true, entries: [{glob: "h/*.md"}, {path: f.md}]}}
  - {id: e, files: 7, skills: 8, choose: 9}
profiles: {p: {sections: [{file: p.md, choose: [{file: pc.md}]}]}, q: 7, r: {sections: 7}}
variants: {v: {sections: [{files: {entries: [{path: v.md}]}}]}}
"""
NOTHING = FileWishes((), (), ())


def places(text: str) -> AgentPlaces:
    value: dict[str, Json] = read_yaml(text, "agent.yaml").value
    return AgentPlaces.of(value)


def test_every_file_of_an_agent_is_named_with_its_place() -> None:
    found, of_profile = places(AGENT), ("profiles", "p", "sections", 0)

    assert (found.template_key, found.template, found.models) == (("template", "file"), "a.xml", "m.yaml")
    assert found.partials == ((("template", "partials"), "p"), (("layout", "partials"), "q"))
    assert found.instructions == tuple(
        (("tools", "instructions", at), name) for at, name in [(0, "t"), (1, ""), (3, "u.yaml")]
    )
    assert found.results == ((("results", "x", "file"), "x.hbs"), (("results", "w", "file"), ""))
    assert found.written == ("written-by-model/notes.md", "written-by-model/more.md")
    assert found.sections.texts == (
        (("sections", 0, "file"), "a.md"),
        ((*of_profile, "file"), "p.md"),
        (("sections", 2, "choose", 1, "file"), "b.md"),
        ((*of_profile, "choose", 0, "file"), "pc.md"),
    )
    assert found.sections.files == ("c.md", "d.md", "e.md", "f.md", "v.md")
    assert ([root for _, root in found.sections.roots], [*found.sections.strict]) == (["s", "s", "r"], ["s"])
    assert [(each.pattern.written, each.exclude.globs != ()) for each in found.sections.searches] == [
        ("g/*.md", True),
        ("in/{{who}}.md", False),
    ]
    assert found.all() == [
        *("a.xml", "p", "q", "m.yaml", "t", "u.yaml", "a.md", "p.md", "b.md", "pc.md", "x.hbs"),
        *("c.md", "d.md", "e.md", "f.md", "v.md", "s", "s", "r", "g", "in"),
    ]


def test_what_is_of_the_wrong_type_names_no_file() -> None:
    wrong = "".join(
        f"{key}: 7\n"
        for key in ("template", "layout", "models", "tools", "writable", "results", "sections", "profiles", "variants")
    )
    partials = ((("template", "partials"), None), (("layout", "partials"), None))

    assert places(wrong) == AgentPlaces(("template",), 7, partials, (), 7, NOTHING)
    assert places(wrong).all() == []
    assert places("template: a.xml\ntools: {instructions: t.yaml}\n") == AgentPlaces(
        ("template",), "a.xml", partials, ((("tools", "instructions"), "t.yaml"),), None, NOTHING
    )
