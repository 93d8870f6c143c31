"""Values of authors, and how all others are escaped.

Promise 3: any string put into a template comes out as data: it cannot open or close a section, become a role, start a
template expression, or insert another value. Rendered text is never parsed again.

The promise concerns structure. It does not keep a model from following what the data says.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

from cuecard.errors import InputError, Problem, seen
from cuecard.model import Json

_PAIRS = (
    # Cyrillic
    ("\u0430\u0441\u0501\u0435\u0261\u04bb\u0456\u0458\u043a\u04cf\u043c\u043e\u0440\u0442", "acdeghijklmopt"),
    ("\u051b\u0455\u0443\u0475\u051d\u0445", "qsyvwx"),
    ("\u0432\u043d\u04c0", "bhl"),
    # Greek
    ("\u03b1\u03b3\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03c9\u03f3", "ayeikvoptuxwj"),
    ("\u0392\u0396\u0397\u039c\u039d\u03a5", "bzhmny"),
    # Armenian
    ("\u0581\u0570\u0575\u0578\u0566\u057d\u0585\u0555\u054f\u054d", "ghjnquoosu"),
    # Cherokee
    ("\u13aa\u13f4\u13df\u13a0\u13ac\u13c0\u13bb\u13ab\u13e6\u13de\u13b7\u13e2\u13a1\u13da", "abcdeghjklmprs"),
    ("\u13a2\u13d9\u13b3\u13c3", "tvwz"),
    # Coptic
    ("\u2c83\u2ca5\u2c8f\u2c93\u2c95\u2c99\u2c9b\u2c9f\u2ca3\u2ca7\u2cad\u2ca9\u2c8d", "bchikmnoptxyz"),
    # Lisu
    ("\ua4ee\ua4d0\ua4da\ua4d3\ua4f0\ua4dd\ua4d6\ua4e7\ua4f2\ua4d9\ua4d7\ua4e1\ua4df\ua4e0", "abcdefghijklmn"),
    ("\ua4f3\ua4d1\ua4e3\ua4e2\ua4d4\ua4f4\ua4e6\ua4ea\ua4eb\ua4ec\ua4dc", "oprstuvwxyz"),
    # Letters with a different Unicode name
    ("\u0251\u0269\u0131\uab75", "aiii"),
    # A low macron, and what looks like the end of a tag
    ("\u02cd\u1433\U00016f3f", "_>>"),
)
_LATIN = re.compile("(?:LATIN|INDICATOR SYMBOL) .*?LETTER (?:SMALL CAPITAL )?([A-Z])(?: WITH .*)?")

LIKE_LATIN: Mapping[str, str] = MappingProxyType(
    {letter: like for letters, likes in _PAIRS for letter, like in zip(letters, likes, strict=True)}
)
"""The lower-case Latin letter or sign that each of these looks like."""


def like_latin(character: str) -> str:
    """The lower-case Latin letter that a character looks like, and any other character in lower case.

    Small capitals, letters with a stroke or a hook, and letters in squares or circles are recognised by their Unicode
    names.
    """
    if character.isascii():
        return character.lower()
    folded = character.casefold()
    alike = LIKE_LATIN.get(character) or LIKE_LATIN.get(folded)
    if alike:
        return alike
    named = _LATIN.search(unicodedata.name(character, ""))
    return named[1].lower() if named and named.end() == len(named.string) else folded


Escaping: TypeAlias = Literal["text", "names", "raw", "handlebars", "marks"]
"""How `{{{x}}}` treats a data value: every `<`, only the prompt's own element names, or untouched (the other three)."""

_LOOK_ALIKES = "\u02c2\u1438\u16b2\u2039\u2329\u276c\u276e\u2770\u27e8\u2991\u29fc\u3008\ufe3f\ufe64\uff1c\U0001d236"
"""Characters that a reader may take for `<`: single ones from Unicode's confusables, brackets and wide forms."""

_LOOK_ALIKE = re.compile(f"[{_LOOK_ALIKES}]")
ANGLE = re.compile(f"[<{_LOOK_ALIKES}]")
_BEYOND = "\U0001d236"
_NOT_BEYOND = re.compile(f"[{_LOOK_ALIKES.replace(_BEYOND, '')}]")
"""A set without characters beyond the first 65,536 takes a fraction of the time."""

_LINE_BREAK = re.compile("\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")

_SLASHES = "/\\\u2044\u2215\u29f8"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
"""Dashes and the minus sign, which a reader may take for a hyphen."""

_BLANK_LETTERS = "\u115f\u1160\u3164\uffa0\u2800"
"""Invisible, but letters or symbols by category: Hangul fillers, the empty braille pattern."""


class TrustedText(str):
    """A text by an author: it enters the prompt unchanged."""

    __slots__ = ()


