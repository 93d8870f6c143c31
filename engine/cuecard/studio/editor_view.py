"""The Editor screen: what a tool's entry or a section says, when the model reads it, and what a draft would change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from cuecard.catalogue.graph import tool_graph
from cuecard.config.tools_spec import CUES
from cuecard.engine import Engine
from cuecard.errors import CuecardError, Problem
from cuecard.model import Manifest, SectionRecord, Step
from cuecard.records import dataclass
from cuecard.studio.entries import Subject, WrittenField
from cuecard.studio.prompt_beside import is_end, why_cut
from cuecard.studio.screen import Question
from cuecard.studio.tried import not_there
from cuecard.studio.turns import TurnRecord, step_of_turn

MAX_SCORED = 20
"""The number of phrases that are searched for while somebody writes."""

_NEVER = (
    "The agent does not work yet, so there is no prompt. What is wrong in a field is mended here, the rest in its file."
)

_LABELS = {
    "description": ("what the search tells the model", ""),
    "phrases": ("how people ask for it; never in the prompt", ""),
    "before": ("check first", "What has to be known or done first. Names of tools are checked."),
    "after": ("on success", "What to do or say when it has worked."),
    "next": ("usual follow-up", "The usual follow-up. Makes the arrows of the graph."),
    "gotcha": ("what goes wrong", "What goes wrong, and how to avoid it."),
    "text": (
        "as it is written, placeholders included",
        "`{{name}}` is filled in; everything else is sent as it stands.",
    ),
    "model": (
        "the choice is for these models alone",
        "A name, or several; `*` stands for any part.",
    ),
    "when": (
        "the section is left out unless this holds",
        "A name of an input, or such as `{equals: {channel: slack}}`.",
    ),
}
_AROUND = "none yet: what fills it stands alone", "`{{{content}}}` prints what fills the section, anywhere in a text."
_TRAILING = re.compile(r"[ \t]+(?=\n|$)")


@dataclass(frozen=True, slots=True)
class EditorField:
    """A field of the form.

    Attributes:
        name: its name.
        kind: what it is, such as `text`; `of` which of several.
        text: what stands in it.
        about: what it is for, in a few words; `help` in a sentence.
        tokens: what it adds to the prompt; None where it is in no prompt.
        notes: what a person should know of how the text is kept.
        lines: whether each line is a text of its own.
        changed: whether it differs from the file.
        fixed: why it cannot be written, where other fields can; None if it can.
    """

    name: str
    kind: str
    of: str
    text: str
    about: str
    help: str
    tokens: int | None
    notes: tuple[str, ...]
    lines: bool
    changed: bool
    fixed: Problem | None = None

    @property
    def rows(self) -> int:
        """The lines of its text, as far as they are shown at once."""
        return min(self.text.count("\n") + 1 + len(self.text) // 90, 24)

    @property
    def phrases(self) -> Sequence[str]:
        """Its lines, one of them empty for the next."""
        return self.text.split("\n") if self.text else [""]


@dataclass(frozen=True, slots=True)
class Conflict:
    """A field that somebody has changed in the file since the draft began: both texts."""

    name: str
    label: str
    mine: str
    theirs: str


@dataclass(frozen=True, slots=True)
class EditorView:
    """What the screen shows of a subject while somebody writes; what takes longer is in `Checked`.

    Attributes:
        subject: what is edited.
        fields: the form.
        good: whether the agent works with the draft.
        changed: whether the form differs from the files.
        say: the answer, a sentence.
        conflicts: fields that the files have changed meanwhile.
        prompt: what the model reads of it, and the `whole` prompt.
        tokens: what the former costs, and `before` as saved.
        parts: the tokens by part.
        total: the tokens of the whole prompt, and as saved.
        when: how it reaches the model, and what leads to and from it.
        problems: why it cannot be read or written.
        texts: the changed texts of its files, by path.
        absent: why the tool does not exist in the turn that is shown; empty if it does.
    """

    subject: Subject
    fields: tuple[EditorField, ...]
    good: bool
    changed: bool
    say: str
    conflicts: tuple[Conflict, ...]
    prompt: str
    whole: str
    tokens: int
    before: int
    parts: tuple[tuple[str, int], ...]
    total: tuple[int, int]
    when: tuple[tuple[str, str], ...]
    problems: tuple[Problem, ...]
    texts: Mapping[str, str]
    absent: str

    @property
    def saves(self) -> tuple[str, ...]:
        """The names of the files that would be written; of all that could be, as long as nothing has changed."""
        return tuple(path.rpartition("/")[2] for path in self.texts) or self.subject.shown_files

    @property
    def scored(self) -> range:
        """The numbers of the phrases that may get a score: those that are added meanwhile, too."""
        return range(1, MAX_SCORED + 1)

    @property
    def pieces(self) -> Iterator[tuple[Literal["tag", "cue", "text"], str]]:
        """The prompt's text with its tags and cues."""
        for line in self.prompt.splitlines(keepends=True):
            cue = re.match(r"[A-Z]{4,}: ?", line) if self.subject.kind == "tool" else None
            if cue:
                yield from (("cue", cue[0]), ("text", line[cue.end() :]))
            else:
                yield ("tag" if re.fullmatch(r"</?[^<>]+>\s*", line) else "text"), line


