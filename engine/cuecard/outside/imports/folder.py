"""The files of an agent that was imported: agent.yaml, its texts, and a first turn."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from cuecard.config.input_types import InputType
from cuecard.model import Json
from cuecard.outside.imports.parts import Imported, Input, Message

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
_EXAMPLES: Mapping[InputType, Json] = {
    "string": "example", "integer": 1, "number": 1, "boolean": True, "list": [], "object": {},
}  # fmt: skip


def agent_name(name: str) -> str:
    """A valid name for an agent."""
    made = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-_")
    return (made if made[:1].isalpha() else f"agent-{made}".rstrip("-"))[:64]


def files_of(imported: Imported) -> dict[str, str]:
    """The files as paths and texts. Texts are in separate files; the turn has the sample's values, or the first
    that fit.
    """
    sections = list(_sections(imported))
    end = "\n" if imported.trim else ""
    texts = {f"{id_}.md": f"{message.text}{end}" for id_, message in sections}
    partials = {f"partials/{name}.md": text for name, text in imported.partials.items()}
    turn = {
        name: imported.sample.get(name, *each.values[:1] or (_EXAMPLES[each.type],))
        for name, each in imported.inputs.items()
        if name in imported.sample or not each.default
    }
    written = "".join(f"  {_key(name)}: {_value(value)}\n" for name, value in turn.items())
    return {
        "agent.yaml": "".join(_agent(imported, sections)),
        **texts,
        **partials,
        "turns/first.yaml": f"inputs:\n{written}" if written else "inputs: {}\n",
    }


def _sections(imported: Imported) -> Iterator[tuple[str, Message]]:
    """Each message with a name."""
    seen: dict[str, int] = {}
    for message in imported.messages:
        seen[message.role] = seen.get(message.role, 0) + 1
        number = seen[message.role]
        yield (message.role if number == 1 else f"{message.role}-{number}"), message


def _agent(imported: Imported, sections: list[tuple[str, Message]]) -> Iterator[str]:
    yield "".join(f"# {line}\n" for line in imported.description.split("\n") if line.strip() and line.isprintable())
    yield f"agent: {agent_name(imported.name)}\n"
    if imported.inputs:
        yield "inputs:\n"
        for name, each in imported.inputs.items():
            yield f"  {_key(name)}: {{{', '.join(_facts(each))}}}\n"
    layout = ["escaping: names"]
    layout += [] if imported.trim else ["trim: false"]
    layout += ["partials: partials"] if imported.partials else []
    yield f"layout: {{{', '.join(layout)}}}\n"
    yield "sections:\n" if sections else "sections: []\n"
    for id_, message in sections:
        said = "" if message.role == "system" else f", role: {message.role}"
        said += ", lifetime: conversation" if message.late else ""  # it is a message of the conversation, not an aside
        yield f"  - {{id: {id_}{said}, file: {id_}.md}}\n"
    late = [id_ for id_, message in sections if message.late]
    if late:
        yield f"messages: {{order: [system, metadata, history, {', '.join(late)}, current]}}\n"


def _facts(each: Input) -> Iterator[str]:
    yield f"type: {each.type}"
    if each.values:
        yield f"values: {_value(list(each.values))}"
    if each.default:
        yield f"default: {_value(each.default[0])}"
    if each.description:
        yield f"description: {_value(each.description)}"


def _key(name: str) -> str:
    return name if _PLAIN.fullmatch(name) and name.lower() not in _WORDS else _value(name)


def _value(value: Json) -> str:
    """A value as YAML in JSON notation."""
    said = json.dumps(value, ensure_ascii=False, default=str)
    return "".join(c if c.isprintable() else f"\\U{ord(c):08X}" for c in said)
