"""What fits is decided once, from tokens and sections: names, texts and the number of tools change nothing about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from unittest.mock import Mock

import pytest

from cms_agent import CORE, cms
from cuecard import Engine, Message, Step, ToolResult, Turn
from cuecard.agent import PROTOCOLS, Section
from cuecard.config.agent_file import BudgetSpec
from cuecard.files.tokens import TokenCounter
from cuecard.types import Delivery, DeliveryWish, Json, TokenSource
from unit.agent.section_lists.agents import opened

NOW = datetime(2026, 11, 20, tzinfo=UTC)
AGENT = """\
agent: a
inputs: {show: {type: boolean, default: true}}
tools: {instructions: t.yaml, core: [tool_search]}
sections:
- {id: rules, text: Be kind.}
- {id: howto, when: {input: show}, text: "<howto>\\n{{{activeProtocols}}}\\n</howto>"}
"""
ENTRY = "{before: None required, after: Tell the user, next: None required, gotcha: None required}"
SIMILAR = [("page", "set-page"), ("page", "other")]


def agent(folder: Path, *names: str, delivery: DeliveryWish | None = None, text: str = AGENT) -> Engine:
    entries = "".join(f"  {name}: {ENTRY}\n" for name in ("tool_search", *names))
    return opened(folder, text, delivery=delivery, t_yaml=f"category: c\ntools:\n{entries}")


def found(call_id: str, *names: str) -> ToolResult:
    return ToolResult("tool_search", {"tools": list(names)}, call_id)


def reasons(step: Step, tool: str) -> list[str]:
    return [cut.reason for cut in step.manifest.cuts if cut.what == tool]


def times(step: Step, tool: str) -> int:
    return (step.system + "".join(block.text for block in step.appended)).count(f"<{tool}>")


@pytest.mark.parametrize("show", [True, False], ids=["shown", "hidden"])
@pytest.mark.parametrize("delivery", ["append", "rewrite"])
@pytest.mark.parametrize(("name", "known"), SIMILAR)
def test_no_tool_is_active_by_the_instructions_of_another_whose_name_ends_in_its_own(
    tmp_path: Path, name: str, known: str, delivery: DeliveryWish, *, show: bool
) -> None:
    chat = agent(tmp_path, name, known, delivery=delivery).conversation()
    chat.user(Turn({"show": True}))
    chat.step([found("1", known)])
    chat.user(Turn({"show": show}))
    step = chat.step([found("2", name)])

    assert (name in step.active_tools, times(step, name)) == ((True, 1) if show else (False, 0))
    assert reasons(step, name) == ([] if show else ["not active: no section of this call shows its instructions"])


@pytest.mark.parametrize("delivery", ["append", "frozen"])
@pytest.mark.parametrize(("name", "known"), SIMILAR)
def test_what_comes_with_a_message_waits_for_a_section_that_shows_it(
    tmp_path: Path, name: str, known: str, delivery: DeliveryWish
) -> None:
    chat = agent(tmp_path, name, known, delivery=delivery).conversation()
    there = ("tool_search", known)
    chat.user(Turn({"show": True}, tools=there, discovered=(known,)))
    chat.step()
    chat.user(Turn({"show": False}, tools=(*there, name), discovered=(name,)))
    hidden = chat.step()
    chat.user(Turn({"show": True}, tools=(*there, name)))
    shown = chat.step()

    assert known in hidden.active_tools
    assert (name in hidden.active_tools, times(hidden, name)) == (False, 0)
    assert reasons(hidden, name) == ["not active: no section of this call shows its instructions"]
    assert (name in shown.active_tools, times(shown, name)) == (True, 1)


def test_what_a_search_has_found_while_no_section_showed_it_comes_with_the_message_that_does(tmp_path: Path) -> None:
    """Behind the result that found it, it would change what was sent, as would a second notice."""
    engine = agent(tmp_path, "page", "image", delivery="append")
    chat, steps = engine.conversation(), list[Step]()
    for number, (name, show) in enumerate([("page", False), ("image", False), ("", False), ("", True), ("", True)]):
        chat.user(Turn({"show": show}))
        steps += [
            chat.step([found(str(number), name)] if name else []),
            chat.step([ToolResult("own", "", f"{show}")]),
        ]
        chat = engine.load(engine.dump(chat))

    told = [[(block.after_call_id, block.turn) for block in step.appended] for step in steps]
    assert told[:5] == [[("0", None)], [("0", None)], *[[("0", None), ("1", None)]] * 3]
    assert told[5:] == [told[4], *[[*told[4], (None, 3)]] * 4]
    assert all(later.appended[: len(step.appended)] == step.appended for step, later in pairwise(steps))
    assert [(times(steps[-1], name), name in steps[-1].active_tools) for name in ("page", "image")] == [(1, True)] * 2
    assert reasons(steps[5], "page") == ["not active: no section of this call shows its instructions"]


def test_a_section_that_prints_instructions_only_sometimes_is_asked_with_the_values_of_the_call(tmp_path: Path) -> None:
    text = AGENT.replace("when: {input: show}, ", "").replace(
        "{{{activeProtocols}}}\\n", "{{#if show}}\\n{{{activeProtocols}}}\\n{{/if}}\\n"
    )
    engine = agent(tmp_path, "page", text=text)
    active = [
        engine.prepare_step(engine.prepare_call(Turn({"show": show})), [found("1", "page")]).active_tools
        for show in (True, False)
    ]

    assert active == [("tool_search", "page"), ("tool_search",)]


def test_instructions_keep_their_section_which_keeps_those_that_fit(tmp_path: Path) -> None:
    """A section with a priority is not dropped for tools that need not be in it."""
    names = [f"tool_{number}" for number in range(9)]
    engine = agent(tmp_path, *names, text=AGENT.replace("{id: howto,", "{id: howto, priority: 1,"))
    plain = engine.prepare_step(engine.prepare_call()).manifest.total_tokens
    each = engine.count(engine.agent.protocols["tool_0"].text)
    step = limited(engine, plain + 3 * each).prepare_call(Turn(discovered=tuple(names)))
    made = limited(engine, plain + 3 * each).prepare_step(step)

    assert made.active_tools == ("tool_6", "tool_7", "tool_8")
    assert all(times(made, name) == (name in made.active_tools) for name in names)


def test_a_new_system_prompt_keeps_the_tools_that_were_used_last_without_gaps() -> None:
    """A tool that would fit is not put in the place of one that was used later."""
    engine, small, big = cms(), "cms_listAllImages", "cms_updateSectionImage"
    count, protocols = engine.count, engine.agent.protocols
    least = engine.prepare_step(engine.prepare_call(Turn(now=NOW))).manifest.total_tokens
    tight = limited(engine, least + count(protocols[big].text) - 1)
    assert count(protocols[small].text) < count(protocols[big].text)

    def active(*tools: str) -> tuple[str, ...]:
        return tight.prepare_call(Turn(now=NOW, discovered=tools)).tools.initial[len(CORE) :]

    assert active(small) == active(big, small) == (small,)
    assert active(small, big) == ()


@pytest.mark.parametrize(
    ("text", "spare"),
    [
        ("Tools: {{{activeProtocols}}} and no others.", 0),
        ("<a>\\n{{{activeProtocols}}}\\n</a>\\n{{{activeProtocols}}}", 0),
        ("<a>\\n{{{indent activeProtocols 2}}}\\n</a>", 19),  # a text that changes them is measured with a probe
    ],
)
@pytest.mark.parametrize("delivery", ["append", "rewrite"])
def test_wherever_a_text_prints_instructions_what_is_active_keeps_the_budget(
    tmp_path: Path, text: str, spare: int, delivery: DeliveryWish
) -> None:
    names = [f"tool_{number}" for number in range(6)]
    whole = "<howto>\\n{{{activeProtocols}}}\\n</howto>"
    engine = agent(tmp_path, *names, delivery=delivery, text=AGENT.replace(whole, text))
    least = engine.prepare_step(engine.prepare_call()).manifest.total_tokens
    active = set[int]()
    for total in range(least, least + 400, 15):
        small = limited(engine, total)
        step = small.prepare_step(small.prepare_call(), [found("1", *names)])
        assert step.manifest.total_tokens <= total
        active.add(len(step.active_tools))

    assert active > {1, 2, 3}
    for number in range(1, 6):
        turn = Turn(discovered=tuple(names[:number]))
        least = engine.prepare_step(engine.prepare_call(turn)).manifest.total_tokens + spare
        fits, lacks = (limited(engine, total).prepare_call(turn).tools.initial for total in (least, least - 1))
        assert (len(fits), len(lacks)) == (1 + number, number)


def limited(engine: Engine, total: int) -> Engine:
    spec = engine.agent.spec.model_copy(update={"budget": BudgetSpec(total=total)})
    return replace(engine, agent=replace(engine.agent, spec=spec))


def counting(engine: Engine, rendered: Counter[str]) -> Engine:
    """The engine, which counts how often it renders each section."""

    def counted(section: Section) -> Section:
        def render(values: Mapping[str, Json]) -> str:
            rendered[section.id] += 1
            return section.render(values)

        return replace(section, render=render)

    sections = tuple(map(counted, engine.agent.edition()))
    return replace(engine, agent=replace(engine.agent, editions={**engine.agent.editions, ("", ""): sections}))


@pytest.mark.parametrize("delivery", ["append", "rewrite", "frozen"])
def test_a_prompt_is_composed_once_however_many_tools_do_not_fit(delivery: Delivery) -> None:
    """Only the section of instructions is asked for its place before, and under `rewrite` for that of the notice."""
    rendered = Counter[str]()
    engine = counting(limited(cms(delivery), 1_500), rendered)
    tools = tuple(name for name in engine.tools if name not in CORE)
    call = engine.prepare_call(Turn(now=NOW, discovered=tools))
    place = next(section.id for section in engine.agent.edition() if PROTOCOLS in section.reads)

    assert 10 < len(call.tools.withheld) < len(tools)
    assert rendered.pop(place) == (3 if delivery == "rewrite" else 2)
    assert {*rendered.values()} == {1}
    rendered.clear()
    second = engine.prepare_call(Turn(now=NOW, discovered=tools), previous=engine.prepare_call(Turn(now=NOW)))
    assert len(second.tools.withheld) > 10
    assert {*rendered} == {place}, "nothing that the others print has changed"
    rendered.clear()
    engine.prepare_step(engine.prepare_call(Turn(now=NOW)), [found("1", *tools)])
    assert rendered[place] <= 1 + 3


def test_a_message_that_ends_in_the_words_of_another_is_not_taken_for_it(tmp_path: Path) -> None:
    """A window over the history has moved when the message that was the newest is no longer where it was."""
    engine = agent(tmp_path, "page", text=AGENT + "history: {policy: last, limit: 9, prefix: '[{speaker}] '}\n")
    first = engine.prepare_call(Turn(now=NOW, message=Message("user", "the page")))

    def baseline(*history: str) -> bool:
        messages = tuple(Message("user", text) for text in history)
        call = engine.prepare_call(Turn(now=NOW, messages=messages, message=Message("user", "next")), previous=first)
        return any(cut.what == "baseline" for cut in call.record.cuts)

    assert not baseline("the page")
    assert baseline("not the page")


@pytest.mark.parametrize("delivery", ["append", "rewrite", "frozen"])
def test_before_the_table_of_tokens_is_unpacked_the_same_is_decided(tmp_path: Path, delivery: DeliveryWish) -> None:
    def made(engine: Engine) -> Iterator[object]:
        chat = engine.conversation()
        for turn, searches in enumerate([["ab", "c", ""], ["d", "ef"]]):
            chat.user(Turn({"show": True}))
            for number, names in enumerate(searches):
                step = chat.step([found(f"{turn}-{number}", *names)])
                yield step.active_tools, step.system, [block.text for block in step.appended], step.manifest.cuts

    for budget in (*(f"total: {total}" for total in range(60, 420, 40)), "protocols: 60"):
        engine = agent(tmp_path, *"abcdef", delivery=delivery, text=f"{AGENT}budget: {{{budget}}}\n")
        unready = replace(engine, count=TokenCounter(TokenSource("packed", "bundled", exact=True), engine.count.count))
        assert not unready.count.ready
        assert [*made(unready)] == [*made(engine)], budget


@pytest.mark.parametrize("delivery", ["append", "rewrite"])
def test_where_all_would_fit_if_every_byte_were_a_token_nothing_is_counted(
    tmp_path: Path, delivery: DeliveryWish
) -> None:
    count = Mock(side_effect=len)
    unready = TokenCounter(TokenSource("packed", "bundled", exact=True), count)
    engine = agent(tmp_path, *"abc", delivery=delivery, text=f"{AGENT}budget: {{total: 5000}}\n")
    chat = replace(engine, count=unready).conversation()
    for turn in ("ab", "c"):
        chat.user(Turn({"show": True}))
        step = chat.step([found(turn, *turn)])

    assert (step.active_tools, count.call_count) == (("tool_search", "a", "b", "c"), 0)


def test_what_was_found_for_an_earlier_message_stays_found_where_something_else_does_not_fit(tmp_path: Path) -> None:
    chat = agent(tmp_path, "a", "b", delivery="append", text=f"{AGENT}budget: {{protocols: 40}}\n").conversation()
    for name in "ab":
        chat.user(Turn({"show": True}))
        step = chat.step([found(name, name)])

    assert (step.active_tools, [each.tool for each in step.manifest.discovered]) == (("tool_search", "a"), ["a"])
    assert reasons(step, "b") == ["not active: budget.protocols: 40 tokens"]
