"""What the editor edits: one tool's entry or one section, where each of its texts is written, and how it is saved."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from cuecard.agent.texts import section_of
from cuecard.config.documents import document as documents
from cuecard.config.documents.sources import AgentSources, SourceText
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.documents.yaml_edits import on_one_line, same, with_value, without
from cuecard.config.tools_spec import CUES
from cuecard.errors import InputError, Problem, SpecError, did_you_mean
from cuecard.files.atomic_write import rewrite
from cuecard.files.content import content_root
from cuecard.files.roots import shown
from cuecard.files.safe_read import MAX_BYTES, read_bytes
from cuecard.model import Json
from cuecard.records import dataclass

ENTRY = ("description", "phrases", *CUES)
"""The fields of a tool's entry, in the order in which people write them."""

_BOM = "\ufeff"
_read = lru_cache(maxsize=16)(read_yaml)


@dataclass(frozen=True, slots=True)
class Written:
    """A field, and where it is written.

    Attributes:
        name: its name.
        value: what the file says; None if it says nothing.
        path: the file, relative to the agent file.
        key: the place in YAML; empty for a whole file or a part of one.
        part: the offsets in a template.
    """

    name: str
    value: Json
    path: str
    key: documents.Path = ()
    part: tuple[int, int] | None = None

    @property
    def text(self) -> str:
        """The value as a form shows it: a list has a line for each text."""
        if isinstance(self.value, list) and all(isinstance(each, str) for each in self.value):
            return "\n".join(self.value)
        return "" if self.value is None else self.value if isinstance(self.value, str) else on_one_line(self.value)

    def read(self, text: str) -> Json:
        """The value that somebody means who leaves this text in the form.

        Raises:
            SpecError: when it is a condition that cannot be read.
        """
        if text == self.text:
            return self.value
        if self.name == "phrases" or isinstance(self.value, list):
            return [line.strip() for line in text.split("\n") if line.strip()] or None
        if self.name == "when":
            return read_yaml(f"when: {text}\n", "when").value["when"] if text.strip() else None
        return text if text or self.name == "text" else None


@dataclass(frozen=True, slots=True)
class Subject:
    """A tool's entry or a section.

    Attributes:
        kind: which of them.
        name: the tool, or the id of the section.
        fields: what can be edited.
        files: the texts of the files that have it, by path.
        twice: other files that have an entry of the same tool.
    """

    kind: Literal["tool", "section"]
    name: str
    fields: tuple[Written, ...]
    files: Mapping[str, SourceText]
    twice: tuple[str, ...] = ()

    @property
    def base(self) -> str:
        """The fingerprint of what the files say of it now."""
        said = json.dumps([[each.name, each.value, each.path] for each in self.fields])
        return hashlib.sha256(said.encode("ascii")).hexdigest()[:24]

    @property
    def shown_files(self) -> tuple[str, ...]:
        """The names of its files without folders."""
        return tuple(path.rpartition("/")[2] for path in self.files)

    def values(self, form: Mapping[str, str]) -> tuple[dict[str, Json], dict[str, Problem]]:
        """What the fields mean, and what is wrong with those that cannot be read."""
        found: dict[str, Json] = {}
        wrong: dict[str, Problem] = {}
        for each in self.fields:
            try:
                found[each.name] = each.read(form.get(each.name, each.text))
            except SpecError as error:
                why = error.problems[0]
                told = f"`{each.name}` cannot be read: {why.message}"
                found[each.name], wrong[each.name] = each.value, Problem(why.code, told, why.hint, each.name)
        return found, wrong

    def changed(self, values: Mapping[str, Json]) -> dict[str, str]:
        """The texts of its files with other values, by path; those that stay as they are, are left out.

        Raises:
            InputError: when a value cannot be written without losing something else.
            SpecError: when a file cannot be read.
        """
        texts = {path: file.text for path, file in self.files.items()}
        for each in self.fields:
            value = values.get(each.name, each.value)
            if not same(value, each.value):
                texts[each.path] = _with(texts[each.path], self.files[each.path].name, each, value)
        return {path: text for path, text in texts.items() if text != self.files[path].text}


def subject_of(sources: AgentSources, tool: str, section: str, near: str = "") -> Subject:
    """The entry of a tool or, without one, a section.

    Args:
        sources: the agent's texts.
        tool: the name of a tool; empty for a section.
        section: the id of a section.
        near: the file that is known to have the entry, as problems call it.

    Raises:
        InputError: when there is none.
        SpecError: when it is not known, because files cannot be read.
    """
    return _entry_of(sources, tool, near) if tool else _section_of(sources, section)


