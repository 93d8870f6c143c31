"""Plain data as text that shows whether somebody has changed it: signed with HMAC-SHA-256 (RFC 2104)."""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from itertools import chain, compress, islice
from types import NoneType
from typing import Any, NoReturn

from pydantic_core import from_json

from cuecard.errors import InputError, Problem
from cuecard.model.storage import shallow
from cuecard.model.values import Json

LIMIT = 16 * 2**20
"""Characters of a text that is read back, at most: a conversation of a thousand results takes a hundredth of it."""

DEPTH = 100
"""How deep the data may nest: deeper than any input may, and less deep than Python can follow."""

SHORTEST_KEY = 16
"""Characters of a key, at least."""

_PURPOSE = b"cuecard conversation\n"  # a signature for another purpose, with the same key, is none for this

_TEXT_PURPOSE = b"cuecard conversation as text\n"

_FRONT, _BEHIND, _END = '{"conversation":', ',"text_signature":"', '"}'
_KEYS = {"conversation", "signature", "text_signature"}
_TAIL = len(_BEHIND) + 64 + len(_END)


UNSIGNED = "unsigned"
"""In place of a later key: texts without a signature are read, too, such as those from before there was a key."""


def keys_of(key: str) -> tuple[str, ...]:
    """The keys between commas: the first one signs, and all of them are read with; none without any."""
    return tuple(part for each in key.split(",") if (part := each.strip()))


def check_key(key: str, name: str = "key") -> None:
    """Refuse keys that could be guessed; `name` is what the error calls them.

    Raises:
        InputError: when one is shorter than it should be.
    """
    found = keys_of(key)
    short = [each for place, each in enumerate(found) if len(each) < SHORTEST_KEY and not (place and each == UNSIGNED)]
    if short or (key and not found):
        hint = "make one with `python -c 'import secrets; print(secrets.token_hex(32))'`"
        told = f"the key has {len(short[0]) if short else 0} characters; at least {SHORTEST_KEY} are required"
        raise InputError(Problem("weak-key", told, hint, name))


def seal(data: Json, key: str, *, as_text: bool = False) -> str:
    """The data as JSON text, signed where there is a key.

    The signature is over the data, not over the text: a database may store the JSON in its own way. With `as_text` it
    is over the text, which nobody may write anew then, and takes half the time to make and to check.

    Raises:
        InputError: when the text would be longer than `unseal` reads.
    """
    key = (keys_of(key) or ("",))[0]
    if key and as_text:
        text = json.dumps(data, separators=(",", ":"), allow_nan=False, default=shallow)
        return within_limit(f"{_FRONT}{text}{_BEHIND}{_text_signature(text, key)}{_END}")
    sealed = {"conversation": data, **({"signature": _signature(data, key)} if key else {})}
    return within_limit(json.dumps(sealed, separators=(",", ":")))


def within_limit(text: str) -> str:
    """The text.

    Raises:
        InputError: when it is longer than `unseal` reads.
    """
    if len(text) > LIMIT:
        told = f"the conversation takes {len(text):,} characters of {LIMIT:,} at most"
        hint = "hand over shorter inputs and messages, or store its `state` by yourself"
        raise InputError(Problem("bad-conversation", told, hint, "conversation"))
    return text


def unseal(text: str, key: str, name: str) -> Json:
    """The data that `seal` wrote; errors call it `name`.

    Raises:
        InputError: when the text is cut off, too long, too deep, or no such text; or when it is signed with none of
            the keys, signed though there is none, or not signed though there is one.
    """
    keys = keys_of(key)
    if len(keys) > 1:
        keys = (*keys, key)  # one that holds a comma, from before there were several
    if not isinstance(text, str):
        _refuse(f"expected a string, not {type(text).__name__}", name)
    if len(text) > LIMIT:
        _refuse(f"the text has {len(text):,} characters; at most {LIMIT:,} are allowed", name)
    if any(_is_signed_text(text, each) for each in keys if each != UNSIGNED):
        return json.loads(text[len(_FRONT) : -_TAIL])
    try:
        sealed = _loaded(text)
    except RecursionError:
        _refuse(f"the data is nested more than {DEPTH} levels deep", name)
    except (TypeError, ValueError) as error:
        _refuse(f"the text is truncated, or is not JSON: {error}", name)
    if not isinstance(sealed, dict) or "conversation" not in sealed or sealed.keys() - _KEYS:
        _refuse("the JSON is not what `dump` wrote", name)
    if too_deep(sealed):
        _refuse(f"the data is nested more than {DEPTH} levels deep", name)
    _check(sealed["conversation"], sealed.get("signature", sealed.get("text_signature")), keys, name)
    return sealed["conversation"]


