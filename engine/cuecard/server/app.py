"""The routes of the service, and their OpenAPI."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, get_type_hints

from fastapi import APIRouter, FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.responses import Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

import cuecard
from cuecard.errors import CuecardError, Problem
from cuecard.model import Json
from cuecard.server.agents import agents_json, ready_json
from cuecard.server.answers import (
    AgentsAnswer,
    Health,
    MemoryAnswer,
    PreparedCall,
    PreparedStep,
    ProblemDetails,
    Readiness,
    SearchAnswer,
)
from cuecard.server.guard import App, RequestFacts, RequestGuard
from cuecard.server.monitoring import Metrics
from cuecard.server.options import ServiceOptions
from cuecard.server.problems import ALL_STATUSES, ProblemResponse, fault_response, problem_response
from cuecard.server.requests import AgentRequest, PrepareCall, PrepareStep, Remember, SearchTools
from cuecard.server.service import Service
from cuecard.server.strict_json import body_of, json_bytes

_ABOUT = """\
The prompt engine for programs that are not written in Python. The service keeps nothing: a conversation travels with
the client as a signed text, so that any number of replicas can answer in turn."""

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
    told = get_openapi(title="cuecard", version=cuecard.__version__, description=_ABOUT, routes=app.routes)
    wrong = ProblemDetails.model_json_schema(ref_template="#/components/schemas/{model}")
    parts = told["components"]["schemas"]
    parts.update(wrong.pop("$defs"))
    parts["ProblemDetails"] = wrong
    for part in parts.values():
        for field in part["properties"].values():
            field.pop("default", None)  # generated types take a field with a default for one that every body has
    told["components"]["schemas"] = dict(sorted(parts.items()))
    told["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    told["security"] = [{}, {"token": []}]
    return told


_WORKERS = 4
"""The number of threads for requests, so that a long one delays neither the others nor `/healthz`."""

_LARGE = 64 * 1024
"""Bytes of a body that takes its turn, so that bodies of this size never keep all workers from the others."""


PACKED = "cuecard-packed"
"""The header of a client that carries packed conversations: services from before there were any pass over it."""


class WorkerRoute(APIRoute):
    """A route that a worker answers as a whole: whatever a body says, nobody waits while it is read.

    FastAPI describes it, and calls nothing: its own handler would read the body on the event loop.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler of a request."""
        model, answer = get_type_hints(self.endpoint).get("body"), self.endpoint

        async def handle(request: Request) -> Response:
            data = await request.body()
            turn = request.app.state.large if len(data) > _LARGE else nullcontext()

            def work() -> Response:
                if model is None:
                    return _json(answer(request))
                body = _read(data, request.headers.get("content-type", ""), model)
                facts: RequestFacts = request.scope["cuecard"]
                facts.agent = _service(request).agents.name_of(body.agent)  # it may have to be loaded
                return _json(answer(body, request))

            return await _in_time(request, work, turn)

        return handle


def _read(data: bytes, content_type: str, model: type[AgentRequest]) -> AgentRequest:
    """The body; a large one rests for as long as it took, since no other thread runs while the validator does."""
    if len(data) <= _LARGE:
        return body_of(data, content_type, model)
    before = time.thread_time()
    try:
        return body_of(data, content_type, model)
    finally:
        time.sleep(time.thread_time() - before)


_v1 = APIRouter(prefix="/v1", route_class=WorkerRoute, responses=RESPONSES)
_watching = APIRouter()


@_v1.get("/agents", response_model=AgentsAnswer)
def agents(request: Request) -> Json:
    """Every served agent: its tools, inputs and profiles, and the problems of its files."""
    return agents_json(_service(request).agents)


@_v1.post("/prepare-call", response_model=PreparedCall)
def prepare_call(body: PrepareCall, request: Request) -> Json:
    """Call once per user message. The answer includes the first model request, so the model can be called at once."""
    return _service(request).prepare_call(body)


@_v1.post("/prepare-step", response_model=PreparedStep)
def prepare_step(body: PrepareStep, request: Request) -> Json:
    """Call once per request to the model after the first one, with the results since then."""
    return _service(request).prepare_step(body)


@_v1.post("/search-tools", response_model=SearchAnswer)
def search_tools(body: SearchTools, request: Request) -> Json:
    """The answer of the search tool to the model."""
    return _service(request).search_tools(body)


@_v1.post("/remember", response_model=MemoryAnswer)
def remember(body: Remember, request: Request) -> Json:
    """Add entities to the working memory of the conversation, or remove them; or report that the turn has ended."""
    return _service(request).remember(body)


@_watching.get("/", include_in_schema=False)
async def here() -> Response:
    """What is here: each path with what it is for."""
    paths = {
        f"{method} {each.path}": " ".join((each.endpoint.__doc__ or "").split())
        for each in (*_v1.routes, *_watching.routes)
        if isinstance(each, APIRoute) and each.path != "/"
        for method in (each.methods or set()) - {"HEAD"}
    }
    return _json({"service": "cuecard", "version": cuecard.__version__, "paths": paths})


@_watching.head("/healthz", include_in_schema=False)
@_watching.get("/healthz", response_model=Health)
async def healthz() -> Response:
    """The process answers."""
    return _json({"state": "ok", "version": cuecard.__version__})


@_watching.head("/readyz", include_in_schema=False)
@_watching.get(
    "/readyz", response_model=Readiness, responses={503: {"model": Readiness, "description": "The service will stop"}}
)
async def readyz(request: Request) -> Response:
    """Whether the newest files are served; `stale` has status 200, because the last good ones are served."""
    connections = request.scope.get("state", {}).get("connections")
    if connections and connections.draining:
        return _json({**ready_json(_service(request).agents), "state": "draining"}, 503)
    return _json(ready_json(_service(request).agents))


@_watching.get(
    "/metrics", response_class=Response, responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}
)
async def metrics(request: Request) -> Response:
    """Metrics for Prometheus."""
    told: Metrics = request.app.state.metrics
    return await _in_worker(request, lambda: Response(told.text(), media_type="text/plain; version=0.0.4"))


@_watching.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request) -> Response:
    """The description of all of this, made once."""
    state = request.app.state
    if not state.description:
        state.description = asyncio.ensure_future(_in_worker(request, lambda: _json(request.app.openapi())))
    described: Response = await asyncio.shield(state.description)
    return described


def create_app(service: Service, options: ServiceOptions) -> App:
    """The service as an ASGI application, including its guards."""
    told = Metrics(service.agents)
    return RequestGuard(create_routes(service, options, told), options, told)


def create_routes(service: Service | None, options: ServiceOptions | None, told: Metrics | None) -> FastAPI:
    """The routes alone; without a service, they can be described but not called."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.state.service, app.state.options, app.state.metrics = service, options, told
    app.state.description = None
    app.state.large = asyncio.Lock()
    app.state.workers = ThreadPoolExecutor(_WORKERS, thread_name_prefix="cuecard-serve")
    app.include_router(_v1)
    app.include_router(_watching)
    app.exception_handler(CuecardError)(_cuecard_error)
    app.exception_handler(HTTPException)(_http_exception)
    app.exception_handler(Exception)(_fault)
    app.openapi = lambda: openapi_of(app)  # type: ignore[method-assign]  # as FastAPI's docs have it
    return app


