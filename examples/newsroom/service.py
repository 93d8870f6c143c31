"""The newsroom's API, as far as the page needs it: articles in memory."""

from __future__ import annotations

from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

ARTICLES: dict[int, dict[str, Any]] = {
    1: {"id": 1, "title": "Rain"},
    2: {"id": 2, "title": "Sun"},
    3: {"id": 3, "title": "Snow"},
}
PAGE = 2


async def articles(request: Request) -> JSONResponse:
    """A page of articles, or a new one."""
    if request.method == "POST":
        article = {**await request.json(), "id": max(ARTICLES) + 1}
        ARTICLES[article["id"]] = article
        return JSONResponse(article)
    page = int(request.query_params.get("pagination[page]", 1))
    return JSONResponse({"articles": [*ARTICLES.values()][PAGE * (page - 1) : PAGE * page]})


async def article(request: Request) -> JSONResponse:
    """One article, changed if that is asked."""
    found = ARTICLES[request.path_params["id"]]
    if request.method == "PATCH":
        found |= await request.json()
    return JSONResponse(found)


app = Starlette(
    routes=[
        Route("/articles", articles, methods=["GET", "POST"]),
        Route("/articles/{id:int}", article, methods=["GET", "PATCH"]),
    ]
)
