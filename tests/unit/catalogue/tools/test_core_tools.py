"""Core tools by name and pattern, and whether a conversation has a search tool."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuecard import Call, ConversationState, Engine, Gates, Problem, SpecError, Step, ToolCard, ToolResult, Turn
from cuecard.adapters.anthropic import request
from cuecard.adapters.function_tools import definitions, search_card
from cuecard.adapters.functions import Functions
from cuecard.types import DeliveryWish

TEMPLATE = """<agent>
<rules>Help the user.</rules>
<protocols>{{{activeProtocols}}}</protocols>
</agent>
"""
SET_IN = """
{{#*inline "cues"}}
{{{activeProtocols}}}
{{/inline}}
  {{> cues}}
"""
"""The instructions with blanks before each line."""

TOOL = "  {name}: {{before: Read it first, after: Say what changed, next: None, gotcha: Slow}}\n"
CALENDAR = ("calendar_add", "calendar_list")
MAIL = ("mail_read", "mail_send")


def agent(folder: Path, tools: str, names: tuple[str, ...] = (*CALENDAR, *MAIL), more: str = "") -> Path:
    (folder / "agent.xml").write_text(TEMPLATE, encoding="utf-8")
    (folder / "tools.yaml").write_text("tools:\n" + "".join(TOOL.format(name=name) for name in names), encoding="utf-8")
    head = f"agent: some\ntemplate: agent.xml\ntools: {{instructions: tools.yaml{tools}}}\n"
    (folder / "agent.yaml").write_text(head + more, encoding="utf-8")
    return folder


def opened(folder: Path, tools: str, **options: Any) -> Engine:
    return Engine.open(agent(folder, tools, **options))


def step_of(engine: Engine, turn: Turn | None = None) -> Step:
    return engine.prepare_step(engine.prepare_call(turn))


def refused(folder: Path, tools: str, **options: Any) -> list[Problem]:
    with pytest.raises(SpecError) as error:
        opened(folder, tools, **options)
    return list(error.value.problems)


def test_all_names_every_tool_whatever_instructions_may_take_and_there_is_no_search(tmp_path: Path) -> None:
    engine = opened(tmp_path, ", core: all", more="budget: {protocols: 10}\n")
    step = step_of(engine)

    assert engine.core_tools == step.active_tools == (*CALENDAR, *MAIL)
    assert not step.offers_search
    assert all(f"<{name}>" in step.system for name in step.active_tools)


def test_a_pattern_names_the_tools_that_it_matches_with_their_instructions(tmp_path: Path) -> None:
    names = ("tool_search", *CALENDAR, *MAIL)
    engine = opened(tmp_path, ', core: [mail_send, "calendar_*"]', names=names)
    step = step_of(engine)

    assert engine.core_tools == step.active_tools == ("tool_search", "mail_send", *CALENDAR)
    assert step.offers_search
    assert all(f"<{name}>" in step.system for name in step.active_tools)
    assert "<mail_read>" not in step.system


def test_a_pattern_matches_tools_that_come_with_a_server_and_is_a_warning_without_a_match(tmp_path: Path) -> None:
    alone = opened(tmp_path, ', core: ["calendar_*", "x?"]')
    engine = alone.with_tools([ToolCard("calendar_move"), ToolCard("x1"), ToolCard("x12")])

    assert [(problem.code, problem.severity) for problem in alone.warnings] == [("unknown-tool", "warning")]
    assert engine.core_tools == ("tool_search", *CALENDAR, "calendar_move", "x1")
    assert step_of(engine, Turn(tools=("x1", "x12"))).active_tools == ("tool_search", "x1")
    reasons = {cut.reason for cut in step_of(engine, Turn(tools=("x1",))).manifest.cuts}
    assert not any("does not exist" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("written", "said", "hint"),
    [
        ("calendar_*", "`tools.core` should be `all`, or a list of tools and patterns such as `calendar_*`", None),
        ('["calendar *"]', r"`tools.core.0` does not match ^[A-Za-z0-9_.:/*?-]{1,128}$", None),
        ("[all]", "`all` has no tool instructions", None),
        ("[calendar_ad]", "`calendar_ad` has no tool instructions", "did you mean `calendar_add`?"),
        ("[tool_serch]", "`tool_serch` has no tool instructions", "did you mean `tool_search`?"),
    ],
)
def test_wrong_words_are_refused_at_their_place(tmp_path: Path, written: str, said: str, hint: str | None) -> None:
    problems = refused(tmp_path, f", core: {written}")

    assert [(problem.message, hint and problem.hint) for problem in problems] == [(said, hint)]
    assert all(problem.span and problem.span.line == 3 for problem in problems)


def test_an_agent_file_that_says_nothing_begins_with_none_of_200_tools_and_finds_them(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("agent: some\nsections: [{id: rules, text: Help.}]\n", encoding="utf-8")
    ran: list[str] = []

    def tool(number: int) -> Callable[[], str]:
        def run() -> str:
            ran.append(run.__name__)
            return "ok"

        run.__name__, run.__doc__ = f"make_thing_{number}", f"Makes thing number {number}."
        return run

    tools = Functions(Engine.open(tmp_path), [tool(number) for number in range(200)])
    chat = tools.engine.conversation()
    chat.user(Turn(tools=tools.names))
    step = chat.step()
    found = tools.answer(chat, step, "tool_search", {"query": "make thing 117", "limit": 1}, "1")
    after = chat.step([found])

    assert step.active_tools == ("tool_search",)
    assert found.result["tools"] == ["make_thing_117"]
    assert after.active_tools == ("tool_search", "make_thing_117")
    assert tools.answer(chat, step, "make_thing_117", {}, "2").is_error
    assert not tools.answer(chat, after, "make_thing_117", {}, "3").is_error
    assert ran == ["make_thing_117"]


@pytest.mark.parametrize(("delivery", "core"), [("append", '[tool_search, "calendar_*"]'), ("rewrite", '["*"]')])
def test_where_every_tool_of_the_turn_is_active_there_is_no_search(
    tmp_path: Path, delivery: DeliveryWish, core: str
) -> None:
    engine = opened(tmp_path, f", core: {core}", names=("tool_search", *CALENDAR, *MAIL))
    turn = Turn(tools=("tool_search", *CALENDAR), delivery=delivery)
    step = step_of(engine, turn)

    assert step.active_tools == CALENDAR
    assert not step.offers_search
    assert "<tool_search>" not in step.system
    refusals = {step.refusal(tool) for tool in ("tool_search", *MAIL)}  # none sends the model to a search
    assert refusals == {"Nothing is left to find: use the tools that are active."}
    assert ("tool_search", "not offered: there is no tool to find") in {
        (cut.what, cut.reason) for cut in step.manifest.cuts
    }


@pytest.mark.parametrize(
    ("words", "left"), [("No {tool}.", False), ("No {tool}: {search}.", True), ("Use tool_search.", True)]
)
def test_a_refusal_of_your_own_stands_without_a_search_unless_it_names_it(
    tmp_path: Path, words: str, *, left: bool
) -> None:
    engine = opened(
        tmp_path, ", core: all", names=(*CALENDAR, *MAIL), more=f"words: {{tools: {{inactive: '{words}'}}}}"
    )
    refusal = step_of(engine, Turn(tools=CALENDAR)).refusal(MAIL[0])

    assert refusal == ("Nothing is left to find: use the tools that are active." if left else f"No {MAIL[0]}.")


def test_the_search_tool_stays_until_the_next_baseline_and_says_when_nothing_is_left(tmp_path: Path) -> None:
    engine = opened(tmp_path, ', core: [tool_search, "calendar_*"]', names=("tool_search", *CALENDAR, *MAIL))
    chat = engine.conversation()
    chat.user(Turn())
    found = chat.search_tools("mail read")
    chat.step([ToolResult("tool_search", {"tools": [*MAIL]}, "1")])
    again = chat.search_tools("mail read")
    nothing = chat.search_tools("fly to the moon")
    chat.user(Turn())
    within = chat.step()
    chat.compacted()
    chat.user(Turn())
    anew = chat.step()

    assert "Nothing is left to find" not in found.message
    assert again.message.endswith("Nothing is left to find: use the tools that are active.")
    assert nothing.message == "Nothing is left to find: use the tools that are active."
    assert (within.offers_search, within.active_tools[0]) == (True, "tool_search")
    assert (anew.offers_search, anew.active_tools) == (False, (*CALENDAR, *MAIL))


def test_a_tool_that_comes_where_there_is_no_search_is_named_until_the_next_baseline_offers_one(tmp_path: Path) -> None:
    engine = opened(tmp_path, ', core: ["calendar_*"]')
    chat = engine.conversation()
    chat.user(Turn(tools=("calendar_add",)))
    first = chat.step()
    chat.user(Turn(tools=(*CALENDAR, *MAIL)))
    second = chat.step()
    chat.compacted()
    chat.user(Turn(tools=(*CALENDAR, *MAIL)))
    third = chat.step()

    assert [step.offers_search for step in (first, second, third)] == [False, False, True]
    assert first.system == second.system
    assert (first.active_tools, second.active_tools) == (("calendar_add",), CALENDAR)
    assert any("<calendar_list>" in block.text for block in second.appended)
    assert [cut.reason for cut in second.manifest.cuts if cut.what == "tool_search"] == [
        "not offered before the next baseline, which will offer it for `mail_read`, `mail_send`"
    ]


def test_conversations_of_before_load_and_json_says_only_what_is_new(tmp_path: Path) -> None:
    engine = opened(tmp_path, ', core: ["calendar_*"]')
    usual, none = engine.prepare_call(), engine.prepare_call(Turn(tools=CALENDAR))

    assert "offers_search" not in json.dumps(usual.to_json())
    assert "offers_search" not in engine.prepare_step(usual).to_json()
    assert none.to_json()["tools"]["offers_search"] is False
    assert Call.from_json(none.to_json()) == none
    assert Call.from_json(usual.to_json()) == usual
    assert ConversationState.from_json(ConversationState(none).to_json()).call == none
    assert Step.from_json(engine.prepare_step(none).to_json()) == engine.prepare_step(none)


@settings(max_examples=30)
@given(
    st.lists(st.sampled_from([*CALENDAR, *MAIL, "calendar_*", "*_add", "mail_?end", "*"]), unique=True),
    st.sets(st.sampled_from(["tool_search", *CALENDAR, *MAIL, "late_tool"])),
    st.sampled_from(["append", "rewrite", "frozen"]),
)
def test_promise_14_a_request_has_a_search_tool_exactly_where_an_available_tool_is_not_active(
    tmp_path_factory: pytest.TempPathFactory, core: list[str], there: set[str], delivery: DeliveryWish
) -> None:
    folder = tmp_path_factory.mktemp("agent")
    engine = opened(folder, f", core: {json.dumps(core)}", names=("tool_search", *CALENDAR, *MAIL))
    engine = engine.with_tools([ToolCard("late_tool", "Comes late.")])
    step = step_of(engine, Turn(tools=tuple(sorted(there)), delivery=delivery))
    left = there - {"tool_search"} - {*step.active_tools}

    assert step.offers_search is bool(left and "tool_search" in there)
    assert ("tool_search" in step.active_tools) is step.offers_search
    assert all((step.refusal(name) is None) is (name in step.active_tools) for name in engine.tools)


@pytest.mark.parametrize(
    ("more", "said", "way_out"),
    [
        (
            "budget: {total: 100}\n",
            r"static sections and core tools take \d+ tokens; the budget is 100",
            "shorten the texts",
        ),
        (
            "sections: [{id: protocols, budget: 60}]\n",
            r".* of the section `protocols`; its budget is 60.*",
            "name fewer core tools",
        ),
    ],
)
def test_core_tools_for_which_a_budget_has_no_room_are_refused_at_opening(
    tmp_path: Path, more: str, said: str, way_out: str
) -> None:
    (problem,) = refused(tmp_path, ", core: all", more=more)

    assert (problem.code, problem.hint) == ("over-budget", f"raise it, or {way_out}")
    assert re.fullmatch(said, problem.message)
    assert opened(tmp_path, ", core: [mail_send]", more=more).core_tools == ("tool_search", "mail_send")


@pytest.mark.parametrize(("slot", "total"), [("{{{activeProtocols}}}", 200), (SET_IN, 240)])
@pytest.mark.parametrize("delivery", ["append", "rewrite", "frozen"])
def test_a_tool_that_comes_later_and_does_not_fit_is_withheld_with_its_reason(
    tmp_path: Path, delivery: DeliveryWish, slot: str, total: int
) -> None:
    more = f"inputs: {{rules: {{default: ''}}}}\nbudget: {{total: {total}}}\n"
    agent(tmp_path, ", core: [mail_read, 'calendar_*']", more=more)
    core = TEMPLATE.replace("Help the user.", "{{{rules}}}").replace("{{{activeProtocols}}}", slot)
    (tmp_path / "agent.xml").write_text(core, encoding="utf-8")
    chat = Engine.open(tmp_path, delivery=delivery).conversation()
    long = {"rules": "Help the user with a letter. " * 14}
    chat.user(Turn(inputs=long, tools=("mail_read",)))
    first = chat.step()
    chat.user(Turn(inputs=long, tools=("mail_read", *CALENDAR)))
    second = chat.step()
    chat.user(Turn(inputs=long, tools=("mail_read", *CALENDAR)))
    third = chat.step()

    assert first.active_tools == ("mail_read",)
    assert second.active_tools == third.active_tools == ("mail_read", "calendar_add")
    assert second.manifest.total_tokens <= total
    told = {cut.what: cut.reason for cut in second.manifest.cuts}
    assert told["calendar_list"].startswith(f"not active: budget.total: {total} tokens")
    assert "no room" in str(second.refusal("calendar_list"))


def test_a_static_section_with_a_source_is_no_obstacle_for_opening_and_counts_nothing(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("A note. " * 200, encoding="utf-8")
    (tmp_path / "tools.yaml").write_text("tools:\n" + TOOL.format(name="mail_send"), encoding="utf-8")
    text = """agent: some
tools: {instructions: tools.yaml, core: all}
budget: {total: 100}
sections:
  - {id: notes, files: {entries: [{path: note.md}], item: "{{{content}}}"}}
  - {id: p, text: "{{{activeProtocols}}}"}
"""
    (tmp_path / "agent.yaml").write_text(text, encoding="utf-8")

    assert Engine.open(tmp_path).core_tools == ("mail_send",)


LISTING = """agent: some
tools: {{instructions: tools.yaml, core: ["calendar_*"]}}
sections:
  - {{id: notes, title: Notes, text: "{{{{{{notes}}}}}}"}}
  - {{id: tools, title: Tools, tools: {{item: "- {{{{{{name}}}}}}"}}}}
  - {{id: how, title: How, text: "{{{{{{activeProtocols}}}}}}"}}
  - {{id: retry, title: Retry, text: "{{{{{{retry}}}}}}"}}
inputs: {{retry: {{default: "", tier: step}}, notes: {{default: ""}}}}
layout: {{heading: "## {{{{title}}}}\\n"}}
budget: {{total: 300}}
delivery: {delivery}
"""


@pytest.mark.parametrize("delivery", ["append", "rewrite", "frozen"])
@pytest.mark.parametrize("words", [0, 80, 160, 180, 200, 220])
def test_promise_14_a_core_tool_that_comes_and_does_not_fit_is_not_listed(
    tmp_path: Path, delivery: DeliveryWish, words: int
) -> None:
    names = (*CALENDAR, "calendar_move", "calendar_open")
    (tmp_path / "tools.yaml").write_text("tools:\n" + "".join(map(TOOL.format_map, [{"name": n} for n in names])))
    (tmp_path / "agent.yaml").write_text(LISTING.format(delivery=delivery), encoding="utf-8")
    engine = Engine.open(tmp_path)
    chat, notes = engine.conversation(), "word " * words
    withheld = set[str]()
    for tools in (names[:1], CALENDAR, names, names):
        chat.user(Turn({"notes": notes}, tools=tools))
        first, second = chat.step(), chat.step([ToolResult("calendar_add", 1, "c")], inputs={"retry": "Again."})
        for step in (first, second):
            said = step.system + "".join(block.text for block in step.appended)
            listed = re.findall(r"^- (\w+)$", said.rpartition("Tools\n")[2], re.MULTILINE)
            assert listed == list(step.active_tools)
            withheld |= {*tools} - {*listed}

    assert bool(withheld) is (words > 150)


def test_what_a_step_lists_again_leaves_out_core_tools_without_room(tmp_path: Path) -> None:
    (tmp_path / "tools.yaml").write_text("tools:\n" + "".join(map(TOOL.format_map, [{"name": n} for n in CALENDAR])))
    text = LISTING.format(delivery="append").replace("{{{name}}}", "{{{name}}}{{{retry}}}")
    (tmp_path / "agent.yaml").write_text(text, encoding="utf-8")
    chat = Engine.open(tmp_path).conversation()
    chat.user(Turn({"notes": "word " * 220}))
    first, second = chat.step(), chat.step([ToolResult("calendar_add", 1, "c")], inputs={"retry": "!"})

    assert first.active_tools == second.active_tools == ("calendar_add",)
    again = "".join(block.text for block in second.appended if block.after_call_id)
    assert "- calendar_add!\n" in again
    assert "calendar_list" not in first.appended[-1].text + again


@pytest.mark.parametrize("core", ["", ", core: [tool_search]"])
def test_the_engines_own_search_tool_needs_no_entry_and_is_a_core_tool_by_itself(tmp_path: Path, core: str) -> None:
    engine = opened(tmp_path, core)
    step = step_of(engine, Turn(tools=MAIL))

    assert engine.warnings == ()
    assert engine.core_tools[0] == step.active_tools[0] == step.base_tools[0] == "tool_search"
    assert step.offers_search
    assert step.manifest.cuts == ()


def test_texts_may_name_the_search_tool_that_has_no_entry(tmp_path: Path) -> None:
    agent(tmp_path, ", search: {tool: look_up}", more="sections: [{id: rules, when: {tool: look_up}}]\n")
    tools = "tools:\n  add_note: {next: look_up for the rest, gotcha: Not look_down}\n"
    (tmp_path / "tools.yaml").write_text(tools, encoding="utf-8")
    engine = Engine.open(tmp_path)

    assert [problem.message for problem in engine.warnings] == [
        "`gotcha` of add_note names `look_down`, which has no entry"
    ]


def test_its_own_search_tool_is_offered_whatever_the_turn_lists_unless_a_gate_or_a_profile_forbids_it(
    tmp_path: Path,
) -> None:
    more = "profiles: {quiet: {exclude_tools: [tool_search]}}\n"
    engine = opened(tmp_path, ", core: [tool_search, mail_read]", more=more)

    assert step_of(engine, Turn(tools=MAIL, gates=Gates(allowed=MAIL))).offers_search
    for shut in (Turn(gates=Gates(blocked=("tool_search",))), Turn(profile="quiet")):
        step = step_of(engine, shut)
        assert (step.offers_search, step.active_tools) == (False, ("mail_read",))
        assert [cut.reason for cut in step.manifest.cuts] == ["not offered: there is no tool to find"]
    assert engine.warnings == ()


def test_its_own_search_tool_is_never_deferred_in_requests(tmp_path: Path) -> None:
    engine = opened(tmp_path, "").with_tools([ToolCard(name, f"Does {name}.") for name in (*CALENDAR, *MAIL)])
    tools = definitions([search_card(engine), *engine.tools.values()], "anthropic")
    body = request(
        step_of(engine), [{"role": "user", "content": "Hi"}], model="claude-opus-4-8", tools=tools, defer=True
    )

    assert [tool["name"] for tool in body["tools"] if not tool.get("defer_loading")] == ["tool_search"]


def test_an_entry_overrides_the_description_of_the_search_tool(tmp_path: Path) -> None:
    engine = opened(tmp_path, "")
    (tmp_path / "tools.yaml").write_text(
        "described: {tool_search: {description: Look for tools}, mail_read: {description: Read}}\n", encoding="utf-8"
    )

    assert search_card(engine).description == "Find tools by what they can do."
    assert search_card(Engine.open(tmp_path)).description == "Look for tools"
    assert step_of(Engine.open(tmp_path)).active_tools == ("tool_search",)
