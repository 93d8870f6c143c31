"""One JSON request to a model service, with limits on time and size; its secrets are never shown."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from cuecard.records import dataclass

MAX_ANSWER = 1 << 20
"""The maximum size of an answer in bytes, more than any tiny question needs."""

_SHOWN = 200


class AskingError(Exception):
    """The service gave no readable answer; `status` is the HTTP status, or 0 if there was none."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class _Stay(HTTPRedirectHandler):
    """Treats a redirect as an error: it would send the key to an address that the user did not give."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Do not follow redirects."""


@dataclass(frozen=True, slots=True)
class Service:
    """The address and headers of requests, and the timeout in seconds."""

    url: str
    headers: Mapping[str, str]
    timeout: float

    def ask(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The answer, a JSON object.

        Raises:
            AskingError: when there is none, with what happened.
        """
        headers = {"content-type": "application/json", "accept": "application/json", **self.headers}
        request = Request(self.url, json.dumps(body).encode(), headers, method="POST")  # noqa: S310 - http or https: the command checks
        until = time.monotonic() + self.timeout
        try:
            with build_opener(_Stay).open(request, timeout=self.timeout) as answer:
                data = _read(answer, until)
        except HTTPError as error:
            with error:
                raise AskingError(self._refusal(error, until), error.code) from None
        except TimeoutError:
            raise AskingError(f"no answer within {self.timeout:g} seconds") from None
        except URLError as error:
            late = isinstance(error.reason, TimeoutError)
            told = f"no answer within {self.timeout:g} seconds" if late else f"it cannot be reached: {error.reason}"
            raise AskingError(told) from None
        except (OSError, HTTPException, ValueError) as error:
            raise AskingError(f"the connection failed: {self._hidden(str(error) or type(error).__name__)}") from None
        return self._read(data)

    def _read(self, data: bytes) -> Mapping[str, Any]:
        try:
            answer = json.loads(data)
        except (ValueError, RecursionError):
            raise AskingError(f"the answer is not JSON: {self._hidden(_text(data))}") from None
        if not isinstance(answer, dict):
            raise AskingError(f"the answer is not a JSON object: {self._hidden(_text(data))}")
        return answer

    def _refusal(self, error: HTTPError, until: float) -> str:
        if 300 <= error.code < 400:
            return f"HTTP {error.code}: it redirects to another address; name that one if you trust it"
        try:
            said = self._hidden(_text(_read(error, until)))
        except (OSError, HTTPException, AskingError):
            said = ""
        return f"HTTP {error.code}" + (f": {said}" if said else "")

    def _hidden(self, text: str) -> str:
        """The text without the values of the headers, since some services repeat what they were sent."""
        for value in self.headers.values():
            secret = value.removeprefix("Bearer ")
            text = text.replace(secret, "...") if len(secret) > 3 else text
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _read(answer: Any, until: float) -> bytes:
    data = b""
    while chunk := answer.read1(65536):
        data += chunk
        if len(data) > MAX_ANSWER:
            raise AskingError(f"the answer is longer than {MAX_ANSWER:,} bytes")
        if time.monotonic() > until:
            raise TimeoutError
    return data


def _text(data: bytes) -> str:
    text = data[: 4 * _SHOWN].decode("utf-8", "replace")
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
