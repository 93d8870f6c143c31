"""The Switches screen as pages: searches as the model makes them, figures of a slider, and what is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from cuecard.config.agent_file import AgentFile, BudgetSpec
from cuecard.config.documents.sources import SourceText
from cuecard.config.documents.validation import FileModel, validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.documents.yaml_edits import with_value
from cuecard.config.tool_file import ToolFile
from cuecard.errors import CuecardError, InputError, Problem
from cuecard.files.folder import read_agent
from cuecard.studio.address import read_address
from cuecard.studio.entries import Subject, save, subject_of
from cuecard.studio.problems import problem_views
from cuecard.studio.screen import AddressBook, Question, ShowPage
from cuecard.studio.switches_view import budgets_of, facts_of, lost_tools, switches
from cuecard.studio.tried import found_of, sent_of

ShowPart: TypeAlias = Callable[[Question, Mapping[str, Any]], Response]
"""Makes the part of the page with figures of budgets."""

_FIELDS, _WORDS = 100, 200
"""Fields of a form, and characters of a search."""


def switches_routes(asking: AddressBook, page: ShowPage, part: ShowPart) -> Sequence[Route]:
    """What the screen is asked besides itself, and what a person writes there."""

    def search(request: Request) -> Response:
        asked = asking.asked(read_address(request.query_params.multi_items()))
        return RedirectResponse(_searched(asked), 303)

    def fits(request: Request) -> Response:
        asked = asking.asked(read_address(request.query_params.multi_items()))
        return part(asked, _fits(asked))

    def route(path: str, act: Callable[[Question, Mapping[str, str]], str]) -> Route:
        async def answer(request: Request) -> Response:
            body = (await request.body()).decode("utf-8", "replace")
            form = dict(parse_qsl(body, keep_blank_values=True, max_num_fields=_FIELDS))
            address = read_address(request.query_params.multi_items())
            return await run_in_threadpool(_written, asking.asked(address), page, act, form)

        return Route(path, answer, methods=["POST"])

    return [
        Route("/switches/search", search),
        Route("/switches/fits", fits),
        route("/switches/phrase", _phrase),
        route("/switches/budget", _budget),
    ]


def _searched(asked: Question) -> str:
    """The address with the tools that a search finds, behind those that are found already."""
    words = asked.address.query.strip()[:_WORDS]
    hits = asked.engine.search_tools(words).tools if asked.engine and words else ()
    found = tuple(dict.fromkeys((*found_of(asked), *hits)))
    return asked.address.to("switches", query=words, found=found, by="hand")


def _fits(asked: Question) -> Mapping[str, Any]:
    """What the budgets of the address leave out."""
    if asked.engine is None:
        return {"budgets": (), "left_out": ()}
    found, sent = found_of(asked), sent_of(asked)
    return {"budgets": budgets_of(asked, facts_of(asked, asked.engine), found, sent), "left_out": lost_tools(sent)}


def _written(
    asked: Question, page: ShowPage, act: Callable[[Question, Mapping[str, str]], str], form: Mapping[str, str]
) -> Response:
    """The page after something was written, which it says; or with the reason why nothing was."""
    try:
        told = act(asked, form)
    except CuecardError as error:
        problems, more = problem_views(error.problems, asked.editor)
        answer = page(asked, {**switches(asked), "problems": problems, "unread": more}, 422)
    else:
        answer = page(asked, switches(asked), 200)
        answer.headers["hx-trigger-after-settle"] = json.dumps({"told": {"value": told}})
    answer.headers["hx-push-url"] = "false"
    return answer


def _phrase(asked: Question, form: Mapping[str, str]) -> str:
    """Add the words of the search to the phrases of a tool, in its file."""
    tool, words = form.get("to", ""), " ".join(asked.address.query.split())
    if not words:
        raise InputError(Problem("wrong-argument", "no words were searched", "search for something first", "query"))
    subject = subject_of(read_agent(asked.state.path), tool, "")
    written = next(each for each in subject.fields if each.name == "phrases")
    told = f"a phrase of {tool}, in {subject.files[written.path].name}"
    known = [written.value] if isinstance(written.value, str) else [*(written.value or ())]
    if words in known:
        return f"“{words}” is already {told}"
    texts = subject.changed({"phrases": [*known, words]})
    _check(texts, subject.files, ToolFile)
    save(asked.state.path, subject, texts)
    return f"“{words}” is now {told}"


def _budget(asked: Question, form: Mapping[str, str]) -> str:
    """Write the budget that is tried into the agent file that says it, or else into that of the agent."""
    name = form.get("name", "")
    told = {"protocols": asked.address.protocols, "total": asked.address.total}.get(name)
    if not told:
        raise InputError(Problem("wrong-argument", "no budget is tried", "drag a slider first", "name"))
    limit, sources = max(1, int(told)), read_agent(asked.state.path)
    place = asked.state.place_of(("budget", name)).rpartition(":")[0]
    file = next((each for each in (sources.agent, *sources.layers) if each.path == place), sources.agent)
    if isinstance(read_yaml(file.text, file.name).value.get("budget"), dict):
        text = with_value(file.text, ("budget", name), limit, file.name, (*BudgetSpec.model_fields,))
    else:
        text = with_value(file.text, ("budget",), {name: limit}, file.name, (*AgentFile.model_fields,))
    files = {file.path: file}
    _check({file.path: text}, files, AgentFile)
    save(asked.state.path, Subject("section", "budget", (), files), {file.path: text})
    return f"budget.{name} is now {limit:,} tokens, in {file.name}"


def _check(texts: Mapping[str, str], files: Mapping[str, SourceText], kind: type[FileModel]) -> None:
    """Refuse what `check` would refuse.

    Raises:
        SpecError: with every problem.
    """
    for path, text in texts.items():
        validate(read_yaml(text, files[path].name), kind)
