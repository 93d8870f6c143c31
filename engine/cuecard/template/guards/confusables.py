"""Letters of other scripts that look like Latin ones: the single letters of Unicode's confusables (UTS 39)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_PAIRS = (
    # Cyrillic, small
    ("\u0430\u0441\u0501\u0435\u0261\u04bb\u0456\u0458\u043a\u04cf\u043c\u043e\u0440\u0442", "acdeghijklmopt"),
    ("\u051b\u0455\u0443\u0475\u051d\u0445", "qsyvwx"),
    # Cyrillic, capital
    ("\u0410\u0412\u0421\u0415\u041d\u0406\u0408\u041a\u041c\u041e\u0420\u0405\u0422\u0423", "abcehijkmopsty"),
    ("\u0425\u051a\u051c", "xqw"),
    # Greek, small
    ("\u03b1\u03b3\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03c9\u03f3", "ayeikvoptuxwj"),
    # Greek, capital
    ("\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7", "abezhikmnoptyx"),
    # Armenian
    ("\u0581\u0570\u0575\u0578\u0566\u057d\u0585\u0555\u054f\u054d", "ghjnquoosu"),
    # Cherokee
    ("\u13aa\u13f4\u13df\u13a0\u13ac\u13c0\u13bb\u13ab\u13e6\u13de\u13b7\u13e2\u13a1\u13da", "abcdeghjklmprs"),
    ("\u13a2\u13d9\u13b3\u13c3", "tvwz"),
    # Phonetic letters, small capitals
    ("\u0251\u0269\u0131\ua7ae\uab75\u1d04\u1d0f\u1d1c\u1d20\u1d21\u1d22\ua731\u029f\u026a", "aiiiicouvwzsli"),
    ("\u0274\u0280\u028f", "nry"),
    # A low macron
    ("\u02cd", "_"),
)

LIKE_LATIN: Mapping[str, str] = MappingProxyType(
    {letter: like for letters, likes in _PAIRS for letter, like in zip(letters, likes, strict=True)}
)
"""The lower-case Latin letter that each of these looks like."""
