"""`.prompty` files and roles."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from cuecard.config.documents.document import Document, Path
from cuecard.errors import Problem
from cuecard.model import Json
from cuecard.template.syntax.nodes import Comment, TextNode
from cuecard.template.syntax.parser import parse
from cuecard.template.syntax.source import TemplateSource
from cuecard.workbench.imports.jinja import HISTORY, from_jinja
from cuecard.workbench.imports.mustache import from_mustache
from cuecard.workbench.imports.prompt import (
    EMPTY,
    ROLES,
    FrontMatterFile,
    ImportedPrompt,
    Input,
    Notes,
    PromptMessage,
    Role,
    read_front,
)
from cuecard.workbench.imports.schemas import type_of, type_of_value

_LINE = re.compile(
    r"^[^\S\n]*(?:(?:#[^\S\n]*)?(?P<role>system|user|assistant|developer|function)(?P<more>\[[^\]\n]*\])?[^\S\n]*:"
    rf"|(?P<history>{re.escape(HISTORY)}))[^\S\n]*$",
    re.IGNORECASE | re.MULTILINE,
)


def messages(text: str, notes: Notes, first_line: int) -> Iterator[PromptMessage]:
    """The messages of a Handlebars template; a text before the first role belongs to the system.

    Args:
        text: the template; roles must be outside blocks.
        notes: collects roles that do not exist here.
        first_line: where the template begins in its file.
    """
    role: Role = "system"
    at, line, passed = 0, first_line - 1, False
    rows = _rows(notes)
    for found in _lines(text):
        if text[at : found.start()].strip():
            yield PromptMessage(role, text[at : found.start()].strip("\n"), late=passed and role != "system")
        at = found.end()
        if found["history"]:
            passed = True
            continue
        word = found["role"].lower()
        line = _line(rows.get(found[0].strip(), ()), line)
        if word not in ROLES:
            notes.add(line, f"a section cannot have the role `{word}`", "results of tools come with the turn")
        elif word == "developer":
            notes.add(
                line,
                "`developer` becomes part of the system prompt here",
                "no action needed if that is intended",
                "warning",
            )
        if found["more"]:
            notes.add(
                line, f"`{found['more']}` of a message has no counterpart", "name the speaker in the text", "warning"
            )
        role = ROLES.get(word, "user")
    if text[at:].strip():
        yield PromptMessage(role, text[at:].strip("\n"), late=passed and role != "system")


def _lines(text: str) -> Iterator[re.Match[str]]:
    """Role lines outside blocks; a line with a value is a text."""
    plain = [node for node in parse(TemplateSource("prompt", text)).body if isinstance(node, TextNode | Comment)]
    starts = [node.start for node in plain]
    for found in _LINE.finditer(text):
        at = bisect_right(starts, found.start()) - 1
        if at >= 0 and (found["history"] or found.end() <= plain[at].end):
            yield found


def _rows(notes: Notes) -> Mapping[str, Sequence[int]]:
    """The line numbers of a file, by their text."""
    rows: dict[str, list[int]] = {}
    for number, row in enumerate(notes.lines, 1):
        rows.setdefault(row.strip(), []).append(number)
    return rows


def _line(numbers: Sequence[int], before: int) -> int:
    """The next of these lines, or the previous one if it is not in the file, so that roles stay in order."""
    at = bisect_right(numbers, before)
    return numbers[at] if at < len(numbers) else before


Beside = Callable[[str], str | None]
"""Reads a file next to the prompt; None if there is none."""

_HINTS = {
    "model": "your program names the model for each user message; conditions can test it: `model` of a turn file",
    "outputs": "pass the schema to the model's client yourself, or describe the format in the text",
    "tools": "name their files under `tools`: `cuecard tools import` writes them",
    "base": "import that file as well, and write `extends`",
}
_WORD = re.compile(r"\w+")
_SILENT = {"name", "description", "inputs", "sample", "template"}
_RICH = {
    "thread": "the conversation comes with the turn: `messages`",
    "image": "pass it in the message of the turn",
    "file": "pass it in the message of the turn",
    "audio": "pass it in the message of the turn",
}
_FACTS = {
    "name",
    "kind",
    "type",
    "default",
    "description",
    "required",
    "is_required",
    "enumValues",
    "sample",
    "example",
    "items",
    "properties",
}


def read_prompty(text: str, name: str, stem: str, beside: Beside) -> ImportedPrompt:
    """One `.prompty` file.

    Args:
        text: the file.
        name: how errors call it.
        stem: its name without the ending.
        beside: reads a file of samples named in the prompt.

    Raises:
        SpecError: when the front matter or the template cannot be read.
        TemplateSyntaxError: when a Mustache template cannot be read.
        InputError: when jinja2 is not installed.
    """
    notes = Notes(name, text)
    front = read_front(text, name)
    document = front.document or Document(name, "", {})
    notes.problems.extend(_settings(document))
    declared = dict(_inputs(document, notes.problems))
    sample = _sample(document, beside, notes.problems)
    for key, value in sample.items():
        declared.setdefault(key, Input(type_of_value(value), (None,) if value is None else ()))
    types = {key: found.type for key, found in declared.items()}
    translate = from_mustache if _language(document, notes.problems) == "mustache" else from_jinja
    # How a text uses what nothing declares decides how its conditions are written.
    _, used = translate(front.body, types, Notes(name, text), front.line)
    types = {**{key: kind for key, kind in used.items() if kind != "string"}, **types}
    written, reads = translate(front.body, types, notes, front.line)
    lines = _first_lines(front)
    for history in notes.histories:
        declared.pop(history, None)
    for key in notes.untold & declared.keys():
        declared[key] = replace(declared[key], default=declared[key].default or (None,))
    for missing in (key for key in reads if key and key not in declared and key not in notes.histories):
        line, kind = lines.get(missing, front.line), reads[missing]
        message = f"`{missing}` is read, but nothing declares it: it is a `{kind}` here"
        notes.add(line, message, "declare its actual type", "warning")
        default: tuple[Json, ...] = (EMPTY[kind],) if kind in EMPTY else ()
        declared[missing] = Input(kind, (None,) if missing in notes.untold else default)
    said = document.value.get("description")
    called = document.value.get("name")
    return ImportedPrompt(
        name=called if isinstance(called, str) else stem,
        source=name,
        messages=tuple(messages(written, notes, front.line)),
        inputs=declared,
        partials={},
        sample={key: value for key, value in sample.items() if key in declared},
        description=said if isinstance(said, str) else "",
        trim=True,
        problems=notes.in_order(),
        text=text,
        numbers=frozenset(notes.numbers),
    )


def _first_lines(front: FrontMatterFile) -> Mapping[str, int]:
    """The first line of each word in the template."""
    found: dict[str, int] = {}
    for line, row in enumerate(front.body.split("\n"), front.line):
        for word in _WORD.findall(row):
            found.setdefault(word, line)
    return found


def _settings(document: Document) -> Iterator[Problem]:
    for key in document.value:
        if key in _SILENT:
            continue
        message = f"`{key}` is not part of a prompt here" if key in _HINTS else f"`{key}` has no counterpart"
        hint = _HINTS.get(key, "keep it where it is used")
        yield document.problem((key,), "not-imported", message, hint, key=True, severity="warning")


def _language(document: Document, problems: list[Problem]) -> str:
    """The template language, `jinja2` or `mustache`, in any of its spellings."""
    said = document.value.get("template", "jinja2")
    for key in ("format", "kind", "type"):
        said = said.get(key, said) if isinstance(said, dict) else said
    if isinstance(said, dict):
        return "jinja2"
    if said in ("jinja2", "mustache"):
        return str(said)
    message, hint = f"`{said}` is not a supported template language", "write `jinja2` or `mustache`"
    problems.append(document.problem(("template",), "wrong-value", message, hint))
    return "jinja2"


def _inputs(document: Document, problems: list[Problem]) -> Iterator[tuple[str, Input]]:
    given = document.value.get("inputs")
    path: Path = ("inputs",)
    if isinstance(given, dict) and isinstance(given.get("properties"), (dict, list)):
        entries, path = given["properties"], ("inputs", "properties")
    else:
        entries = given
    rows = list(
        entries.items() if isinstance(entries, dict) else enumerate(entries if isinstance(entries, list) else ())
    )
    for key, entry in rows:
        here: Path = (*path, key)
        facts = entry if isinstance(entry, dict) else {"example": entry}
        called = facts.get("name", key)
        if not isinstance(called, str):
            problems.append(document.problem(here, "missing-key", "an input without a name", "write `name:`"))
            continue
        problems.extend(_unsaid(document, here, facts))
        yield called, _input(document, here, facts, problems)
    if given is not None and not isinstance(entries, (dict, list)):
        problems.append(document.problem(("inputs",), "wrong-value", "`inputs` should be a list or a mapping", ""))


def _input(document: Document, path: Path, facts: Mapping[str, Json], problems: list[Problem]) -> Input:
    word = facts.get("kind", facts.get("type"))
    known = type_of(word) if isinstance(word, str) else None
    if isinstance(word, str) and word in _RICH:
        problems.append(document.problem(path, "not-imported", f"an input of kind `{word}`", _RICH[word]))
    elif word is not None and known is None:
        message, hint = f"`{word}` is not an input type: it is a `string` here", "write its actual type"
        problems.append(document.problem(path, "not-imported", message, hint, severity="warning"))
    shown = facts.get("default", facts.get("example", facts.get("sample")))
    kind = known or (type_of_value(shown) if word is None and shown is not None else "string")
    described, values = facts.get("description"), facts.get("enumValues")
    default: tuple[Json, ...] = (facts["default"],) if "default" in facts else ()
    if not default and (facts.get("required") is False or word in _RICH):
        default = (None,)
    return Input(
        kind,
        default,
        tuple(values) if isinstance(values, list) else (),
        described if isinstance(described, str) else "",
    )


def _unsaid(document: Document, path: Path, facts: Mapping[str, Json]) -> Iterator[Problem]:
    for key in facts:
        if key not in _FACTS:
            message, hint = f"`{key}` of an input has no counterpart", "keep it where it is used"
            yield document.problem((*path, key), "not-imported", message, hint, severity="warning")


def _sample(document: Document, beside: Beside, problems: list[Problem]) -> dict[str, Json]:
    """Example values of the inputs, overridden by those of `sample`, which may name a file."""
    found: dict[str, Json] = {}
    given = document.value.get("inputs")
    rows = given.items() if isinstance(given, dict) else enumerate(given if isinstance(given, list) else ())
    for key, entry in rows:
        facts = entry if isinstance(entry, dict) else {"example": entry}
        called = facts.get("name", key)
        shown = facts.get("example", facts.get("sample"))
        if isinstance(called, str) and shown is not None and key != "properties":
            found[called] = shown
    sample = document.value.get("sample")
    if isinstance(sample, str):
        sample = _from_file(document, sample, beside, problems)
    return {**found, **sample} if isinstance(sample, dict) else found


def _from_file(document: Document, said: str, beside: Beside, problems: list[Problem]) -> Json:
    path = said.removeprefix("${file:").removesuffix("}")
    text = beside(path)
    with suppress(ValueError, RecursionError):
        return json.loads(text or "")
    message, hint = f"the sample `{path}` cannot be read as JSON", "write the values under `sample`"
    problems.append(document.problem(("sample",), "not-imported", message, hint, severity="warning"))
    return None
