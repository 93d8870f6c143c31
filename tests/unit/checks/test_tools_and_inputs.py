from __future__ import annotations

from cuecard.agent.build import make_draft
from cuecard.agent.world import Memo
from cuecard.config.documents.sources import AgentSources
from unit.checks.agents import INPUTS, checked, codes, place, text


def orders(*paths: str) -> list[str]:
    """What is told of instruction files with these paths."""
    agent = text(
        "agent.yaml",
        "agent: cms\ntemplate: agent.xml\ntools: {instructions: [tools, Menus.yaml, images.yaml]}\n" + INPUTS,
    )
    files = tuple(text(path, "tools: {}") for path in paths)
    draft = make_draft(AgentSources(agent, text("agent.xml", "<a><b>x</b></a>"), (), files), Memo())
    return [problem.message for problem in draft.problems if problem.code == "tool-order"]


def test_files_in_mixed_case_appear_in_another_order_elsewhere() -> None:
    (message,) = orders("tools/Menus.yaml", "tools/images.yaml", "tools/pages.yaml")

    assert message.startswith("`Menus.yaml` and `images.yaml` sort differently on Windows")


def test_folders_in_mixed_case_do_too() -> None:
    assert len(orders("tools/B/pages.yaml", "tools/a/images.yaml")) == 1


def test_capitals_that_change_no_order_are_fine() -> None:
    assert orders("tools/Images.yaml", "tools/Menus.yaml", "tools/pages.yaml") == []


def test_files_that_are_listed_one_by_one_appear_as_listed() -> None:
    assert orders("Menus.yaml", "images.yaml") == []


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
