"""The pages of all keys, made from the models that check the files: each mapping stands under the path of its key."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cuecard.config.json_schema import FILES

_PAGES: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "agent.md": ("Agent file", "`agent.yaml`: one assistant's prompt.", ("agent",)),
    "agent-sections.md": ("Sections of an agent file", "`sections` and `layout` of `agent.yaml`.", ("agent",)),
    "agent-tools.md": (
        "Tools, memory and history of an agent file",
        "`tools`, `results`, `memory`, `history` and `messages` of `agent.yaml`.",
        ("agent",),
    ),
    "agent-words.md": (
        "Words of an agent file",
        "`words` of `agent.yaml`: each sentence that cuecard writes.",
        ("agent",),
    ),
    "tools.md": ("Tool file", "Tool instructions, and what the search knows of tools.", ("tool-instructions",)),
    "turn.md": (
        "Turn files",
        "What your program knows of one user message, for tests and commands.",
        ("turn", "conversation"),
    ),
    "other.md": (
        "Other files and environment variables",
        "Assistants with scenarios, models, transcripts, and `CUECARD_*`.",
        ("assistant", "scenario", "models", "transcript"),
    ),
}
"""File name of each page to its title, what it is about, and the kinds of files."""

_PLACES: Mapping[str, str] = {
    **dict.fromkeys(("sections", "layout"), "agent-sections.md"),
    **dict.fromkeys(("tools", "results", "memory", "history", "messages"), "agent-tools.md"),
    "words": "agent-words.md",
}
"""The keys of an agent file whose mappings have a page of their own: one page of all would be too long for a phone."""

_COMMON = (
    *("agent", "extends", "template", "inputs.*.type", "inputs.*.default", "inputs.*.trust", "inputs.*.lifetime"),
    *("sections[].id", "sections[].title", "sections[].text", "sections[].file", "sections[].files", "sections[].when"),
    *("sections[].budget", "sections[].priority", "sections[].clock", "sections[].rows", "sections[].skills"),
    *("sections[].tools", "sections[].lifetime", "sections[].role", "sections[].after", "sections[].remove"),
    *("layout.heading", "tools.instructions", "tools.core", "tools.search", "tools.cues", "memory.extract"),
    *("memory.names", "results.*.head", "history", "delivery", "budget.total", "budget.protocols", "reload"),
    *("profiles.*.include", "variants.*.exclude", "access", "run.steps", "words"),
)
"""The keys of an agent file that most agents use."""


_INDEX = """\
# Settings

Every key of every YAML file, and the environment variables. Unknown keys are errors. The pages are written by
`cuecard schema --markdown` from the models that check the files.

