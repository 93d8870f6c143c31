"""A stored conversation comes back as it was, or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cms_agent import cms
from cuecard import Conversation, CuecardError, Engine, InputError, ToolResult, Turn
from cuecard.types import Diagnostic

KEY = "a key of more than sixteen letters"


@cache
def signing() -> Engine:
    return replace(cms(), key=KEY)


def held(engine: Engine) -> Conversation:
    """Two messages, two searches, an entity, a call that waits for its result."""
    chat = engine.conversation()
    chat.user(Turn())
    chat.step([ToolResult("tool_search", {"tools": ["cms_createPage", "cms_listPages"]}, "call-1")])
    chat.step([ToolResult("cms_createPage", {"data": {"id": "p1", "title": "Home"}}, "call-2")])
    chat.user(Turn())
    chat.step(calls={"call-3": "tool_search"})
    return chat


@cache
def text() -> str:
    return cms().dump(held(cms()))


FREE = {
    "a number that is none": "NaN",
    "an endless number": "1e999",
    "97 levels": "[" * 97 + "]" * 97,
    "150 levels": "[" * 150 + "]" * 150,
    "5,000 levels": "[" * 5_000 + "]" * 5_000,
    "96 levels": "[" * 96 + "]" * 96,
    "half a character": '"\\ud800"',
    "a whole number": "1" * 30,
}
"""JSON texts where a state has free JSON: the values of its call."""


@pytest.mark.parametrize("value", FREE.values(), ids=FREE)
def test_a_text_is_read_as_a_store_has_written_it_anew(value: str) -> None:
    def read(text: str) -> object:
        try:
            return cms().load(text).state
        except InputError as error:
            return [problem.code for problem in error.problems]

    written = text().replace('"values":{', f'"values":{{"x":{value},')
    assert written != text()
    anew = written.replace('{"conversation":', '{ "conversation" :', 1)  # as a database may, so read with care
    assert read(written) == read(anew)
    assert isinstance(read(written), list) == (value not in {FREE[name] for name in [*FREE][-3:]})


def test_a_database_may_store_the_json_in_its_own_way() -> None:
    chat = held(signing())
    stored = json.dumps(json.loads(signing().dump(chat)), sort_keys=True, indent=3, ensure_ascii=False)

    assert signing().load(stored).state == chat.state


def test_half_a_character_comes_back_as_it_was() -> None:
    """The name of a file that is not UTF-8, for example, in the diagnostic of a host."""
    chat = cms().conversation()
    told = Diagnostic("read_error", "NOTES-\udcff.md: permission denied, &#56575;")
    chat.user(Turn(model="\ud800", diagnostics=(told,)))

    assert cms().load(cms().dump(chat)).state == chat.state

    data = json.loads(cms().dump(chat))
    data["conversation"]["call"]["turn"] = "0"
    with pytest.raises(InputError, match=r"`call.turn`: should be a valid integer, not a text"):
        cms().load(json.dumps(data))


Change: TypeAlias = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda data: data.update(signature=7), "does not match"),
        (lambda data: data["conversation"]["call"].update(turn=5), "does not match"),
        (lambda data: data.pop("signature"), "not signed"),
    ],
)
def test_what_the_key_has_not_signed_is_refused(change: Change, told: str) -> None:
    data = json.loads(signing().dump(held(signing())))
    change(data)
    with pytest.raises(InputError, match=told) as error:
        signing().load(json.dumps(data))

    assert [problem.code for problem in error.value.problems] == ["bad-signature"]


@pytest.mark.parametrize(
    ("stored", "told"),
    [
        ("", "truncated, or is not JSON"),
        ("[]", "not what `dump` wrote"),
        ('{"conversation": {}, "more": 1}', "not what `dump` wrote"),
        ('{"conversation": NaN}', "NaN is not JSON"),
        ('{"conversation": ' + "9" * 10_000 + "}", "a number has too many digits"),
        ('{"conversation": {"format": 99}}', "reads up to 1"),
        ('{"conversation": {"format": 1, "calls": 7}}', "calls"),
        ('{"conversation": ' + "[" * 200 + "]" * 200 + "}", "is nested more than 100"),
        ('{"conversation": ' + "[" * 200_000 + "]" * 200_000 + "}", "is nested more than 100"),
        ('{"conversation": "' + "x" * 2**24 + '"}', "at most 16,777,216 are allowed"),
    ],
)
def test_what_dump_did_not_write_is_refused(stored: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        cms().load(stored)


def test_a_text_cut_off_anywhere_is_refused() -> None:
    for end in range(0, len(text()), 97):
        with pytest.raises(InputError, match="truncated"):
            cms().load(text()[:end])


ODD = st.sampled_from([None, True, 0, -1, 10**30, 1.5, "", "x", "\ud800", "\0", "</agent>", "append", "cms_createPage"])
VALUES = st.one_of(ODD, st.lists(ODD, max_size=2), st.dictionaries(st.sampled_from(["text", "id"]), ODD))


def paths(data: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [place, *(path for key, value in inner for path in paths(value, (*place, key)))]


PLACES = st.deferred(lambda: st.sampled_from(paths(json.loads(text()))[1:]))


@given(st.lists(st.tuples(PLACES, VALUES, st.booleans()), min_size=1, max_size=3))
def test_an_edited_conversation_continues_or_is_refused_and_nothing_else(changes: list[tuple[Any, Any, bool]]) -> None:
    data = json.loads(text())
    for place, value, gone in changes:
        _edit(data, place, value, gone=gone)
    with suppress(CuecardError):
        chat = cms().load(json.dumps(data))
        chat.step([ToolResult("tool_search", {"tools": ["cms_getPage"]}, "call-9")]).to_json()
        chat.user(Turn())
        chat.compacted()
        chat.user(Turn())
        chat.step().to_json()


def _edit(data: Any, place: tuple[Any, ...], value: Any, *, gone: bool) -> None:
    """Change what stands there, unless an earlier change has taken it away."""
    *way, last = place
    with suppress(KeyError, IndexError, TypeError):
        for key in way:
            data = data[key]
        data[last]
        if gone:
            del data[last]
        else:
            data[last] = value
