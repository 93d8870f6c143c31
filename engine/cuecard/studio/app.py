"""The studio as an ASGI application: its screens, what they are asked, and its errors as pages."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from cuecard.errors import CuecardError, InputError, Problem, visible
from cuecard.studio.address import Address, read_address
from cuecard.studio.editor_screen import editor, editor_writes
from cuecard.studio.inputs_screen import inputs, inputs_writes
from cuecard.studio.price_view import can_be_played, price, price_advice, price_models, price_sizes
from cuecard.studio.problems import problem_views, spoken
from cuecard.studio.prompt_view import prompt
from cuecard.studio.screen import AddressBook, Question, Screen, ShowPage, View
from cuecard.studio.security import App, Guard, Keys
from cuecard.studio.switches_screen import switches_routes
from cuecard.studio.switches_view import switches
from cuecard.studio.timeline_view import more_rows, timeline
from cuecard.studio.welcome_view import welcome
from cuecard.workbench.output import counted

SCREENS = (
    Screen("prompt", "Prompt", prompt),
    Screen("timeline", "Timeline", timeline),
    Screen("switches", "Switches", switches),
    Screen("inputs", "Inputs", inputs),
    Screen("price", "Price", price),
    Screen("editor", "Editor", editor),
)
"""The screens, in the order of the bar and of the keys `1` to `6`."""

_WELCOME = Screen("", "Welcome", welcome)
_DIGITS, _MARK = 10, 20
_KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_WORDS = 200
"""Characters of a search."""

_log = logging.getLogger(__name__)


class Studio:
    """The routes. Everything that they know is in the address and on disk."""

    def __init__(self, asking: AddressBook, keys: Keys) -> None:
        self._asking, self._keys = asking, keys
        self._pages = Environment(
            loader=PackageLoader("cuecard.studio"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._pages.filters["spoken"] = spoken
        self._pages.globals["counted"] = counted

    def app(self, *, local: bool) -> App:
        """The application with its guard; `local` says that it listens on this machine alone."""
        routes = [Route(f"/{each.path}", self._route(each)) for each in (_WELCOME, *SCREENS)]
        routes += inputs_writes(self._asking, self._page_of(inputs))
        routes += editor_writes(self._asking, self._page_of(editor))
        routes += switches_routes(self._asking, self._page_of(switches), self._fits)
        routes += [
            Route("/timeline/rows", self.rows),
            Route("/price/models", self._part("price_models.html", price_models)),
            Route("/price/advice", self._part("price_advice.html", price_advice)),
            Route("/price/sizes", self._part("price_sizes.html", price_sizes)),
            Route("/search", self.search),
            Route("/events", self.events),
            Route("/static/{name}", _static),
        ]
        made = Starlette(
            routes=routes,
            middleware=[Middleware(GZipMiddleware, minimum_size=500)],
            exception_handlers={CuecardError: self._wrong, HTTPException: self._missing, Exception: self._fault},
        )
        return Guard(made, self._keys, lambda problem, status: self._problems([problem], status), local=local)

    def warm(self) -> None:
        """Make the first page once, so that whoever opens it does not wait for templates, counts and recordings."""
        with suppress(CuecardError):
            asked = self._asking.asked(Address())
            self._page("welcome.html", asked, _WELCOME, welcome(asked))

    async def events(self, request: Request) -> Response:
        """What changes, told to one tab; at once, what has changed since its page was made or its stream was cut."""
        told = request.headers.get("last-event-id") or request.query_params.get("mark", "")
        mark = int(told) if told.isascii() and told.isdigit() and len(told) <= _MARK else self._asking.news.mark
        return StreamingResponse(self._asking.news.stream(mark), media_type="text/event-stream")

    def rows(self, request: Request) -> Response:
        """More rows of the Timeline's table."""
        told = [each for each in request.query_params.multi_items() if each[0] != "from"]
        asked, first = self._asking.asked(read_address(told)), request.query_params.get("from", "0")
        number = int(first) if first.isascii() and first.isdigit() and len(first) < _DIGITS else 0
        return self._page("rows.html", asked, SCREENS[1], more_rows(asked, number))

    def search(self, request: Request) -> Response:
        """The prompt with the tools that a search finds, as if the model had searched."""
        told = dict(request.query_params)
        words = told.pop("query", "").strip()
        address = read_address(told.items())
        engine = self._asking.asked(address).engine
        found = engine.search_tools(words[:_WORDS]).tools if engine and words else ()
        if not found:
            hint = "name what a tool should do, as a verb and a noun"
            raise InputError(Problem("unknown-tool", f"no tool fits the words “{visible(words[:_WORDS])}”", hint))
        return RedirectResponse(address.to("prompt", found=tuple(found), run="", step=""), 303)

    def _route(self, screen: Screen) -> Any:
        def answer(request: Request) -> Response:
            asked = self._asking.asked(read_address(request.query_params.multi_items()))
            return self._page(f"{screen.path or 'welcome'}.html", asked, screen, screen.view(asked))

        return answer

    def _part(self, template: str, view: View) -> Any:
        """A part of the Price screen, which takes longer than the rest."""

        def answer(request: Request) -> Response:
            asked = self._asking.asked(read_address(request.query_params.multi_items()))
            if not can_be_played(asked):
                hint = "choose a recording in the band"
                raise InputError(Problem("wrong-argument", "only recordings can be priced", hint, "address.run"))
            screen = next(each for each in SCREENS if each.view is price)
            return self._page(template, asked, screen, view(asked))

        return answer

    def _page_of(self, view: View) -> ShowPage:
        screen = next(each for each in SCREENS if each.view is view)
        return lambda asked, shown, status: self._page(f"{screen.path}.html", asked, screen, shown, status)

    def _fits(self, asked: Question, shown: Mapping[str, Any]) -> Response:
        screen = next(each for each in SCREENS if each.view is switches)
        return self._page("budget.html", asked, screen, shown)

    def _page(
        self, template: str, asked: Question, screen: Screen, shown: Mapping[str, Any], status: int = 200
    ) -> Response:
        text = self._pages.get_template(template).render(
            asked=asked, address=asked.address, screen=screen, screens=SCREENS, write=self._keys.write, **shown
        )
        return HTMLResponse(text.encode("utf-8", "backslashreplace"), status)

    def _problems(self, problems: Iterable[Problem], status: int) -> Response:
        shown, more = problem_views(problems)
        text = self._pages.get_template("problem.html").render(
            problems=shown, more=more, address=Address(), screens=SCREENS, screen=None
        )
        return HTMLResponse(text.encode("utf-8", "backslashreplace"), status)

    def _wrong(self, _: Request, error: Exception) -> Response:
        return self._problems(error.problems if isinstance(error, CuecardError) else (), 422)

    def _missing(self, _: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 404
        told = "the studio has no such page" if status == 404 else "this page does not support this method"
        return self._problems([Problem("unknown-path", told, "go on with one of the screens above", "address")], status)

    def _fault(self, _: Request, error: Exception) -> Response:
        _log.error("a screen failed: %s", type(error).__name__)
        told = "the studio failed to show this screen; every other one goes on"
        return self._problems([Problem("", told, "report it, with what the terminal says", "studio")], 500)


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    text = _file(name)
    if text is None:
        raise HTTPException(404)
    return Response(text, media_type=_KINDS[name.rpartition(".")[2]], headers={"cache-control": "no-cache"})


@lru_cache(maxsize=16)
def _file(name: str) -> bytes | None:
    """A file that the studio ships; None for any other name."""
    if name.rpartition(".")[2] not in _KINDS or "/" in name or "\\" in name:
        return None
    place = files("cuecard.studio") / "static" / name
    return place.read_bytes() if place.is_file() else None