def save(agent: Path, subject: Subject, texts: Mapping[str, str]) -> None:
    """Write changed texts of a subject into its files, each whole or not at all.

    Raises:
        InputError: when a file is not the user's to change, may not be written, or has changed meanwhile; those that
            were not written yet stay as they are.
    """
    places = {path: Path(os.path.normpath(agent.parent / path)) for path in texts}
    if problems := [each for path in places.values() if (each := _refused(path))]:
        raise InputError(problems)
    for path, text in texts.items():
        try:
            raw = read_bytes(places[path], limit=MAX_BYTES)
        except SpecError as error:
            raise InputError(error.problems) from None
        ends = text.replace("\n", "\r\n") if b"\r\n" in raw else text
        rewrite(places[path], (_BOM if raw.startswith(_BOM.encode()) else "") + ends, subject.files[path].text)


def whose(agent: Path, subject: Subject) -> Problem | None:
    """Why its files cannot be saved; None if they can, as far as that is known before."""
    found = (_refused(Path(os.path.normpath(agent.parent / path))) for path in subject.files)
    return next((each for each in found if each), None)


def _refused(path: Path) -> Problem | None:
    real, root = Path(os.path.realpath(path)), content_root()
    bundled = real.is_relative_to(root) and (root.name == "_bundled" or not Path.cwd().is_relative_to(root))
    if bundled or {"site-packages", "dist-packages"} & {*real.parts}:
        told = "the file belongs to an installed package, and would be lost with its next version"
        return Problem(
            "wrong-edit", told, "copy it first: `cuecard init DIR --from cms`, or copy its folder", shown(path)
        )
    if real.is_file() and not real.stat().st_mode & 0o222:
        hint = "make it writable, such as with `chmod u+w`, and save again: the draft stays"
        return Problem("unreadable-file", "the file is read-only", hint, shown(path))
    return None


def _with(text: str, name: str, field: Written, value: Json) -> str:
    if field.key and value is None:
        return without(text, field.key, name)
    if field.key:
        return with_value(text, field.key, value, name, ENTRY if field.name in ENTRY else ("id", "title", "when"))
    start, end = field.part or (0, len(text))
    return text[:start] + str(value or "") + text[end:]


def _entry_of(sources: AgentSources, tool: str, near: str) -> Subject:
    first = [each for each in sources.instructions if each.name == near]
    unread: list[Problem] = []
    found: list[tuple[SourceText, dict[str, Any]]] = []
    known: list[str] = []
    for file in (*first, *(each for each in sources.instructions if each.name != near)):
        try:
            tools = _read(file.text, file.name).value.get("tools")
        except SpecError as error:
            unread += error.problems
            continue
        known += [*tools] if isinstance(tools, dict) else []
        if isinstance(tools, dict) and isinstance(tools.get(tool), dict):
            found.append((file, tools[tool]))
    if not found and unread:
        raise SpecError(unread)
    if not found:
        hint = did_you_mean(tool, known)
        raise InputError(Problem("unknown-tool", f"no file has an entry for the tool `{tool}`", hint, "address.tool"))
    file, entry = found[0]
    shown_first = ("description", *CUES, "phrases")
    fields = tuple(Written(name, entry.get(name), file.path, ("tools", tool, name)) for name in shown_first)
    return Subject("tool", tool, fields, {file.path: file}, tuple(each.name for each, _ in found[1:]))


def _section_of(sources: AgentSources, section: str) -> Subject:
    found = section_of(sources, section)
    fields = [Written("text", found.body, found.path, found.key, found.part)]
    texts = {each.path: each for each in sources.texts()}
    if found.titled:
        path, at = found.titled
        held: Any = _read(texts[path].text, texts[path].name).at(at)
        fields.append(Written("when", held.get("when"), path, (*at, "when")))
    return Subject("section", section, tuple(fields), {each.path: texts[each.path] for each in fields})


def names(sources: AgentSources) -> Iterator[tuple[str, Sequence[str]]]:
    """The files of entries that can be read, and the tools in each."""
    for file in sources.instructions:
        try:
            tools = _read(file.text, file.name).value.get("tools")
        except SpecError:
            continue
        if isinstance(tools, dict):
            yield file.path, [name for name, held in tools.items() if isinstance(held, dict)]
