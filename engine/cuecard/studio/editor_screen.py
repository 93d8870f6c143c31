"""The Editor screen as pages: one tool's entry or one section, and what a person writes there and saves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from cuecard.config.documents.sources import AgentSources
from cuecard.errors import CuecardError, InputError, Problem, SpecError
from cuecard.files.folder import read_agent
from cuecard.records import dataclass
from cuecard.studio.address import read_address
from cuecard.studio.editor_checks import DraftChecks, checked, reviewed, tried
from cuecard.studio.editor_view import EditorView, editor_view
from cuecard.studio.entries import Subject, names, save, section_names, subject_of, with_fixed
from cuecard.studio.problems import ProblemView, editor_link, problem_views
from cuecard.studio.prompt_beside import all_sections
from cuecard.studio.screen import AddressBook, Question, ShowPage

MAX_FIELDS = 500
"""The number of fields of the form, phrases included."""


@dataclass(frozen=True, slots=True)
class About:
    """What the page shows besides the form.

    Attributes:
        tools: the tools with an entry, by file.
        sections: the ids of sections that can be edited.
        tool: what is edited; `section` likewise.
        problems: what could not be read or done.
        saved: the names of files that have just been written.
        closed: what is edited in its file: in words, the place, and the link to it.
        moved: the file that the draft began from, where another one has the entry now.
    """

    tools: tuple[tuple[str, Sequence[str]], ...]
    sections: tuple[str, ...]
    tool: str
    section: str
    problems: tuple[ProblemView, ...] = ()
    saved: str = ""
    moved: str = ""
    closed: tuple[tuple[str, str, str], ...] = ()


def editor(asked: Question) -> Mapping[str, Any]:
    """What the template of the screen shows."""
    return _shown(asked, {}, "")


def editor_writes(asking: AddressBook, page: ShowPage) -> Sequence[Route]:
    """The routes of what a person writes on the screen."""

    def route(path: str, act: Callable[[Question, Mapping[str, str]], tuple[Mapping[str, Any], int]]) -> Route:
        async def answer(request: Request) -> Response:
            told = _told((await request.body()).decode("utf-8", "replace"))
            asked = asking.asked(read_address(request.query_params.multi_items()))
            return await run_in_threadpool(lambda: page(asked, *act(asked, _form(told))))

        return Route(path, answer, methods=["POST"])

    return [
        route("/editor", lambda asked, form: (_part(asked, form), 200)),
        route("/editor/checked", lambda asked, form: (_part(asked, form, check=True), 200)),
        route("/editor/review", _reviewed),
        route("/editor/tried", _tried),
        route("/editor/save", _saved),
    ]


def _told(body: str) -> Sequence[tuple[str, str]]:
    try:
        return parse_qsl(body, keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError:
        told = f"the form has more than {MAX_FIELDS} fields"
        raise InputError(Problem("large-body", told, "write so many phrases into the file itself", "form")) from None


def _form(told: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The texts of the form, with the newlines of files; several of one name are lines of one text."""
    found: dict[str, list[str]] = {}
    for name, text in told:
        found.setdefault(name, []).append(text.replace("\r\n", "\n").replace("\r", "\n"))
    lines = {
        name: texts if name != "f.phrases" else [each for each in texts if each.strip()]
        for name, texts in found.items()
    }
    return {name.removeprefix("f."): "\n".join(texts) for name, texts in lines.items()}


def _reviewed(asked: Question, form: Mapping[str, str]) -> tuple[Mapping[str, Any], int]:
    """The review of what is in the form; it takes longer than anything else."""
    shown = _part(asked, form)
    return {**shown, "reviewed": reviewed(asked, shown["view"]) if shown["view"] else None}, 200


def _tried(asked: Question, form: Mapping[str, str]) -> tuple[Mapping[str, Any], int]:
    """A search with what is in the form, as the model would search."""
    shown = _part(asked, form)
    return {**shown, "tried": tried(asked, shown["view"], form.get("words", "")) if shown["view"] else None}, 200


