"""Routes with a JSON body whose errors are reported with line and column."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, get_type_hints

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from fastapi.routing import APIRoute

from cuecard.errors import InputError, Problem
from cuecard.model import Json
from cuecard.server.json_text import read_json
from cuecard.server.wrong_bodies import wrong_body

_JSON = "application/json"


class StrictRequest(Request):
    """A request whose body is strict JSON, without Python's extensions."""

    async def json(self) -> Json:
        """The parsed body.

        Raises:
            JSONDecodeError: when it is not valid JSON.
        """
        return read_json(await self.body())


class StrictRoute(APIRoute):
    """A route that raises an `InputError` for an invalid body."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler of a request."""
        handle = super().get_route_handler()
        model = get_type_hints(self.endpoint).get("body")

        async def handle_strictly(asked: Request) -> Response:
            request = StrictRequest(asked.scope, asked.receive)
            try:
                return await handle(request)
            except RequestValidationError as error:
                body = await request.body()
                if body and isinstance(error.body, bytes):
                    raise InputError(_wrong_type(request.headers.get("content-type", ""))) from None
                raise InputError(wrong_body(body, model, error.errors()) if model else ()) from None

        return handle_strictly


def _wrong_type(said: str) -> Problem:
    told = f"the `Content-Type` is `{said[:100]}`" if said else "the request has no `Content-Type`"
    return Problem("wrong-media-type", told, f"send `Content-Type: {_JSON}`", "content-type")
