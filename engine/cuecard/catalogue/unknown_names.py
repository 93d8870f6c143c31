"""Words in texts that look like tool names but belong to no tool."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from cuecard.errors import closest
from cuecard.model import ToolCard
from cuecard.records import dataclass

_WORD = re.compile(r"(?<![\w.$/-])[^\W\d]\w*(?:-\w+)*(?!\s?=(?!>)|\w|-\w|\.\w)")
"""A whole word including hyphens, but not a part of a path or an address, and not followed by an equals sign."""

_QUOTED = re.compile(r"\"[^\"\n]{0,200}\"|(?<!\w)'[^'\n]{0,200}'(?!\w)")
_HUMP = re.compile(r"(?<=[a-z0-9])[A-Z]")
_PARTS = re.compile(r"[_-]|(?<=[a-z0-9])(?=[A-Z])")
_AND_NAMES = re.compile(r"(?:\W|(?:and|or|then)\b)*")
"""What stands between the names of a list of names."""

_LIKE = 0.85
"""The minimum similarity of a misspelt name and the name that was meant."""

_LONGEST = 128
"""Longer words are not names."""

_DEPTH = 20
"""The depth to which a schema is searched for names of parameters."""

_TEXTS = 1 << 14
"""The number of texts whose words are kept: of some thousand tools."""

_BEGINNINGS = """\
add archive attach cancel copy create delete download duplicate edit execute fetch find generate get import insert list
load make move open post publish query read remove rename reorder replace reset restore run save search select send set
show submit sync toggle translate unpublish update upload validate verify view write"""
_ENDINGS = """\
at by code count date field fields format from id ids index key keys label limit mode name names number offset on order
path query size status term terms text time title to type types uri url value values"""
_VERBS, _NOUNS = frozenset(_BEGINNINGS.split()), frozenset(_ENDINGS.split())
"""The beginnings of tool names, and endings that parameter names have but tool names do not."""

_STEM = re.compile(r"(?:s|\d+)$")
"""What a part of a name has beside its word: the end of a plural, or a number."""

_PROSE = frozenset(("all", "down", "ended", "in", "like", "off", "on", "only", "out", "style", "up", "write"))
"""What follows a hyphen in ordinary words, such as `read-only`."""


@dataclass(frozen=True, eq=False)
class KnownNames:
    """The names of tools, and how they start: what a word that is not one of them is compared with."""

    names: frozenset[str]
    starts: frozenset[str]

    @classmethod
    def of(cls, names: Iterable[str]) -> KnownNames:
        """Prepare these names once for all cards."""
        found = frozenset(names)
        return cls(found, frozenset(start for name in found if (start := _start(name))))

    @cached_property
    def likenesses(self) -> Callable[[str, bool], tuple[str, ...]]:
        """The words of a text that look like one of these names; an edit of one tool asks anew about every text."""

        @lru_cache(maxsize=_TEXTS)
        def found(text: str, leads: bool) -> tuple[str, ...]:  # noqa: FBT001 - what is kept is found by position
            return tuple(dict.fromkeys(each.word for each in strange_words(text, self, leads=leads) if each.alike))

        return found

    @cached_property
    def _shortened(self) -> Mapping[str, Sequence[str]]:
        """The names by each of their shortened forms: the whole name, and the name without any one character.

        Two words that share such a form are one slip apart: a character missing, added or changed, or two swapped. So a
        word is looked up instead of being compared with thousands of names.
        """
        shortened: dict[str, list[str]] = {}
        for name in self.names:
            for form in _shortened(name):
                shortened.setdefault(form, []).append(name)
        return shortened

    @cached_property
    def marks(self) -> frozenset[str]:
        """What follows the verb of names that begin with one: `_` as in `add_note`, `A` as in `addNote`."""
        return frozenset(start[-1] for start in self.starts if start[:-1].lower() in _VERBS).difference("-")

    @cached_property
    def joints(self) -> frozenset[str]:
        """How compound names are joined: by `_`, or by a capital."""
        return frozenset[str]().union(*map(_joints, self.names))

    def listed(self, text: str) -> Iterator[str]:
        """The words of a text that holds nothing but names, as `next: order_status` does, that are none of these."""
        words = [word for _, word in _compounds(text, self)]
        if _AND_NAMES.fullmatch(_WORD.sub(lambda found: "" if found[0] in words else found[0], text)):
            yield from (word for word in words if word not in self.names and self.joints & _joints(word))

    def meant(self, word: str) -> str:
        """The name that a word is a misspelling of; empty when it is none."""
        alike = {name for form in _shortened(word) for name in self._shortened.get(form, ())}
        return closest(word, alike, _LIKE)

    def missed(self, name: str) -> str:
        """The tool that a name misses by a slip; empty too where there may be both (`get_page`, `get_pages`)."""
        meant = self.meant(name)
        return "" if meant and _are_siblings(name, meant) else meant


def _are_siblings(one: str, other: str) -> bool:
    """Whether two names differ as those of two tools do: in verbs (`get_page`, `set_page`), a plural or a number."""
    first, second = ([part.lower() for part in _PARTS.split(name)] for name in (one, other))
    if first == second or len(first) != len(second):
        return False
    stems = ((_STEM.sub("", part) for part in parts) for parts in (first, second))
    return all(part == like or {part, like} <= _VERBS for part, like in zip(*stems, strict=True))


def unknown_names(card: ToolCard, known: KnownNames) -> list[tuple[str, str]]:
    """Words in a card's texts that look like tool names but are none: the field and the word, in reading order.

    A word looks like a tool name when it is misspelt (`cms_getPgae` beside `cms_getPage`) or starts as a known one does
    (`cms_list`, `getUser` beside `getPage`); in `before` and `next`, which name tools, also when it begins with a verb
    (`publish_page`), and in every text where other tools are named that way; and in a `next` of nothing but names. The
    tool's own parameters and their values do not count, nor does text in quotes.
    """
    own = frozenset(words_of(card.input_schema))
    texts = {"description": card.description, "phrases": "\n".join(card.phrases)}
    texts |= {field: getattr(card.instructions, field) for field in _CUES if card.instructions}
    return [
        (field, word)
        for field, text in texts.items()
        for word in dict.fromkeys(
            (*known.likenesses(text, field in {"before", "next"}), *(known.listed(text) if field == "next" else ()))
        )
        if word not in own
    ]


_CUES = ("before", "after", "next", "gotcha")


class StrangeWord(NamedTuple):
    """A word that may be a tool's name; `alike`: it looks like one, otherwise the text says that it is one."""

    at: int
    word: str
    alike: bool


