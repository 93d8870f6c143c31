"""Tool catalogues of others: JSON as tool servers list them, or as requests to models hold them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from cuecard.config.documents.document import Document, Path
from cuecard.config.documents.json_places import json_places
from cuecard.config.transcript_file import read_json
from cuecard.errors import Problem, SpecError
from cuecard.model import Json, ToolCard

_SCHEMAS = ("inputSchema", "input_schema", "parameters")
_FORMS = "[tool, ...]", '{"tools": [tool, ...]}'


def read_catalogue(text: str, name: str) -> list[ToolCard]:
    """The tools of a JSON text: a list, or an object with `tools`; each with `name`, and more where it is known.

    Known are `description`, `phrases`, `category` or `server`, and the input schema as `inputSchema`, `input_schema` or
    `parameters`; a tool may stand in `function`, as with OpenAI. Tools of several servers that have one name are kept
    apart as `server__name`; of one server's, the first counts.

    Raises:
        SpecError: with every tool that is none, at its place.
    """
    value = read_json(text, name)
    path: Path = ("tools",) if isinstance(value, dict) else ()
    tools = value.get("tools") if isinstance(value, dict) else value
    if not isinstance(tools, list):
        raise SpecError(
            Problem("wrong-value", "a catalogue is a list of tools", f"write `{'` or `'.join(_FORMS)}`", name)
        )
    entries = [_entry(tool) for tool in tools]
    wrong = [((*path, n, *at), code, said) for n, tool in enumerate(entries) for at, code, said in _mistakes(tool)]
    if wrong:
        document = Document(name, text, value, *json_places(text))
        raise SpecError(document.problem(at, code, said, f"a tool is {_TOOL}") for at, code, said in wrong)
    return _apart([_card(entry) for entry in entries if isinstance(entry, dict)])


_TOOL = '`{"name": "send_mail", "description": "Send a mail"}`'


def _entry(tool: Json) -> Json:
    inner = tool.get("function") if isinstance(tool, dict) else None
    return inner if isinstance(inner, dict) else tool


def _mistakes(tool: Json) -> Iterator[tuple[Path, str, str]]:
    if not isinstance(tool, dict):
        yield (), "wrong-value", "this is not a tool"
        return
    if not isinstance(tool.get("name"), str) or not tool["name"].strip():
        yield ("name",) if "name" in tool else (), "wrong-value" if "name" in tool else "missing-key", "it has no name"
    for key in ("description", "server", "category"):
        if not isinstance(tool.get(key) or "", str):
            yield (key,), "wrong-value", f"`{key}` is not a text"
    phrases = tool.get("phrases") or []
    if not isinstance(phrases, list) or not all(isinstance(phrase, str) for phrase in phrases):
        yield ("phrases",), "wrong-value", "`phrases` are not a list of texts"


def _card(tool: Mapping[str, Json]) -> ToolCard:
    schema: Json = next((tool[key] for key in _SCHEMAS if isinstance(tool.get(key), dict)), {})
    server = tool.get("server") or ""
    return ToolCard(
        tool["name"],
        tool.get("description") or "",
        schema,
        phrases=tuple(tool.get("phrases") or ()),
        category=tool.get("category") or server,
        source=server,
    )


def _apart(cards: list[ToolCard]) -> list[ToolCard]:
    first = {(card.source, card.name): card for card in reversed(cards)}
    times = Counter(name for _, name in first)
    kept: dict[str, ToolCard] = {}
    for card in reversed(first.values()):
        name = f"{card.source}__{card.name}" if times[card.name] > 1 and card.source else card.name
        kept.setdefault(name, replace(card, name=name))
    return list(kept.values())
