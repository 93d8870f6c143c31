"""A budget of n tokens has room for n tokens, and not for one more."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cuecard import Engine, Step, ToolCard, ToolResult, Turn
from cuecard.config.agent_file import BudgetSpec
from cuecard.pipeline.limits import within_budget
from cuecard.types import DeliveryWish
from unit.agent.section_lists.agents import TOOLS, cut, opened, search, step

CUES = """\
agent: a
tools: {instructions: t.yaml, core: [tool_search], cues: {on_discovery: [before, gotcha], on_result: [after, next]}}
sections: [{id: a, text: a}, {id: p, text: "{{{activeProtocols}}}"}]
"""
PLAIN = CUES.replace(", cues: {on_discovery: [before, gotcha], on_result: [after, next]}", "")
HOWTO = PLAIN.replace("{{{activeProtocols}}}", "<howto>\\n{{{activeProtocols}}}\\n</howto>")
SECTIONS = """\
agent: a
sections:
  - {id: a, text: alpha alpha alpha}
  - {id: b, text: beta beta beta, priority: 1}
"""


def limited(engine: Engine, *, total: int | None = None, protocols: int | None = None) -> Engine:
    budget = BudgetSpec(total=total, protocols=protocols)
    return replace(engine, agent=replace(engine.agent, spec=engine.agent.spec.model_copy(update={"budget": budget})))


def answered(engine: Engine) -> Step:
    """The request behind a search and the first result of the tool that it found."""
    return engine.prepare_step(engine.prepare_call(), [search("get_page"), ToolResult("get_page", {"ok": True}, "use")])


def test_the_whole_prompt_with_the_cues_that_are_still_to_come(tmp_path: Path) -> None:
    engine = opened(tmp_path, CUES, t_yaml=TOOLS, delivery="append")
    whole = answered(engine).manifest.total_tokens
    fits, lacks = limited(engine, total=whole), limited(engine, total=whole - 1)

    assert answered(fits).active_tools == step(fits, None, "get_page").active_tools == ("tool_search", "get_page")
    assert answered(lacks).active_tools == step(lacks, None, "get_page").active_tools == ("tool_search",)


@pytest.mark.parametrize("delivery", ["append", "rewrite"])
def test_the_whole_prompt_with_a_tool(tmp_path: Path, delivery: DeliveryWish) -> None:
    long = f"  del_page: {{before: {'a page ' * 200}}}\n"
    engine = opened(tmp_path, HOWTO, t_yaml=TOOLS + long, delivery=delivery)
    whole = step(engine, None, "get_page").manifest.total_tokens
    both = limited(engine, total=step(engine, None, "get_page", "put_page").manifest.total_tokens)

    assert step(limited(engine, total=whole), None, "get_page").active_tools == ("tool_search", "get_page")
    assert step(limited(engine, total=whole - 1), None, "get_page").active_tools == ("tool_search",)
    assert step(both, None, "get_page", "put_page", "del_page").active_tools == ("tool_search", "get_page", "put_page")


def test_the_place_of_two_tools_that_come_with_one_message_counts_once(tmp_path: Path) -> None:
    more = "  del_page: {before: a page, after: nothing}\n"
    engine = opened(tmp_path, HOWTO, t_yaml=TOOLS + more, delivery="append")

    def asked(engine: Engine) -> Step:
        """The request behind a search for one tool, and another for two."""
        chat = engine.conversation()
        chat.user()
        chat.step([search("get_page", call_id="1")])
        return chat.step([search("put_page", "del_page", call_id="2")])

    whole = asked(engine).manifest.total_tokens
    assert asked(limited(engine, total=whole)).active_tools == asked(engine).active_tools
    assert asked(limited(engine, total=whole - 1)).active_tools == ("tool_search", "get_page", "put_page")


def test_a_section_of_instructions_with_a_tool(tmp_path: Path) -> None:
    engine = opened(tmp_path, HOWTO, t_yaml=TOOLS, delivery="rewrite")
    whole = engine.count(step(engine, None, "get_page").system.removeprefix("a").lstrip())

    def asked(budget: int) -> list[Step]:
        """The requests behind a search for it, and behind one for another tool."""
        text = HOWTO.replace("id: p,", f"id: p, budget: {budget},")
        chat = opened(tmp_path, text, t_yaml=TOOLS, delivery="rewrite").conversation()
        chat.user()
        return [chat.step([search(name, call_id=name)]) for name in ("get_page", "put_page")]

    (fits, full), (lacks, _) = asked(whole), asked(whole - 1)
    assert fits.active_tools == full.active_tools == ("tool_search", "get_page")
    assert lacks.active_tools == ("tool_search",)
    assert cut(full, "put_page").reason == f"not active: budget of the section `p`: {whole} tokens"


@pytest.mark.parametrize("delivery", ["append", "rewrite"])
@pytest.mark.parametrize("found", ["get_page put_page,del_page", "get_page,put_page,del_page"])
def test_the_notice_about_tools_that_are_not_active_begins_once_in_a_message(
    tmp_path: Path, delivery: DeliveryWish, found: str
) -> None:
    tools = TOOLS + "".join(line.replace("put_", "del_") for line in TOOLS.splitlines() if "put_page" in line)
    engine = opened(tmp_path, HOWTO, t_yaml=tools.replace("e page", f"e {'page ' * 200}"), delivery=delivery)
    searches = [search(*names.split(), call_id=f"call-{at}") for at, names in enumerate(found.split(","))]

    def asked(total: int) -> tuple[int, int]:
        """The tokens of the prompt, and how many tools it has no room to name."""
        chat = limited(engine, total=total).conversation()
        chat.user()
        manifest = [chat.step([each]) for each in searches][-1].manifest
        lacks = f"not active: budget.total: {total} tokens, with no room to say so"
        return manifest.total_tokens, sum(cut.reason == lacks for cut in manifest.cuts)

    every = asked(200)[0]
    less = asked(every - 1)[0]
    assert (asked(every), asked(less), asked(less - 1)[1]) == ((every, 0), (less, 1), 2)


def test_the_whole_prompt_with_the_cues_that_a_turn_before_has_left_to_come(tmp_path: Path) -> None:
    engine = opened(tmp_path, CUES, t_yaml=TOOLS, delivery="append")

    def named(engine: Engine) -> tuple[Step, Step]:
        """The first request of a turn that names a tool, and the one after the first result of another."""
        chat = engine.conversation()
        chat.user()
        chat.step([search("get_page")])
        chat.user(Turn(discovered=("put_page",)))
        return chat.step(), chat.step([ToolResult("get_page", {"ok": True}, "use")])

    whole = named(engine)[1].manifest.total_tokens
    both = ("tool_search", "put_page", "get_page")
    fits, lacks = named(limited(engine, total=whole)), named(limited(engine, total=whole - 1))

    assert [{*step.active_tools} for step in (*fits, *lacks)] == [{*both}, {*both}, {*both[::2]}, {*both[::2]}]
    assert fits[1].manifest.total_tokens == whole


def test_the_sections_of_a_prompt(tmp_path: Path) -> None:
    engine = opened(tmp_path, SECTIONS)
    whole = step(engine).manifest.total_tokens

    assert step(limited(engine, total=whole)).manifest.cuts == ()
    assert [cut.what for cut in step(limited(engine, total=whole - 1)).manifest.cuts] == ["b"]


def test_the_sections_that_are_left_when_others_were_dropped(tmp_path: Path) -> None:
    sections = "".join(f"  - {{id: s{n}, priority: {n}, text: The line number {n}}}\n" for n in range(4))
    engine = opened(tmp_path, f"agent: a\nsections:\n{sections}")
    two = engine.count("The line number 2\n\nThe line number 3")

    assert step(limited(engine, total=two)).system.startswith("The line number 2")
    assert [cut.what for cut in step(limited(engine, total=two)).manifest.cuts] == ["s0", "s1"]
    assert [cut.what for cut in step(limited(engine, total=two - 1)).manifest.cuts] == ["s0", "s1", "s2"]


def test_what_a_dropped_section_takes_with_it(tmp_path: Path) -> None:
    """Its heading and its separator count as well: what was cut and what is left are the whole."""
    titled = SECTIONS.replace("priority: 1}", 'priority: 1, title: "Beta, beta"}\n  - {id: c, text: gamma, title: C}')
    engine = opened(tmp_path, titled)
    whole = step(engine).manifest.total_tokens
    less = step(limited(engine, total=whole - 1)).manifest

    assert [cut.what for cut in less.cuts] == ["b"]
    assert less.total_tokens + less.cuts[0].tokens == whole


def test_one_section_as_a_whole_and_line_by_line(tmp_path: Path) -> None:
    engine = opened(tmp_path, SECTIONS)
    body = "One line of it.\nAnother line of it.\nThe last line of it."
    two = body.rpartition("\n")[0]

    def cut(tokens: int, body: str = body) -> tuple[str, int]:
        section = engine.agent.sections[0]
        limited = replace(section, spec=section.spec.model_copy(update={"budget": tokens}))
        text, cuts = within_budget(limited, body, (), engine.count)
        return text, len(cuts)

    assert cut(engine.count(body)) == (body, 0)
    assert cut(engine.count(body) - 1) == (two, 1)
    assert cut(engine.count(two)) == (two, 1)
    assert cut(engine.count(two) - 1) == ("One line of it.", 1)
    unclosed = "One line of it.\n<!-- a comment\n\n\n\n"
    assert cut(engine.count(unclosed) - 1, unclosed) == (unclosed.rstrip(), 1)


def test_what_is_open_where_a_section_is_cut_is_closed_from_the_inside(tmp_path: Path) -> None:
    engine = opened(tmp_path, SECTIONS)
    section = replace(engine.agent.sections[0], spec=engine.agent.sections[0].spec.model_copy(update={"budget": 30}))
    body = "<outer>\n<inner>\n" + "A line of it.\n" * 20 + "</inner>\n</outer>"
    text, _ = within_budget(section, body, ("outer", "inner"), engine.count)

    assert text.endswith("\n</inner>\n</outer>")


@pytest.mark.parametrize("core", ["put_page", "put_*"])
@pytest.mark.parametrize("first", [None, ("tool_search", "get_page")], ids=["from the start", "later"])
def test_core_tools_take_nothing_of_the_budget_of_instructions_also_those_that_come_later(
    tmp_path: Path, first: tuple[str, ...] | None, core: str
) -> None:
    engine = opened(
        tmp_path, PLAIN.replace("[tool_search]", f'[tool_search, "{core}"]'), t_yaml=TOOLS, delivery="append"
    )
    engine = limited(engine, protocols=engine.count(engine.agent.protocols["get_page"].text))
    before = engine.prepare_call(Turn(tools=first))
    searched = engine.prepare_step(engine.prepare_call(previous=before), [search("get_page")])
    named = [engine.prepare_call(Turn(discovered=("get_page",)), previous=call) for call in (before, None)]

    for made in (searched, *map(engine.prepare_step, named)):
        assert {*made.active_tools} - {"tool_search"} == {"put_page", "get_page"}


@pytest.mark.parametrize("delivery", ["append", "rewrite"])
def test_what_the_budget_of_instructions_has_no_room_for_takes_none_of_it(
    tmp_path: Path, delivery: DeliveryWish
) -> None:
    engine = opened(tmp_path, PLAIN, t_yaml=TOOLS.replace("Search first", "Search " * 40), delivery=delivery)
    small, large = sorted(("get_page", "put_page"), key=lambda tool: engine.count(engine.instructions[tool]))
    tight = limited(engine, protocols=engine.count(engine.instructions[small]))

    call = tight.prepare_call(Turn(discovered=(small, large)))  # the last one gets room first
    later = tight.prepare_step(tight.prepare_call(), [search(large, small)])
    assert {small, large}.intersection(call.tools.initial) == {small, large}.intersection(later.active_tools) == {small}


def plain(tmp_path: Path) -> Engine:
    return opened(tmp_path, PLAIN, t_yaml=TOOLS, delivery="append").with_tools(
        [ToolCard("plain", "Has no instructions")]
    )


def test_a_tool_without_instructions_is_active_brings_no_block_and_is_reported(tmp_path: Path) -> None:
    made = step(plain(tmp_path), None, "plain")

    assert made.active_tools == ("tool_search", "plain")
    assert made.appended == ()
    assert ("plain", "no instructions: active without a protocol") in [(c.what, c.reason) for c in made.manifest.cuts]


def test_a_tool_without_instructions_needs_no_room_where_there_is_none(tmp_path: Path) -> None:
    engine = plain(tmp_path)

    assert step(limited(engine, total=1), None, "plain").active_tools == ("tool_search", "plain")
    assert step(limited(engine, total=1), None, "get_page", "plain").active_tools == ("tool_search", "plain")
    first = engine.prepare_call(None, previous=engine.prepare_call())
    second = engine.prepare_call(None, [search("get_page")], previous=first)
    told = limited(engine, protocols=1)  # less than the instructions that the conversation has by now
    third = told.prepare_call(Turn(discovered=("plain",)), [search("get_page")], previous=second)
    assert told.prepare_step(third).active_tools == ("tool_search", "plain", "get_page")