def strange_words(text: str, known: KnownNames, *, leads: bool = False) -> Iterator[StrangeWord]:
    """The same of a text: each such word with its offset; `leads`: whether it is a text that names tools.

    Here a compound word is one, too, where the text says to call it (`call order_status`) or calls it a tool.
    """
    called, used = ({found.end() for found in pattern.finditer(text)} for pattern in (_CALL, _USE))
    for at, word in _compounds(text, known):
        alike = _looks_like_one(word, known, leads=leads)
        said = at in called or _TOOL.match(text, at + len(word)) or (at in used and not _is_noun(word))
        if alike or (said and word not in known.names and known.joints & _joints(word)):
            yield StrangeWord(at, word, alike)


_CALL = re.compile(
    r"(?:\b(?:Call|Invoke)|\b(?:always|and|first|must|never|not|or|please|should|then|to) (?:call|invoke)|\bcalling)"
    r"(?: the| tool){0,2} `?"
)
_USE = re.compile(r"\b(?:us(?:e|ing)|run|via|with)(?: the| tool){0,2} `", re.IGNORECASE)
_TOOL = re.compile(r"(?:\(\))?`? tool\b")
"""What stands before or after the name of a tool; parameters are used, too, but never called."""


def _looks_like_one(word: str, known: KnownNames, *, leads: bool) -> bool:
    parts = [part.lower() for part in _PARTS.split(word.strip("_-"))]
    if word in known.names or len(parts) == 1:
        return False
    return bool(_begins_like_one(word, parts[0], parts[-1], known, leads=leads) or known.meant(word))


def _begins_like_one(word: str, first: str, last: str, known: KnownNames, *, leads: bool) -> bool:
    if last in _NOUNS or ("-" in word and last in _PROSE):
        return False
    start = _start(word)
    if start in known.starts and (first not in _VERBS or start.endswith("A")):
        return True
    # Prose has hyphenated words, too: they can only be tools if tools are named that way.
    is_name = "_" in word or "-" not in word or any(each.endswith("-") for each in known.starts)
    return (leads or start[-1:] in known.marks) and first in _VERBS and is_name


def _compounds(text: str, known: KnownNames) -> Iterator[tuple[int, str]]:
    """The words that may be names of tools: all except those entirely in lower case. A name followed by a hyphen and a
    word, as in `getPage-style`, is that name.
    """
    plain = _QUOTED.sub(lambda quoted: " " * len(quoted[0]), text)
    for found in _WORD.finditer(plain):
        word = found[0]
        if len(word) > _LONGEST:
            continue
        head = word
        while "-" in head and head not in known.names:
            head = head.rpartition("-")[0]
        name = head if head == word or (head in known.names and known.meant(word) in {"", head}) else word
        if "_" in name or "-" in name or not name.islower():
            yield found.start(), name


def _is_noun(name: str) -> bool:
    """Whether a name ends as names of parameters do."""
    return _PARTS.split(name)[-1].lower() in _NOUNS


def _joints(name: str) -> frozenset[str]:
    """How the parts of a name are joined."""
    return frozenset(mark for mark, found in (("_", "_" in name.strip("_")), ("A", _HUMP.search(name))) if found)


def _shortened(word: str) -> set[str]:
    if len(word) > _LONGEST:
        return {word}
    return {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}


def _start(name: str) -> str:
    """The beginning of a compound name: `cms_` for `cms_getPage`; `get` and a capital, written `getA`, for
    `getPage`.
    """
    for mark in "_-":
        first, found, rest = name.partition(mark)
        if first and found and rest:
            return first + found
    hump = _HUMP.search(name)
    return f"{name[: hump.start()]}A" if hump else ""


def words_of(schema: Any, depth: int = 0) -> Iterator[str]:
    """The names of parameters at any depth, and their possible values."""
    if depth > _DEPTH:
        return
    if isinstance(schema, Mapping):
        properties = schema.get("properties")
        yield from (str(name) for name in properties) if isinstance(properties, Mapping) else ()
        values = schema.get("enum")
        yield from (value for value in values if isinstance(value, str)) if isinstance(values, list | tuple) else ()
        yield from (value for key in ("const", "default") if isinstance(value := schema.get(key), str))
        for value in schema.values():
            yield from words_of(value, depth + 1)
    elif isinstance(schema, list | tuple):
        for value in schema:
            yield from words_of(value, depth + 1)
