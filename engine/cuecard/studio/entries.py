"""What the editor edits: one tool's entry or one section, where each of its texts is written, and how it is saved."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from cuecard.agent.texts import SectionPlace, file_of, part_of, places_of
from cuecard.config.documents import document as documents
from cuecard.config.documents.sources import AgentSources, SourceText
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.documents.yaml_edits import on_one_line, same, with_value, without
from cuecard.config.sections.section_spec import SOURCES, TEXTS
from cuecard.config.tools_spec import CUES
from cuecard.errors import InputError, Problem, SpecError, did_you_mean
from cuecard.files.atomic_write import rewrite
from cuecard.files.content import content_root
from cuecard.files.roots import shown
from cuecard.model import Json
from cuecard.records import dataclass

ENTRY = ("description", "phrases", *CUES)
"""The fields of a tool's entry, in the order in which people write them."""

_read = lru_cache(maxsize=256)(read_yaml)  # a key press changes one file of many


@dataclass(frozen=True, slots=True)
class WrittenField:
    """A field, and where it is written.

    Attributes:
        name: its name.
        value: what the file says; None if it says nothing.
        path: the file, relative to the agent file.
        key: the place in YAML; empty for a whole file or a part of one.
        part: the offsets in a template.
        of: which of several it is, such as the text of a profile; empty for the only one.
    """

    name: str
    value: Json
    path: str
    key: documents.Path = ()
    part: tuple[int, int] | None = None
    of: str = ""

    @property
    def kind(self) -> str:
        """What it is, whichever of several: such as `text` or `when`."""
        return self.name.rpartition("-")[2]

    @property
    def label(self) -> str:
        """What people call it."""
        return f"{self.kind}, {self.of}" if self.of else self.kind

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
        if self.kind == "when":
            return read_yaml(f"when: {text}\n", "when").value["when"] if text.strip() else None
        return text if text or (self.kind == "text" and self.value is not None) else None


@dataclass(frozen=True, slots=True)
class Subject:
    """A tool's entry or a section.

    Attributes:
        kind: which of them.
        name: the tool, or the id of the section.
        fields: what can be edited.
        files: the texts of the files that have it, by path.
        twice: other files that have an entry of the same tool; `counts` the one whose words count where several speak.
        closed: what else is said of it, which is edited in its file, and where that is.
        fixed: why files of it cannot be saved, by path, as far as that is known before.
    """

    kind: Literal["tool", "section"]
    name: str
    fields: tuple[WrittenField, ...]
    files: Mapping[str, SourceText]
    twice: tuple[str, ...] = ()
    counts: str = ""
    closed: tuple[tuple[str, str], ...] = ()
    fixed: Mapping[str, Problem] = field(default_factory=dict)

    @property
    def refused(self) -> Problem | None:
        """Why nothing of it can be saved; None if something can."""
        return next(iter(self.fixed.values()), None) if self.fixed.keys() == self.files.keys() else None

    @property
    def base(self) -> str:
        """The fingerprint of what the files say of it now."""
        said = json.dumps([[each.name, each.value, each.path] for each in self.fields])
        return hashlib.sha256(said.encode("ascii")).hexdigest()[:24]

    @property
    def shown_files(self) -> tuple[str, ...]:
        """The names of its files without folders: of those that can be saved or, if none can, of all."""
        kept = [path for path in self.files if path not in self.fixed] or self.files
        return tuple(path.rpartition("/")[2] for path in kept)

    def values(self, form: Mapping[str, str]) -> tuple[dict[str, Json], dict[str, Problem]]:
        """What the fields mean, and what is wrong with those that cannot be read."""
        found: dict[str, Json] = {}
        wrong: dict[str, Problem] = {}
        for each in self.fields:
            try:
                found[each.name] = each.read(form.get(each.name, each.text))
            except SpecError as error:
                why = error.problems[0]
                told = f"`{each.label}` cannot be read: {why.message}"
                found[each.name], wrong[each.name] = each.value, Problem(why.code, told, why.hint, each.label)
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
                texts[each.path] = _with(self.files[each.path], texts[each.path], each, value, self.name)
        return {path: text for path, text in texts.items() if text != self.files[path].text}


