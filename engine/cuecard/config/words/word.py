"""A word: a text that the engine itself sends to a model, and that an agent file may change."""

from __future__ import annotations

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from cuecard.config.words.tags import is_wrapped, tag_problems

NUMBERS = frozenset({"turn", "count"})
"""Placeholders that only take numbers, which may be used in the attribute of a tag."""


def _say_something(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("empty_word", "should not be blank")
    return text


def _with_sound_tags(text: str) -> str:
    for problem in tag_problems(text, NUMBERS):
        raise PydanticCustomError("word_tags", "{problem}", {"problem": problem})
    return text


def _without_tags(text: str) -> str:
    if "<" in text:
        message = "should contain no `<`: the working memory is printed as data, so it would become `&lt;`"
        raise PydanticCustomError("word_tags", message)
    return text


def _in_an_element(text: str) -> str:
    if not is_wrapped(text):
        message = "should be a single element, such as `<note>...</note>`: otherwise its values could imitate it"
        raise PydanticCustomError("word_tags", message)
    return text if text.endswith("\n") else f"{text}\n"


def _behind_a_sign(text: str) -> str:
    if any(line.lstrip().startswith("{") for line in text.splitlines()):
        message = "should begin with a marker, such as `- `: otherwise a name could imitate another line"
        raise PydanticCustomError("word_start", message)
    return text


TAGS = AfterValidator(_with_sound_tags)
"""Complete, balanced tags, and no value inside a tag."""

NO_TAGS = AfterValidator(_without_tags)
"""For a word that becomes part of text printed as data."""

IN_AN_ELEMENT = AfterValidator(_in_an_element)
"""A notice during a conversation: an element, which no value can open or close, and a line break after it."""

BEHIND_A_SIGN = AfterValidator(_behind_a_sign)
"""For a line that begins with a sign: a line beginning with a value could pass for any other line."""

SAYING = AfterValidator(_say_something)
"""Not empty, and not only white space."""
