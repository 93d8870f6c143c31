"""Agent files laid over each other: whose paths are whose."""

from __future__ import annotations

from cuecard.config.documents.yaml import read_yaml
from cuecard.config.layers import lay_over, origins
from cuecard.types import Json

SOUL = "sections: [{id: soul, files: {SUPPLIED entries: [{path: SOUL.md}, {path: [USER.md, old/USER.md]}]}}]"


def entries(*layers: tuple[str, str]) -> Json:
    """The entries of the merged list; each layer with the folder of its file."""
    documents = [(read_yaml(text, f"{folder}/agent.yaml"), folder) for text, folder in layers]
    return lay_over(documents).document.value["sections"][0]["files"]["entries"]


def soul(supplied: str) -> str:
    return SOUL.replace("SUPPLIED", supplied)


def test_paths_of_files_stay_relative_to_the_file_that_wrote_them() -> None:
    written = [{"path": "base/SOUL.md"}, {"path": ["base/USER.md", "base/old/USER.md"]}]

    assert entries((soul(""), "base"), ("agent: mine", "")) == written
    assert entries((soul(""), "base"), ("sections: a mistake", "team"), ("agent: mine", "")) == written


def test_paths_of_files_that_the_host_supplies_are_the_hosts() -> None:
    written = [{"path": "SOUL.md"}, {"path": ["USER.md", "old/USER.md"]}]

    assert entries((soul("supplied: true,"), "../base"), ("agent: mine", "")) == written
    assert entries(("agent: base", "../base"), (soul("supplied: true,"), "../team"), ("agent: mine", "")) == written


def test_a_list_that_an_overlay_replaces_is_still_the_hosts() -> None:
    base, team = soul("supplied: true,"), "sections: [{id: soul, files: {entries: [{path: CARE.md}]}}]"

    assert entries((base, "../base"), (team, "../team"), ("agent: mine", "")) == [{"path": "CARE.md"}]


def test_items_are_called_by_their_ids_where_files_lie_over_each_other() -> None:
    base = read_yaml("sections: [{id: a, text: x}, {id: 7}, {id: ''}, b]\nids: {id: c}", "base.yaml")
    both = lay_over([(base, ""), (read_yaml("agent: mine", "agent.yaml"), "")]).document
    paths = [("sections", 0, "text"), *(("sections", at) for at in (1, 2, 3)), ("ids", "id"), ()]

    assert [both.dotted(path) for path in paths] == [
        "sections.a.text",
        "sections.1",
        "sections.2",
        "sections.3",
        "ids.id",
        "",
    ]
    assert base.dotted(("sections", 0)) == "sections.0"


ORG = """\
agent: org
roots: [shared]
template: null
layout: {partials: partials, heading: h}
models: models.yaml
tools: {instructions: [tools, more.yaml], core: [a]}
history: {policy: last, limit: 3}
results: {x: {file: x.hbs, head: 3}, y: {text: Y, head: 1}, z: {head: 2}}
inputs: {file: {default: not/moved}, empty: {}}
sections:
  - {id: a, file: texts/a.md, title: A}
  - {id: b, choose: [{file: b/x.md, when: w}, {text: T}], budget: 5}
  - {id: c, files: {entries: [{path: [c.md, d.md]}, {glob: "g/*.md", exclude: [NAME.md, sub/x.md]}]}}
  - {id: d, files: {entries: [{upward: {name: N.md, from: f, to: t}}]}, title: D}
  - {id: e, skills: {roots: [skills]}}
  - {id: f, text: F}
  - {id: k, files: {entries: [{glob: "g/*.md", exclude: [NAME.md, sub/x.md]}, {upward: {name: N.md, from: f, to: t}}]}}
  - {id: l, text: L, remove: false}
profiles: {p: {include: [a], sections: [{id: a, file: texts/p.md}]}}
variants: {v: {sections: [{id: a, files: {supplied: true, entries: [{path: v.md}]}}]}}
"""
TEAM = """\
agent: team
history: {policy: blocks}
results: {x: {text: X}, y: {file: y.hbs}, z: {tail: 1}}
tools: {core: [b]}
sections:
  - {id: a, text: mine, before: d}
  - {id: b, file: own.md}
  - {id: d, clock: {zone: UTC}, title: null}
  - {id: f, remove: true}
  - {id: g, text: G, after: a}
  - {text: nameless}
  - {id: c, files: {entries: [{path: e.md}]}}
"""
MINE = """\
extends: team
sections:
  - {id: f, text: new F}
  - {id: e, remove: true}
  - {id: h, title: H}
  - {id: bb, text: B}
  - {id: g, before: nobody}
  - {id: a, after: a}
  - {id: d, before: a, after: b, remove: 3}
  - {id: c, remove: true, title: C}
  - {id: g, text: twice}
  - {id: z, remove: true}
"""

