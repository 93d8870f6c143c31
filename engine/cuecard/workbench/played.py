"""Turn files: read, and played: the call, the prompt, and the results of the history, with searches answered."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from cuecard.config.documents.document import Document
from cuecard.config.documents.document import Path as Place
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.file_kinds import kind_of, refuse_other_kind
from cuecard.config.turn_file import ConversationFile, SearchEntry, TurnFile, to_turn
from cuecard.conversation import Conversation
from cuecard.engine import Engine
from cuecard.errors import CuecardError, Problem, visible
from cuecard.files.content import find_content
from cuecard.files.safe_read import read_text
from cuecard.model import Call, Json, RenderedResult, Step, ToolResult
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class TurnSearch:
    """A search of a turn file, its place in the `history`, and the tools that it finds."""

    entry: SearchEntry
    at: int
    found: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PastResults:
    """The `history` of a turn file: its results, those of searches included, and the searches themselves."""

    results: tuple[ToolResult, ...]
    searches: tuple[TurnSearch, ...]


def past_results(engine: Engine, file: TurnFile, call: Call | None) -> PastResults:
    """The history of a turn file; each search is made anew, in the call and after the results that precede it."""
    results, searches = list[ToolResult](), list[TurnSearch]()
    turn = call.turn + 1 if call else 1
    for at, entry in enumerate(file.history):
        if isinstance(entry, SearchEntry):
            answer = engine.search_tools(entry.search, entry.limit, call=call, history=tuple(results))
            searches.append(TurnSearch(entry, at, answer.tools))
            call_id = entry.call_id or f"search-{turn}.{at + 1}"  # one of its own in the whole conversation
            results.append(ToolResult(engine.search_tool, answer.to_json(), call_id, batch=entry.batch))
        else:
            results.append(entry.to_result())
    return PastResults(tuple(results), tuple(searches))


@dataclass(frozen=True, slots=True)
class PlayedTurn:
    """A turn of a file in its conversation.

    Attributes:
        call: its call, and `step` its prompt.
        past: its `history`, searches answered.
        results: its results that a template of the agent renders, as the model reads them.
    """

    call: Call
    step: Step
    past: PastResults
    results: tuple[RenderedResult, ...]


def told_results(engine: Engine, results: Iterable[ToolResult]) -> tuple[RenderedResult, ...]:
    """The results that a template of the agent renders; the model reads the others as the tool returned them."""
    return tuple(rendered for rendered in map(engine.render_result, results) if rendered.rule)


def play(engine: Engine, chat: Conversation, turn: TurnFile, inputs: Mapping[str, Json] | None = None) -> PlayedTurn:
    """The next turn of a conversation; `inputs` override its own.

    Raises:
        CuecardError: when it cannot be rendered.
    """
    call = chat.user(to_turn(turn, {**turn.inputs, **(inputs or {})}))
    past = past_results(engine, turn, call)
    return PlayedTurn(call, chat.step(past.results), past, told_results(engine, past.results))


def read_turn(path: Path) -> TurnFile:
    """The turn file at this path.

    Raises:
        SpecError: when the file is wrong.
    """
    return read_single(path)[1]


def read_single(path: Path) -> tuple[Document, TurnFile]:
    """The same with its document."""
    source = read_text(find_content(path))
    document = read_yaml(source.text, source.name)
    refuse_other_kind(document, "turn")
    return document, validate(document, TurnFile)


@contextmanager
def placing(document: Document | None, at: Place = (), elsewhere: Collection[str] = ()) -> Iterator[None]:
    """Errors of a turn are raised with the lines of its file that say what they are about.

    Args:
        document: the file; None for a turn of none.
        at: the turn in it.
        elsewhere: inputs whose values are not those of the file.
    """
    try:
        yield
    except CuecardError as error:
        if document is None:
            raise
        raise type(error)(_placed(each, document, at, elsewhere) for each in error.problems) from error.__cause__


_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]")


def _placed(problem: Problem, document: Document, at: Place, elsewhere: Collection[str]) -> Problem:
    """A problem of the turn at the line that says it; problems of anything else as they are."""
    name, _, rest = problem.name.partition("turn")
    path = (*at, *((int(number) if number else key) for key, number in _STEP.findall(rest)))
    if name or path not in document.values:
        return problem
    if problem.code in {"unknown-input", "wrong-input"} and rest == ".inputs":
        # These name the input in their message alone.
        said = [key for key in document.at(path) if problem.message.startswith(f"`{visible(key)}` ")]
        if not said or said[0] in elsewhere:
            return problem
        path = (*path, said[0])
    told = (problem.code, problem.message, problem.hint)
    return document.problem(path, *told, key=problem.code == "unknown-input")


def read_turns(path: Path) -> tuple[Document, tuple[TurnFile, ...]]:
    """A file of one turn or of several.

    Raises:
        SpecError: when it is not a turn file, or is invalid.
    """
    source = read_text(path)
    document = read_yaml(source.text, source.name)
    if kind_of(document.value) == "conversation":
        return document, validate(document, ConversationFile).talk
    refuse_other_kind(document, "turn")
    return document, (validate(document, TurnFile),)