def editor_view(asked: Question, subject: Subject, form: Mapping[str, str], base: str) -> EditorView:
    """The view of a subject with these texts in the form; `base` is the fingerprint that they began from."""
    values, wrong = subject.values(form)
    problems = [*wrong.values()]
    texts: dict[str, str] = {}
    try:
        texts = subject.changed(values)
    except CuecardError as error:
        problems += error.problems
    folder = asked.state.path.parent
    over = {folder / path: text for path, text in texts.items()}
    draft = asked.agents.drafts.engine(asked.state.path, over) if texts else asked.engine
    engine = draft or asked.engine
    changed = any(form.get(each.name, each.text) != each.text for each in subject.fields)
    conflicts = tuple(_conflicts(subject, form)) if base and base != subject.base else ()
    if engine is None:
        fields = tuple(_field(each, form.get(each.name, each.text), {}, subject) for each in subject.fields)
        seen = ("", "", 0, 0, (), (0, 0), (), tuple(problems), texts, "")
        return EditorView(subject, fields, False, changed, _NEVER, conflicts, *seen)  # noqa: FBT003 - as the row below
    saved = _step(asked, asked.engine, subject) if asked.engine else None
    step = saved if engine is asked.engine else _step(asked, engine, subject)
    shown, was = _read(engine, subject, step), _read(asked.engine, subject, saved) if asked.engine else ""
    tokens, before = (engine.count(text) if text else 0 for text in (shown, was))
    parts = dict(_parts(engine, subject, shown)) if subject.kind == "tool" else {"text": tokens}
    absent = not_there(step.manifest, (subject.name,)).get(subject.name, "") if step and subject.kind == "tool" else ""
    totals = tuple(each.manifest.total_tokens if each else 0 for each in (saved, step))
    return EditorView(
        subject,
        tuple(_field(each, form.get(each.name, each.text), parts, subject) for each in subject.fields),
        draft is not None and not problems,
        changed,
        _sentence(asked, engine, subject, step, tokens, absent, works=draft is not None),
        conflicts,
        shown,
        "\n".join([step.system, *(each.text for each in step.appended)]) if step else "",
        tokens,
        before,
        tuple(parts.items()),
        (totals[0], totals[1]),
        tuple(_when(engine, subject, step)),
        tuple(problems),
        texts,
        absent,
    )


def _field(field: WrittenField, text: str, parts: Mapping[str, int], subject: Subject) -> EditorField:
    about, told = _LABELS[field.kind]
    if field.kind == "when" and field.of.rpartition(", ")[2].startswith("choice"):
        about = "the choice is passed over unless this holds"
    if field.kind == "text" and field.value is None:
        about, told = _AROUND
    lines = isinstance(field.value, list) or field.name == "phrases"
    tokens = parts.get(field.name.upper(), parts.get(field.name))
    notes = tuple(_notes(field.kind, text, in_yaml=bool(field.key)))
    shown = (field.name, field.kind, field.of, text, about, told, tokens, notes, lines, text != field.text)
    return EditorField(*shown, None if subject.refused else subject.fixed.get(field.path))


def _notes(kind: str, text: str, *, in_yaml: bool) -> Iterator[str]:
    """What a person should know of how a text is kept."""
    if kind not in {"phrases", "when", "model"} and _TRAILING.search(text):
        yield "It has blanks at the end of a line: they are kept" + (", in quotes." if in_yaml else ".")
    if in_yaml and kind not in {"when", "model"} and re.search(r"(^|\s)#\s?", text):
        yield "`#` would begin a comment in YAML: the text is written in quotes or as a block, and stays whole."
    if kind in CUES and "{{" in text:
        yield "Texts of tools have no placeholders: the model reads the braces as they stand."


