"""What hosts have stored: conversations, calls, steps and manifests of earlier versions load for ever, and only whole.

`stored/README.md` says where the folder comes from.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases.stored_talks import FINGERPRINTS, KEY, STORED, TALKS, Stored, files, next_step, text_of
from cuecard import Call, ConversationState, CuecardError, InputError, Manifest, Step
from cuecard.types import Cut

KINDS: dict[str, type[Stored]] = {
    "state": ConversationState,
    "call": Call,
    "step": Step,
    "manifest": Manifest,
}

CHANGED = {"frozen", "messages", "reload", "definitions"}
"""Conversations that begin or go on otherwise today: with no search tool, since there is nothing left to find, with a
new system prompt where `reload: append` announced that the files had changed, and with notices about definitions.
"""

talks = pytest.mark.parametrize("name", sorted(TALKS))


@cache
def stored(name: str, file: str) -> str:
    return (STORED / name / f"{file}.json").read_text(encoding="utf-8").removesuffix("\n")


def test_every_folder_is_of_a_talk() -> None:
    assert {path.name for path in STORED.iterdir() if path.is_dir()} == {"agents", *TALKS}


@talks
def test_what_is_stored_is_read_and_written_again_as_the_same_bytes(name: str) -> None:
    engine, signing = TALKS[name].engine(), TALKS[name].engine(KEY)
    plain, signed = stored(name, "unsigned"), stored(name, "signed")

    assert engine.dump(engine.load(plain)) == plain
    assert signing.dump(signing.load(signed)) == signed
    assert text_of(signing.load(signed).state) == stored(name, "state")
    for kind, made in KINDS.items():
        assert text_of(made.from_json(json.loads(stored(name, kind)))) == stored(name, kind)


def test_a_signed_conversation_loads_with_its_key_only() -> None:
    for key, file in (("", "signed"), (KEY[::-1], "signed"), (KEY, "unsigned")):
        with pytest.raises(InputError) as caught:
            TALKS["append"].engine(key).load(stored("append", file))

        assert [problem.code for problem in caught.value.problems] == ["bad-signature"]


@pytest.mark.parametrize("name", sorted(TALKS.keys() - CHANGED))
def test_a_stored_conversation_goes_on_as_if_it_had_never_been_stored(name: str) -> None:
    chat = TALKS[name].engine().load(stored(name, "unsigned"))
    step = next_step(chat)

    assert text_of(step) == stored(name, "step")
    assert chat.call
    assert text_of(chat.call) == stored(name, "call")


def test_a_conversation_that_would_begin_otherwise_today_goes_on_with_its_search_tool() -> None:
    chat = TALKS["frozen"].engine().load(stored("frozen", "unsigned"))
    assert chat.call
    before = chat.call.prompt.segments

    assert next_step(chat).segments == before
    assert chat.call.tools.offers_search


def test_a_conversation_under_the_removed_policy_goes_on_with_a_named_baseline() -> None:
    chat = TALKS["reload"].engine().load(stored("reload", "unsigned"))
    assert chat.call
    before = chat.call.prompt
    assert before.withdrawn
    assert (before.origin, chat.call.configuration.reload) == (FINGERPRINTS["shop"], "append")

    with pytest.raises(InputError) as caught:
        chat.step()
    step = next_step(chat)

    assert [problem.code for problem in caught.value.problems] == ["removed-setting"]
    assert "prepare the user message again" in caught.value.problems[0].hint
    assert step.segments != before.segments
    assert (chat.call.prompt.sent, chat.call.prompt.withdrawn) == ((), ())
    assert step.origin == FINGERPRINTS["shop_later"]
    (reason,) = (cut.reason for cut in step.manifest.cuts if cut.what == "baseline")
    assert reason.startswith("the conversation was made under `reload: append`, which was removed, and goes on under")
    assert {"bake_loaf", "list_loaves", "sell_loaf"} < {*step.active_tools}

    state = TALKS["append"].engine().load(stored("append", "unsigned")).state
    assert state.call
    appended = replace(state.call, configuration=replace(state.call.configuration, reload="append"))
    unmixed = TALKS["append"].engine().conversation(replace(state, call=appended))
    assert [cut for cut in next_step(unmixed).manifest.cuts if cut.what == "baseline"] == [Cut("baseline", reason)]


def test_a_notice_that_was_sent_keeps_its_words_and_later_ones_say_what_has_no_room() -> None:
    chat = TALKS["definitions"].engine().load(stored("definitions", "unsigned"))
    again = chat.step()
    later = next_step(chat)

    (sent,) = (block for block in again.appended if "withheld-tools" in block.text)
    assert "sell_loaf, bake_loaf\nNot active: no room is left for their instructions." in sent.text
    assert sent in later.appended
    assert "room left for its definition." in (later.refusal("sell_loaf") or "")
    assert "room left for its instructions." in (later.refusal("bake_loaf") or "")


@pytest.mark.parametrize("name", sorted(TALKS.keys() - CHANGED))
def test_the_same_conversation_is_stored_as_the_same_bytes_today(name: str) -> None:
    for file, text in files(TALKS[name]):
        assert text == stored(name, file.removesuffix(".json"))


# ---- one edit, anywhere

OTHERS: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    7.0,
    0.5,
    10**30,
    "",
    "1",
    "true",
    "append",
    "\ud800",
    [],
    ["x"],
    {},
    {"x": 1},
)


def places(data: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [place, *(path for key, value in inner for path in places(value, (*place, key)))]


@cache
def all_places(name: str, kind: str) -> list[tuple[Any, ...]]:
    return places(json.loads(stored(name, kind)))


@dataclass(frozen=True)
class Edit:
    """A stored text with one value replaced, removed or added; `way` leads to what holds it."""

    name: str
    kind: str
    data: Any
    way: tuple[Any, ...]


@st.composite
def edits(draw: st.DrawFn, kinds: tuple[str, ...] = tuple(KINDS)) -> Edit:
    name = draw(st.sampled_from(sorted(TALKS)))
    kind = draw(st.sampled_from(kinds))
    data = json.loads(stored(name, kind))
    *way, last = draw(st.sampled_from(all_places(name, kind)[1:]))
    held = data
    for key in way:
        held = held[key]
    what = draw(st.sampled_from(("replace", "as text", "remove", "add")))
    if what == "replace":
        held[last] = draw(st.sampled_from(OTHERS))
    elif what == "as text":
        held[last] = json.dumps(held[last])
    elif what == "remove":
        del held[last]
    elif isinstance(held, dict):
        held[draw(st.sampled_from(("added", "", f"{last} ")))] = draw(st.sampled_from(OTHERS))
    else:
        held.insert(last, draw(st.sampled_from(OTHERS)))
    return Edit(name, kind, data, tuple(way))


def written(data: Any) -> str:
    """JSON in which `1` and `1.0`, `1` and `true` are as different as they are."""
    return json.dumps(data, sort_keys=True)


@given(edits())
@settings(max_examples=200)
def test_an_edited_text_is_refused_with_its_place_or_read_to_the_letter(edit: Edit) -> None:
    """Nothing is half read: what comes back is what was there, and keys with defaults that somebody removed."""
    try:
        read = KINDS[edit.kind].from_json(edit.data, "store.json")
    except InputError as error:
        check_refusal(error, edit)
    else:
        assert written(pruned(read.to_json(), edit.data)) == written(edit.data)
        assert KINDS[edit.kind].from_json(read.to_json()) == read


def check_refusal(error: InputError, edit: Edit) -> None:
    """It names the text and the place in it, and says what to do."""
    code = "bad-conversation" if edit.kind == "state" else f"bad-{edit.kind}"
    place = f"`{'.'.join(map(str, edit.way))}"
    for problem in error.problems:
        assert (problem.name, problem.code) in {("store.json", code), ("store.json", "newer-format")}
        assert place in problem.message or problem.code == "newer-format"
        assert problem.hint


def pruned(made: Any, given: Any) -> Any:
    """What was made, without keys that were not given."""
    if isinstance(made, dict) and isinstance(given, dict):
        return {key: pruned(value, given[key]) for key, value in made.items() if key in given}
    if isinstance(made, (list, tuple)) and isinstance(given, list) and len(made) == len(given):
        return [pruned(mine, yours) for mine, yours in zip(made, given, strict=True)]
    return made


@given(edits(("state",)))
@settings(max_examples=200)
def test_an_edited_dump_goes_on_or_is_refused_and_always_where_it_has_to_be_signed(edit: Edit) -> None:
    text = json.dumps({"conversation": edit.data})
    with pytest.raises(InputError, match="not signed"):
        TALKS[edit.name].engine(KEY).load(text)
    with suppress(CuecardError):
        next_step(TALKS[edit.name].engine().load(text)).to_json()
