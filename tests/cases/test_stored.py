"""What hosts have stored: conversations, calls, steps and manifests of earlier versions load for ever, and only whole.

`stored/README.md` says where the folder comes from.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases.stored_talks import KEY, STORED, TALKS, Stored, files, next_step, text_of
from cuecard import Call, ConversationState, CuecardError, InputError, Manifest, Step

KINDS: dict[str, type[Stored]] = {
    "state": ConversationState,
    "call": Call,
    "step": Step,
    "manifest": Manifest,
}

talks = pytest.mark.parametrize("name", sorted(TALKS))
kinds = pytest.mark.parametrize("kind", KINDS)


@cache
def stored(name: str, file: str) -> str:
    return (STORED / name / f"{file}.json").read_text(encoding="utf-8").removesuffix("\n")


def test_every_folder_is_of_a_talk() -> None:
    assert {path.name for path in STORED.iterdir() if path.is_dir()} == {"agents", *TALKS}


@talks
def test_a_stored_conversation_loads_and_is_dumped_as_the_same_bytes(name: str) -> None:
    engine, signing = TALKS[name].engine(), TALKS[name].engine(KEY)
    plain, signed = stored(name, "unsigned"), stored(name, "signed")

    assert engine.dump(engine.load(plain)) == plain
    assert signing.dump(signing.load(signed)) == signed
    assert text_of(signing.load(signed).state) == stored(name, "state")


@talks
def test_a_signed_conversation_loads_with_its_key_only(name: str) -> None:
    talk = TALKS[name]
    for key, file in (("", "signed"), (KEY[::-1], "signed"), (KEY, "unsigned")):
        with pytest.raises(InputError) as caught:
            talk.engine(key).load(stored(name, file))

        assert [problem.code for problem in caught.value.problems] == ["bad-signature"]


@talks
def test_a_stored_conversation_goes_on_as_if_it_had_never_been_stored(name: str) -> None:
    chat = TALKS[name].engine().load(stored(name, "unsigned"))
    step = next_step(chat)

    assert text_of(step) == stored(name, "step")
    assert chat.call
    assert text_of(chat.call) == stored(name, "call")


@talks
@kinds
def test_stored_json_is_read_and_written_again_byte_for_byte(name: str, kind: str) -> None:
    assert text_of(KINDS[kind].from_json(json.loads(stored(name, kind)))) == stored(name, kind)


@talks
def test_the_same_conversation_is_stored_as_the_same_bytes_today(name: str) -> None:
    for file, text in files(TALKS[name]):
        assert text == stored(name, file.removesuffix(".json"))


# ---- one edit, anywhere

OTHERS = (None, True, False, 0, 1, -1, 7.0, 0.5, 10**30, "", "1", "true", "append", "\ud800", [], ["x"], {}, {"x": 1})


def places(data: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [place, *(path for key, value in inner for path in places(value, (*place, key)))]


@cache
def all_places(name: str, kind: str) -> list[tuple[Any, ...]]:
    return places(json.loads(stored(name, kind)))


@st.composite
def edits(draw: st.DrawFn) -> tuple[str, str, Any]:
    """The name of a talk, a kind of text, and its data with one value replaced, removed or added."""
    name, kind = draw(st.sampled_from(sorted(TALKS))), draw(st.sampled_from(sorted(KINDS)))
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
    return name, kind, data


def written(data: Any) -> str:
    """JSON in which `1` and `1.0`, `1` and `true` are as different as they are."""
    return json.dumps(data, sort_keys=True)


@given(edits())
@settings(max_examples=400)
def test_an_edited_text_is_refused_with_every_place_or_read_to_the_letter(edit: tuple[str, str, Any]) -> None:
    """Nothing is half read: what comes back is what was there, but for keys with defaults that somebody removed."""
    _, kind, data = edit
    try:
        read = KINDS[kind].from_json(data, "store.json")
    except InputError as error:
        code = "bad-conversation" if kind == "state" else f"bad-{kind}"
        assert {problem.code for problem in error.problems} <= {code, "newer-format"}
        assert all(problem.message and problem.advice and problem.where == "store.json" for problem in error.problems)
    else:
        assert written(pruned(read.to_json(), data)) == written(data)
        assert KINDS[kind].from_json(read.to_json()) == read


def pruned(made: Any, given: Any) -> Any:
    """What was made, without keys that were not given."""
    if isinstance(made, dict) and isinstance(given, dict):
        return {key: pruned(value, given[key]) for key, value in made.items() if key in given}
    if isinstance(made, (list, tuple)) and isinstance(given, list) and len(made) == len(given):
        return [pruned(mine, yours) for mine, yours in zip(made, given, strict=True)]
    return made


@given(edits())
@settings(max_examples=200)
def test_an_edited_dump_is_refused_or_goes_on(edit: tuple[str, str, Any]) -> None:
    name, kind, data = edit
    if kind != "state":
        return
    text = json.dumps({"conversation": data})
    with pytest.raises(InputError, match="not signed"):
        TALKS[name].engine(KEY).load(text)
    try:
        next_step(TALKS[name].engine().load(text)).to_json()
    except CuecardError as error:
        assert error.problems