def _conflicts(subject: Subject, form: Mapping[str, str]) -> Iterator[Conflict]:
    for each in subject.fields:
        mine = form.get(each.name, each.text)
        if mine != each.text:
            yield Conflict(each.name, each.label, mine, each.text)


def _step(asked: Question, engine: Engine, subject: Subject) -> Step | None:
    """The first step of the turn that is shown, as if a search had found the tool."""
    record = asked.home.turns.read(asked.address.turn) if asked.address.turn else TurnRecord()
    tool = subject.name if subject.kind == "tool" else ""
    found = (tool,) if tool in engine.tools and tool not in engine.core_tools else ()
    try:
        return step_of_turn(engine, record.read(), found)
    except CuecardError:
        return None


def _read(engine: Engine, subject: Subject, step: Step | None) -> str:
    """What the model reads of the subject."""
    if subject.kind == "tool":
        return engine.instructions.get(subject.name, "")
    return next((each.text for each in step.segments if each.id == subject.name), "") if step else ""


def _parts(engine: Engine, subject: Subject, shown: str) -> Iterator[tuple[str, int]]:
    """The tokens of the tags and of each cue, which add up to those of the entry."""
    if subject.kind != "tool" or not shown:
        return
    starts = [found.start() for found in re.finditer(r"(?m)^[A-Z]{4,}: ", shown)]
    ends = [*starts[1:], shown.rfind("</")]
    told = [
        (shown[start:end].partition(":")[0], engine.count(shown[start:end]))
        for start, end in zip(starts, ends, strict=True)
    ]
    yield "tags", max(engine.count(shown) - sum(tokens for _, tokens in told), 0)
    yield from told


def _sentence(
    asked: Question, engine: Engine, subject: Subject, step: Step | None, tokens: int, absent: str, *, works: bool
) -> str:
    if not works:
        return "The agent does not work with this draft; what is shown is its last good state."
    costs = f"{tokens:,} tokens"
    model = asked.model
    if model.cache_read < 1:
        costs += (
            f", {tokens * model.cache_write:,.0f} to write, then {tokens * model.cache_read:,.0f} with each request"
        )
    if subject.kind == "section":
        return _section_sentence(subject, step, costs)
    if not tokens:
        return "The model reads no instructions of this tool: the entry has none of the four cues."
    if absent:
        return f"The model does not have this tool in the turn that is shown: {absent}."
    if subject.name in engine.core_tools:
        return f"The model reads this entry in every request, as the tool is always there: {costs}."
    return f"The model reads this entry once a search has found the tool: {costs}."


def _section_sentence(subject: Subject, step: Step | None, costs: str) -> str:
    if step is None:
        return "The prompt cannot be made of the turn that is shown, so it is not known when this section is read."
    record = _record(step.manifest, subject.name)
    cut = next((each for each in step.manifest.cuts if each.what == subject.name), None)
    if cut and not is_end(cut, step.manifest):
        why = (
            f"it is there only when {cut.reason.removeprefix('when: ')}"
            if cut.reason.startswith("when: ")
            else cut.reason
        )
        return f"The model does not read this section in the turn that is shown: {why}."
    often = {"static": "and it never changes", "call": "and it may change with each message"}
    told = often.get(record.tier if record else "", "anew with each")
    less = f"; left out is {why_cut(cut, step.manifest)}" if cut else ""
    return f"The model reads this section in every request, {told}: {costs}{less}."


def _when(engine: Engine, subject: Subject, step: Step | None) -> Iterator[tuple[str, str]]:
    """How it reaches the model, and which tools lead to it and on from it."""
    delivery = engine.delivery
    if subject.kind == "section":
        if record := _record(step.manifest if step else None, subject.name):
            yield "tier", record.tier
            yield "reads", ", ".join(f"`{each}`" for each in record.reads) or "no input"
        return
    places = {
        "append": "after the result of the search that found it (append)",
        "frozen": "after the result of the search that found it (frozen)",
        "rewrite": "in the system prompt, from the model request after the search on (rewrite)",
    }
    core = subject.name in engine.core_tools
    yield "how", "in the system prompt, from the first model request on" if core else places.get(delivery, delivery)
    graph = tool_graph(engine.tools.values(), subject.name)
    yield "comes from", ", ".join(f"`{each}`" for each in graph.before(subject.name)) or "no tool names it"
    yield "leads to", ", ".join(f"`{each}`" for each in graph.after(subject.name)) or "no tool"


def _record(manifest: Manifest | None, section: str) -> SectionRecord | None:
    return next((each for each in manifest.sections if each.id == section), None) if manifest else None
