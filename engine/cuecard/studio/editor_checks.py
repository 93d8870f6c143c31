"""What a draft of the editor brings with it: problems at their fields, what finds the tool, who reads it, a review."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path as FilePath

from cuecard.config.documents.document import Document, Path
from cuecard.config.documents.yaml import read_yaml
from cuecard.engine import Engine
from cuecard.errors import CuecardError, Problem, SpecError
from cuecard.files.roots import shown
from cuecard.model import SearchResult
from cuecard.records import dataclass
from cuecard.studio.editor_view import MAX_SCORED, EditorView
from cuecard.studio.entries import Subject
from cuecard.studio.screen import Question
from cuecard.workbench.diff.edition import Edition
from cuecard.workbench.diff.markdown import markdown
from cuecard.workbench.diff.review import Review, TurnReview
from cuecard.workbench.diff.sides import Side
from cuecard.workbench.step import played_from
from cuecard.workbench.testing.turns import find_turns, turns_of
from cuecard.workspace import AgentProblems

MAX_WORDS = 200
"""The number of characters of a search that somebody tries; of more, the first."""

MAX_LINES = 400
"""The number of lines of a file that are shown."""

MAX_REACHING = 12
"""The number of turn files and of conversations that are looked through for who reads an entry."""

_MEANT = re.compile(r"did you mean `([^`]+)`")


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """What is wrong at a field, and the words that the hint would put in place of others."""

    severity: str
    place: str
    message: str
    hint: str
    wrong: str = ""
    meant: str = ""


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of a file: its number, and its text before, in and behind what a problem points at."""

    number: int
    before: str
    marked: str = ""
    behind: str = ""
    hit: bool = False


@dataclass(frozen=True, slots=True)
class DraftChecks:
    """What a draft brings with it, as far as that takes longer than a key press.

    Attributes:
        errors: what `cuecard check` refuses because of the draft; `seen` stands for just these.
        at: the problems by field; those of no field are under an empty name.
        lines: the entry as the file would have it, and the name of that file.
        scores: for each phrase, whether it finds the tool, and how.
    """

    errors: tuple[Problem, ...]
    seen: str
    at: Mapping[str, tuple[FieldProblem, ...]]
    lines: tuple[SourceLine, ...]
    file: str
    scores: tuple[tuple[bool, str], ...]


@dataclass(frozen=True, slots=True)
class DraftReview:
    """The turns and steps that read a subject, in words, with the address of each that has one, and the review; `reach`
    is None where only a draft was asked about.
    """

    reach: tuple[tuple[str, str], ...] | None
    review: str


def checked(asked: Question, view: EditorView) -> DraftChecks:
    """What is wrong with a draft, its lines, and what finds the tool."""
    subject, folder = view.subject, asked.state.path.parent
    over = {folder / path: text for path, text in view.texts.items()}
    found = asked.agents.drafts.check(asked.state.path, over)
    known = {_same(each) for each in asked.state.problems}
    errors = tuple(each for each in found.problems if each.severity == "error" and _same(each) not in known)
    at: dict[str, tuple[FieldProblem, ...]] = {}
    lines: list[SourceLine] = []
    main = subject.fields[0].path
    for path, file in subject.files.items():
        text = view.texts.get(path, file.text)
        here = at_fields(subject, text, file.name, found.problems)
        at = {field: (*at.get(field, ()), *here.get(field, ())) for field in {*at, *here}}
        if path == main:
            lines += _lines(subject, text, file.name, found.problems)
    others = [
        _at(each) for each in errors if not any(each.message == one.message for told in at.values() for one in told)
    ]
    if others:
        at[""] = (*at.get("", ()), *others)
    engine = asked.agents.drafts.engine(asked.state.path, over) if over else asked.engine
    return DraftChecks(
        errors,
        seen_of(errors),
        at,
        tuple(lines),
        subject.files[main].name.rpartition("/")[2],
        tuple(_scores(engine or asked.engine, view)),
    )


def tried(asked: Question, view: EditorView, words: str) -> SearchResult | None:
    """What a search for these words finds with the draft; None without words."""
    over = {asked.state.path.parent / path: text for path, text in view.texts.items()}
    engine = (asked.agents.drafts.engine(asked.state.path, over) if over else None) or asked.engine
    words = words.strip()[:MAX_WORDS]
    return engine.search_tools(words) if engine and words else None


