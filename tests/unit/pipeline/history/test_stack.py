"""The message stack of MisterMorph: system, runtime metadata, history, current message."""

import json

import pytest
from pydantic import ValidationError

from cuecard import Message
from cuecard.config.history_spec import MetadataSpec, StackPart, StackSpec
from cuecard.pipeline.history.selection import HistoryCut
from cuecard.pipeline.messages import Stack, TurnMessages, metadata_message, stack
from unit.pipeline.history.chat import assistant, reasons, user

HISTORY = HistoryCut((user("a"), assistant("b")))
SPEC = StackSpec(metadata=MetadataSpec(key="run_facts", keep=("trigger", "correlation_id")))
FACTS = Message("user", '{"run_facts":{"trigger":"cron"}}', persist=False)
SYSTEM = Message("system", "Be kind.", persist=False)


def test_the_order_is_system_metadata_history_current() -> None:
    """MisterMorph: system prompt, metadata, history, and the current message last."""
    made = stack("Be kind.", HISTORY, TurnMessages("c", {"trigger": "cron"}), SPEC)

    assert made.messages == (SYSTEM, FACTS, user("a"), assistant("b"), user("c"))
    assert made.cuts == ()


def test_the_order_is_configuration() -> None:
    spec = SPEC.model_copy(update={"order": ("system", "history", "metadata", "current")})

    assert stack("Be kind.", HISTORY, TurnMessages("c", {"trigger": "cron"}), spec).messages == (
        SYSTEM, user("a"), assistant("b"), FACTS, user("c"),
    )  # fmt: skip


def test_a_summary_that_is_a_message_appears_before_the_history() -> None:
    summary = Message("system", "Summary of earlier conversation:\nx", persist=False)
    selected = HistoryCut((user("a"),), as_message=summary)

    assert stack("Be kind.", selected, TurnMessages("c"), SPEC).messages == (SYSTEM, summary, user("a"), user("c"))


@pytest.mark.parametrize("blank", ["", " \n", None, Message("user", ())])
def test_a_blank_current_message_is_not_appended(blank: str | Message | None) -> None:
    assert stack("Be kind.", HISTORY, TurnMessages(blank), SPEC).messages == (SYSTEM, user("a"), assistant("b"))


def test_a_multimodal_current_message_passes_through() -> None:
    """Polyant: with attachments, the new message is a list of texts and references to files."""
    parts = Message("user", ({"type": "text", "text": "see"}, {"type": "image", "url": "x"}), id="m9")

    assert stack("", HistoryCut(()), TurnMessages(parts), SPEC).messages == (parts,)


def test_a_current_message_that_the_host_has_already_stored_is_sent_once() -> None:
    new, before = user("c", id="m3"), (user("a", id="m1"), assistant("b", id="m3"))
    made = stack("", HistoryCut((*before, new)), TurnMessages(new), SPEC)

    assert made.messages == (*before, new)
    assert reasons(made.cuts) == {"history message": "it is the current message"}
    tool, blank = Message("tool", "d", id="m1"), user(" ", id="m1")
    for other, sent in ((new, (new,)), (tool, (tool,)), (blank, ())):
        assert stack("", HistoryCut(before), TurnMessages(other), SPEC) == Stack((*before, *sent))


@pytest.mark.parametrize(
    ("order", "place"),
    [
        (("system", "metadata", "history", "current"), -1),
        (("system", "ephemeral", "metadata", "history", "current"), 1),
    ],
)
def test_an_ephemeral_prompt_goes_last_or_where_the_order_says(order: tuple[StackPart, ...], place: int) -> None:
    made = stack("Be kind.", HISTORY, TurnMessages("c", ephemeral="Only today."), StackSpec(order=order))

    assert made.messages[place] == Message("system", "Only today.", persist=False)


def test_sections_that_are_messages_follow_the_system_prompt_unless_the_order_names_them() -> None:
    example, reminder = (Message("user", text, id=text, persist=False) for text in ("example", "reminder"))
    spec = StackSpec(order=("metadata", "system", "history", "reminder", "current"))
    made = stack("Be kind.", HISTORY, TurnMessages("c", {"trigger": "cron"}), spec, spoken=(reminder, example))

    assert made.messages[1:] == (SYSTEM, example, user("a"), assistant("b"), reminder, user("c"))


def test_a_section_that_is_not_there_leaves_its_place_in_the_order_empty() -> None:
    spec = StackSpec(order=("system", "reminder", "metadata", "history", "current"))

    assert stack("Be kind.", HISTORY, TurnMessages("c"), spec).messages == (
        SYSTEM, user("a"), assistant("b"), user("c"),
    )  # fmt: skip


def test_what_a_host_stores_is_what_people_and_models_said() -> None:
    """MushroomAgent: no host stores the ephemeral layer with the conversation."""
    made = stack("Be kind.", HISTORY, TurnMessages("c", {"trigger": "cron"}, ephemeral="Only today."), SPEC)

    assert [m for m in made.messages if m.persist] == [user("a"), assistant("b"), user("c")]


def test_without_metadata_there_is_no_message_of_it() -> None:
    assert metadata_message({}, SPEC.metadata) == (None, ())


def test_metadata_of_exactly_the_limit_is_sent_whole_and_one_byte_more_is_not() -> None:
    frame = len('{"run_facts":{"x":""}}')
    whole, no_cuts = metadata_message({"x": "y" * (4096 - frame)}, SPEC.metadata)
    stub, cuts = metadata_message({"x": "y" * (4096 - frame + 1)}, SPEC.metadata)

    assert whole is not None
    assert len(str(whole.content)) == 4096
    assert no_cuts == ()
    assert stub == Message("user", '{"run_facts":{"truncated":true}}', persist=False)
    assert reasons(cuts) == {"metadata run_facts": "messages.metadata.max_bytes: 4097 of 4096 bytes"}


def test_the_limit_is_in_bytes() -> None:
    message, cuts = metadata_message({"x": "é" * 2100}, SPEC.metadata)

    assert message is not None
    assert cuts


def test_the_stub_keeps_the_named_texts_that_are_not_empty() -> None:
    facts = {"x": "y" * 5000, "trigger": "cron", "correlation_id": ""}
    message, _ = metadata_message(facts, SPEC.metadata)

    assert message is not None
    assert json.loads(str(message.content)) == {"run_facts": {"trigger": "cron", "truncated": True}}


@pytest.mark.parametrize("trigger", ["t" * 5000, 7, None, ["cron"]])
def test_a_stub_that_is_still_too_big_says_only_that_it_is_one(trigger: object) -> None:
    message, _ = metadata_message({"x": "y" * 5000, "trigger": trigger}, SPEC.metadata)

    assert message is not None
    assert json.loads(str(message.content)) == {"run_facts": {"truncated": True}}


def test_equal_metadata_gives_equal_bytes() -> None:
    assert metadata_message({"a": 1, "b": 2}, SPEC.metadata) == metadata_message({"b": 2, "a": 1}, SPEC.metadata)


@pytest.mark.parametrize("order", [("system", "history"), ("system", "metadata", "history", "current", "current"), ()])
def test_an_order_that_would_lose_a_part_is_an_error(order: tuple[StackPart, ...]) -> None:
    with pytest.raises(ValidationError, match="each once"):
        StackSpec(order=order)