def subject_of(sources: AgentSources, tool: str, section: str, near: str = "", sections: Sequence[str] = ()) -> Subject:
    """The entry of a tool or, without one, a section.

    Args:
        sources: the agent's texts.
        tool: the name of a tool; empty for a section.
        section: the id of a section.
        near: the file that is known to have the entry, as problems call it.
        sections: the ids of the sections that there are.

    Raises:
        InputError: when there is none.
        SpecError: when it is not known, because files cannot be read.
    """
    return _entry_of(sources, tool, near) if tool else _section_of(sources, section, sections)


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
        rewrite(places[path], text, subject.files[path].text)


def with_fixed(agent: Path, subject: Subject) -> Subject:
    """The subject, with why files of it cannot be saved."""
    found = ((path, _refused(Path(os.path.normpath(agent.parent / path)))) for path in subject.files)
    return replace(subject, fixed={path: why for path, why in found if why})


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


def _with(file: SourceText, text: str, field: WrittenField, value: Json, section: str) -> str:
    """The text of a file, which may be changed already, with another value of a field."""
    name = file.name
    if field.key[:1] == ("sections",) and len(held := _read(text, name).value.get("sections") or []) == field.key[1]:
        return with_value(text, ("sections",), [*held, {"id": section, "when": value}], name)
    if field.key and value is None:
        return without(text, field.key, name)
    if field.key:
        order = ENTRY if field.name in ENTRY else ("id", "title", "when")
        return with_value(text, field.key, value, name, order, _read if text == file.text else read_yaml)
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
    fields = tuple(WrittenField(name, entry.get(name), file.path, ("tools", tool, name)) for name in shown_first)
    last = max((each for each, _ in found), key=sources.instructions.index)
    return Subject("tool", tool, fields, {file.path: file}, tuple(each.name for each, _ in found[1:]), last.name)


def _section_of(sources: AgentSources, section: str, known: Sequence[str]) -> Subject:
    said = [*places_of(sources, section, _read)]
    part = part_of(sources, section)
    if not said and part is None and section not in known:
        hint = did_you_mean(section, known)
        raise InputError(Problem("unknown-section", f"there is no section `{section}`", hint, "address.section"))
    base = [each for each in said if each.of is None]
    fields = [*_base_texts(sources, base, part), _condition(sources, base)]
    for number, each in enumerate([each for each in said if each.of], 1):
        name, whose = f"of-{number}-", f"{each.of[0].removesuffix('s')} `{each.of[1]}`" if each.of else ""
        fields += _texts(sources, each, name, whose)
        if "when" in each.held:
            fields.append(
                WrittenField(f"{name}when", each.held["when"], each.file.path, (*each.key, "when"), None, whose)
            )
    texts = {each.path: each for each in (*sources.texts(), sources.agent)}
    files = {each.path: texts[each.path] for each in fields}
    return Subject("section", section, tuple(fields), files, closed=tuple(_closed(sources, section, said, fields)))


def _base_texts(
    sources: AgentSources, base: Sequence[SectionPlace], part: tuple[int, int] | None
) -> Iterator[WrittenField]:
    """The texts of a section: those of the file that says them, those of the template, or one that may be added."""
    told = next((each for each in base if any(each.held.get(key) is not None for key in TEXTS)), None)
    if told:
        yield from _texts(sources, told, "", "")
    elif part and sources.template:
        yield WrittenField("text", sources.template.text[slice(*part)], sources.template.path, (), part)
    elif base:
        at = next((each for each in base if any(key in each.held for key in SOURCES)), base[0])
        yield WrittenField("text", None, at.file.path, (*at.key, "text"))


