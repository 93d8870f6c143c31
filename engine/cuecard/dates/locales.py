"""Locales by name: English is built in, all others come from Babel, the extra `locale`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

from cuecard.dates.zones import closest
from cuecard.errors import InputError, Problem

if TYPE_CHECKING:
    from babel import Locale

English: TypeAlias = Literal["en-US", "en-GB"]
"""The variants of English supported without Babel."""

_ENGLISH: Mapping[str, English] = MappingProxyType({"en": "en-US", "en-us": "en-US", "en-gb": "en-GB"})
_INSTALL = 'run `pip install "cuecard[locale]"`'


def english(tag: str) -> English | None:
    """The English that a tag such as `en` or `en_GB` names; None for every other locale."""
    return _ENGLISH.get(tag.replace("_", "-").lower())


def check_locale(tag: str) -> None:
    """Reject an unsupported locale.

    Raises:
        InputError: as `locale_named`; never for English.
    """
    if not english(tag):
        locale_named(tag)


def check_time_style(style: str, tag: str) -> None:
    """Reject an unsupported style of times.

    Raises:
        InputError: `no-locales` when the style names the time zone, whose names in English only Babel knows, and Babel
            is not installed.
    """
    if style in {"full", "long"} and english(tag):
        _babel_for(style, "`medium`")


def locale_named(tag: str) -> Locale:
    """Babel's locale for a tag, such as `de-AT`.

    Raises:
        InputError: `unknown-locale`, or `no-locales` when Babel is not installed.
    """
    _babel_for(tag, "`en-US` or `en-GB`")
    from babel import Locale, UnknownLocaleError  # noqa: PLC0415 - more than 10 MB of data, for those who name a locale

    try:
        locale = Locale.parse(tag.replace("_", "-"), sep="-")
    except (UnknownLocaleError, ValueError, TypeError):
        locale = None
    if locale and _has_territory(tag, locale.territory):
        return locale
    from babel.localedata import locale_identifiers  # noqa: PLC0415 - as above

    known = [name.replace("_", "-") for name in locale_identifiers()]
    hint = closest(tag, known, "write a language and a country, such as `de-AT`")
    raise InputError(Problem("unknown-locale", f"`{tag}` is not a locale", hint))


def _babel_for(wish: str, instead: str) -> None:
    try:
        import babel  # noqa: F401, PLC0415 - an extra
    except ImportError:
        hint = f"{_INSTALL}, or write {instead}"
        raise InputError(Problem("no-locales", f"`{wish}` needs Babel, the extra `locale`", hint)) from None


def _has_territory(tag: str, territory: str | None) -> bool:
    """Whether the locale has the country in the tag: for an unknown country, Babel falls back to the language."""
    parts = tag.replace("_", "-").partition("@")[0].split("-")[1:]
    return all(part.upper() == territory for part in parts if len(part) == 2 or (len(part) == 3 and part.isdigit()))
