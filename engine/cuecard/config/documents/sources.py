"""The source texts of an agent: the boundary between the outside world and the pure core."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, field, fields
from itertools import islice
from typing import Any

from cuecard.config.documents.document import Document, Path, problem_at
from cuecard.errors import MAX_PROBLEMS, Problem, Span
from cuecard.model import Json
from cuecard.records import dataclass
from cuecard.template import find_invisible


@dataclass(frozen=True, slots=True)
class SourceText:
    """One file: `name` as errors show it, `path` relative to the agent file (equal on every machine), its text."""

    name: str
    path: str
    text: str

    @property
    def stem(self) -> str:
        """The file's name without folders and extension, which is the name of a partial."""
        return self.path.rpartition("/")[2].partition(".")[0]


@dataclass(frozen=True, slots=True)
class SkillSource(SourceText):
    """The source of a SKILL.md.

    Attributes:
        slug: its folder's name.
        root: the configured folder that it was found in, as written.
        strict: whether a section wants an error for unusable skills of that root.
    """

    slug: str
    root: str
    strict: bool = field(default=False, compare=False)  # of no matter to a state that has served


@dataclass(frozen=True, slots=True)
class AgentSources:
    """Every text of one agent, and the problems found while reading them (a missing file, a wrong encoding).

    Attributes:
        agent: the agent file.
        template: the XML core template.
        partials: the partials of the template or of the sections.
        instructions: files of tool instructions.
        layers: the agent files that this one extends, from the base up.
        sections: the files that contain the texts of sections.
        files: files that sections show if they exist.
        unread: those that exist but cannot be read, by path, with the reason.
        not_files: the paths of such files where there is a folder instead.
        skills: the SKILL.md files.
        models: the agent's own model profiles.
        folders: the folders that patterns searched, relative to the agent file.
        results: the files that contain the templates of results.
        problems: the problems of files that must exist.
    """

    agent: SourceText
    template: SourceText | None = None
    partials: tuple[SourceText, ...] = ()
    instructions: tuple[SourceText, ...] = ()
    problems: tuple[Problem, ...] = ()
    layers: tuple[SourceText, ...] = ()
    sections: tuple[SourceText, ...] = ()
    files: tuple[SourceText, ...] = ()
    unread: tuple[tuple[str, str], ...] = ()
    skills: tuple[SkillSource, ...] = ()
    models: SourceText | None = None
    folders: tuple[str, ...] = ()
    results: tuple[SourceText, ...] = ()
    not_files: tuple[str, ...] = ()

    def texts(self) -> Iterator[SourceText]:
        """All texts, the agent file first."""
        yield self.agent
        yield from self.layers
        yield from (self.template,) if self.template else ()
        yield from self.partials
        yield from self.sections
        yield from self.results
        yield from self.files
        yield from self.skills
        yield from self.instructions
        yield from (self.models,) if self.models else ()

    def folder(self, source: SourceText) -> str:
        """The folder of a file, relative to the agent file's; empty if it is the same."""
        return source.path.rpartition("/")[0]

    def sha256(self) -> str:
        """The fingerprint of the whole configuration, in hex, the same on every machine.

        It covers everything that decides a prompt: each text with its path and its role. Names and problems, which only
        errors show, are not part of it.
        """
        return hashlib.sha256(json.dumps(self.content()).encode("ascii")).hexdigest()

    def content(self) -> dict[str, Any]:
        """What the fingerprint covers, as plain JSON."""
        covered = [each.name for each in fields(self) if each.name not in {"problems", "folders", "not_files"}]
        covered.remove("results") if not self.results else None
        return {name: _content(getattr(self, name)) for name in covered}


def _content(value: Any) -> Any:
    if isinstance(value, SourceText):
        written = asdict(value)
        return {key: text for key, text in written.items() if key not in {"name", "strict"}}
    return [_content(each) for each in value] if isinstance(value, tuple) else value


def refuse_invisible(source: SourceText) -> list[Problem]:
    """An error for each invisible character in an author's file, up to a limit: models read what people cannot see."""
    found = find_invisible(source.text)
    more = f" (and {len(found) - MAX_PROBLEMS:,} more below)" if len(found) > MAX_PROBLEMS else ""
    return [
        problem_at(
            source.name,
            source.text,
            _span_at(source.text, offset),
            "invisible-character",
            f"an invisible character, U+{ord(character):04X}{more if number == MAX_PROBLEMS else ''}",
            "delete it: people cannot see it, but models read it",
        )
        for number, (offset, character) in enumerate(found[:MAX_PROBLEMS], 1)
    ]


def refuse_escaped(document: Document) -> list[Problem]:
    """The same for characters from escapes in double-quoted YAML."""
    if not any("\\" in each.text for each in (document, *document.origins.values())):
        return []
    escaped = (
        document.problem(
            path,
            "invisible-character",
            f"an escape sequence produces an invisible character, U+{ord(character):04X}",
            "remove the escape: people cannot see the character, but models read it",
        )
        for path, text in _texts(document.value, ())
        for _, character in find_invisible(text)
        if character not in document.origin(path).text
    )
    return list(islice(escaped, MAX_PROBLEMS))


def _texts(value: Json, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, index))


def _span_at(text: str, offset: int) -> Span:
    before = text[:offset]
    return Span(before.count("\n") + 1, offset - before.rfind("\n"))