def _saved(asked: Question, form: Mapping[str, str]) -> tuple[Mapping[str, Any], int]:
    """Save what is in the form; if that cannot be, nothing is written, and the page says why."""
    shown = _shown(asked, form, form.get("base", ""), check=True)
    view, found = shown["view"], shown["checked"]
    if view is None or found is None:
        return shown, 422
    wrong = _unsaved(view, found, form)
    if wrong is None:
        try:
            save(asked.state.path, view.subject, view.texts)
        except CuecardError as error:
            wrong = error.problems
    if wrong is not None:
        about = replace(shown["about"], problems=problem_views(wrong, asked.editor)[0])
        return {**shown, "about": about}, 422
    names = [path.rpartition("/")[2] for path in view.texts]
    after = _shown(asked, {}, "")
    return {**after, "about": replace(after["about"], saved=" and ".join(names))}, 200


def _unsaved(view: EditorView, found: DraftChecks, form: Mapping[str, str]) -> Sequence[Problem] | None:
    """Why the draft is not saved; None if nothing stands in its way."""
    if view.subject.refused:
        return [view.subject.refused]
    if view.problems:
        return view.problems
    if view.conflicts:
        told = "somebody has saved another text there since this draft began; nothing is written over it"
        return [
            Problem(
                "changed-meanwhile", told, "decide for each field below, and save again", view.subject.shown_files[0]
            )
        ]
    if found.errors and form.get("seen", "") != found.seen:
        count = f"{len(found.errors)} error{'' if len(found.errors) == 1 else 's'}"
        told = f"`cuecard check` would refuse this with {count}, so it is not saved yet"
        return [
            Problem(found.errors[0].code, told, "mend it, or press the button again to save it as it is", ""),
            *found.errors,
        ]
    if not view.texts:
        return [Problem("wrong-edit", "the form says what the file says already", "nothing has to be saved", "")]
    return None


def _part(asked: Question, form: Mapping[str, str], *, check: bool = False) -> dict[str, Any]:
    """The page without the lists to choose from, which nothing that is written changes."""
    shown = _shown(asked, form, form.get("base", ""), check=check)
    return {**shown, "about": replace(shown["about"], tools=(), sections=())}


def _shown(asked: Question, form: Mapping[str, str], base: str, *, check: bool = False) -> dict[str, Any]:
    """The page: the form of an address, with these texts in it."""
    view: EditorView | None = None
    about, wrong = About((), (), "", ""), asked.state.problems if asked.engine is None else ()
    try:
        sources, unread = _sources(asked)
        about, wrong = _about(asked, sources), (*unread, *wrong)
        subject = with_fixed(asked.state.path, _subject(asked, sources, about))
        view = editor_view(asked, subject, form, base)
        folder, editor = asked.state.path.parent, asked.editor
        closed = tuple((told, place, editor_link(editor, folder, place)) for told, place in subject.closed)
        about = replace(about, moved=_moved(subject, form), closed=closed)
    except CuecardError as error:
        wrong = (*wrong, *error.problems)
    found = checked(asked, view) if view and check else None
    shown, more = problem_views(dict.fromkeys(wrong), asked.editor)
    return {
        "view": view,
        "checked": found,
        "reviewed": None,
        "tried": None,
        "about": replace(about, problems=shown),
        "more": more,
        "form": form,
    }


def _sources(asked: Question) -> tuple[AgentSources, tuple[Problem, ...]]:
    """The agent's texts as they are now; those of the last look, if the agent file cannot be read."""
    try:
        return read_agent(asked.state.path), ()
    except SpecError as error:
        if asked.state.draft is None:
            raise InputError(error.problems) from None
        return asked.state.draft.sources, error.problems


def _about(asked: Question, sources: AgentSources) -> About:
    tools = tuple(names(sources))
    made = (each.id for each in all_sections(asked.engine)) if asked.engine else section_names(sources)
    sections = tuple(dict.fromkeys(made))
    tool, section = asked.address.tool, asked.address.section
    if not tool and not section:
        tool = next((each for _, names in tools for each in names), "")
        section = "" if tool else next(iter(sections), "")
    return About(tools, sections, tool, section)


def _subject(asked: Question, sources: AgentSources, about: About) -> Subject:
    card = asked.engine.tools.get(about.tool) if asked.engine else None
    near = card.source.rpartition(":")[0] if card else ""
    near = next((each.name for each in sources.instructions if near in {each.name, each.path}), "")
    return subject_of(sources, about.tool, about.section, near, about.sections)


def _moved(subject: Subject, form: Mapping[str, str]) -> str:
    began = form.get("file", "")
    return began if began and began not in subject.files else ""
