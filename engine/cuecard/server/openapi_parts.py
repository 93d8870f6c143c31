"""The OpenAPI description of the routes and of the problem details that they share."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from cuecard.model import Json
from cuecard.server.answers import ProblemDetails
from cuecard.server.problems import ALL_STATUSES

_ABOUT = """\
The prompt engine for hosts that are not written in Python. The service keeps nothing: a conversation travels with the
client as a signed text, so that any number of replicas can answer in turn."""

RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {
        "description": "What is wrong, in the form of RFC 9457",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}},
    }
    for status in ALL_STATUSES
}
"""The error responses of every path under `/v1`."""


def openapi_of(app: FastAPI) -> dict[str, Json]:
    """The description of the application's routes."""
    told = get_openapi(title="cuecard", version=app.version, description=_ABOUT, routes=app.routes)
    wrong = ProblemDetails.model_json_schema(mode="serialization", ref_template="#/components/schemas/{model}")
    parts = told.setdefault("components", {}).setdefault("schemas", {})
    parts.update(wrong.pop("$defs", {}))
    parts["ProblemDetails"] = wrong
    told["components"]["schemas"] = dict(sorted(parts.items()))
    told["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    told["security"] = [{}, {"token": []}]
    return told
