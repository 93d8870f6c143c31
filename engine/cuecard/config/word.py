"""A word that an agent file may change."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from pydantic import AfterValidator

from cuecard.config.values import PLACEHOLDER
from cuecard.template.markup.tags import FILLER, Tag, blanked, skipped, tags

_BEGINNING = re.compile(r"</?(?:[^\W\d]|:)[^\s<>]*")
_IN_QUOTES = re.compile(r"=\s*(?:\"[^\"]*|'[^']*)\Z")


def tag_problems(text: str, numbers: Collection[str] = ()) -> Iterator[str]:
    """The problems of the tags in a text, each as the end of a sentence.

    Args:
        text: with `{placeholders}`.
        numbers: placeholders for numbers, which may be used in an attribute.
    """
    plain = _plain(text)
    if any(skipped(plain)):
        yield "should contain no comment, CDATA section or processing instruction: a value could end it"
        return
    found = list(tags(plain))
    starts = {tag.start for tag in found}
    for match in _BEGINNING.finditer(plain):
        if match.start() not in starts:
            yield f"contains `{text[match.start() : match.end()]}`, a tag without its `>`"
            return
    yield from _filled_tags(text, plain, found, numbers)
    yield from _unbalanced(found)


def is_wrapped(text: str) -> bool:
    """Whether one element contains the whole text except white space; the tags are balanced."""
    found = list(tags(_plain(text.strip())))
    if not found or found[0].start or found[-1].end != len(text.strip()):
        return False
    depths = list(_depths(found))
    return depths[-1] == 0 and 0 not in depths[:-1]


def _plain(text: str) -> str:
    return blanked(text, ((match.start(), match.end()) for match in PLACEHOLDER.finditer(text)), FILLER)


def _filled_tags(text: str, plain: str, found: Sequence[Tag], numbers: Collection[str]) -> Iterator[str]:
    for tag in found:
        for match in PLACEHOLDER.finditer(text, tag.start, tag.end):
            if match[1] not in numbers or not _IN_QUOTES.search(plain[tag.start : match.start()]):
                yield f"contains {match[0]} in a tag, where a value would become markup; put it between tags"
                return


def _unbalanced(found: Sequence[Tag]) -> Iterator[str]:
    stack: list[str] = []
    for tag in found:
        if tag.kind == "open":
            stack.append(tag.name)
        elif tag.kind == "close" and (not stack or stack.pop() != tag.name):
            yield f"closes <{tag.name}>, which is not open there"
            return
    if stack:
        yield f"opens <{stack[-1]}> and does not close it"


def _depths(found: Sequence[Tag]) -> Iterator[int]:
    depth = 0
    for tag in found:
        depth += {"open": 1, "close": -1}.get(tag.kind, 0)
        yield depth


NUMBERS = frozenset({"turn", "count"})
"""Placeholders that only take numbers, which may be used in the attribute of a tag."""


def _say_something(text: str) -> str:
    if not text.strip():
        raise ValueError("should not be blank")
    return text


def _with_sound_tags(text: str) -> str:
    for problem in tag_problems(text, NUMBERS):
        raise ValueError(problem)
    return text


def _without_tags(text: str) -> str:
    if "<" in text:
        message = "should contain no `<`: the working memory is printed as data, so it would become `&lt;`"
        raise ValueError(message)
    return text


def _in_an_element(text: str) -> str:
    if not is_wrapped(text):
        message = "should be a single element, such as `<note>...</note>`: otherwise its values could imitate it"
        raise ValueError(message)
    return text if text.endswith("\n") else f"{text}\n"


def _behind_a_sign(text: str) -> str:
    if any(line.lstrip().startswith("{") for line in text.splitlines()):
        message = "should begin with a marker, such as `- `: otherwise a name could imitate another line"
        raise ValueError(message)
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
