"""What an agent's files say, field by field: compared between two editions, whether or not a prompt shows it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

from cuecard.agent import WORKING_MEMORY
from cuecard.agent.assembly import CompiledSection
from cuecard.agent.build import AgentDraft, make_draft
from cuecard.agent.results import form_of
from cuecard.agent.trees import reachable
from cuecard.agent.world import Memo
from cuecard.config.documents.validation import FileModel
from cuecard.config.tools_spec import CUES
from cuecard.engine import Engine
from cuecard.files.folder import read_agent
from cuecard.files.host_code import helper_loader
from cuecard.model import Json, ToolCard
from cuecard.workbench.played import PlayedTurn
from cuecard.workbench.testing.snapshot import section_texts

Kind: TypeAlias = Literal["tool", "section", "input", "result", "setting", "partial", "file"]
"""What a field belongs to: an entry of a tool, a section, an input, a template of results, a setting, or a file."""

Item: TypeAlias = tuple[Kind, str]
Fields: TypeAlias = Mapping[str, str]

_ALIKE, _MOST_PAIRS, _LEAST, _MOST = 0.7, 400, 20, 2000
"""From which similarity two entries count as one that was renamed; among how many pairs, and of which lengths, it is
looked for.
"""


@dataclass(frozen=True)
class Edition:
    """One edition of an agent.

    Attributes:
        engine: its engine.
        draft: what it was built from.
    """

    engine: Engine
    draft: AgentDraft

    @classmethod
    def read(cls, agent: Path, engine: Engine, *, allow_code: bool) -> Edition:
        """The edition at this path, which `engine` was opened from."""
        return cls(engine, make_draft(read_agent(agent), Memo(), helper_loader(allow_code=allow_code)))

    @cached_property
    def items(self) -> Mapping[Item, Fields]:
        """Every field that says something, by what it belongs to."""
        agent = self.engine.agent
        found: dict[Item, dict[str, str]] = {("tool", card.name): _card(card) for card in agent.catalogue.values()}
        found |= {("section", each.section.id): _section(each) for each in self._sections}
        dumped = agent.spec.model_dump(
            mode="json", by_alias=True, exclude_none=True, exclude={"sections", "inputs", "results"}
        )
        files = {source.path: source.text for source in self.draft.sources.results}
        for name, declared in agent.spec.inputs.items():
            found["input", name] = dict(_leaves({**_said(declared), "required": declared.required}))
        for name, rule in agent.spec.results.items():
            text = files.get(rule.file or "", rule.text)
            found["result", name] = dict(_leaves({**_said(rule), "text": text}))
        found |= {("setting", path): {"": text} for path, text in _leaves(dumped)}
        for kind in ("access", "profiles", "variants"):  # one without any key is there nevertheless
            named = (f"{kind}.{name}" for name in getattr(agent.spec, kind))
            said = {".".join(path.split(".")[:2]) for item, path in found if item == "setting"}
            found |= {("setting", path): {"": "{}"} for path in named if path not in said}
        return {**found, **dict(self._files())}

    @cached_property
    def _sections(self) -> tuple[CompiledSection, ...]:
        assembly = self.draft.assembly
        return (*assembly.frame, *assembly.compiled) if assembly else ()

    def is_frame(self, section: str) -> bool:
        """Whether a section is a tag of the root element, which every prompt has."""
        return any(each.section.frame for each in self._sections if each.section.id == section)

    @property
    def order(self) -> list[str]:
        """The ids of the sections, in order."""
        return [each.section.id for each in self._sections]

    def _files(self) -> Iterator[tuple[Item, Fields]]:
        sources, shown = self.draft.sources, {each.section.spec.file for each in self._sections}
        yield from ((("partial", each.path), {"": each.text}) for each in sources.partials)
        more = (*sources.sections, *sources.files, *sources.skills, *((sources.models,) if sources.models else ()))
        yield from ((("file", each.path), {"": each.text}) for each in more if each.path not in shown)

    def changes(self, later: Edition, turns: Turns) -> tuple[FieldChange, ...]:
        """Every field that differs in a later edition, and which of the turns reach it."""
        return tuple(_with_reach(change, self, later, turns) for change in _changes(self, later))

    def callers(self, path: str) -> frozenset[str]:
        """The sections that call the partial in this file, directly or indirectly."""
        stem = next((each.stem for each in self.draft.sources.partials if each.path == path), "")
        trees = self.draft.partials
        found = (each for each in self._sections if stem in reachable(trees, each.text.statements))
        return frozenset(each.section.id for each in found)


def _card(card: ToolCard) -> dict[str, str]:
    texts = {"description": card.description, "phrases": "\n".join(card.phrases), "category": card.category}
    texts |= {cue: getattr(card.instructions, cue) for cue in CUES if card.instructions}
    return {key: text for key, text in texts.items() if text}


def _section(compiled: CompiledSection) -> dict[str, str]:
    text = compiled.text
    written = text.source.text[text.start : text.end] if compiled.section.spec.choose is None else None
    fields = {**_said(compiled.section.spec), "text": written}
    return dict(_leaves({key: value for key, value in fields.items() if key != "id"}))


def _said(spec: FileModel) -> dict[str, Any]:
    """What a mapping of the file says beyond the defaults."""
    return spec.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude_none=True)


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """The texts of a tree by their dotted paths; a list is one text, with a line for each item."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        yield from ((path, text) for text in ["\n".join(map(_written, value))] if text)
    elif value is not None and value != "":
        yield path, _written(value)