def _texts(sources: AgentSources, place: SectionPlace, name: str, of: str) -> Iterator[WrittenField]:
    """The texts in one place, and the conditions of those among which it chooses."""
    yield from _text(sources, place, (), place.held, name, of)
    choices = place.held.get("choose")
    listed = choices if isinstance(choices, list) else [] if choices is None else [choices]
    for number, held in enumerate(listed, 1):
        if isinstance(held, dict):
            key: documents.Path = ("choose", number - 1) if isinstance(choices, list) else ("choose",)
            which = f"{of and of + ', '}choice {number} of {len(listed)}"
            for each in ("when", "model"):
                if each in held:
                    path, at = place.file.path, (*place.key, *key, each)
                    yield WrittenField(f"{name}{number}-{each}", held[each], path, at, None, which)
            yield from _text(sources, place, key, held, f"{name}{number}-", which)


def _text(
    sources: AgentSources, place: SectionPlace, key: documents.Path, held: dict[str, Any], name: str, of: str
) -> Iterator[WrittenField]:
    if isinstance(held.get("text"), str):
        yield WrittenField(f"{name}text", held["text"], place.file.path, (*place.key, *key, "text"), None, of)
    elif source := file_of(sources, place.file, held):
        yield WrittenField(f"{name}text", source.text, source.path, (), None, of)


def _condition(sources: AgentSources, base: Sequence[SectionPlace]) -> WrittenField:
    """The condition of a section; one that no agent file speaks of gets an entry for it in the agent's own."""
    place = next((each for each in base if "when" in each.held), base[0] if base else None)
    if place:
        return WrittenField("when", place.held.get("when"), place.file.path, (*place.key, "when"))
    listed = _read(sources.agent.text, sources.agent.name).value.get("sections")
    number = len(listed) if isinstance(listed, list) else 0
    return WrittenField("when", None, sources.agent.path, ("sections", number, "when"))


def _closed(
    sources: AgentSources, section: str, said: Sequence[SectionPlace], fields: Sequence[WrittenField]
) -> Iterator[tuple[str, str]]:
    """What is said of a section besides its texts and conditions: in words, and the place."""
    for each in said:
        place = f"{each.file.path}:{_read(each.file.text, each.file.name).keys[(*each.key, 'id')].line}"
        whose = f"The {each.of[0].removesuffix('s')} `{each.of[1]}` says of it" if each.of else "Its entry has"
        if source := next((key for key in SOURCES if key in each.held), None):
            yield f"`{source}` fills it when a prompt is made; how it does is no text, and is edited there.", place
        if others := [key for key in each.held if key not in {"id", "when", *SOURCES, *TEXTS}]:
            yield f"{whose} {', '.join(f'`{key}`' for key in others)}.", place
    if not any(each.kind == "text" for each in fields) and sources.template:
        told = f"`{section}` is a block or a partial of the template, not one element."
        yield told, f"{sources.template.path}:1"


def names(sources: AgentSources) -> Iterator[tuple[str, Sequence[str]]]:
    """The files of entries that can be read, and the tools in each."""
    for file in sources.instructions:
        try:
            tools = _read(file.text, file.name).value.get("tools")
        except SpecError:
            continue
        if isinstance(tools, dict):
            yield file.path, [name for name, held in tools.items() if isinstance(held, dict)]


def section_names(sources: AgentSources) -> Iterator[str]:
    """The ids of the sections that files speak of, as far as they can be read: those of an agent that does not work."""
    template = sources.template.text if sources.template else ""
    for element in dict.fromkeys(re.findall(r"<([\w.-]+)", template)):
        if part_of(sources, element):
            yield element
    for file in (sources.agent, *reversed(sources.layers)):
        try:
            listed = _read(file.text, file.name).value.get("sections")
        except SpecError:
            continue
        held = (each.get("id") for each in (listed if isinstance(listed, list) else ()) if isinstance(each, dict))
        yield from (each for each in held if isinstance(each, str))
