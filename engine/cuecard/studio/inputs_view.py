"""The Inputs screen: a form made from what an agent declares, what is wrong in it, and the prompt with these values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from cuecard.agent import WORKING_MEMORY
from cuecard.config.agent_file import InputSpec
from cuecard.config.documents.yaml_edits import same
from cuecard.config.turn_file import TurnFile
from cuecard.engine import Engine
from cuecard.errors import CuecardError, Problem, SpecError, shortened
from cuecard.model import Json, Lifetime, Step
from cuecard.pipeline.inputs import laid_over
from cuecard.records import dataclass
from cuecard.studio.inputs_form import (
    ENTITY_KEYS,
    OTHER_KEYS,
    Kind,
    choices,
    field_of,
    key_field,
    shown_as,
    unreadable,
)
from cuecard.studio.prompt_beside import PromptBeside, all_sections, prompt_beside
from cuecard.studio.turns import TurnRecord, step_of_turn

_OPEN = 7
"""The number of inputs that are shown although they have their defaults; the others are folded."""

MAX_CHIPS = 200
"""The number of tools that are shown one by one."""

_NUMBERS: Mapping[str, tuple[str, str]] = {
    "integer": ("whole number", "write digits alone, such as `12`"),
    "number": ("number", "write digits, and a point before decimals, such as `3.5`"),
}
"""What a text is not that stands in the field of a number, and what to write."""

_NAME = re.compile(r"`([^`]*)`")
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with a value, in the words of the engine, and a button that mends it."""

    message: str
    hint: str = ""
    action: str = ""
    button: str = ""


@dataclass(frozen=True, slots=True)
class InputField:
    """An input in the form.

    Attributes:
        name: its name.
        kind: what it is filled in with, and `text` what stands there.
        options: the texts to choose from.
        type: its JSON type.
        author: whether it is printed as written.
        given: whether the turn has a value; `differs` whether that is not the default.
        required: whether it has no default.
        about: what the agent's author says of it.
        read_by: the sections that read it.
        below: its default as a text, if the value is laid over it.
        errors: what is wrong with it.
    """

    name: str
    kind: Kind
    text: str
    options: tuple[str, ...]
    type: str
    author: bool
    given: bool
    differs: bool
    required: bool
    about: str = ""
    read_by: tuple[str, ...] = ()
    below: str = ""
    errors: tuple[FieldError, ...] = ()

    @property
    def rows(self) -> int:
        """The lines of its text."""
        return min(self.text.count("\n") + 1, 12)


@dataclass(frozen=True, slots=True)
class KeyField:
    """Another key of a turn in the form."""

    name: str
    kind: Kind
    text: str
    about: str
    options: tuple[str, ...] = ()
    errors: tuple[FieldError, ...] = ()

    @property
    def rows(self) -> int:
        """The lines of its text."""
        return min(self.text.count("\n") + 1, 12)


@dataclass(frozen=True, slots=True)
class InputGroup:
    """The inputs of one lifetime: those that are shown, and those that are folded."""

    lives: Lifetime
    fields: tuple[InputField, ...]
    folded: tuple[InputField, ...]


@dataclass(frozen=True, slots=True)
class InputsView:
    """What the screen shows.

    Attributes:
        say: its answer, a sentence.
        good: whether a prompt could be made of all values.
        groups: the inputs, by lifetime.
        message, now, model: the fields of these keys.
        tools: the tools that exist; None for all of the catalogue, which has `known`.
        tools_errors: what is wrong in them.
        entities: the working memory, a mapping of texts each; None where the turn holds something else there.
        memory: the field for that case.
        reads_memory: whether a section reads the working memory.
        others: the keys that are set, or can be; `set_others` how many are.
        unknown: what is wrong in the turn and belongs to no field.
        strangers: values for inputs that the agent does not declare.
        beside: the prompt; None if there is none.
    """

    say: str
    good: bool
    groups: tuple[InputGroup, ...]
    message: KeyField
    now: KeyField
    model: KeyField
    tools: tuple[str, ...] | None
    tools_errors: tuple[FieldError, ...]
    known: int
    addable: tuple[str, ...]
    entities: tuple[Mapping[str, str], ...] | None
    memory: KeyField
    reads_memory: bool
    others: tuple[KeyField, ...]
    set_others: tuple[str, ...]
    unknown: tuple[FieldError, ...]
    strangers: tuple[InputField, ...]
    beside: PromptBeside | None = None
    results: int = 0
    talk: int = 0

    @property
    def rows(self) -> tuple[Mapping[str, str], ...]:
        """The rows of the working memory: its entities, and an empty one for the next."""
        return (*(self.entities or ()), {})