def plain_text(text: str) -> str:
    """The data in what `seal` wrote without a key, still as text; empty where `unseal` has to look at it."""
    whole = len(text) <= LIMIT and text.startswith(_FRONT) and text.endswith("}")
    return text[len(_FRONT) : -1] if whole else ""


def _loaded(text: str) -> Json:
    with suppress(ValueError):  # it is quicker, and knows neither half a character nor what is wrong in a text
        return from_json(text, allow_inf_nan=False)
    return json.loads(text, parse_constant=_no_number, parse_int=_whole)


def _check(data: Json, signature: Json, keys: tuple[str, ...], name: str) -> None:
    if signature is None and (not keys or UNSIGNED in keys):
        return
    if signature is None:
        told = "the conversation is not signed, but this engine requires a signature"
        hint = f"start a new conversation; `{UNSIGNED}` behind the key and a comma reads those from before"
        raise InputError(Problem("bad-signature", told, hint, name))
    if not keys:
        told = "the conversation is signed, but this engine has no key to verify it"
        raise InputError(Problem("bad-signature", told, "open the engine with the `key` that signed it", name))
    signed = (_signature(data, each).encode() for each in keys if each != UNSIGNED)
    if not isinstance(signature, str) or not any(hmac.compare_digest(each, _bytes(signature)) for each in signed):
        told = "the signature does not match: the conversation was modified, or signed with another key"
        hint = "start a new conversation; an earlier key stays valid behind the newest and a comma"
        raise InputError(Problem("bad-signature", told, hint, name))


def _signature(data: Json, key: str) -> str:
    data = data if all(kinds <= _AS_STORED for _, kinds in _layers(data)) else _plain(data)
    canonical = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hmac.digest(_bytes(key), _PURPOSE + canonical.encode(), "sha256").hex()


def _is_signed_text(text: str, key: str) -> bool:
    told, signature = text[len(_FRONT) : -_TAIL], text[-_TAIL:][len(_BEHIND) : -len(_END)]
    if text != f"{_FRONT}{told}{_BEHIND}{signature}{_END}":
        return False
    return hmac.compare_digest(_text_signature(told, key).encode(), _bytes(signature))


def _text_signature(text: str, key: str) -> str:
    return hmac.digest(_bytes(key), _TEXT_PURPOSE + _bytes(text), "sha256").hex()


def _plain(data: Json) -> Json:
    """The data with its whole numbers as integers: what is stored as 1e22 may come back as digits, and -0.0 as 0.0."""
    if isinstance(data, float) and data.is_integer():
        return int(Decimal(repr(data)))
    if isinstance(data, dict):
        return {key: _plain(value) for key, value in data.items()}
    return [_plain(value) for value in data] if isinstance(data, (list, tuple)) else data


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def too_deep(data: Json) -> bool:
    """Whether the data nests deeper than `DEPTH`."""
    return any(any(layer) for layer, _ in islice(_layers(data), DEPTH - 1, DEPTH))


def _layers(data: Json) -> Iterator[tuple[list[Any], frozenset[type]]]:
    """The values at each depth that hold others, and the types of all values there."""
    held = [data]
    while held:
        kinds = frozenset(map(type, held))
        # Most values hold none, and a long conversation has a hundred thousand.
        layer = [*compress(held, map(_HOLDERS.__contains__, map(type, held)))] if kinds & _HOLDERS else []
        yield layer, kinds
        held = [*chain.from_iterable([each.values() if type(each) is dict else each for each in layer])]


_HOLDERS = frozenset({dict, list, tuple})
_AS_STORED = _HOLDERS | {str, int, bool, NoneType}
"""What a store gives back as it was."""


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError("a number has too many digits") from None


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


def _refuse(message: str, name: str) -> NoReturn:
    hint = "pass the result of `dump`, complete and unchanged"
    raise InputError(Problem("bad-conversation", message, hint, name))