def reviewed(asked: Question, view: EditorView) -> DraftReview:
    """Who reads the subject, and the review of a draft."""
    over = {asked.state.path.parent / path: text for path, text in view.texts.items()}
    engine = asked.agents.drafts.engine(asked.state.path, over) if over else None
    found = asked.agents.drafts.check(asked.state.path, over) if engine else None
    changes = _review(asked, view.subject, engine, found, over) if engine and found else None
    reach = None if view.changed else tuple(_reach(asked, view.subject, asked.engine)) if asked.engine else ()
    return DraftReview(reach, markdown(changes, None) if changes else "")


def seen_of(errors: Sequence[Problem]) -> str:
    """What stands for just these errors: who sends it has seen them."""
    said = "\n".join(sorted(f"{each.code} {each.name} {each.message}" for each in errors))
    return hashlib.sha256(said.encode("utf-8", "backslashreplace")).hexdigest()[:16] if errors else ""


def _same(problem: Problem) -> tuple[str, str, str]:
    return problem.code, problem.name, problem.message


def _lines(subject: Subject, text: str, name: str, problems: Sequence[Problem]) -> Iterator[SourceLine]:
    """The rows of the subject in its file, with marks."""
    home = subject.fields[0].key[:-1]
    near = tuple(each for each in subject.fields if each.key[:-1] == home)
    rows = _rows(replace(subject, fields=near), text, name)
    if not rows:
        return
    start, end = min(start for start, _ in rows.values()), max(end for _, end in rows.values())
    hits = {each.span.line: each.span for each in reversed(problems) if each.span and each.name == name}
    held = text.split("\n")[start - 1 : end - 1]
    while held and not held[-1].strip():
        held.pop()
    for number, line in enumerate(held[:MAX_LINES], start):
        if span := hits.get(number):
            begin, close = span.column - 1, span.column - 1 + span.length
            yield SourceLine(number, line[:begin], line[begin:close], line[close:], hit=True)
        else:
            yield SourceLine(number, line)


def _scores(engine: Engine | None, view: EditorView) -> Iterator[tuple[bool, str]]:
    """For each phrase, whether a search for it finds the tool, in which place, and with which score."""
    if engine is None or view.subject.kind != "tool":
        return
    field = next(each for each in view.fields if each.name == "phrases")
    for phrase in field.phrases[:MAX_SCORED]:
        found = engine.search_tools(phrase) if phrase.strip() else None
        place = next((at for at, hit in enumerate(found.hits, 1) if hit.tool == view.subject.name), 0) if found else 0
        if found and place:
            yield place == 1, f"{_nth(place)} of {len(found.hits)} · {found.hits[place - 1].score:.2f}"
        else:
            yield False, "not found" if found else ""


def _nth(number: int) -> str:
    return f"{number}{({1: 'st', 2: 'nd', 3: 'rd'}).get(number, 'th')}"


def _reach(asked: Question, subject: Subject, engine: Engine) -> Iterator[tuple[str, str]]:
    """The steps of conversations that read it: what to show, and the address of the first of them."""
    listed = [each for each in asked.listed if each.kind != "recording" or each.delivery == engine.delivery]
    for summary in listed[:MAX_REACHING]:
        run = asked.runs.run(summary.id, engine, asked.model)
        for sent in run.steps if run else ():
            held = sent.came if subject.kind == "tool" else tuple(each.id for each in sent.manifest.sections)
            if subject.name in held:
                what = "found" if subject.kind == "tool" else "from"
                yield (
                    f"{summary.name}: {what} in step {sent.place}",
                    asked.address.to("prompt", run=summary.id, step=sent.place, tool="", section=""),
                )
                break
    files = _turn_files(asked.state.path)
    if count := sum(_plays(engine, file, subject) for file in files):
        yield f"in {count} of {len(files)} turn files", asked.address.to("inputs", tool="", section="")


def _plays(engine: Engine, file: FilePath, subject: Subject) -> bool:
    """Whether a turn of a file reads it."""
    for _, played in turns_of(engine, file):
        manifest = None if isinstance(played, CuecardError) else played.step.manifest
        held = () if manifest is None else manifest.protocols if subject.kind == "tool" else manifest.sections
        if any(each.id == subject.name for each in held):
            return True
    return False


def _turn_files(path: FilePath) -> Sequence[FilePath]:
    try:
        return find_turns(path)[:MAX_REACHING]
    except CuecardError:
        return ()