def inputs_view(engine: Engine, record: TurnRecord) -> InputsView:
    """The form of a turn, and the prompt that it makes."""
    found = _TurnProblems(engine, record)
    turn = record.turn
    given = _mapping(turn.get("inputs"))
    fields = [(spec.lives, _input_field(engine, name, spec, given, found)) for name, spec in engine.inputs.items()]
    beside = found.beside()
    others = tuple(_key_field(turn, key, found) for key in OTHER_KEYS)
    names = turn.get("tools")
    tools = tuple(map(str, names)) if isinstance(names, list) else None
    return InputsView(
        say=_sentence([each for _, each in fields], beside, found),
        good=not found.problems,
        groups=tuple(_groups(fields)),
        message=_key_field(turn, "message", found),
        now=_key_field(turn, "now", found),
        model=_key_field(turn, "model", found),
        tools=tools,
        tools_errors=found.of("tools"),
        known=len(engine.tools),
        addable=tuple(name for name in engine.tools if name not in (tools or ()))[:MAX_CHIPS],
        entities=_entities(turn.get("memory", [])),
        memory=_key_field(turn, "memory", found),
        reads_memory=any(WORKING_MEMORY in each.reads for each in all_sections(engine)),
        others=others,
        set_others=tuple(each.name for each in others if each.name in turn),
        unknown=found.of(""),
        strangers=tuple(_stranger(name, value, found) for name, value in given.items() if name not in engine.inputs),
        beside=beside,
        results=_number(turn.get("history")),
        talk=_number(turn.get("messages")),
    )


class _TurnProblems:
    """What is wrong in a turn, by field, and the prompt that can be made in spite of it."""

    def __init__(self, engine: Engine, record: TurnRecord) -> None:
        self._engine, self._record = engine, record
        self._errors: dict[str, list[Problem]] = {}
        self._step: Step | None = None
        self._without: list[str] = []
        self._make(record)

    @property
    def problems(self) -> int:
        """How many values are wrong."""
        return sum(map(len, self._errors.values()))

    def of(self, place: str) -> tuple[FieldError, ...]:
        """The errors at a place, such as `inputs.channel` or `now`."""
        return tuple(_error(each, place, self._engine.inputs) for each in self._errors.get(place, ()))

    def beside(self) -> PromptBeside | None:
        """The prompt beside the form."""
        if self._step is None:
            return None
        return prompt_beside(self._engine, self._step, self._plain(), tuple(self._without))

    def _make(self, record: TurnRecord) -> None:
        """Play the turn; what is wrong is noted, left out, and the rest played once more."""
        file, wrong = _read(record)
        self._note(wrong)
        if wrong:
            record = self._less(record)
            file, wrong = _read(record)
        if file is None:
            return
        try:
            self._step = _played(self._engine, file)
        except CuecardError as error:
            self._note([(_place_of(each), each) for each in error.problems])
            again, _ = _read(self._less(record))
            try:
                self._step = _played(self._engine, again) if again else None
            except CuecardError:
                self._step = None

    def _note(self, problems: Iterable[tuple[str, Problem]]) -> None:
        for place, problem in problems:
            held = self._errors.setdefault(place, [])
            if problem not in held:
                held.append(problem)

    def _less(self, record: TurnRecord) -> TurnRecord:
        """The turn without what is wrong."""
        turn = dict(record.turn)
        inputs = turn.get("inputs")
        for place in self._errors:
            key, _, name = place.partition(".")
            if key == "inputs" and isinstance(inputs, dict) and name:
                inputs = {each: value for each, value in inputs.items() if each != name}
                turn["inputs"] = inputs
            else:
                turn.pop(key, None)
        self._without = [place.removeprefix("inputs.") for place in self._errors if place]
        return replace(record, turn=turn)

    def _plain(self) -> Step | None:
        """The prompt with every default; None where inputs have none."""
        turn = {key: value for key, value in self._record.turn.items() if key != "inputs" and key not in self._errors}
        file, _ = _read(replace(self._record, turn=turn))
        try:
            return _played(self._engine, file) if file else None
        except CuecardError:
            return None


def _read(record: TurnRecord) -> tuple[TurnFile | None, list[tuple[str, Problem]]]:
    """A turn, or what is wrong in it, by key."""
    try:
        return record.read(), []
    except SpecError as error:
        problems = error.problems
    try:
        document = record.document()
    except SpecError:
        return None, [("", each) for each in problems]
    places = {span: path for table in (document.values, document.keys) for path, span in table.items()}
    paths = [places.get(each.span, ()) if each.span else () for each in problems]
    bare = [replace(each, span=None, source="", name="turn") for each in problems]
    return None, [(str(path[0]) if path else "", each) for path, each in zip(paths, bare, strict=True)]


def _played(engine: Engine, file: TurnFile) -> Step:
    now: datetime = file.now or engine.clock()
    return step_of_turn(engine, file.model_copy(update={"now": now}))


def _place_of(problem: Problem) -> str:
    """The field that a problem of the engine belongs to."""
    if not problem.name.startswith("turn."):
        return ""
    path = [number or key for key, number in _STEP.findall(problem.name.removeprefix("turn"))]
    if path[:1] != ["inputs"]:
        return path[0] if path else ""
    named = _NAME.search(problem.message)
    name = path[1] if len(path) > 1 else named[1] if named else ""
    return f"inputs.{name}"


