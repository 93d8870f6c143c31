from __future__ import annotations

from cuecard import Problem
from property.engines import counter
from unit.agent.checks.agents import checked, codes, place

TOKENS = counter()


def found(template: str) -> Problem:
    (problem,) = checked(template)
    return problem


def test_a_section_that_changes_before_static_ones_is_reported_with_the_tokens_that_it_costs() -> None:
    problem = found("<a>\n<user>{{name}}</user>\n<rules>Be brief.</rules>\n<safety>Ask.</safety>\n</a>")

    assert problem.code == "section-order"
    assert place(problem) == "agent.xml:2:1 <user>"
    cost = TOKENS("<rules>Be brief.</rules>\n<safety>Ask.</safety>\n")
    assert problem.message == f"<user> changes with each user message, before {cost} tokens of static text"
    assert problem.hint.endswith("move it after <safety>")


def test_only_static_text_after_counts() -> None:
    problem = found("<a>\n<user>{{name}}</user>\n<rules>Be brief.</rules>\n<tasks>{{tasks}}</tasks>\n</a>")

    assert f"before {TOKENS('<rules>Be brief.</rules>' + chr(10))} tokens" in problem.message


def test_the_text_of_partials_is_counted_with_the_section_that_prints_it() -> None:
    template = "<a>\n<user>{{name}}</user>\n<rules>{{> p}}</rules>\n</a>"
    (problem,) = checked(template, {"p.hbs": "Be brief."})

    assert f"before {TOKENS('<rules>Be brief.</rules>' + chr(10))} tokens" in problem.message


def test_compact_text_is_counted_as_it_is_printed() -> None:
    template = "<a>\n<user>{{name}}</user>\n<rules>  \n\n\nBe brief.</rules>\n</a>"
    (problem,) = checked(template, agent="inputs: {name: {}}\nwhitespace: compact")

    assert f"before {TOKENS('<rules>' + chr(10) + 'Be brief.</rules>' + chr(10))} tokens" in problem.message


def test_a_section_of_a_step_says_so() -> None:
    problem = found("<a>\n<tools>{{{activeProtocols}}}</tools>\n<rules>Be brief.</rules>\n</a>")

    assert problem.message.startswith("<tools> changes with each model request, before")


def test_under_frozen_delivery_instructions_never_change_and_count_as_static_text() -> None:
    template = "<a>\n<tools>{{{activeProtocols}}}</tools>\n<rules>Be brief.</rules>\n</a>"

    assert codes(template, agent="delivery: frozen") == []
    assert codes(template.replace("Be", "Ask tool_search. Be"), agent="delivery: frozen") == ["never-sent"]


def test_a_root_that_reads_an_input_appears_before_everything() -> None:
    assert place(found('<a of="{{name}}">\n<rules>Be brief.</rules>\n</a>')) == 'agent.xml:1:1 <a of="{{name}}">'


def test_the_closing_tag_of_the_root_is_not_a_static_section() -> None:
    assert codes("<a>\n<rules>Be brief.</rules>\n<user>{{name}}</user>\n</a>\n") == []


def test_a_section_in_a_block_is_reported_once_as_conditional() -> None:
    problem = found("<a>\n{{#if name}}\n<user>{{name}}</user>\n{{/if}}\n<rules>Be brief.</rules>\n</a>")

    assert problem.code == "conditional-section"
    assert place(problem) == "agent.xml:3:1 <user>"


def test_a_block_inside_a_section_makes_no_conditional_section() -> None:
    template = "<a>\n<user>{{#if name}}<b>{{name}}</b>{{/if}}</user>\n<rules>Be brief.</rules>\n</a>"

    assert codes(template) == ["section-order"]


def test_a_conditional_section_after_the_static_ones_is_fine() -> None:
    assert codes("<a>\n<rules>Be brief.</rules>\n{{#if name}}<user>{{name}}</user>{{/if}}\n</a>") == []


def test_a_second_section_of_the_same_name_points_to_the_first() -> None:
    problem = found("<a>\n<rules>Be brief.</rules>\n<rules>Be kind.</rules>\n</a>")

    assert (problem.code, problem.severity) == ("duplicate-section", "warning")
    assert place(problem) == "agent.xml:3:1 <rules>"
    assert "manifests call it `rules-2`" in problem.message
    assert "cms/agent.xml:2:1" in problem.hint


def test_a_section_may_be_called_as_its_root_is_only_with_a_warning() -> None:
    assert codes("<a>\n<a>Be brief.</a>\n</a>") == ["duplicate-section"]


def test_elements_inside_sections_may_repeat() -> None:
    assert codes("<a>\n<rules><p>Be brief.</p><p>Be kind.</p></rules>\n</a>") == []
