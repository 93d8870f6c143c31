from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from command_line import problems
from unit.agent.checks.agents import INPUTS, checked, codes, place, write


def orders(*paths: str) -> list[str]:
    """What is told of instruction files with these paths."""
    listed = [path for path in paths if "/" not in path.removeprefix("./")]
    named = f"[{', '.join(['tools'] * (listed != [*paths]) + listed)}]"
    agent = f"agent: cms\ntemplate: agent.xml\ntools: {{instructions: {named}}}\n{INPUTS}"
    texts = {"agent.yaml": agent, "agent.xml": "<a><b>x</b></a>", **dict.fromkeys(paths, "tools: {}")}
    with TemporaryDirectory() as folder:
        found = problems(write(Path(folder), texts))
    told = [problem for problem in found if problem.code == "tool-order"]
    assert all(place(each).startswith("agent.yaml:3:23 [") and each.severity == "warning" for each in told)
    assert {each.hint for each in told} <= {"use the same case for both names"}
    return [each.message.removesuffix(" sort differently on Windows, and so do their tools") for each in told]


def test_files_in_mixed_case_appear_in_another_order_elsewhere() -> None:
    assert orders("tools/Menus.yaml", "tools/images.yaml", "tools/pages.yaml") == ["`Menus.yaml` and `images.yaml`"]


def test_folders_in_mixed_case_do_too() -> None:
    assert orders("tools/B/pages.yaml", "tools/a/images.yaml") == ["`B` and `a`"]
    assert orders("tools/x/B/c.yaml", "tools/x/B/a.yaml", "tools/x/a/C.yaml", "tools/x/a/b.yaml") == [
        *("`B` and `a`", "`C.yaml` and `b.yaml`")
    ]


def test_capitals_that_change_no_order_are_fine() -> None:
    assert orders("tools/Images.yaml", "tools/Menus.yaml", "tools/pages.yaml") == []
    assert orders("tools/Images.yaml", "tools/images.yaml") == []


def test_files_that_are_listed_one_by_one_appear_as_listed() -> None:
    assert orders("Menus.yaml", "images.yaml") == orders("./Menus.yaml", "./images.yaml") == []


def test_each_over_a_mapping_is_reported_at_the_mapping() -> None:
    (problem,) = checked("<a>\n<b>{{#each facts}}{{this}}{{/each}}</b>\n</a>")

    assert (problem.code, problem.severity) == ("unsorted-mapping", "warning")
    assert place(problem) == "agent.xml:2:12 facts"


def test_each_over_a_mapping_is_reported_in_partials_and_through_root() -> None:
    template = "<a>\n<b>{{#each tasks}}{{#each @root.facts}}{{this}}{{/each}}{{/each}}{{> p}}</b>\n</a>"
    found = checked(template, {"p.hbs": "{{#each ../facts}}{{this}}{{/each}}{{#each facts}}{{this}}{{/each}}"})

    assert [place(problem) for problem in found if problem.code == "unsorted-mapping"] == [
        "agent.xml:2:27 @root.facts",
        "p.hbs:1:44 facts",
    ]


def test_each_over_a_list_or_a_name_of_its_item_is_fine() -> None:
    assert codes("<a>\n<b>{{#each tasks}}{{#each facts}}{{this}}{{/each}}{{/each}}</b>\n</a>") == []


CLOCKS = """\
agent: a
inputs:
  zone: {default: Europe/Wien}
  lang: {default: en-GB, values: [en-GB, xx-YY]}
  other: {default: Mars/Olympus}
  open: {default: ""}
sections:
  - {id: time, clock: {zone_input: zone, locale_input: lang}}
  - {id: facts, facts: {labels: {date: D}, clock: {zone_input: zone, locale_input: open}}}
profiles:
  p: {sections: [{id: time, clock: {zone_input: other}}]}
"""


def test_inputs_that_can_name_no_zone_or_locale_are_told_before_a_turn_finds_out(tmp_path: Path) -> None:
    found = problems(write(tmp_path, {"agent.yaml": CLOCKS}))

    assert [f"{each.code} {place(each)}" for each in found] == [
        "unknown-zone agent.yaml:3:19 Europe/Wien",
        "unknown-locale agent.yaml:4:42 xx-YY",
        "unknown-zone agent.yaml:5:20 Mars/Olympus",
    ]
