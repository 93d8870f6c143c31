"""dotprompt: `.prompt` files with YAML front matter and Handlebars."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from cuecard.config.documents.document import Document, Path
from cuecard.errors import Problem
from cuecard.model import Json
from cuecard.workbench.imports.handlebars import HandlebarsText, Marker, from_handlebars
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
from cuecard.workbench.imports.schemas import Schema, type_of_value

Partials = Callable[[str], tuple[str, str] | None]
"""Finds the text of a partial by name, and the name of its file in errors; None if there is no such file."""

_HINTS = {
    "model": "your program names the model for each user message; conditions can test it: `model` of a turn file",
    "config": "pass it to the model's client yourself",
    "output": "pass the schema to the model's client yourself, or describe the format in the text",
    "tools": "name their files under `tools`: `cuecard tools import` writes them",
}
_TELLING = 40  # the characters of a text that an error shows
_SILENT = {"name", "description", "input"}


def read_dotprompt(text: str, name: str, stem: str, partial: Partials) -> ImportedPrompt:
    """One `.prompt` file.

    Args:
        text: the file.
        name: its name in errors.
        stem: its name without the extension.
        partial: finds `_name.prompt` next to it.

    Raises:
        SpecError: when the front matter or a partial cannot be read.
        TemplateSyntaxError: when the body is not Handlebars.
    """
    notes = Notes(name, text)
    front = _trimmed(read_front(text, name))
    document = front.document or Document(name, "", {})
    notes.problems.extend(_settings(document))
    body = from_handlebars(front.body, notes, front.line)
    partials: dict[str, str] = {}
    reads = dict(body.reads)
    for inner in _partials(body, notes, partial, partials):
        reads = {**inner.reads, **reads}
    schema = Schema(document, notes.problems)
    declared = _declared(document, schema, notes.problems)
    for missing in (key for key in reads if key not in declared):
        kind, line = reads[missing]
        hint = "declare its actual type"
        notes.add(line, f"`{missing}` is read, but no schema declares it: it is a `{kind}` here", hint, "warning")
        declared[missing] = Input(kind, (EMPTY[kind],))
    said = document.value.get("description")
    return ImportedPrompt(
        name=_told(document, "name") or stem,
        source=name,
        messages=tuple(_messages(body, notes)),
        inputs=declared,
        partials=partials,
        sample={key: example for key, example in schema.examples.items() if not declared[key].default},
        description=said if isinstance(said, str) else "",
        trim=False,
        problems=notes.in_order(),
        text=text,
    )


def _trimmed(front: FrontMatterFile) -> FrontMatterFile:
    """The body as dotprompt reads it: without surrounding white space if there is front matter."""
    if front.document is None:
        return front
    body = front.body.lstrip()
    skipped = front.body[: len(front.body) - len(body)].count("\n")
    return FrontMatterFile(front.document, body.rstrip(), front.line + skipped)


def _told(document: Document, key: str) -> str:
    value = document.value.get(key)
    return value if isinstance(value, str) else ""


def _settings(document: Document) -> Iterator[Problem]:
    for key in document.value:
        if key in _SILENT:
            continue
        message = f"`{key}` is not part of a prompt here" if key in _HINTS else f"`{key}` has no counterpart"
        hint = _HINTS.get(key, "keep it where it is used")
        yield document.problem((key,), "not-imported", message, hint, key=True, severity="warning")


def _declared(document: Document, schema: Schema, problems: list[Problem]) -> dict[str, Input]:
    given = document.value.get("input")
    if given is None:
        return {}
    if not isinstance(given, dict):
        problems.append(document.problem(("input",), "wrong-value", "`input` should be a mapping", "write `schema:`"))
        return {}
    problems.extend(_unknown(document, ("input",), given, {"schema", "default"}))
    inputs = schema.inputs(("input", "schema")) if given.get("schema") else {}
    defaults = given.get("default")
    for name, value in defaults.items() if isinstance(defaults, dict) else ():
        known = inputs.get(name) or Input(type_of_value(value))
        inputs[name] = replace(known, default=(value,))
    return inputs


def _unknown(document: Document, path: Path, given: Mapping[str, Json], known: set[str]) -> Iterator[Problem]:
    for key in given:
        if key not in known:
            message, hint = f"`{key}` has no counterpart", "keep it where it is used"
            yield document.problem((*path, key), "not-imported", message, hint, key=True, severity="warning")


def _partials(body: HandlebarsText, notes: Notes, partial: Partials, found: dict[str, str]) -> Iterator[HandlebarsText]:
    """Collect every partial, including those that partials name, in `found`."""
    for name, line in body.partials.items():
        if name in found:
            continue
        known = partial(name)
        if known is None:
            found[name] = f"{notes.mark(line)}\n"
            notes.add(line, f"there is no file `_{name}.prompt` beside this one", "write `partials/" + name + ".md`")
            continue
        text, called = known
        inner_notes = Notes(called, text)
        front = read_front(text, called)
        inner = from_handlebars(front.body, inner_notes, front.line)
        for marker in (part for part in inner.parts if isinstance(part, Marker)):
            message = "a role inside a partial: the list of messages is fixed here"
            inner_notes.add(marker.line, message, "write the role where the partial is called")
        found[name] = "".join(part for part in inner.parts if isinstance(part, str))
        notes.problems.extend(inner_notes.problems)
        yield inner
        yield from _partials(inner, notes, partial, found)


def _messages(body: HandlebarsText, notes: Notes) -> Sequence[PromptMessage]:
    """The messages of a body; if the history has no place, it comes before the final user message."""
    found = list(_parted(body, notes))
    if found and found[-1].role == "user" and all(isinstance(part, str) or part.role for part in body.parts):
        found[-1] = replace(found[-1], late=True)
    return found


def _parted(body: HandlebarsText, notes: Notes) -> Iterator[PromptMessage]:
    """Texts with the roles before them; texts of only white space are dropped."""
    role: Role = "user"
    passed, at, line = False, 0, 1
    for part in body.parts:
        if isinstance(part, str):
            if part.strip():
                if passed and role == "system":
                    found = notes.text.find(part.strip()[:_TELLING], at)
                    line += notes.text.count("\n", at, max(at, found))
                    at = found if found >= 0 else len(notes.text)  # a translated one, and those after it
                    message = "text for the system after the history: it becomes part of the system prompt here"
                    notes.add(line, message, "no action needed if that is intended", "warning")
                yield PromptMessage(role, part, late=passed and role != "system")
        elif part.role in ROLES:
            role = ROLES[part.role]
        elif part.role:
            role = "user"
            notes.add(part.line, f"a section cannot have the role `{part.role}`", "results of tools come with the turn")
        else:
            role, passed = "assistant", True
