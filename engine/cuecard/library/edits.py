"""Edits without a checkout: one section or one tool's entry of a version, in the very file that has it."""

from __future__ import annotations

import difflib
import posixpath
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from cuecard.agent.specification import read_specification
from cuecard.agent.texts import LocatedText, entry_of, in_place, section_of
from cuecard.agent.world import Memo
from cuecard.config.documents.sources import AgentSources, SourceText
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.documents.yaml_edits import with_value
from cuecard.config.named_files import WRITTEN, written_file
from cuecard.errors import InputError, Problem, SpecError, TemplateError, did_you_mean
from cuecard.library.versions import Version, VersionContent, check_characters
from cuecard.model import Json
from cuecard.records import dataclass
from cuecard.template import clean, without_controls
from cuecard.template.syntax.nodes import Block, Mustache, as_path, walk
from cuecard.template.syntax.parser import parse
from cuecard.template.syntax.source import TemplateSource

MAX_TEXT = 1024 * 1024
"""The maximum number of characters of an edited text, as of a file."""


def with_section(content: VersionContent, section: str, body: str | None, title: str | None) -> VersionContent:
    """The content with another text or title of a section.

    Raises:
        InputError: when there is no such section, or the text cannot be its.
    """
    made = content
    if body is not None:
        found = section_of(content.sources, section)
        check_text(body, "body")
        _refuse_raw(found, body)
        made = _with_text(made, found.path, lambda text: in_place(text, found, body))
    if title is not None:
        found = section_of(made.sources, section)
        if found.titled is None:
            told, hint = f"`{section}` is an element of a template, which has no title", "edit its text"
            raise InputError(Problem("wrong-edit", told, hint, "title"))
        path, at = found.titled
        check_text(title, "title")
        made = _with_text(made, path, lambda text: _with_title(text, at, title))
    return made


def with_entry(content: VersionContent, tool: str, entry: Mapping[str, Json]) -> VersionContent:
    """The content with another entry of a tool.

    Raises:
        InputError: when there is no such entry, or it cannot be written.
    """
    path, _ = entry_of(content.sources, tool)
    for name, text in _texts(entry, tool):
        check_text(text, name)
    return _with_text(content, path, lambda text: with_value(text, ("tools", tool), dict(entry)))


def with_written(content: VersionContent, name: str, text: str) -> VersionContent:
    """The content with what a model has written into one of its writable sections: as data, without controls.

    Raises:
        InputError: when the agent file has no such name, or the text is empty or too long.
    """
    spec = read_specification(content.sources, Memo()).spec
    writable = spec.writable if spec else {}
    if name not in writable:
        hint = did_you_mean(name, writable) or "declare it in the agent file: `writable: {NAME: {section: ID}}`"
        raise InputError(Problem("wrong-edit", f"nothing named `{name}` can be written", hint, "name"))
    data = str(clean(without_controls(text))[0]).strip()
    most = writable[name].max_chars
    if not data or len(data) > most:
        told = f"the text has {len(data):,} characters; `{name}` takes 1 to {most:,}"
        raise InputError(Problem("wrong-argument", told, "let the model write a shorter text", "text"))
    path, sources = written_file(name), content.sources
    file = SourceText(path, path, data)
    held = {each.path: each for each in (*sources.files, file)}
    ordered = [*(each for each in held if not each.startswith(WRITTEN)), *map(written_file, writable)]
    files = tuple(held[each] for each in ordered if each in held)
    return replace(content, sources=replace(sources, files=files))


def lost_placeholders(section: str, before: str, after: str) -> Iterator[Problem]:
    """A warning for each placeholder that a section no longer has, with what is lost by it."""
    kept = _placeholders(after)
    for name in _placeholders(before):
        if name not in kept:
            told = f"section `{section}` no longer has `{name}`: what it printed is lost"
            hint = "write `{{{" + name + "}}}` where it belongs, unless that is meant"
            yield Problem("placeholder-lost", told, hint, section, severity="warning")


def difference(before: str, after: str, name: str) -> str:
    """What changed between two texts, as a unified diff."""
    old, new = before.splitlines(), after.splitlines()
    return "\n".join(difflib.unified_diff(old, new, f"{name} (before)", f"{name} (now)", lineterm=""))


def check_text(text: str, name: str) -> str:
    """A text of a file: not too large, and without what no file may have.

    Raises:
        InputError: when it is.
    """
    if len(text) > MAX_TEXT:
        told = f"`{name}` has {len(text):,} characters; a text has at most {MAX_TEXT:,}"
        raise InputError(Problem("large-file", told, "make it shorter", name))
    return check_characters(text, name)


def _with_title(text: str, at: tuple[str | int, ...], title: str) -> str:
    return with_value(text, (*at, "title"), title, order=("id", "title"))