async def _in_time(
    request: Request, answer: Callable[[], Response], turn: AbstractAsyncContextManager[Any]
) -> Response:
    """The answer of a worker when it is its turn, unless it takes too long."""
    seconds = request.app.state.options.timeout
    try:
        async with asyncio.timeout(seconds), turn:
            return await _in_worker(request, answer)
    except TimeoutError:
        told = f"the answer took more than {seconds:g} seconds"
        hint = "try again in a moment, or start more replicas"
        return _problem(request, problem_response(Problem("too-slow", told, hint, "service")))


async def _in_worker(request: Request, answer: Callable[[], Response]) -> Response:
    """The answer of a thread, so that the others do not wait for it."""
    return await asyncio.get_running_loop().run_in_executor(request.app.state.workers, answer)


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service.packing() if PACKED in request.headers else service


def _json(value: Json, status: int = 200) -> Response:
    return Response(json_bytes(value), status, media_type="application/json")


def _problem(request: Request, response: ProblemResponse) -> ProblemResponse:
    request.scope["cuecard"].codes = response.codes
    return response


async def _cuecard_error(request: Request, error: CuecardError) -> Response:
    return _problem(request, ProblemResponse(error.problems))


async def _http_exception(request: Request, error: HTTPException) -> Response:
    """The router's: nothing else raises any."""
    if error.status_code == 405:
        problem = Problem("wrong-method", "this path does not support this method", "see /openapi.json", "method")
    else:
        problem = Problem("unknown-path", "there is nothing at this path", "see /openapi.json", "path")
    return _problem(request, ProblemResponse([problem], error.headers))


async def _fault(*_: object) -> Response:
    return fault_response()


def openapi_text() -> str:
    """The description as JSON text, identical on every run."""
    return json.dumps(create_routes(None, None, None).openapi(), indent=2) + "\n"


if __name__ == "__main__":
    sys.stdout.write(openapi_text())
