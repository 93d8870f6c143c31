"""Strict JSON: invalid input is rejected, and every accepted text can be sent."""

from __future__ import annotations

import json
from json import JSONDecodeError
from typing import NoReturn

from cuecard.model import Json


def json_bytes(value: Json) -> bytes:
    """The value as ASCII JSON: a text may contain a lone surrogate, which UTF-8 cannot encode."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


def read_json(body: bytes) -> Json:
    """The value of a JSON text in UTF-8.

    Raises:
        JSONDecodeError: when it is not valid JSON, which excludes `NaN`, `Infinity` and numbers that are too large.
    """
    try:
        return json.loads(body.decode("utf-8-sig"), parse_constant=_no_number, parse_float=_finite)
    except JSONDecodeError:
        raise
    except RecursionError:
        raise JSONDecodeError("nested too deeply", "", 0) from None
    except UnicodeDecodeError as error:
        raise JSONDecodeError("not UTF-8", "", error.start) from None
    except ValueError as error:
        raise JSONDecodeError(str(error), "", 0) from None


def _finite(text: str) -> float:
    value = float(text)
    return value if abs(value) != float("inf") else _no_number(text)


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"`{text[:20]}` is not a JSON number")