BELOW = "refers to sections of a base file or template, and there is none"
MERGE = "rename one, or merge them"
REMOVED = "has no effect: `remove` removes the section"
NO_SECTION = "the base of this file has no section"
KNOWN = "known here: `a`, `b`, `c`, `d`, `e`, `g`, `k`, `l`"
TO_ADD = "to add a section, use `before` or `after` to place it"
DEFINED = "the existing sections are defined at team.yaml:6:3"


def test_of_three_files_every_value_comes_from_the_last_that_says_it_and_is_placed_there() -> None:
    layers = (("org", "../[org]", ORG), ("team", "../team", TEAM), ("mine", "", MINE))
    merged = lay_over([(read_yaml(text, f"{name}.yaml"), folder) for name, folder, text in layers])

    assert merged.document.value == {
        "agent": "team",
        "roots": ["../[org]/shared"],
        "template": None,
        "layout": {"partials": "../[org]/partials", "heading": "h"},
        "models": "../[org]/models.yaml",
        "tools": {"instructions": ["../[org]/tools", "../[org]/more.yaml"], "core": ["b"]},
        "history": {"policy": "blocks"},
        "results": {
            "x": {"head": 3, "text": "X"},
            "y": {"head": 1, "file": "../team/y.hbs"},
            "z": {"head": 2, "tail": 1},
        },
        "inputs": {"file": {"default": "not/moved"}, "empty": {}},
        "sections": [
            {"id": "b", "budget": 5, "file": "../team/own.md"},
            {"id": "d", "title": None, "clock": {"zone": "UTC"}},
            {"id": "a", "title": "A", "text": "mine"},
            {"id": "g", "text": "twice"},
            {
                "id": "k",
                "files": {
                    "entries": [
                        {"glob": "../[[]org]/g/*.md", "exclude": ["NAME.md", "../[[]org]/sub/x.md"]},
                        {"upward": {"name": "N.md", "from": "../[org]/f", "to": "../[org]/t"}},
                    ]
                },
            },
            {"id": "l", "text": "L"},
            {"text": "nameless"},
            {"id": "f", "text": "new F"},
            {"id": "bb", "text": "B"},
        ],
        "profiles": {"p": {"include": ["a"], "sections": [{"id": "a", "file": "../[org]/texts/p.md"}]}},
        "variants": {"v": {"sections": [{"id": "a", "files": {"supplied": True, "entries": [{"path": "v.md"}]}}]}},
        "extends": "team",
    }
    assert (
        [f"{path} {file.name.removesuffix('.yaml')}:{line}" for path, file, line in origins(merged.document)]
        == """\
agent team:1
roots org:2
template org:3
layout.partials org:4
layout.heading org:4
models org:5
tools.instructions org:6
tools.core team:4
history.policy team:2
results.x.head org:8
results.x.text team:3
results.y.head org:8
results.y.file team:3
results.z.head org:8
results.z.tail team:3
inputs.file.default org:9
inputs.empty org:9
sections.b.id team:7
sections.b.budget org:12
sections.b.file team:7
sections.d.id mine:9
sections.d.title team:8
sections.d.clock.zone team:8
sections.a.id mine:8
sections.a.title org:11
sections.a.text team:6
sections.g.id mine:11
sections.g.text mine:11
sections.k.id org:17
sections.k.files.entries org:17
sections.l.id org:18
sections.l.text org:18
sections.6.text team:11
sections.f.id mine:3
sections.f.text mine:3
sections.bb.id mine:6
sections.bb.text mine:6
profiles.p.include org:19
profiles.p.sections org:19
variants.v.sections org:20
extends mine:1""".splitlines()
    )
    assert dict(merged.removed) == {"e": "mine.yaml:4:10", "c": "mine.yaml:10:10"}
    assert [f"{problem.picture().splitlines()[0]} = {problem.hint}" for problem in merged.problems] == [
        f"org.yaml:18:22: error[unknown-key]: `remove` {BELOW} = remove it",
        f"mine.yaml:11:10: error[duplicate-section]: two sections are named `g` = the first is on line 7; {MERGE}",
        "mine.yaml:9:24: error[wrong-value]: `before` and `after` exclude each other = keep one of them",
        "mine.yaml:9:42: error[wrong-value]: `remove` should be true or false = write `remove: true`",
        f"mine.yaml:10:27: error[no-effect]: `title` {REMOVED} = keep one of the two",
        f"mine.yaml:5:10: error[unknown-section]: {NO_SECTION} `h` = {KNOWN}\n{TO_ADD}\n{DEFINED}",
        f"mine.yaml:7:21: error[unknown-section]: {NO_SECTION} `nobody` = {KNOWN}\n{DEFINED}",
        "mine.yaml:8:20: error[wrong-value]: `a` cannot be placed next to itself = name another section",
        f"mine.yaml:12:10: error[unknown-section]: {NO_SECTION} `z` = {KNOWN}\n{DEFINED}",
    ]