def _error(problem: Problem, place: str, inputs: Mapping[str, InputSpec]) -> FieldError:
    key, _, name = place.partition(".")
    if problem.code == "missing-input" and inputs[name].type in {"string", "list", "object"}:
        empty = {"string": "an empty text", "list": "an empty list", "object": "an empty object"}[inputs[name].type]
        return FieldError(problem.message, problem.hint, f"empty {name}", f"Use {empty}")
    if problem.code == "unknown-input":
        return FieldError(problem.message, problem.hint, f"default {name}", f"Remove {name}")
    if key != "inputs" and key:
        return FieldError(problem.message, problem.hint, f"clear {key}", f"Remove {key}")
    return FieldError(problem.message, problem.hint)


def _input_field(
    engine: Engine, name: str, spec: InputSpec, given: Mapping[str, Json], found: _TurnProblems
) -> InputField:
    shown = field_of(spec, given, name)
    value = given.get(name)
    effective = laid_over(spec.default, value) if spec.merge else value
    errors = found.of(f"inputs.{name}")
    if why := unreadable(value, spec.type):
        where = f" in line {min(why.span.line - 1, shown.text.count(chr(10)) + 1)}" if why.span else ""
        errors = (*errors, FieldError(f"it cannot be read{where}: {why.message}", why.hint))
    if spec.type in _NUMBERS and isinstance(value, str):
        kind, hint = _NUMBERS[spec.type]
        errors = (FieldError(f"`{shortened(value)}` is no {kind}", hint),)
    options = tuple(shown_as(each, spec.type) for each in choices(spec))
    return InputField(
        name=name,
        kind=shown.kind,
        text=shown.text,
        options=(shown.text, *options) if options and shown.text not in options else options,
        type=spec.type,
        author=spec.trust == "author",
        given=name in given,
        differs=name in given and (spec.required or not same(effective, spec.default)),
        required=spec.required,
        about=spec.description,
        read_by=tuple(dict.fromkeys(each.id for each in all_sections(engine) if name in each.reads)),
        below=shown_as(spec.default, spec.type) if spec.merge and name in given else "",
        errors=errors,
    )


def _stranger(name: str, value: Json, found: _TurnProblems) -> InputField:
    text = shown_as(value, "string")
    return InputField(
        name,
        "json",
        text,
        (),
        "unknown",
        author=False,
        given=True,
        differs=True,
        required=False,
        errors=found.of(f"inputs.{name}"),
    )


def _key_field(turn: Mapping[str, Json], key: str, found: _TurnProblems) -> KeyField:
    shown = key_field(turn, key)
    about = TurnFile.model_fields[key].description or ""
    return KeyField(key, shown.kind, shown.text, about, errors=found.of(key))


def _groups(fields: Sequence[tuple[Lifetime, InputField]]) -> Iterator[InputGroup]:
    """The inputs by lifetime: this message and this request first, as they change most often."""
    for lives in ("step", "turn", "conversation"):
        mine = [each for lifetime, each in fields if lifetime == lives]
        first = {each.name for each in mine[:_OPEN]}
        shown = [each for each in mine if each.name in first or each.given or each.errors or each.required]
        if mine:
            folded = tuple(each for each in mine if each not in shown)
            yield InputGroup(lives, tuple(shown), folded)


def _entities(memory: Json) -> tuple[Mapping[str, str], ...] | None:
    """The entities of a working memory; None if it holds what is none."""
    if not isinstance(memory, list):
        return None
    fits = all(
        isinstance(each, dict) and each.keys() <= {*ENTITY_KEYS} and all(isinstance(v, str) for v in each.values())
        for each in memory
    )
    return tuple(memory) if fits else None


def _sentence(fields: Sequence[InputField], beside: PromptBeside | None, found: _TurnProblems) -> str:
    differ = sum(each.differs and not each.required for each in fields)
    free = [each for each in fields if each.required]
    differs = "differs from its default" if differ == 1 else "differ from their defaults"
    said = f"{differ} of {len(fields)} inputs {differs}"
    if not fields:
        said = "The agent declares no inputs"
    if free:
        filled = sum(each.given for each in free)
        said += f", and {filled} of {len(free)} without a default {'has' if filled == 1 else 'have'} a value"
    wrong = f"{found.problems} {'value is' if found.problems == 1 else 'values are'} wrong or missing"
    if beside is None:
        return f"{said}. {wrong}, so there is no prompt."
    parts = len(beside.parts)
    made = f"The prompt has {beside.tokens:,} tokens in {parts} {'section' if parts == 1 else 'sections'}"
    if found.problems:
        return f"{said}. {wrong}; without {'it' if found.problems == 1 else 'them'}, {made[0].lower()}{made[1:]}."
    return f"{said}. {made}; {beside.tally or 'nothing is left out'}."


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def _number(value: Json) -> int:
    return len(value) if isinstance(value, list) else 0
