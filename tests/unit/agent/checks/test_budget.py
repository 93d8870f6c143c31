from __future__ import annotations

from pathlib import Path

import pytest

from command_line import problems
from property.engines import counter
from unit.agent.checks.agents import INPUTS, place, write

TOKENS = counter()
TEMPLATE = "<a>\n<rules>Be brief.</rules>\n<user>{{name}}</user>\n<tools>{{{activeProtocols}}}</tools>\n</a>"
STATIC = TOKENS("<a>\n<rules>Be brief.</rules>\n</a>")
FIELDS = "{description: Does it, before: None, after: None, next: None, gotcha: None}"


def protocol(tool: str) -> str:
    return f"<{tool}>\nBEFORE: None\nAFTER: None\nNEXT: None\nGOTCHA: None\n</{tool}>\n"


SEARCH, OTHER = TOKENS(protocol("s")), TOKENS(protocol("other"))
ALL = STATIC + TOKENS(f"<tools>{protocol('s')}{protocol('other').rstrip()}</tools>\n")
SHOWN = TOKENS(f"<tools>{protocol('s').rstrip()}</tools>\n")
ALWAYS = STATIC + SEARCH
RAISE = "raise it, or shorten the texts"


def over(what: str, tokens: int, delivery: str = "") -> str:
    """What is said of a total that is one token too small, on line 5 or, under a delivery, 6."""
    at = f"agent.yaml:{6 if delivery else 5}:17 {tokens - 1}"
    return f"{at}: error[over-budget]: {what} take {tokens} tokens; the budget is {tokens - 1} = {RAISE}"


def never(name: str, at: str, tokens: int, budget: str, left: int) -> str:
    told = f"{name} can never be active: its instructions take {tokens} tokens"
    return f"{at}: warning[never-active]: {told} = {budget} leaves {left} beside what is always there: {RAISE}"


TOTAL, OF_SECTION = "`budget.total`", "the budget of the section `tools`"
TOOLS_KEY = "agent.yaml:3:8 {instructions: tools, core: [s], search: {tool: s}}"
NEVER_SHOWN = f"the instructions of `other` take {OTHER} tokens, so they can never be shown"
NO_ROOM = f"core tools take {SHOWN} tokens of the section `tools`; its budget is {SHOWN - 1}"
IGNORED = "warning[ignored-budget]: this budget has no effect: `frozen`"
REMOVE, EVERYWHERE = "remove it, or choose `append`", "`budget.total` applies under every delivery"
REWRITE = "delivery: rewrite\nsections: [{id: tools, budget: "


@pytest.mark.parametrize(
    ("more", "core", "told"),
    [
        ("", "s", []),
        (f"budget: {{total: {ALWAYS - 1}}}", "s", [over("static sections and core tools", ALWAYS)]),
        (f"budget: {{total: {ALWAYS + OTHER}}}", "s", []),
        (
            f"budget: {{total: {ALWAYS + OTHER - 1}}}",
            "s",
            [never("`other`", f"agent.yaml:5:17 {ALWAYS + OTHER - 1}", OTHER, TOTAL, OTHER - 1)],
        ),
        (f"budget: {{total: {ALWAYS}}}", "s", [never("`other`", f"agent.yaml:5:17 {ALWAYS}", OTHER, TOTAL, 0)]),
        (f"budget: {{total: {STATIC - 1}}}", "", [over("static sections", STATIC)]),
        (
            f"budget: {{total: {STATIC + SEARCH}}}",
            "",
            [never("`other`", f"agent.yaml:5:17 {STATIC + SEARCH}", OTHER, TOTAL, SEARCH)],
        ),
        (f"budget: {{protocols: {OTHER}}}", "", []),
        (
            f"budget: {{protocols: {SEARCH}}}",
            "s",
            [f"agent.yaml:5:21 {SEARCH}: error[over-budget]: {NEVER_SHOWN} = raise it, or shorten them"],
        ),
        (f"{REWRITE}{SHOWN + OTHER}}}]", "s", []),
        (
            f"{REWRITE}{SHOWN + OTHER - 1}}}]\nbudget: {{total: 500}}",
            "s",
            [never("`other`", TOOLS_KEY, OTHER, OF_SECTION, OTHER - 1)],
        ),
        (
            f"budget: {{total: {ALWAYS + 1}}}\n{REWRITE}{SHOWN + 2}}}]",
            "s",
            [never("`other`", f"agent.yaml:5:17 {ALWAYS + 1}", OTHER, TOTAL, 1)],
        ),
        (
            f"sections: [{{id: tools, budget: {SHOWN - 1}}}]",
            "s",
            [f"agent.yaml:3:36 [s]: error[over-budget]: {NO_ROOM} = raise it, or name fewer core tools"],
        ),
        (f"sections: [{{id: tools, budget: {SHOWN}}}]", "s", []),
        (f"delivery: frozen\nbudget: {{total: {ALL - 1}}}", "s", [over("static sections and instructions", ALL, "f")]),
        (
            f"delivery: frozen\nbudget: {{total: {ALL}, protocols: 1, definitions: 2}}",
            "s",
            [
                f"agent.yaml:6:32 1: {IGNORED} shows every tool's instructions from the start = {REMOVE}; {EVERYWHERE}",
                f"agent.yaml:6:48 2: {IGNORED} has every tool active from the start = {REMOVE}",
            ],
        ),
    ],
)
def test_a_budget_that_no_call_can_keep_is_reported_and_one_that_just_holds_is_not(
    more: str, core: str, told: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an agent with two tools, of which the search tool may be a core tool."""
    agent = f"agent: cms\ntemplate: agent.xml\ntools: {{instructions: tools, core: [{core}], search: {{tool: s}}}}\n"
    tools = f"tools: {{s: {FIELDS}, other: {FIELDS}}}"
    texts = {"agent.yaml": f"{agent}{INPUTS}\n{more}", "agent.xml": TEMPLATE, "tools/all.yaml": tools}
    monkeypatch.chdir(write(tmp_path, texts))

    found = [each for each in problems(".") if each.code in {"over-budget", "never-active", "ignored-budget"}]
    assert [f"{place(each)}: {each.severity}[{each.code}]: {each.message} = {each.hint}" for each in found] == told


def test_a_tool_that_a_section_lists_and_that_can_never_be_active_is_named_with_the_section(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = (
        "agent: cms\ntools: {instructions: tools.yaml, core: [s], search: {tool: s}}\nbudget: {total: 40}\n"
        "sections: [{id: a, text: A}, {id: all, tools: {}}, {id: told, text: '{{{activeProtocols}}}'}]\n"
    )
    texts = {"agent.yaml": agent, "tools.yaml": f"tools: {{s: {FIELDS}, other: {FIELDS}}}"}
    monkeypatch.chdir(write(tmp_path, texts))

    (found,) = (each for each in problems(".") if each.code == "never-active")
    assert (
        found.message == "`other`, which the section `all` lists, can never be active: its instructions take 26 tokens"
    )
