"""The form of a turn: values as texts in controls, and back. What nobody touched stays exactly what it was."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias

from cuecard.config.agent_file import InputSpec
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.documents.yaml_edits import same
from cuecard.config.turn_file import TurnFile
from cuecard.config.values import InputType, is_of_type
from cuecard.errors import Problem, SpecError
from cuecard.model import Json
from cuecard.records import dataclass
from cuecard.studio.turns import TurnRecord

MAX_FIELDS = 20_000
"""The number of fields of a form: agents have hundreds of inputs, conversations hundreds of entities."""

Kind: TypeAlias = Literal["text", "line", "lines", "json", "switch", "choice"]
"""What a value is filled in with: a text, a number on one line, a text a line, JSON, a switch, one of several."""

PLAIN_KEYS = ("message", "now", "model")
"""Keys of a turn with a field of their own; `inputs`, `memory` and `tools` have more than one."""

OTHER_KEYS = tuple(
    name for name in TurnFile.model_fields if name not in {*PLAIN_KEYS, "inputs", "memory", "tools", "expect"}
)
"""Keys of a turn that are seldom used; `expect` says nothing about a prompt, and stays in its file."""

ENTITY_KEYS = ("type", "id", "name", "key")
EMPTY: Mapping[InputType, Json] = {"string": "", "boolean": False, "list": [], "object": {}, "integer": 0, "number": 0}
"""What an input holds that has a value, and nothing in it."""

_TEXT_KEYS = frozenset(
    name for name, each in TurnFile.model_fields.items() if each.annotation is str or name in {"message", "now"}
) | {"delivery", "host", "summary"}
_NAME_KEYS = frozenset(("discovered", "ahead", "environment"))
_STRUCTURE = re.compile(r"\s*[\[{\"'#&*!|>%@`-]")


@dataclass(frozen=True, slots=True)
class Field:
    """What a value looks like in a control, and how a text is read that was written there.

    Attributes:
        kind: what it is filled in with.
        text: the value as a text; of a switch, `true` or `false`.
    """

    kind: Kind
    text: str


def field_of(spec: InputSpec, given: Mapping[str, Json], name: str) -> Field:
    """An input with its value in a turn, or else its default."""
    value = given.get(name, None if spec.required else spec.default)
    text = "" if value is None and name not in given else shown_as(value, spec.type)
    if choices(spec):
        return Field("choice", text)
    if spec.type == "boolean" and isinstance(value, bool):
        return Field("switch", text)
    kinds: Mapping[InputType, Kind] = {"string": "text", "list": "lines", "object": "json"}
    return Field(kinds.get(spec.type, "line"), text)


def choices(spec: InputSpec) -> tuple[Json, ...]:
    """The values to choose from: those that are declared, and both of a boolean that has no default."""
    both = (True, False) if spec.type == "boolean" and (spec.required or spec.default is None) else ()
    return spec.values or both


def key_field(turn: Mapping[str, Json], key: str) -> Field:
    """Another key of a turn."""
    value = turn.get(key)
    if key in _TEXT_KEYS:
        return Field("text", "" if value is None else shown_as(value, "string"))
    kind: Kind = "lines" if key in _NAME_KEYS else "json"
    return Field(kind, "" if value is None else shown_as(value, "list" if key in _NAME_KEYS else "object"))


def shown_as(value: Json, kind: InputType) -> str:
    """A value as a text: a text as it is, a list of short texts a line each, and anything else as JSON."""
    if isinstance(value, str):
        return value  # of whatever type it should be, as somebody wrote it
    plain = kind == "list" and isinstance(value, list) and all(map(_is_line, value))
    if plain and not (value and _STRUCTURE.match(value[0])):
        return "\n".join(value)
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join("  " + _json(item) for item in value) + "\n]"
    if isinstance(value, dict) and value:
        return "{\n" + ",\n".join(f"  {_json(key)}: {_json(item)}" for key, item in value.items()) + "\n}"
    return _json(value)


def read_as(text: str, kind: InputType) -> Json:
    """The value that a text stands for; the text itself where it is none of this type, for the engine to say so."""
    if kind == "string":
        return text
    if kind == "list" and not _STRUCTURE.match(text):
        return [line for line in text.split("\n") if line.strip()]
    if kind == "object" and not text.strip():
        return {}
    value, _ = _parsed(text)
    return value if is_of_type(value, kind) else text


def unreadable(value: Json, kind: InputType) -> Problem | None:
    """Why a text that was written for a list or an object is none; None if it is one, or is no such text."""
    if kind not in {"list", "object"} or not isinstance(value, str):
        return None
    return _parsed(value)[1]


def filled_in(record: TurnRecord, inputs: Mapping[str, InputSpec], form: Mapping[str, str]) -> TurnRecord:
    """The turn with what a form holds: `i.NAME` for inputs, `t.KEY` for other keys, `m.N.KEY` for entities.

    Args:
        record: the turn that the form was made from.
        inputs: the agent's inputs.
        form: what was sent; a field that is missing leaves its value alone, but for a switch that is off (`s.NAME`).
    """
    told = {name: text.replace("\r\n", "\n").replace("\r", "\n") for name, text in form.items()}
    turn = dict(record.turn)
    if isinstance(turn.get("inputs", {}), dict):
        _put(turn, "inputs", _with_inputs(turn.get("inputs", {}), inputs, told))
    for key in (*PLAIN_KEYS, *OTHER_KEYS, "memory", "tools"):
        if (text := told.get(f"t.{key}")) is not None and text != _normal(key_field(turn, key).text):
            _put(turn, key, _read_key(key, text, turn.get(key)))
    if any(name.startswith("m.") for name in told):
        _put(turn, "memory", _with_entities(turn.get("memory", []), told))
    return TurnRecord(turn, record.file, record.sha256, record.told)


def acted(record: TurnRecord, inputs: Mapping[str, InputSpec], tools: Sequence[str], action: str) -> TurnRecord:
    """The turn after a button: `default NAME`, `empty NAME`, `clear KEY`, `add-tool NAME`, `drop-tool NAME`,
    `all-tools`, `some-tools`, `no-tools` or `drop-entity N`; anything else changes nothing.
    """
    verb, _, name = action.partition(" ")
    made = _ACTIONS.get(verb)
    turn = dict(record.turn)
    if made:
        made(turn, name, inputs, tools)
    return TurnRecord(turn, record.file, record.sha256, record.told)


def _with_inputs(given: Mapping[str, Json], inputs: Mapping[str, InputSpec], told: Mapping[str, str]) -> Json:
    made = dict(given)
    for name, spec in inputs.items():
        field = field_of(spec, given, name)
        text = told.get(f"i.{name}", "false" if f"s.{name}" in told else None)
        if text is None or text == _normal(field.text):
            continue
        value: Json = text == "true" if field.kind == "switch" else _read_input(text, spec)
        nothing = text == "" and spec.type in {"integer", "number", "boolean"}
        if nothing or (not spec.required and same(value, spec.default)):
            made.pop(name, None)
        else:
            made[name] = value
    return made


def _read_input(text: str, spec: InputSpec) -> Json:
    """One of the values of an input that has only some, or what the text stands for."""
    return next((each for each in choices(spec) if shown_as(each, spec.type) == text), read_as(text, spec.type))


def _read_key(key: str, text: str, before: Json) -> Json:
    if key in _TEXT_KEYS and (before is None or isinstance(before, str)):
        return text or None
    if key in _NAME_KEYS or key == "tools":
        return read_as(text, "list") if text.strip() else None
    return (_parsed(text)[0] if _parsed(text)[1] is None else text) if text.strip() else None


def _with_entities(before: Json, told: Mapping[str, str]) -> Json:
    """The entities of a form; one whose fields are all empty is none."""
    held = before if isinstance(before, list) else []
    made: list[Json] = []
    numbers = sorted({int(name.split(".")[1]) for name in told if re.fullmatch(r"m\.\d{1,6}\.\w+", name)})
    for number in numbers:
        old = held[number] if number < len(held) and isinstance(held[number], dict) else {}
        new = {key: told.get(f"m.{number}.{key}", str(old.get(key, ""))) for key in ENTITY_KEYS}
        if all(_normal(str(old.get(key, ""))) == text for key, text in new.items()) and old:
            made.append(old)
        elif any(text.strip() for text in new.values()):
            made.append({key: text for key, text in new.items() if text or key != "key"})
    return made


def _put(turn: dict[str, Json], key: str, value: Json) -> None:
    """Set a key, or take it away where it says nothing; one that said nothing before may go on doing so."""
    if value is None or (value in ([], {}) and turn.get(key) != value):
        turn.pop(key, None)
    else:
        turn[key] = value


Act: TypeAlias = Callable[[dict[str, Json], str, Mapping[str, InputSpec], Sequence[str]], None]


def _default(turn: dict[str, Json], name: str, _inputs: Mapping[str, InputSpec], _tools: Sequence[str]) -> None:
    given = dict(turn["inputs"]) if isinstance(turn.get("inputs"), dict) else {}
    given.pop(name, None)
    _put(turn, "inputs", given)


def _empty(turn: dict[str, Json], name: str, inputs: Mapping[str, InputSpec], _tools: Sequence[str]) -> None:
    if name in inputs and isinstance(turn.get("inputs", {}), dict):
        turn["inputs"] = {**turn.get("inputs", {}), name: EMPTY[inputs[name].type]}


def _clear(turn: dict[str, Json], name: str, _inputs: Mapping[str, InputSpec], _tools: Sequence[str]) -> None:
    turn.pop(name, None)


def _all_tools(turn: dict[str, Json], _name: str, _inputs: Mapping[str, InputSpec], _tools: Sequence[str]) -> None:
    turn.pop("tools", None)


def _some_tools(turn: dict[str, Json], _name: str, _inputs: Mapping[str, InputSpec], tools: Sequence[str]) -> None:
    turn["tools"] = [*tools]


def _no_tools(turn: dict[str, Json], _name: str, _inputs: Mapping[str, InputSpec], _tools: Sequence[str]) -> None:
    turn["tools"] = []


def _add_tool(turn: dict[str, Json], name: str, _inputs: Mapping[str, InputSpec], _tools: Sequence[str]) -> None:
    if name:
        names = turn.get("tools")
        turn["tools"] = [*dict.fromkeys([*(names if isinstance(names, list) else ()), name])]


def _drop_tool(turn: dict[str, Json], name: str, _inputs: Mapping[str, InputSpec], _tools: Sequence[str]) -> None:
    if isinstance(turn.get("tools"), list):
        turn["tools"] = [each for each in turn["tools"] if each != name]


def _drop_entity(turn: dict[str, Json], name: str, _inputs: Mapping[str, InputSpec], _tools: Sequence[str]) -> None:
    held = turn.get("memory")
    if isinstance(held, list) and name.isdecimal():
        _put(turn, "memory", [each for at, each in enumerate(held) if at != int(name)])


_ACTIONS: Mapping[str, Act] = {
    "default": _default,
    "empty": _empty,
    "clear": _clear,
    "all-tools": _all_tools,
    "some-tools": _some_tools,
    "no-tools": _no_tools,
    "add-tool": _add_tool,
    "drop-tool": _drop_tool,
    "drop-entity": _drop_entity,
}


def _normal(text: str) -> str:
    """A text as browsers send it back."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if not text.isascii() else text
    return whole.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


def _json(value: Json) -> str:
    said = json.dumps(value, ensure_ascii=False)
    return said if said.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in said)


def _is_line(value: Json) -> bool:
    return isinstance(value, str) and value.strip() != "" and "\n" not in value and "\r" not in value


def _parsed(text: str) -> tuple[Json, Problem | None]:
    """What JSON or YAML a text is, and why it is none."""
    try:
        return json.loads(text, parse_constant=_refuse), None
    except (ValueError, RecursionError):
        pass
    rows = "".join(f"  {row}\n" for row in text.split("\n"))
    try:
        return read_yaml(f"value:\n{rows}", "value").value["value"], None
    except SpecError as error:
        return None, error.problems[0]


def _refuse(name: str) -> Json:
    raise ValueError(f"{name} is no JSON")