| page | what it has |
|---|---|
"""


@dataclass(frozen=True, slots=True)
class _Part:
    """A mapping of a file: the path of its key, further paths of it, its schema, its heading with anchor, its page."""

    path: str
    others: tuple[str, ...]
    schema: Mapping[str, Any]
    title: str
    anchor: str

    page: str

    def address(self, page: str) -> str:
        """Where it stands, for a link on a page."""
        return f"{'' if self.page == page else self.page}#{self.anchor}"


def settings_pages(environment: Mapping[str, str]) -> dict[str, str]:
    """File name of each page to its Markdown; `environment` is each `CUECARD_*` variable and what it does."""
    pages = {name: _page(name, *told) for name, told in _PAGES.items()}
    variables = "".join(f"| `{name}` | {meaning} |\n" for name, meaning in environment.items())
    head = "## Environment\n\nAn option on the command line goes before it.\n\n| variable | meaning |\n|---|---|\n"
    pages["other.md"] += f"\n{head}{variables}"
    rows = "".join(f"| [{title}]({name}) | {about} |\n" for name, (title, about, _) in _PAGES.items())
    return {"README.md": f"{_INDEX}{rows}"} | pages


def _page(name: str, title: str, about: str, kinds: tuple[str, ...]) -> str:
    texts = [f"# {title}\n\n{about} Unknown keys are errors. [Settings](README.md) has the other files.\n"]
    taken: dict[str, set[str]] = {}
    for kind in kinds:
        schema = FILES[kind].model_json_schema()
        home, places = ("agent.md", _PLACES) if kind == "agent" else (name, {})
        parts = _parts(schema, taken, {**dict.fromkeys(schema["properties"], home), **places})
        links = {each: f"[{part.path.rpartition('.')[2]}]({part.address(name)})" for each, part in parts.items()}
        if name == "agent.md":
            texts.append(_common(schema, parts, name))
        if name == home:
            heading = "All keys" if len(kinds) == 1 else f"{kind.capitalize()} file"
            texts.append(f"## {heading}\n\n{_sentence(schema)}\n\n{_table(schema, links)}")
        texts += [_section(each, part, links) for each, part in parts.items() if part.page == name]
    return "\n".join(texts)


def _section(model: str, part: _Part, links: Mapping[str, str]) -> str:
    also = f" Also at {_listed(part.others)}." if part.others else ""
    old = f'<a id="{model.lower()}"></a>'  # the headings of one page of all settings were the names of models
    return f"{old}\n\n### `{part.title}`\n\n{_sentence(part.schema)}{also}\n\n{_table(part.schema, links)}"


def _listed(paths: tuple[str, ...]) -> str:
    shown = ", ".join(f"`{path}`" for path in paths[:6])
    return f"{shown} and {len(paths[6:])} more places" if paths[6:] else shown


def _parts(schema: Mapping[str, Any], taken: dict[str, set[str]], pages: Mapping[str, str]) -> dict[str, _Part]:
    """By name in the schema, in the order in which a reader of the file meets them: the nearest to its top first."""
    paths: dict[str, list[str]] = {}
    waiting = deque((path, name) for path, name in _mappings(schema, ""))
    definitions = schema.get("$defs", {})
    while waiting:
        path, name = waiting.popleft()
        known = paths.setdefault(name, [])
        if path in known:
            continue
        known.append(path)
        if len(known) == 1:
            waiting.extend(_mappings(definitions[name], f"{path}."))
    return {
        name: _Part(
            found[0],
            tuple(found[1:]),
            definitions[name],
            *_heading(found[0], definitions[name], taken),
            pages[re.split(r"[.\[]", found[0])[0]],
        )
        for name, found in paths.items()
    }


def _heading(path: str, schema: Mapping[str, Any], taken: dict[str, set[str]]) -> tuple[str, str]:
    """The title and its anchor; of several mappings at one place of a page, with what tells them apart."""
    keys = schema["properties"]
    told = [f"{path}`, `{key}: {field['const']}" for key, field in keys.items() if "const" in field]
    told += [path, *(f"{path}`, with `{key}" for key in keys if key not in taken.get(path, ())), f"{path} (2)"]
    title = next(title for title in told if title not in taken)
    taken[title] = {*keys}
    return title, re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _mappings(schema: Mapping[str, Any], before: str) -> Iterator[tuple[str, str]]:
    """The mappings that the keys of a mapping hold: the path of each, and its name in the schema."""
    for key, field in schema.get("properties", {}).items():
        yield from _references(field, f"{before}{key}")


def _references(field: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    if "$ref" in field:
        yield path, field["$ref"].rpartition("/")[2]
    for option in (*field.get("anyOf", ()), *field.get("oneOf", ())):
        yield from _references(option, path)
    if isinstance(field.get("items"), dict):
        yield from _references(field["items"], f"{path}[]")
    for value in _values(field):
        yield from _references(value, f"{path}.*")


def _values(field: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What the keys of a mapping with free names may hold."""
    values = [*field.get("patternProperties", {}).values(), field.get("additionalProperties")]
    return [value for value in values if isinstance(value, dict)]


def _common(schema: Mapping[str, Any], parts: Mapping[str, _Part], page: str) -> str:
    """The keys that most agents use, each with a link to the mapping in which it stands."""
    by_path = {path: part for part in parts.values() for path in (part.path, *part.others)}
    rows = []
    for path in _COMMON:
        within, _, key = path.rpartition(".")
        part = by_path.get(within)
        field = (part.schema if part else schema)["properties"][key]
        place = f"[`{path}`]({part.address(page)})" if part else f"`{path}`"
        rows.append(f"| {place} | {field.get('description', '')} |\n")
    return "## What most agents use\n\n| key | meaning |\n|---|---|\n" + "".join(rows)


def _table(schema: Mapping[str, Any], links: Mapping[str, str]) -> str:
    required = schema.get("required", ())
    rows = [
        f"| `{key}` | {_type(field, links)} | {_default(key, field, required)} | {field.get('description', '')} |\n"
        for key, field in schema.get("properties", {}).items()
    ]
    return "| key | type | default | meaning |\n|---|---|---|---|\n" + "".join(rows)


def _sentence(schema: Mapping[str, Any]) -> str:
    return " ".join(str(schema.get("description", "")).split())


def _default(key: str, field: Mapping[str, Any], required: Any) -> str:
    if key in required:
        return "required"
    default = field.get("default")
    return "" if default in (None, "", [], {}) or isinstance(default, dict) else _code(json.dumps(default))


def _code(text: str) -> str:
    """A text as Markdown code, whatever marks it contains."""
    marks = "``" if "`" in text else "`"
    return f"{marks}{text}{marks}"


def _type(field: Mapping[str, Any], links: Mapping[str, str]) -> str:
    if "$ref" in field:
        return _link(field["$ref"].rpartition("/")[2], links)
    if words := field.get("enum", [field["const"]] if "const" in field else []):
        return " or ".join(f"`{word}`" for word in words)
    if options := field.get("anyOf") or field.get("oneOf"):
        return _any(options, links)
    if field.get("type") == "array":
        return f"list of {_type(field.get('items', {}), links)}"
    if values := _values(field):
        return f"mapping of names to {_any(values, links)}"
    return {"object": "mapping"}.get(str(field.get("type")), str(field.get("type", "any value")))


def _any(options: Sequence[Mapping[str, Any]], links: Mapping[str, str]) -> str:
    return " or ".join(dict.fromkeys(_type(option, links) for option in options))


def _link(name: str, links: Mapping[str, str]) -> str:
    return links.get(name, "mapping")
