"""The Switches screen as pages: searches as the model makes them, figures of a slider, and what is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from cuecard.config.agent_file import AgentFile, BudgetSpec
from cuecard.config.documents.validation import FileModel, validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.documents.yaml_edits import with_value
from cuecard.config.tool_file import ToolEntry, ToolFile
from cuecard.errors import CuecardError, InputError, Problem, visible
from cuecard.files.atomic_write import rewrite
from cuecard.files.content import content_root
from cuecard.files.roots import shown
from cuecard.files.safe_read import read_bytes, read_text
from cuecard.model import Json
from cuecard.studio.address import read_address
from cuecard.studio.problems import problem_views
from cuecard.studio.screen import Asked, Asking
from cuecard.studio.switches_view import budgets_of, facts_of, lost_tools, switches
from cuecard.studio.tried import found_of, sent_of

ShowPage: TypeAlias = Callable[[Asked, Mapping[str, Any], int], Response]
"""Makes the page of the screen, with a status."""
ShowPart: TypeAlias = Callable[[Asked, Mapping[str, Any]], Response]
"""Makes the part of the page with figures of budgets."""

_MAX_FIELDS, _MAX_WORDS = 100, 200
_MAX_BYTES = 1024 * 1024


def switches_routes(asking: Asking, page: ShowPage, part: ShowPart) -> Sequence[Route]:
    """What the screen is asked besides itself, and what a person writes there."""

    def search(request: Request) -> Response:
        asked = asking.asked(read_address(request.query_params.multi_items()))
        return RedirectResponse(_searched(asked), 303)

    def fits(request: Request) -> Response:
        asked = asking.asked(read_address(request.query_params.multi_items()))
        return part(asked, _fits(asked))

    def route(path: str, act: Callable[[Asked, Mapping[str, str]], str]) -> Route:
        async def answer(request: Request) -> Response:
            body = (await request.body()).decode("utf-8", "replace")
            form = dict(parse_qsl(body, keep_blank_values=True, max_num_fields=_MAX_FIELDS))
            address = read_address(request.query_params.multi_items())
            return await run_in_threadpool(_written, asking.asked(address), page, act, form)

        return Route(path, answer, methods=["POST"])

    return [
        Route("/switches/search", search),
        Route("/switches/fits", fits),
        route("/switches/phrase", _phrase),
        route("/switches/budget", _budget),
    ]


def _searched(asked: Asked) -> str:
    """The address with the tools that a search finds, behind those that are found already."""
    words = asked.address.query.strip()[:_MAX_WORDS]
    hits = asked.engine.search_tools(words).tools if asked.engine and words else ()
    found = tuple(dict.fromkeys((*found_of(asked), *hits)))
    return asked.address.to("switches", query=words, found=found, by="hand")


def _fits(asked: Asked) -> Mapping[str, Any]:
    """What the budgets of the address leave out."""
    if asked.engine is None:
        return {"budgets": (), "left_out": ()}
    found, sent = found_of(asked), sent_of(asked)
    return {"budgets": budgets_of(asked, facts_of(asked, asked.engine), found, sent), "left_out": lost_tools(sent)}


def _written(
    asked: Asked, page: ShowPage, act: Callable[[Asked, Mapping[str, str]], str], form: Mapping[str, str]
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


def _phrase(asked: Asked, form: Mapping[str, str]) -> str:
    """Add the words of the search to the phrases of a tool, in its file."""
    tool, words = form.get("to", ""), " ".join(asked.address.query.split())
    card = asked.engine.tools.get(tool) if asked.engine else None
    place = card.source.rpartition(":")[0] if card else ""
    if not place or not words:
        message = f"no file of this agent says what finds `{visible(tool[:_MAX_WORDS])}`"
        raise InputError(Problem("unknown-tool", message, "choose one of the tools on the screen", "to"))

    def added(text: str, name: str) -> str:
        kind, entry = _entry(read_yaml(text, name).value, tool)
        known = entry.get("phrases") or [] if isinstance(entry, dict) else []
        known = [known] if isinstance(known, str) else [*known]
        key = (kind, tool, "phrases")
        return text if words in known else with_value(text, key, [*known, words], name, (*ToolEntry.model_fields,))

    path = _rewritten(asked.state.path.parent / place, ToolFile, added)
    return f"“{words}” is now a phrase of {tool}, in {shown(path)}"


def _entry(value: Mapping[str, Json], tool: str) -> tuple[str, Json]:
    for kind in ("tools", "described"):
        entries = value.get(kind)
        if isinstance(entries, dict) and tool in entries:
            return kind, entries[tool]
    message = f"the entry of `{tool}` is no longer in this file"
    raise InputError(Problem("changed-meanwhile", message, "reload the screen, and look where it is now", "to"))


def _budget(asked: Asked, form: Mapping[str, str]) -> str:
    """Write the budget that is tried into the agent file."""
    name = form.get("name", "")
    told = {"protocols": asked.address.protocols, "total": asked.address.total}.get(name)
    if not told:
        raise InputError(Problem("wrong-argument", "no budget is tried", "drag a slider first", "name"))
    limit = max(1, int(told))

    def limited(text: str, shown_name: str) -> str:
        if isinstance(read_yaml(text, shown_name).value.get("budget"), dict):
            return with_value(text, ("budget", name), limit, shown_name, (*BudgetSpec.model_fields,))
        return with_value(text, ("budget",), {name: limit}, shown_name, (*AgentFile.model_fields,))

    place = asked.state.place_of(("budget", name)) or asked.state.place_of(("budget",))
    file = place.rpartition(":")[0] or asked.state.path.name
    path = _rewritten(asked.state.path.parent / file, AgentFile, limited)
    return f"budget.{name} is now {limit:,} tokens, in {shown(path)}"


def _rewritten(path: Path, kind: type[FileModel], change: Callable[[str, str], str]) -> Path:
    """Change a file of an agent; its comments, order and quoting stay.

    Raises:
        CuecardError: when it cannot be read, changed or written, belongs to cuecard, or would be refused afterwards.
    """
    real = path.resolve()
    if real.is_relative_to(content_root().resolve()):
        hint = "copy it first, with `cuecard init`, and open the copy"
        raise InputError(
            Problem("changed-meanwhile", "this file belongs to an agent that cuecard brings", hint, shown(path))
        )
    before = read_text(real).text
    after = change(before, shown(path))
    validate(read_yaml(after, shown(path)), kind)
    raw = read_bytes(real, limit=_MAX_BYTES)
    rewrite(real, after.replace("\n", "\r\n") if b"\r\n" in raw else after, before)
    return path
