"""The Inputs screen as pages: the form of an address, and what a person writes there, opens and saves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from cuecard.config.documents.yaml_edits import same
from cuecard.errors import CuecardError, InputError, Problem
from cuecard.files.roots import shown
from cuecard.records import dataclass
from cuecard.studio.address import Address, read_address
from cuecard.studio.fill import turn_of
from cuecard.studio.inputs_form import MAX_FIELDS, acted, filled_in
from cuecard.studio.inputs_view import MAX_CHIPS, InputsView, inputs_view
from cuecard.studio.problems import problem_views
from cuecard.studio.screen import AddressBook, Question, ShowPage
from cuecard.studio.turns import FOLDER, TurnRecord, open_turn, save_turn, turn_files


@dataclass(frozen=True, slots=True)
class InputsPage:
    """What the page shows besides the form.

    Attributes:
        declared: the agent file.
        folder: where turn files are.
        files: the turn files that can be opened.
        opened: where the turn came from; `saves` its file, if it can be saved there.
        state: whether that file holds these values, in words; empty without a file.
        unkept: why values are not kept on disk.
        from_step: which step the form was filled from, and what of it is unknown.
        parts: the parts of the page that change while somebody writes.
        problems: what could not be done.
    """

    declared: str
    folder: str
    files: tuple[str, ...]
    opened: str
    saves: str
    state: str
    unkept: str
    from_step: str
    parts: str
    problems: tuple[Problem, ...] = ()
    chips: int = MAX_CHIPS


def inputs(asked: Question) -> Mapping[str, Any]:
    """What the template of the screen shows."""
    problems: tuple[Problem, ...] = ()
    try:
        record, told = turn_of(asked)
    except CuecardError as error:
        record, told, problems = TurnRecord(), "", error.problems
    return _shown(asked, record, told, problems)


def inputs_writes(asking: AddressBook, page: ShowPage) -> Sequence[Route]:
    """The routes of what a person writes on the screen."""

    def route(path: str, act: Callable[[Question, Mapping[str, str]], TurnRecord]) -> Route:
        async def answer(request: Request) -> Response:
            told = parse_qsl(
                (await request.body()).decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MAX_FIELDS
            )
            return await run_in_threadpool(_written, asking, page, act, request, dict(told))

        return Route(path, answer, methods=["POST"])

    return [route("/inputs", _filled), route("/inputs/open", _opened), route("/inputs/save", _saved)]


def _written(
    asking: AddressBook,
    page: ShowPage,
    act: Callable[[Question, Mapping[str, str]], TurnRecord],
    request: Request,
    form: Mapping[str, str],
) -> Response:
    """Answer with the address of the new values or, if something could not be done, with the values as they are."""
    asked = asking.asked(read_address(request.query_params.multi_items()))
    try:
        return RedirectResponse(_place(asked, act(asked, form)), 303)
    except CuecardError as error:
        record = _filled(asked, {**form, "do": ""})
        place = _place(asked, record)
        answer = page(asking.asked(_address(asked, record)), _shown(asked, record, "", error.problems), 422)
        answer.headers["hx-push-url"] = place
        return answer


def _filled(asked: Question, form: Mapping[str, str]) -> TurnRecord:
    """The turn with what was written, and with what a button does."""
    engine = asked.engine
    if engine is None:
        told = "the agent has no working state"
        raise InputError(Problem("unknown-agent", told, "mend its files first", asked.state.name))
    try:
        before = turn_of(asked)[0]
    except CuecardError:
        before = TurnRecord()  # what was written counts, although what it was written over is gone
    record = filled_in(before, engine.inputs, form)
    action = form.get("do", "")
    if action == "add-tool":
        action = f"add-tool {form.get('tool', '').strip()}"
    return acted(record, engine.inputs, (*engine.tools,), action)


def _opened(asked: Question, form: Mapping[str, str]) -> TurnRecord:
    name, _, number = form.get("file", "").partition("#")
    return open_turn(asked.state.path.parent, name, int(number) if number.isdecimal() else 1)[0]


def _saved(asked: Question, form: Mapping[str, str]) -> TurnRecord:
    record = _filled(asked, {**form, "do": ""})
    name = form.get("over") or form.get("to", "").strip()
    return save_turn(asked.state.path.parent, name, record)


def _shown(asked: Question, record: TurnRecord, told: str, problems: tuple[Problem, ...]) -> Mapping[str, Any]:
    view = inputs_view(asked.engine, record) if asked.engine else None
    agent = asked.state.path.parent
    about = InputsPage(
        declared=asked.state.path.name,
        folder=shown(agent / FOLDER),
        files=turn_files(agent),
        opened=record.told,
        saves=record.file,
        state=_state(agent, record),
        unkept=asked.home.unkept or asked.home.turns.told,
        from_step=told,
        parts=",".join(_parts(view)) if view else "",
        problems=problems,
    )
    wrong, more = problem_views(asked.state.problems if view is None else (), asked.editor)
    return {"view": view, "shown": about, "problems": wrong, "more": more}


def _state(agent: Path, record: TurnRecord) -> str:
    """Whether the file that a turn was opened from holds it."""
    if not record.file:
        return ""
    try:
        there = open_turn(agent, record.file)[0]
    except CuecardError as error:
        return f"{record.file} cannot be read any more: {error.problems[0].message}"
    if there.sha256 != record.sha256:
        return f"{record.file} was changed elsewhere since it was opened"
    return "saved" if same(dict(there.turn), dict(record.turn)) else "not saved yet"


def _parts(view: InputsView) -> list[str]:
    names = [each.name for group in view.groups for each in (*group.fields, *group.folded)]
    keys = ["now", "model", "message", "tools", "memory", *(each.name for each in view.others)]
    return [
        "#answer",
        "#state",
        *(f"#{kind}-i-{name}" for name in names for kind in "se"),
        *(f"#e-t-{name}" for name in keys),
    ]


def _place(asked: Question, record: TurnRecord) -> str:
    return _address(asked, record).to("inputs")


def _address(asked: Question, record: TurnRecord) -> Address:
    digest = asked.home.turns.keep(record) if record != TurnRecord() else ""
    return replace(asked.address, turn=digest, run="", step="")