def _written(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True)
class PlayedSide:
    """A turn as one edition plays it."""

    edition: Edition
    turn: PlayedTurn

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """The sections of the prompt that say something."""
        return {record.id: text for record, text in section_texts(self.turn.step) if text.strip()}

    @cached_property
    def reads(self) -> frozenset[str]:
        """The inputs and built-in values that those sections read."""
        given = self.turn.step.manifest.configuration
        parts = self.edition.engine.agent.edition(given.profile, given.variant)
        return frozenset[str]().union(*(section.reads for section in parts if section.id in self.texts))

    @cached_property
    def read(self) -> tuple[str, ...]:
        """The results of the turn's history as the model reads them."""
        return tuple(self.edition.engine.render_result(each).text for each in self.turn.past.results)

    def found(self, tool: str) -> bool:
        """Whether a search of the turn finds the tool."""
        return any(tool in search.found for search in self.turn.past.searches)

    def says(self, text: str) -> bool:
        """Whether the model reads the first line of a text, in the prompt, in a result or in what a search answers."""
        line = next((line.strip() for line in text.split("\n") if line.strip()), "")
        read = (*self.texts.values(), *self.read)
        return bool(line) and any(line in body for body in read)


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field that differs between two editions.

    Attributes:
        kind: what it belongs to.
        name: the name of that; the later one if it was renamed.
        was: the earlier name if it was renamed.
        field: the field; empty for what has only one, `name` for a new name.
        change: what happened to it.
        before: its earlier text, and `after` the later one; empty where there is none.
        tokens_before: the tokens of both, alone.
        reached: the turns that reach it.
    """

    kind: Kind
    name: str
    was: str
    field: str
    change: Literal["added", "removed", "changed", "renamed", "moved"]
    before: str
    after: str
    tokens_before: int = 0
    tokens_after: int = 0
    reached: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """What it belongs to, and the field: `tool find_notes: gotcha`."""
        named = f"{self.kind} {self.name}"
        return f"{named}: {self.field}" if self.field else named


@dataclass(frozen=True, slots=True)
class ResultChange:
    """A tool result that the model reads differently."""

    tool: str
    before: str
    after: str
    tokens_before: int
    tokens_after: int


@dataclass(frozen=True, slots=True)
class SearchChange:
    """A query that finds other tools than before, best first."""

    query: str
    before: tuple[str, ...]
    after: tuple[str, ...]


Turns: TypeAlias = Sequence[tuple[str, PlayedSide | None, PlayedSide | None]]
"""The turns by name, each as both editions play it."""


def _changes(before: Edition, after: Edition) -> Iterator[FieldChange]:
    old, new = before.items, after.items
    names = {**{item: item for item in old if item in new}, **_renamed(old, new)}
    later = {item: earlier for earlier, item in names.items()}
    for item in dict.fromkeys((*old, *new)):
        if item in old and item not in names:
            yield from _of_fields(item, "", old[item], {})
        elif item in new:
            kind, name = earlier = later.get(item, item)
            if earlier != item:
                yield FieldChange(kind, item[1], name, "name", "renamed", name, item[1])
            yield from _of_fields(item, name if earlier != item else "", old.get(earlier, {}), new[item])
    both = frozenset(before.order).intersection(after.order)
    one, two = ("\n".join(name for name in each.order if name in both) for each in (before, after))
    if one != two:
        yield FieldChange("setting", "sections", "", "order", "moved", one, two)


def _of_fields(item: Item, was: str, old: Fields, new: Fields) -> Iterator[FieldChange]:
    for key in dict.fromkeys((*old, *new)):
        before, after = old.get(key, ""), new.get(key, "")
        if before != after:
            change: Any = "changed" if key in old and key in new else "added" if key in new else "removed"
            yield FieldChange(*item, was, key, change, before, after)


def _renamed(old: Mapping[Item, Fields], new: Mapping[Item, Fields]) -> dict[Item, Item]:
    """The entries that have another name: for each, the most similar new one."""
    gone = [item for item in old if item not in new and item[0] not in {"setting", "file", "partial"}]
    come = [item for item in new if item not in old]
    pairs = [(one, other) for one in gone for other in come if one[0] == other[0]]
    exact = len(pairs) > _MOST_PAIRS
    rated = sorted(((_likeness(old[a], new[b], exact=exact), a, b) for a, b in pairs), key=lambda each: -each[0])
    found: dict[Item, Item] = {}
    for likeness, one, other in rated:
        if likeness >= _ALIKE and one not in found and other not in found.values():
            found[one] = other
    return found


def _likeness(old: Fields, new: Fields, *, exact: bool) -> float:
    one, other = ("\n".join(each.values())[:_MOST] for each in (old, new))
    if old == new:
        return 1.0
    if exact or min(len(one), len(other)) < _LEAST:
        return 0.0
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def _with_reach(change: FieldChange, before: Edition, after: Edition, turns: Turns) -> FieldChange:
    sides = ((change.was or change.name, change.before), (change.name, change.after))

    def reaches(played: Sequence[PlayedSide | None]) -> bool:
        asked = zip(played, sides, strict=True)
        return any(
            side and text and _REACHES[change.kind](side, name, change.field, text) for side, (name, text) in asked
        )

    reached = tuple(name for name, *played in turns if reaches(played))
    old, new = before.engine.count(change.before), after.engine.count(change.after)
    return replace(change, tokens_before=old, tokens_after=new, reached=reached)


def _reaches_tool(side: PlayedSide, name: str, field: str, text: str) -> bool:
    if field in {"phrases", "category"}:
        return side.found(name)
    if field == "description":
        return side.found(name) or side.says(text)
    late = side.edition.engine.agent.spec.tools.cues.on_result
    return name in side.turn.step.active_tools and (field not in late or side.says(text))


def _reaches_section(side: PlayedSide, name: str, _field: str, _text: str) -> bool:
    return name in side.texts or side.edition.is_frame(name)


def _reaches_result(side: PlayedSide, name: str, _field: str, _text: str) -> bool:
    rules = (form_of(side.edition.engine.agent.results, result.tool) for result in side.turn.past.results)
    return any(rule is not None and rule.name == name for rule in rules)


def _reaches_file(side: PlayedSide, name: str, _field: str, text: str) -> bool:
    return any(row.path == name for row in side.turn.step.manifest.sources) or side.says(text)


_NEVER = frozenset(("version", "accept", "reload", "limits"))
"""Settings that no prompt shows, whatever the turn."""

_ASKED: Mapping[str, Callable[[PlayedSide], bool]] = {
    "tools.search.": lambda side: bool(side.turn.past.searches),
    "tools.ahead.": lambda side: side.turn.step.looks_ahead,
    "memory.": lambda side: WORKING_MEMORY in side.reads,
    "history.": lambda side: bool(side.turn.step.messages),
    "messages.": lambda side: bool(side.turn.step.messages),
}
"""Settings that count only in some turns; all others count in every turn."""


def _reaches_setting(side: PlayedSide, path: str, _field: str, text: str) -> bool:
    start = path.partition(".")[0]
    given = side.turn.step.manifest.configuration
    if start in _NEVER:
        return False
    if start in {"profiles", "variants"}:
        chosen = given.profile if start == "profiles" else given.variant
        return bool(chosen) and f"{path}.".startswith(f"{start}.{chosen}.")
    if start == "words":
        return any(len(part) > 1 and side.says(part) for part in re.split(r"\{[^{}]*\}|\n", text))
    return next((ask(side) for prefix, ask in _ASKED.items() if path.startswith(prefix)), True)


_REACHES: Mapping[Kind, Callable[[PlayedSide, str, str, str], bool]] = {
    "tool": _reaches_tool,
    "section": _reaches_section,
    "input": lambda side, name, _field, _text: name in side.reads,
    "result": _reaches_result,
    "partial": lambda side, path, _field, _text: not side.edition.callers(path).isdisjoint(side.texts),
    "file": _reaches_file,
    "setting": _reaches_setting,
}
"""Whether what a field says can have a part in what the model reads in a turn."""