def _review(
    asked: Question, subject: Subject, engine: Engine, found: AgentProblems, over: Mapping[FilePath, str]
) -> Review | None:
    """What `cuecard diff` says of the files as they are and the draft: of the agent's turns or, without any, of one."""
    if asked.engine is None or found.draft is None:
        return None
    path = asked.state.path
    name = shown(path.parent if path.stem == "agent" else path)
    before = Edition.read(path, asked.engine, allow_code=False)
    after = Edition(engine, found.draft)
    turns = tuple(
        takewhile(lambda _: not asked.agents.drafts.overtaken(over), _turns(path, before, after, subject, name))
    )
    if asked.agents.drafts.overtaken(over):
        return None  # whoever writes on asks again, and waits for nothing before
    return Review(
        f"{name} as saved",
        f"{name} with the draft",
        turns,
        before.changes(after, [(each.name, *each.played) for each in turns]),
    )


def _turns(path: FilePath, before: Edition, after: Edition, subject: Subject, name: str) -> Iterator[TurnReview]:
    for file in _turn_files(path):
        both = zip(turns_of(before.engine, file), turns_of(after.engine, file), strict=False)
        for (told, old), (_, new) in both:
            sides = [
                each if isinstance(each, CuecardError) else Side.of_turn(name, edition, each)
                for edition, each in ((before, old), (after, new))
            ]
            yield TurnReview(told, sides[0], sides[1])
    tool = subject.name if subject.kind == "tool" and subject.name not in after.engine.core_tools else ""
    try:
        sides = [
            Side.of_turn(name, each, played_from(each.engine, discovered=tool, values=[], turn=None))
            for each in (before, after)
        ]
    except CuecardError:
        return
    yield TurnReview(f"a first message, {tool} found" if tool else "a first message", sides[0], sides[1])


def at_fields(
    subject: Subject, text: str, name: str, problems: Sequence[Problem]
) -> dict[str, tuple[FieldProblem, ...]]:
    """The problems of a file by the field that their lines belong to; those of other places are left out."""
    spans = _rows(subject, text, name)
    found: dict[str, list[FieldProblem]] = {}
    for each in problems:
        line = each.span.line if each.span and each.name == name else 0
        field = next((field for field, (start, end) in spans.items() if start <= line < end), None)
        if field is not None:
            found.setdefault(field, []).append(_at(each))
    return {field: tuple(told) for field, told in found.items()}


def _at(problem: Problem) -> FieldProblem:
    span, meant = problem.span, _MEANT.search(problem.hint)
    wrong = problem.source[span.column - 1 : span.column - 1 + span.length] if span and meant else ""
    place = f"{span.line}:{span.column}" if span else ""
    return FieldProblem(
        problem.severity, place, problem.message, problem.hint, wrong, meant[1] if meant and wrong else ""
    )


def _rows(subject: Subject, text: str, name: str) -> dict[str, tuple[int, int]]:
    """The lines of each field in a file, from one up to another; the rest of the entry is under an empty name."""
    here = [each for each in subject.fields if subject.files[each.path].name == name]
    whole = next((each for each in here if not each.key), None)
    if whole is not None:
        start = subject.files[whole.path].text.count("\n", 0, whole.part[0]) + 1 if whole.part else 1
        return {whole.name: (start, text.count("\n") + 2)}
    try:
        document = read_yaml(text, name)
    except SpecError:
        return {"": (1, text.count("\n") + 2)}
    rows: dict[str, tuple[int, int]] = {}
    for home in dict.fromkeys(each.key[:-1] for each in here):
        known = {each.key[-1]: each.name for each in here if each.key[:-1] == home}
        for field, (start, end) in _rows_of(document, home, known, text.count("\n") + 2).items():
            rows.setdefault(field, (start, end))
    return rows


def _rows_of(document: Document, home: Path, known: Mapping[str | int, str], last: int) -> dict[str, tuple[int, int]]:
    """The lines of the keys of one mapping: of those that are known by their fields, of all of it by an empty name."""
    inside = sorted((span.line, path[-1]) for path, span in document.keys.items() if path[:-1] == home)
    if not inside:
        return {}
    after = (span.line for path, span in document.keys.items() if path[: len(home)] != home)
    end = min((line for line in after if line > inside[-1][0]), default=last)
    marks = [*(line for line, _ in inside), end]
    rows = {known[key]: (line, follows) for (line, key), follows in zip(inside, marks[1:], strict=True) if key in known}
    first = document.keys[home].line if home in document.keys else inside[0][0]
    return {**rows, "": (first, end)}