def _with_text(content: VersionContent, path: str, change: Callable[[str], str]) -> VersionContent:
    """The content with another text of one file, wherever it is used."""

    def changed(held: Any) -> Any:
        if isinstance(held, tuple):
            return tuple(map(changed, held))
        is_it = isinstance(held, SourceText) and posixpath.normpath(held.path) == posixpath.normpath(path)
        return replace(held, text=change(held.text)) if is_it else held

    sources = content.sources
    found = {each.name: changed(getattr(sources, each.name)) for each in fields(sources)}
    return replace(content, sources=AgentSources(**found))


def _refuse_raw(found: LocatedText, body: str) -> None:
    """Raw blocks switch off how values are guarded in a reader's eyes; files of a checkout may have them."""
    if any(isinstance(node, Block) and node.raw for node in _nodes(body)):
        told = f"the text of `{found.section}` has a raw block"
        raise InputError(Problem("wrong-edit", told, "take out `{{{{...}}}}`", "body"))


def _nodes(text: str) -> Iterator[Any]:
    try:
        yield from walk(parse(TemplateSource("body", text)).body)
    except TemplateError:  # the check of the version says so, at its place
        return


def _placeholders(text: str) -> dict[str, None]:
    """What a text prints or asks for, by name, in its order."""
    heads = (as_path(node.call.head).original for node in _nodes(text) if isinstance(node, Mustache | Block))
    return dict.fromkeys(heads)


def _texts(value: Json, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, Mapping):
        for key, held in value.items():
            yield from ((name, str(key)), *_texts(held, f"{name}.{key}"))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each, name)


def read_entry(text: str) -> dict[str, Json]:
    """A tool's entry, written in YAML.

    Raises:
        InputError: when it is not a mapping.
    """
    try:
        return read_yaml(text, "entry").value
    except SpecError as error:
        raise InputError(error.problems) from None


@dataclass(frozen=True, slots=True)
class SectionEdit:
    """An edit of one section."""

    section: str
    body: str | None
    title: str | None

    def refuse_conflict(self, base: VersionContent, now: VersionContent, head: Version) -> None:
        """Refuse it where somebody else has changed the same since the version that it began from."""
        old, new = (section_of(each.sources, self.section) for each in (base, now))
        _refuse(f"section `{self.section}`", (old.title, old.body), (new.title, new.body), head)

    def lay_over(self, content: VersionContent) -> tuple[VersionContent, tuple[Problem, ...]]:
        """The content with it, and what is lost by it."""
        before = section_of(content.sources, self.section).body
        made = with_section(content, self.section, self.body, self.title)
        lost = () if self.body is None else lost_placeholders(self.section, before, self.body)
        return made, tuple(lost)


@dataclass(frozen=True, slots=True)
class EntryEdit:
    """An edit of one tool's entry."""

    tool: str
    entry: Mapping[str, Json]

    def refuse_conflict(self, base: VersionContent, now: VersionContent, head: Version) -> None:
        """Refuse it where somebody else has changed the same since the version that it began from."""
        old, new = (entry_of(each.sources, self.tool)[1] for each in (base, now))
        _refuse(f"the entry of `{self.tool}`", ("", _lines(old)), ("", _lines(new)), head)

    def lay_over(self, content: VersionContent) -> tuple[VersionContent, tuple[Problem, ...]]:
        """The content with it, and what is lost by it."""
        return with_entry(content, self.tool, self.entry), ()


def target_of(
    section: str | None,
    body: str | None,
    title: str | None,
    tool: str | None,
    entry: Mapping[str, Json] | None,
) -> SectionEdit | EntryEdit:
    """The edit that these arguments describe.

    Raises:
        InputError: when they describe none, or two.
    """
    if section is not None and tool is None and entry is None and (body is not None or title is not None):
        return SectionEdit(section, body, title)
    if tool is not None and entry is not None and (section, body, title) == (None, None, None):
        return EntryEdit(tool, entry)
    hint = "give `section` with `body` or `title`, or `tool` with `entry`"
    raise InputError(Problem("wrong-argument", "an edit is of one section or of one tool", hint, "edit"))


def _refuse(what: str, old: tuple[str, str], new: tuple[str, str], head: Version) -> None:
    if old != new:
        told = f"{what} was changed meanwhile, by {head.author} in {head} or before"
        before, now = ("\n".join(filter(None, each)) for each in (old, new))
        hint = f"{difference(before, now, what)}\nbegin again from {head}"
        raise InputError(Problem("edit-conflict", told, hint, "library"))


def _lines(entry: Json) -> str:
    """An entry of a tool, a line for each text."""
    if not isinstance(entry, Mapping):
        return str(entry)
    return "\n".join(f"{key}: {held}" for key, held in entry.items())
