"""Texts that are signed as they are: whatever changes one is noticed, and nothing else passes for one."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import product

import pytest

from cms_agent import cms
from cuecard import InputError, ToolResult, Turn
from cuecard.model.signed_text import check_key, seal, unseal
from cuecard.model.storage import as_plain

KEY = "a key for texts in tests"
DATA = {"b": [1, "two", None], "a": {"nested": "\ud800 half a pair"}}
TEXT = seal(DATA, KEY, as_text=True)


def test_a_text_comes_back_in_its_order() -> None:
    assert json.dumps(unseal(TEXT, KEY, "text")) == json.dumps(DATA)


def test_a_text_that_was_changed_anywhere_is_refused() -> None:
    for place, other in product(range(len(TEXT)), ("0", "x", '"', "")):
        changed = TEXT[:place] + other + TEXT[place + 1 :]
        if changed != TEXT:
            with pytest.raises(InputError) as caught:
                unseal(changed, KEY, "text")
            assert caught.value.problems[0].code in {"bad-signature", "bad-conversation"}, changed


@pytest.mark.parametrize(
    "text", [TEXT + " ", json.dumps(json.loads(TEXT)), TEXT.replace("text_signature", "signature")]
)
def test_what_says_the_same_in_another_text_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="signature does not match"):
        unseal(text, KEY, "text")


@pytest.mark.parametrize(("key", "told"), [("another key for tests", "does not match"), ("", "has no key to verify")])
def test_another_key_or_none_is_reported(key: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        unseal(TEXT, key, "text")


NEWER = "a newer key for tests"


@pytest.mark.parametrize("as_text", [True, False])
def test_of_several_keys_the_first_signs_and_all_are_read_with(as_text: bool) -> None:  # noqa: FBT001 - a parameter
    old, plain = seal(DATA, KEY, as_text=as_text), seal(DATA, "")
    new = seal(DATA, f"{NEWER},{KEY}", as_text=as_text)

    assert unseal(old, f"{NEWER}, {KEY}", "text") == unseal(new, f"{NEWER},{KEY}", "text") == DATA
    assert new == seal(DATA, NEWER, as_text=as_text)
    assert unseal(plain, f"{NEWER},unsigned", "text") == DATA
    with pytest.raises(InputError, match="does not match"):
        unseal(old, f"{NEWER},unsigned", "text")
    with pytest.raises(InputError, match="not signed"):
        unseal(plain, f"{NEWER},{KEY}", "text")
    with pytest.raises(InputError, match="does not match"):
        unseal(new, KEY, "text")


def test_what_one_key_with_a_comma_has_signed_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """As such keys signed before commas were between keys."""
    key = f"{KEY}, and more of it behind"
    with monkeypatch.context() as before:
        before.setattr("cuecard.model.signed_text.keys_of", lambda key: (key,))
        text = seal({"a": 1}, key)

    assert unseal(text, key, "conversation") == {"a": 1}
    with pytest.raises(InputError, match="bad-signature"):
        unseal(text, KEY, "conversation")


@pytest.mark.parametrize("key", ["unsigned", "unsigned,a key for texts in tests", f"{NEWER},short", ",", " , "])
def test_each_of_several_keys_is_long_enough(key: str) -> None:
    with pytest.raises(InputError) as caught:
        check_key(key)
    assert caught.value.problems[0].code == "weak-key"


def test_plain_data_is_what_the_standard_library_makes_of_it() -> None:
    chat = cms().conversation()
    chat.user(Turn())
    chat.step([ToolResult("tool_search", {"tools": ["cms_createPage"]}, "c1")])

    standard = asdict(chat.state)
    call = standard["call"]
    later = (
        (call, ("given", "over", "conversation")),
        (call["prompt"], ("passing", "ended")),
        (call["configuration"], ("access", "library")),
        (standard["results"][0], ("beside",)),
        (call["tools"], ("denied", "tells_definitions")),
    )
    assert not any(held.pop(name) for held, names in later for name in names)  # written only where they are set
    assert not any(call.pop("host").values())
    assert standard["call"]["tools"].pop("offers_search")  # likewise, where it is false
    assert as_plain(chat.state) == standard