def trusted(text: str) -> TrustedText:
    """Mark a text as written by an author: `{{{x}}}` then prints it unchanged.

    Raises:
        InputError: for anything but a text.
    """
    given: object = text
    if isinstance(given, str):
        return TrustedText(given)
    told = f"`text` should be a text, not {seen(given)}"
    raise InputError(Problem("wrong-argument", told, "mark each text of a list or mapping separately", "text"))


def trusted_value(value: Json) -> Json:
    """A value whose texts are an author's, including those inside lists and objects."""
    if isinstance(value, str):
        return trusted(value)
    if isinstance(value, Mapping):
        return {key: trusted_value(item) for key, item in value.items()}
    return [trusted_value(item) for item in value] if isinstance(value, (list, tuple)) else value


def has_look_alike(text: str) -> bool:
    """Whether a text contains a character that a reader may take for `<`."""
    return not text.isascii() and (_NOT_BEYOND.search(text) is not None or _BEYOND in text)


def escape_text(text: str, names: Collection[str] = (), *, mode: Escaping = "text", attribute: bool = False) -> str:
    """A data value as `{{{x}}}` prints it. Takes linear time and is idempotent.

    Mode `text` escapes every `<`, and a look-alike such as `‹` only where it would open or close one of `names`. Mode
    `names` treats `<` like a look-alike. `&`, `>`, quotes and code stay readable. The other modes change
    nothing.

    A name is found in any case, with spaces, slashes and invisible characters around or inside it, in compatibility
    forms (NFKD), and in letters that look like others (`confusables.py`). A value that ends in the middle of such a tag
    counts as well, so that two values cannot form one together.

    Args:
        text: the value.
        names: the element names of this prompt.
        mode: how much to escape.
        attribute: whether the value is in an attribute; if so, quotes and line breaks are replaced as well.
    """
    if mode in {"raw", "handlebars", "marks"}:
        return text
    angle, found = ANGLE, has_look_alike(text)
    if mode == "text":
        text, angle = text.replace("<", "&lt;"), _LOOK_ALIKE
    if names and (found or (mode == "names" and "<" in text)):
        text = _escape_tags(text, angle, names)
    if attribute:
        text = _LINE_BREAK.sub(" ", text.replace('"', "&quot;").replace("'", "&apos;"))
    return text


def _escape_tags(text: str, angle: re.Pattern[str], names: Collection[str]) -> str:
    own = TagNames.of(names)
    # No tag reaches beyond the next angle: the pieces are disjoint, so that the work is linear.
    first, *pieces = angle.split(text)
    last = len(pieces) - 1
    checked = [
        ("&lt;" if own.open(piece, cut_off=number == last) else mark) + piece
        for number, (mark, piece) in enumerate(zip(angle.findall(text), pieces, strict=True))
    ]
    return "".join([first, *checked])


class TagNames(NamedTuple):
    """The names of elements as a lenient reader sees them, and the length of the longest."""

    folded: frozenset[str]
    longest: int

    @staticmethod
    def of(names: Collection[str]) -> TagNames:
        """Prepare these names for searching."""
        return _tag_names(frozenset(names))

    def open(self, piece: str, *, cut_off: bool = False) -> bool:
        """Whether an angle bracket before this piece opens or closes one of them; `cut_off` if more text may follow."""
        word, names = "", self.folded
        for character in piece:
            # A reader that does not fold sees the name end here, even if the folded name goes on.
            if word in names and not in_name(character):
                return True
            for part in _folded(character):
                if in_name(part):
                    word += part
                elif word or not (part.isspace() or part in _SLASHES):
                    return word in names
            if len(word) > self.longest:
                return False
        return word in names or (cut_off and any(name.startswith(word) for name in names))


@lru_cache(maxsize=64)
def _tag_names(names: frozenset[str]) -> TagNames:
    """Cached, because a prompt may have a thousand names."""
    own = frozenset(word for name in names if (word := "".join(map(_folded, name))))
    return TagNames(own, max(map(len, own), default=0))


def in_name(character: str) -> bool:
    """Whether a character may be part of an element's name."""
    return character.isalnum() or character in "-_.:"


def _folded(character: str) -> str:
    """How a lenient reader sees one character: in lower case and compatibility form, nothing if it is invisible.

    One character at a time, because normalising a long run of combining marks takes quadratic time.
    """
    parts = character if like_latin(character).isascii() else unicodedata.normalize("NFKD", character)
    return "".join("-" if part in _DASHES else like_latin(part) for part in parts if _is_seen(part))


def _is_seen(character: str) -> bool:
    if character in "\t\n\v\f\r":
        return True
    return unicodedata.category(character)[0] not in "CM" and character not in _BLANK_LETTERS
