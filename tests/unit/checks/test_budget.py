from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from command_line import problems
from cuecard import Problem
from property.engines import counter
from unit.checks.agents import INPUTS, place, write

TOKENS = counter()
TEMPLATE = "<a>\n<rules>Be brief.</rules>\n<user>{{name}}</user>\n<tools>{{{activeProtocols}}}</tools>\n</a>"
STATIC = TOKENS("<a>\n<rules>Be brief.</rules>\n</a>")
FIELDS = "{before: None, after: None, next: None, gotcha: None}"


def protocol(tool: str) -> str:
    return f"<{tool}>\nBEFORE: None\nAFTER: None\nNEXT: None\nGOTCHA: None\n</{tool}>\n"


def found(budget: str) -> list[Problem]:
    """Of an agent with one core tool and one other."""
    agent = (
        f"agent: cms\ntemplate: agent.xml\ntools: {{instructions: tools, core: [s], search: {{tool: s}}}}\n{INPUTS}\n"
    )
    tools = f"tools: {{s: {FIELDS}, other: {FIELDS}}}"
    texts = {"agent.yaml": agent + budget, "agent.xml": TEMPLATE, "tools/all.yaml": tools}
    with TemporaryDirectory() as folder:
        found = problems(write(Path(folder), texts))
    return [problem for problem in found if problem.code == "over-budget"]


def test_a_total_below_static_sections_and_core_tools_can_never_be_kept() -> None:
    always = STATIC + TOKENS(protocol("s"))
    (problem,) = found(f"budget: {{total: {always - 1}}}")

    assert problem.severity == "error"
    assert place(problem) == f"agent.yaml:5:17 {always - 1}"
    assert f"take {always} tokens" in problem.message


def test_a_total_that_just_holds_them_is_fine() -> None:
    assert found(f"budget: {{total: {STATIC + TOKENS(protocol('s'))}}}") == []


def test_instructions_larger_than_their_budget_are_reported_by_tool_but_not_those_of_core_tools() -> None:
    (problem,) = found(f"budget: {{protocols: {TOKENS(protocol('s'))}}}")

    assert "`other`" in problem.message


def test_instructions_that_fit_are_fine() -> None:
    assert found(f"budget: {{protocols: {TOKENS(protocol('other'))}}}") == []


def test_without_a_budget_nothing_is_over_it() -> None:
    assert found("") == []


def test_under_frozen_delivery_all_instructions_are_always_there() -> None:
    section = f"<tools>{protocol('s')}{protocol('other').rstrip()}</tools>\n"
    always = STATIC + TOKENS(section)
    (problem,) = found(f"delivery: frozen\nbudget: {{total: {always - 1}}}")

    assert problem.message.startswith(f"static sections and instructions take {always} tokens")
    assert found(f"delivery: frozen\nbudget: {{protocols: 1, total: {always}}}") == []
