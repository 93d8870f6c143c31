"""Characters that look like Latin letters: those whose Unicode names say so, and letters of other scripts (UTS 39)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType

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
