"""Tool catalogues from elsewhere: JSON as tool servers list them, or as model requests contain them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from cuecard.config.documents.document import Document, Path, json_places
from cuecard.config.transcript_file import read_json
from cuecard.errors import Problem, SpecError
from cuecard.model import Json, ToolCard

_SCHEMAS = ("inputSchema", "input_schema", "parameters")
_FORMS = "[tool, ...]", '{"tools": [tool, ...]}'


def read_catalogue(text: str, name: str) -> list[ToolCard]:
    """The tools of a JSON text: a list, or an object with `tools`; each with a `name`, and more if known.

    The known keys are `description`, `phrases`, `category` or `server`, and the input schema as `inputSchema`,
    `input_schema` or `parameters`; a tool may be nested in `function`, as with OpenAI. Tools with the same name from
    several servers are told apart as `server__name`; within one server, the first counts.

    Raises:
        SpecError: with every entry that is not a tool, at its place.
    """
    value = read_json(text, name)
    path, tools = _listed(value)
    if not isinstance(tools, list):
        raise SpecError(
            Problem("wrong-value", "a catalogue is a list of tools", f"write `{'` or `'.join(_FORMS)}`", name)
        )
    entries = [(n, _entry(tool)) for n, tool in _single(tools)]
    wrong = [((*path, n, *at), code, said) for n, tool in entries for at, code, said in _mistakes(tool)]
    if wrong:
        document = Document(name, text, value, *json_places(text))
        raise SpecError(document.problem(at, code, said, f"a tool is {_TOOL}") for at, code, said in wrong)
    return _apart([_card(tool) for _, tool in entries if isinstance(tool, dict)])


_TOOL = '`{"name": "send_mail", "description": "Send a mail"}`'


_AROUND = ("tools", "result", "toolConfig")
_SEVERAL = ("functionDeclarations", "function_declarations")


def _listed(value: Json) -> tuple[Path, Json]:
    """The list of tools, wherever it is: on its own, in `tools`, in a JSON-RPC response, in Bedrock's `toolConfig`."""
    path: Path = ()
    for _ in _AROUND:
        key = next((key for key in _AROUND if isinstance(value, dict) and key in value), None)
        if key is not None:
            path, value = (*path, key), value[key]
    return path, value


def _single(tools: list[Json]) -> Iterator[tuple[int, Json]]:
    """The tools one by one, each with the number of its entry: Gemini lists several tools in one entry."""
    for number, tool in enumerate(tools):
        several = [tool[key] for key in _SEVERAL if isinstance(tool, dict) and isinstance(tool.get(key), list)]
        yield from ((number, each) for each in (several[0] if several else [tool]))


def _entry(tool: Json) -> Json:
    inner = next((tool[key] for key in ("function", "toolSpec") if isinstance(tool, dict) and key in tool), None)
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
        yield ("phrases",), "wrong-value", "`phrases` is not a list of texts"


def _card(tool: Mapping[str, Json]) -> ToolCard:
    schema: Json = next((tool[key] for key in _SCHEMAS if isinstance(tool.get(key), dict)), {})
    if set(schema) == {"json"} and isinstance(schema["json"], dict):
        schema = schema["json"]  # Bedrock
    server = tool.get("server") or ""
    return ToolCard(
        tool["name"],
        tool.get("description") or "",
        schema,
        phrases=tuple(filter(str.strip, tool.get("phrases") or ())),
        category=tool.get("category") or server,
        source=server,
    )


def _apart(cards: list[ToolCard]) -> list[ToolCard]:
    first: dict[tuple[str, str], ToolCard] = {}
    for card in cards:
        first.setdefault((card.source, card.name), card)
    times = Counter(name for _, name in first)
    kept: dict[str, ToolCard] = {}
    for card in first.values():
        name = f"{card.source}__{card.name}" if times[card.name] > 1 and card.source else card.name
        kept.setdefault(name, replace(card, name=name))
    return list(kept.values())
