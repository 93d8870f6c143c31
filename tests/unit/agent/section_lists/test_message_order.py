"""Sections that are messages of their own, in places that the order of the messages names."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuecard import Message, SpecError, Turn
from unit.agent.section_lists.agents import TOOLS, opened, search

AGENT = """\
agent: a
inputs: {tone: {default: short}}
tools: {instructions: t.yaml, core: [tool_search]}
sections:
  - {id: rules, text: Be kind.}
  - {id: example, role: user, text: "Example: {{{tone}}}."}
  - {id: reminder, role: user, text: "Reminder: {{{tone}}}."}
  - {id: p, title: Tools, text: "{{{activeProtocols}}}"}
messages: {order: [system, history, reminder, metadata, current]}
"""
LASTING = AGENT.replace("{id: reminder, role: user,", "{id: reminder, role: user, lifetime: conversation,")


def test_a_section_appears_where_the_order_names_it_and_always_says_what_holds_now(tmp_path: Path) -> None:
    """The one that follows the system prompt is cached: it stays as it was, and its change is announced. The one with
    a place of its own is for one turn: a block behind the user's words, which is gone with the turn.
    """
    chat = opened(tmp_path, AGENT, t_yaml=TOOLS).conversation()
    chat.user(Turn({"tone": "short"}, message=Message("user", "Hi")))
    chat.step([search("get_page")])
    said = (Message("user", "Hi"), Message("assistant", "Hello"))
    chat.user(Turn({"tone": "long"}, messages=said, message=Message("user", "Go on")))
    step = chat.step()

    assert [message.content for message in step.messages[1:]] == [
        "Example: short.", "Hi", "Hello", "Go on",
    ]  # fmt: skip
    *_, news, reminder = step.appended
    assert "Example: long." in news.text
    assert reminder.text == "Reminder: long.\n"
    assert (reminder.lifetime, reminder.turn) == ("turn", 1)
    assert "Reminder: short." not in "".join(block.text for block in step.appended)


def test_one_that_stays_is_a_message_at_its_place_that_says_what_holds_now_and_is_not_announced(tmp_path: Path) -> None:
    chat = opened(tmp_path, LASTING, t_yaml=TOOLS).conversation()
    chat.user(Turn({"tone": "short"}, message=Message("user", "Hi")))
    chat.step()
    said = (Message("user", "Hi"), Message("assistant", "Hello"))
    chat.user(Turn({"tone": "long"}, messages=said, message=Message("user", "Go on")))
    step = chat.step()

    sent = [message.content for message in step.messages[1:]]
    assert sent == ["Example: short.", "Hi", "Hello", "Reminder: long.", "Go on"]
    assert ["Example: long." in block.text for block in step.appended] == [True]
    assert "Reminder" not in "".join(block.text for block in step.appended)


@pytest.mark.parametrize("lives", [AGENT, LASTING], ids=["for its turn", "for good"])
def test_a_section_that_is_gone_from_its_place_is_not_announced(tmp_path: Path, lives: str) -> None:
    text = lives.replace('text: "Reminder', 'when: tone, text: "Reminder')
    chat = opened(tmp_path, text, t_yaml=TOOLS).conversation()
    chat.user(Turn({"tone": "short"}))
    chat.user(Turn({"tone": ""}))
    step = chat.step()

    assert "reminder" not in [message.id for message in step.messages]
    assert "reminder" not in "".join(block.text for block in step.appended).lower()


def test_another_order_is_a_new_baseline(tmp_path: Path) -> None:
    first = opened(tmp_path / "a", AGENT, t_yaml=TOOLS)
    second = opened(tmp_path / "b", AGENT.replace("history, reminder", "reminder, history"), t_yaml=TOOLS)
    call = second.prepare_call(previous=first.prepare_call())

    assert call.record.cuts[-1].reason.startswith("the configuration changed")


def test_names_in_the_order_are_those_of_sections_that_are_messages(tmp_path: Path) -> None:
    text = AGENT.replace("history, reminder", "history, remindr, rules")
    with pytest.raises(SpecError) as caught:
        opened(tmp_path, text, t_yaml=TOOLS)

    assert [(problem.message, problem.hint) for problem in caught.value.problems] == [
        ("there is no section `remindr`", "did you mean `reminder`?"),
        (
            "the section `rules` is part of the system prompt, not a message of its own",
            "give it `role: user` or `role: assistant`, or remove it here",
        ),
    ]


def test_a_profile_may_leave_out_a_section_that_has_a_place(tmp_path: Path) -> None:
    engine = opened(tmp_path, f"{AGENT}profiles: {{lean: {{exclude: [reminder]}}}}\n", t_yaml=TOOLS)

    step = engine.prepare_step(engine.prepare_call(Turn(profile="lean")))

    assert [message.id for message in step.messages] == ["", "example"]
